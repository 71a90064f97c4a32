//! Constraints of a cloth step: pins and contacts become the filter, the right side and the stiff
//! terms; what they push is read from the residual and judged.

use super::friction;
use super::linear::Linear;
use super::near::Contacts;
use super::solids::Solids;
use super::solution::Solution;
use super::system::Trial;
use super::touch::{self, Moved, Span, SurfaceDrag, Verdict};
use crate::linalg::block::{Lane, Scalar, block_of, lane, vector};
use crate::linalg::filter::{Filter, Hold, NONE};
use crate::linalg::pcg::System;
use crate::linalg::product::Matrix;
use crate::linalg::stencil::{Stencil, Stencils};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::model::deformable::model::{BodyBond, PinHold, Sheet};
use crate::model::settings::ClothSolver;
use crate::parallel::loops::each_light;

/// What pushes wrong, relative to all that pushes, with which contacts are settled.
const SETTLED: f64 = 0.1;
/// The same where steps are solved to an error of velocities: near the limit of friction, what is missing of it
/// decides what slips.
const SETTLED_CLOSELY: f64 = 0.03;
/// Most drag of a creeping particle, in units of what holds it to its neighbours: more would hold it
/// no better, and make residuals that hide all others.
const DRAG_MAX: f64 = 100.0;

/// What a round of a cloth step is solved under.
#[derive(Debug, Default)]
pub struct Constraints {
    holds: Vec<Hold>,
    /// What pins and touches hold.
    pub filter: Filter<f64>,
    /// Stiff terms of several particles or of bodies.
    pub stencils: Stencils<f64>,
    /// Creeping particles.
    pub drags: Vec<SurfaceDrag>,
    /// Position alteration, m, and friction, N·s, of constrained particles.
    pub alter: Vec<Vec3>,
    pub push: Vec<Vec3>,
    /// Right side with constraints, of particles and of bodies.
    pub b: Vec<Lane<f64>>,
    pub b_bodies: Vec<[Vec3; 2]>,
    /// That of bodies without stiff terms.
    pub given_bodies: Vec<[Vec3; 2]>,
    /// Masses of unknown bodies.
    pub masses: Vec<BodyMass>,
    /// Force on each pinned particle, N.
    pub pins: Vec<(u32, Vec3)>,
}

impl Constraints {
    /// Pins and active touches become the filter, the right side, and the prescribed velocities.
    pub fn set(
        &mut self,
        trial: &Trial,
        end: f64,
        solids: &Solids,
        contacts: &mut Contacts,
        linear: &mut Linear,
    ) {
        let Trial { context, state, span } = trial;
        let sheet = trial.sheet();
        let x = &state.particles.x;
        let n = x.len();
        self.holds.clear();
        self.alter.clear();
        self.alter.resize(n, Vec3::ZERO);
        self.push.clear();
        self.push.resize(n, Vec3::ZERO);
        self.drags.clear();
        self.masses.clear();
        self.masses.extend(solids.unknowns.iter().map(|u| u.mass));
        self.b_bodies.clear();
        let h = span.h;
        self.b_bodies
            .extend(solids.unknowns.iter().map(|u| [-h * u.expected[0], -h * u.expected[1]]));
        for touches in contacts.touches.chunk_by_mut(|a, b| a.particle == b.particle) {
            let i = touches[0].particle as usize;
            let out = (&mut self.alter[i], &mut self.push[i], &mut self.drags);
            let at = (x[i], state.particles.v[i], sheet.elements.mass[i]);
            if let Some(hold) = touch::hold(touches, solids, at, span, out) {
                if hold.body != NONE {
                    // friction pulls the body the other way
                    let out = &mut self.b_bodies[hold.body as usize];
                    out[0] -= self.push[i];
                    out[1] -= hold.arm.cross(self.push[i]);
                }
                self.holds.push(hold);
            }
        }
        let time = context.time + end * context.dt;
        for (particle, pin) in &sheet.pins {
            let x0 = x[*particle as usize];
            if let Some(hold) = pin_hold(context.model, solids, pin, x0, time, h) {
                self.holds.push(Hold { particle: *particle, ..hold });
            }
        }
        self.holds.sort_unstable_by_key(|h| h.particle);
        self.stencils.list.clear();
        self.apply_drags(sheet, linear);
        for pair in &contacts.pairs {
            pair.stencils(solids, span, &mut self.stencils.list);
        }
        for bond in &sheet.body_bonds {
            let at = x[bond.particle as usize];
            self.stencils.list.extend(body_bond(context.model, solids, bond, at, h));
        }
        let penalty = context.settings.cloth.solver == ClothSolver::Penalty;
        if penalty {
            self.penalize(sheet, linear);
        }
        let holds = if penalty { &[][..] } else { &self.holds[..] };
        self.filter.set(n, holds.iter().copied());
        self.stencils.index();
        self.b.resize(n, lane(Vec3::ZERO));
        let (base, turned, push, alter) = (&linear.base, &linear.turned, &self.push, &self.alter);
        each_light(n, &mut self.b[..], &|rows, b: &mut [Lane<f64>]| {
            for (i, b) in rows.zip(b) {
                let own = base[i] + h * turned[i];
                *b = lane(own + push[i] + (sheet.elements.mass[i] / h) * alter[i]);
            }
        });
        self.given_bodies.clone_from(&self.b_bodies);
        self.stencils.add_targets(&mut self.b, &mut self.b_bodies);
    }

    /// Creeping particles are dragged along both tangents of the surface: in the diagonal of the
    /// matrix, or as stencils where the surface belongs to an unknown body.
    fn apply_drags(&mut self, sheet: &Sheet, linear: &mut Linear) {
        // back to front, so that what was there first is there last
        let diagonal = &sheet.layout().pattern.diagonal;
        for (particle, block, own) in linear.undragged.drain(..).rev() {
            linear.blocks[diagonal[particle as usize] as usize] = block;
            linear.own[particle as usize] = own;
        }
        for drag in &self.drags {
            if drag.body == NONE {
                let i = drag.particle as usize;
                let (block, own) = (&mut linear.blocks[diagonal[i] as usize], &mut linear.own[i]);
                linear.undragged.push((drag.particle, *block, *own));
                let across = crate::math::outer(drag.normal, drag.normal);
                let stiff = (block[0][0] + block[1][1] + block[2][2]).wide() / 3.0;
                let add = drag.coefficient.min(DRAG_MAX * stiff) * (Mat3::IDENTITY - across);
                self.push[i] += add * drag.surface;
                let add = block_of::<f64>(&add);
                for k in 0..3 {
                    for l in 0..3 {
                        block[k][l] += add[k][l];
                        own[k][l] += add[k][l];
                    }
                }
                continue;
            }
            let (a, b) = crate::math::tangents(drag.normal);
            for axis in [a, b] {
                let zero = Vec3::ZERO;
                self.stencils.list.push(Stencil {
                    particles: [drag.particle; 4],
                    gradient: [axis, zero, zero, zero],
                    stiffness: drag.coefficient,
                    target: axis.dot(drag.surface),
                    body: drag.body,
                    wrench: [axis, drag.arm.cross(axis)],
                });
            }
        }
    }

    /// The slides' comparison: stiff springs instead of the filter.
    fn penalize(&mut self, sheet: &Sheet, linear: &Linear) {
        for hold in &self.holds {
            let i = hold.particle as usize;
            let place = sheet.layout().pattern.diagonal[i] as usize;
            let own = crate::linalg::block::matrix(&linear.blocks[place]);
            let stiffness = 1e3 * (own.x_axis.x + own.y_axis.y + own.z_axis.z);
            let held = hold.held();
            for axis in [held.x_axis, held.y_axis, held.z_axis] {
                // columns of a projector span what it keeps, and their outer products sum to it
                if axis.length_squared() < 1e-12 {
                    continue;
                }
                let zero = Vec3::ZERO;
                self.stencils.list.push(Stencil {
                    particles: [hold.particle; 4],
                    gradient: [axis, zero, zero, zero],
                    stiffness,
                    target: axis.dot(hold.prescribed),
                    body: hold.body,
                    wrench: [axis, hold.arm.cross(axis)],
                });
            }
        }
    }
}

impl Contacts {
    /// Judges every touch by the impulse of its constraint; true if another round is needed.
    pub fn judge(
        &mut self,
        trial: &Trial,
        solids: &Solids,
        linear: &Linear,
        constraints: &mut Constraints,
        solution: &Solution,
    ) -> bool {
        let Trial { context, state, span } = trial;
        self.entered = false;
        let mut verdict = Verdict::default();
        let u = &solution.u;
        for pair in &mut self.pairs {
            verdict.add(pair.judge(solids, &|i| vector(&u[i as usize]), &solution.u_bodies));
        }
        constraints.pins.clear();
        if self.touches.is_empty() && constraints.filter.holds.is_empty() {
            return asks(&verdict, solids, span);
        }
        let sheet = trial.sheet();
        if context.settings.cloth.solver == ClothSolver::Penalty {
            // the springs are the constraints: what they push is what is left without them
            constraints.stencils.retract_targets(&mut constraints.b);
        }
        let system = System {
            matrix: Matrix {
                pattern: &sheet.layout().pattern,
                blocks: &linear.blocks,
                own: &linear.own,
            },
            narrow: None,
            stencils: &mut constraints.stencils,
            filter: &constraints.filter,
            bodies: &constraints.masses,
        };
        system.stencils.look(&solution.u, &solution.u_bodies);
        let impulse = |i: usize| system.impulse(i, &constraints.b, &solution.u);
        for (particle, _) in &sheet.pins {
            let force = impulse(*particle as usize) / span.h;
            constraints.pins.push((*particle, force));
        }
        for touches in self.touches.chunk_by_mut(|a, b| a.particle == b.particle) {
            let i = touches[0].particle as usize;
            // one that does not touch is judged by where it is
            let held = touches.iter().any(|t| t.active);
            let shares = friction::shares(touches, if held { impulse(i) } else { Vec3::ZERO });
            for (k, touch) in touches.iter_mut().enumerate() {
                let solid = &solids.list[touch.solid as usize];
                let delta = match solid.unknown {
                    NONE => [Vec3::ZERO; 2],
                    unknown => solution.u_bodies[unknown as usize],
                };
                let moved = Moved {
                    x0: state.particles.x[i],
                    x1: solution.x1[i],
                    velocity: vector(&solution.u[i]) - constraints.alter[i] / span.h,
                    impulse: shares.of(k),
                };
                let was = touch.active;
                verdict.add(touch.judge(context.model, solid, &moved, span, &delta));
                self.entered |= touch.active && !was;
            }
        }
        asks(&verdict, solids, span)
    }
}

/// Whether what was found asks for another round. A body on cloth feels every contact; else what a
/// few particles of many change is nothing to solve again for.
fn asks(verdict: &Verdict, solids: &Solids, span: &Span) -> bool {
    let small = if span.turns { SETTLED_CLOSELY } else { SETTLED } * verdict.push;
    let alone = solids.unknowns.is_empty();
    verdict.changed && !(alone && !verdict.entered && verdict.error <= small)
}

/// The spring of a particle at `x0` that is bound to a body, over a step of `h` seconds.
fn body_bond(
    model: &Model,
    solids: &Solids,
    bond: &BodyBond,
    x0: Vec3,
    h: f64,
) -> impl Iterator<Item = Stencil> {
    let found = model.slot(bond.body).ok().and_then(|slot| solids.find(slot as u32));
    let solid = found.map(|found| &solids.list[found]);
    let BodyBond { particle, local, spring, .. } = *bond;
    solid.into_iter().flat_map(move |solid| {
        let arm = solid.after.rotation * local;
        let point = solid.after.center + arm;
        // −k (x₀ + h u − p₁) − τk (u − V), times h
        let (elastic, rate) = (h * spring.stiffness, h * spring.stiffness * spring.damping);
        let stiffness = h * elastic + rate;
        let target = (elastic * (point - x0) + rate * solid.velocity_at(point)) / stiffness;
        [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| Stencil {
            particles: [particle; 4],
            gradient: [axis, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO],
            stiffness,
            target: axis.dot(target),
            body: solid.unknown,
            wrench: [axis, arm.cross(axis)],
        })
    })
}

/// What a pin prescribes to a particle at `x0` over a step of `h` seconds that ends at `time`.
fn pin_hold(
    model: &Model,
    solids: &Solids,
    pin: &PinHold,
    x0: Vec3,
    time: f64,
    h: f64,
) -> Option<Hold> {
    let mut hold =
        Hold { particle: 0, free: Mat3::ZERO, prescribed: Vec3::ZERO, body: NONE, arm: Vec3::ZERO };
    match pin {
        PinHold::Place(place) => hold.prescribed = (*place - x0) / h,
        PinHold::Path { motion, local } => {
            let pose = motion.pose_at(time)?;
            hold.prescribed = (pose * *local - x0) / h;
        }
        PinHold::Body { body, local } => {
            let slot = model.slot(*body).ok()?;
            let solid = &solids.list[solids.find(slot as u32)?];
            hold.arm = solid.after.rotation * *local;
            hold.prescribed = (solid.after.center + hold.arm - x0) / h;
            hold.body = solid.unknown;
        }
        PinHold::Directions(free) => hold.free = *free,
    }
    Some(hold)
}
