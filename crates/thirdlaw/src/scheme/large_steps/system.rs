//! One cloth step: the system, its constraints, its solution.

use super::solids::{Solids, Unknown};
use super::touch::{self, LastTouch, Moved, Span, SurfaceDrag, Touch};
use crate::cloth::model::{PinHold, Sheet};
use crate::collide::cloth::{Hit, ParticleScratch, Particles, Solid as NearSolid, vertex_solid};
use crate::energy::air;
use crate::energy::membrane::{self, directions};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::settings::{ClothSolver, Settings};
use crate::solve::block::{Block, Lane, Scalar, lane, vector};
use crate::solve::filter::{Filter, Hold, NONE};
use crate::solve::layout::Contributions;
use crate::solve::parallel::largest;
use crate::solve::pcg::{self, Stop, System};
use crate::solve::precondition::BlockJacobi;
use crate::solve::stencil::{Stencil, Stencils};
use crate::state::{BodyState, State};
use crate::world::{Observer, Stage};

/// What holds for all cloth steps of a step of the world.
pub struct Context<'a> {
    pub model: &'a Model,
    pub settings: &'a Settings,
    /// Length of the world's step, s.
    pub dt: f64,
    /// Time at its beginning, s.
    pub time: f64,
}

/// How a cloth step went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt {
    pub iterations: u32,
    pub overstretched: bool,
}

/// Memory of a cloth step.
#[derive(Debug, Default)]
pub struct Work<T> {
    solids: Solids,
    parts: Contributions,
    blocks: Vec<Block<T>>,
    forces: Vec<Vec3>,
    stencils: Stencils<T>,
    filter: Filter<T>,
    jacobi: BlockJacobi<T>,
    pcg: pcg::Scratch<T>,
    b: Vec<Lane<T>>,
    u: Vec<Lane<T>>,
    /// Right side without constraints, N·s.
    base: Vec<Vec3>,
    /// (p_u, p_v) that the linearization leaves out, and the forces they make.
    pulls: Vec<(Vec3, Vec3)>,
    turned: Vec<Vec3>,
    /// Position alteration, m, and friction, N·s, of constrained particles.
    alter: Vec<Vec3>,
    push: Vec<Vec3>,
    x1: Vec<Vec3>,
    touches: Vec<Touch>,
    hits: Vec<Hit>,
    near: ParticleScratch,
    reach: Vec<f64>,
    holds: Vec<Hold>,
    drags: Vec<SurfaceDrag>,
    drag: Vec<f64>,
    b_bodies: Vec<[Vec3; 2]>,
    u_bodies: Vec<[Vec3; 2]>,
    masses: Vec<crate::contact::BodyMass>,
    strain: f64,
    /// Force on each pinned particle, N.
    pins: Vec<(u32, Vec3)>,
}

impl<T: Scalar> Work<T> {
    /// At the beginning of the world's step: which bodies are near.
    pub fn begin(&mut self, context: &Context, state: &State, starts: &[BodyState]) {
        let (mut lo, mut hi) = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
        let mut fastest: f64 = 0.0;
        for (x, v) in state.particles.x.iter().zip(&state.particles.v) {
            (lo, hi) = (lo.min(*x), hi.max(*x));
            fastest = fastest.max(v.length_squared());
        }
        let dt = context.dt;
        let travel = dt * (fastest.sqrt() + dt * context.settings.gravity.length());
        let margin = Vec3::splat(travel + context.model.sheet.edge_length);
        let pushes = &state.cloth.pushes;
        let push = |slot: u32| {
            let found = pushes.binary_search_by_key(&slot, |p| p.0);
            found.map_or([Vec3::ZERO; 2], |i| pushes[i].1)
        };
        let span = (lo - margin, hi + margin);
        self.solids.gather(context.model, (starts, &state.bodies), span, push);
        self.strain = largest_strain(&context.model.sheet, &state.particles.x);
    }

    /// Tries a cloth step over these shares of the world's step; the state is not changed.
    pub fn attempt(
        &mut self,
        context: &Context,
        state: &State,
        share: (f64, f64),
        observer: &mut dyn Observer,
    ) -> Attempt {
        let sheet = &*context.model.sheet;
        let h = (share.1 - share.0) * context.dt;
        let span = Span {
            h,
            push_speed: context.settings.contact.push_speed,
            creep_speed: (0.02 * h * context.settings.gravity.length()).max(1e-4),
        };
        let time = (context.time, context.dt);
        self.solids.place(context.model, time, share);

        observer.begin(Stage::ClothForces);
        self.form(context, state, h);
        observer.end(Stage::ClothForces);

        observer.begin(Stage::ClothSolids);
        self.find_touches(context, state, &span);
        observer.end(Stage::ClothSolids);

        let mut attempt = Attempt::default();
        let mut reference = 0.0;
        let mut changed = true;
        for round in 0..context.settings.cloth.rounds.max(1) {
            observer.begin(Stage::ClothForces);
            let bent = self.overshoot(sheet, state, h, round);
            observer.end(Stage::ClothForces);
            if round > 0 && !changed && !bent {
                break;
            }
            observer.begin(Stage::ClothSolve);
            self.constrain(context, state, share.1, &span);
            let outcome = self.solve(context, &state.particles.x, h, round == 0, reference);
            attempt.iterations += outcome.iterations;
            if round == 0 {
                reference = outcome.start;
            }
            for ((x1, x0), u) in self.x1.iter_mut().zip(&state.particles.x).zip(&self.u) {
                *x1 = *x0 + h * vector(u);
            }
            observer.end(Stage::ClothSolve);
            observer.begin(Stage::ClothSolids);
            changed = self.judge(context, state, &span);
            observer.end(Stage::ClothSolids);
        }
        let strain = largest_strain(sheet, &self.x1);
        // NaN counts as too much
        attempt.overstretched = !(strain - self.strain <= context.settings.cloth.strain_step);
        attempt
    }

    /// A and the right side without constraints.
    fn form(&mut self, context: &Context, state: &State, h: f64) {
        let sheet = &*context.model.sheet;
        let (x, v) = (&state.particles.x, &state.particles.v);
        let n = x.len();
        self.parts.evaluate(&sheet.elements, x, h);
        self.blocks.resize(sheet.layout.pattern.column.len(), Block::default());
        self.forces.resize(n, Vec3::ZERO);
        let (blocks, forces) = (&mut self.blocks[..], &mut self.forces[..]);
        sheet.layout.assemble(&sheet.elements, &self.parts, h, blocks, forces);
        self.blow(context, state);
        self.base.clear();
        let gravity = context.settings.gravity;
        for i in 0..n {
            let mass = sheet.elements.mass[i];
            let weight = mass * sheet.gravity_scale[i] * gravity;
            let force = self.forces[i] + weight + self.drag[i] * context.settings.cloth.wind;
            self.base.push(mass * v[i] + h * force);
            let place = sheet.layout.pattern.diagonal[i] as usize;
            let add = T::of(mass + h * self.drag[i]);
            for (k, column) in self.blocks[place].iter_mut().enumerate() {
                column[k] += add;
            }
        }
        self.x1.resize(n, Vec3::ZERO);
        self.u.resize(n, [T::default(); 4]);
    }

    /// Forces that the linearization leaves out, for the velocities of the last round (in the first
    /// those at the beginning); true if they changed by more than a little strain.
    fn overshoot(&mut self, sheet: &Sheet, state: &State, h: f64, round: u32) -> bool {
        let elements = &sheet.elements;
        let x = &state.particles.x;
        let (u, v) = (&self.u, &state.particles.v);
        self.pulls.resize(elements.membranes.len(), Default::default());
        let worst = largest(elements.membranes.len(), &mut self.pulls[..], &|rows, pulls| {
            let mut worst: f64 = 0.0;
            for (m, pull) in elements.membranes[rows].iter().zip(pulls) {
                let fabric = &elements.fabrics[m.fabric as usize];
                let at = |i: usize| {
                    let node = m.nodes[i] as usize;
                    if round == 0 { v[node] } else { vector(&u[node]) }
                };
                let (d1, d2) = (at(1) - at(0), at(2) - at(0));
                let shift = (h * (m.du[1] * d1 + m.du[2] * d2), h * (m.dv[1] * d1 + m.dv[2] * d2));
                let new = membrane::overshoot(m, fabric, x, shift);
                let stiffness = m.area * fabric.stretch[0].min(fabric.stretch[1]);
                let change = (new.0 - pull.0).length().max((new.1 - pull.1).length());
                worst = worst.max(change / stiffness);
                *pull = new;
            }
            worst
        });
        self.turned.resize(x.len(), Vec3::ZERO);
        sheet.layout.gather(elements, &self.pulls, &mut self.turned);
        worst > 2e-3
    }

    /// Drag and lift of the air, shared evenly by the corners of each triangle.
    fn blow(&mut self, context: &Context, state: &State) {
        let sheet = &*context.model.sheet;
        self.drag.clear();
        self.drag.resize(state.particles.x.len(), 0.0);
        let wind = context.settings.cloth.wind;
        if !context.settings.cloth.air {
            return;
        }
        for membrane in &sheet.elements.membranes {
            let fabric = &sheet.elements.fabrics[membrane.fabric as usize];
            let x = membrane.nodes.map(|i| state.particles.x[i as usize]);
            let v = membrane.nodes.map(|i| state.particles.v[i as usize]);
            let drag = air::drag(fabric, x, (v[0] + v[1] + v[2]) / 3.0 - wind);
            for i in membrane.nodes {
                self.drag[i as usize] += drag.coefficient / 3.0;
                self.forces[i as usize] += drag.lift / 3.0;
            }
        }
    }

    /// Particles near solids, with what the last step knew of them.
    fn find_touches(&mut self, context: &Context, state: &State, span: &Span) {
        let (model, sheet) = (context.model, &*context.model.sheet);
        let h = span.h;
        self.touches.clear();
        let gravity = context.settings.gravity;
        for (i, x1) in self.x1.iter_mut().enumerate() {
            *x1 = state.particles.x[i]
                + h * (state.particles.v[i] + h * sheet.gravity_scale[i] * gravity);
        }
        if self.solids.list.is_empty() {
            return;
        }
        self.reach.clear();
        for (i, x1) in self.x1.iter().enumerate() {
            let travel = (*x1 - state.particles.x[i]).length();
            let reach = 2.0 * sheet.elements.radius[i] + travel.max(0.25 * sheet.edge_length);
            self.reach.push(reach);
        }
        for (particle, _) in &sheet.pins {
            self.reach[*particle as usize] = -1.0;
        }
        let near: Vec<NearSolid> = self
            .solids
            .list
            .iter()
            .map(|s| {
                let (shape, center, _, groups) = super::solids::surface(model, s.slot);
                let reach = model.bodies[s.slot as usize].reach;
                let turn = s.velocity.angular.length();
                let spin = if turn > 0.0 && reach.is_finite() { turn * reach } else { 0.0 };
                NearSolid {
                    slot: s.slot,
                    shape,
                    pose: s.before.pose(center),
                    groups,
                    margin: h * (s.velocity.linear.length() + spin),
                }
            })
            .collect();
        let particles =
            Particles { x: &state.particles.x, reach: &self.reach, groups: &sheet.groups };
        vertex_solid(&particles, &near, &mut self.near, &mut self.hits);
        let last = &state.cloth.touches;
        for hit in &self.hits {
            let i = hit.particles[0] as usize;
            let fabric = &sheet.elements.fabrics[sheet.elements.owner[i] as usize];
            let radius = sheet.elements.radius[i];
            let Some(mut touch) = Touch::new(model, &self.solids, hit, radius, fabric.friction)
            else {
                continue;
            };
            let key = |t: &LastTouch| (t.particle, t.body);
            if let Ok(found) = last.binary_search_by_key(&(hit.particles[0], hit.body), key) {
                touch.resume(&last[found], h);
            }
            let solid = &self.solids.list[touch.solid as usize];
            touch.begin(model, solid, state.particles.x[i], self.x1[i], h);
            self.touches.push(touch);
        }
    }

    /// Pins and active touches become the filter, the right side, and the prescribed velocities.
    fn constrain(&mut self, context: &Context, state: &State, share: f64, span: &Span) {
        let sheet = &*context.model.sheet;
        let x = &state.particles.x;
        let n = x.len();
        self.holds.clear();
        self.alter.clear();
        self.alter.resize(n, Vec3::ZERO);
        self.push.clear();
        self.push.resize(n, Vec3::ZERO);
        self.drags.clear();
        self.b_bodies.clear();
        let h = span.h;
        self.b_bodies
            .extend(self.solids.unknowns.iter().map(|u| [-h * u.expected[0], -h * u.expected[1]]));
        for touches in self.touches.chunk_by_mut(|a, b| a.particle == b.particle) {
            let i = touches[0].particle as usize;
            let out = (&mut self.alter[i], &mut self.push[i], &mut self.drags);
            if let Some(hold) = touch::hold(touches, &self.solids, x[i], span, out) {
                if hold.body != NONE {
                    // friction pulls the body the other way
                    let out = &mut self.b_bodies[hold.body as usize];
                    out[0] -= self.push[i];
                    out[1] -= hold.arm.cross(self.push[i]);
                }
                self.holds.push(hold);
            }
        }
        let time = context.time + share * context.dt;
        for (particle, pin) in &sheet.pins {
            let x0 = x[*particle as usize];
            if let Some(hold) = pin_hold(context.model, &self.solids, pin, x0, time, h) {
                self.holds.push(Hold { particle: *particle, ..hold });
            }
        }
        self.holds.sort_unstable_by_key(|h| h.particle);
        self.stencils.list.clear();
        self.drag_stencils();
        let penalty = context.settings.cloth.solver == ClothSolver::Penalty;
        if penalty {
            self.penalize(sheet);
        }
        let holds = if penalty { &[][..] } else { &self.holds[..] };
        self.filter.set(n, holds.iter().copied());
        self.stencils.index();
        self.b.clear();
        for i in 0..n {
            let mass = sheet.elements.mass[i];
            let own = self.base[i] + h * self.turned[i];
            let value = own + self.push[i] + (mass / h) * self.alter[i];
            self.b.push(lane(value));
        }
        self.stencils.add_targets(&mut self.b, &mut self.b_bodies);
    }

    /// Creeping particles are dragged along both tangents of the surface.
    fn drag_stencils(&mut self) {
        for drag in &self.drags {
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
    fn penalize(&mut self, sheet: &Sheet) {
        for hold in &self.holds {
            let i = hold.particle as usize;
            let place = sheet.layout.pattern.diagonal[i] as usize;
            let own = crate::solve::block::matrix(&self.blocks[place]);
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

    /// A u = b in the free directions.
    fn solve(
        &mut self,
        context: &Context,
        x: &[Vec3],
        h: f64,
        first: bool,
        reference: f64,
    ) -> pcg::Outcome {
        let sheet = &*context.model.sheet;
        let settings = &context.settings.cloth;
        let pattern = &sheet.layout.pattern;
        if first {
            // the guess: free flight, which `x1` still holds
            for (u, (x1, x0)) in self.u.iter_mut().zip(self.x1.iter().zip(x)) {
                *u = lane((*x1 - *x0) / h);
            }
            self.u_bodies.clear();
            self.u_bodies.resize(self.solids.unknowns.len(), [Vec3::ZERO; 2]);
        }
        for hold in &self.filter.holds {
            let u = &mut self.u[hold.particle as usize];
            *u = lane(hold.free * vector(u) + hold.prescribed);
        }
        self.masses.clear();
        self.masses.extend(self.solids.unknowns.iter().map(|u: &Unknown| u.mass));
        let (blocks, stencils, filter) = (&self.blocks[..], &mut self.stencils, &self.filter);
        if settings.solver == ClothSolver::Direct && self.masses.is_empty() {
            let mass = &sheet.elements.mass;
            let solved = crate::solve::dense::solve(
                pattern,
                blocks,
                stencils,
                filter,
                mass,
                &self.b,
                &mut self.u,
            );
            if solved {
                return pcg::Outcome::default();
            }
        }
        self.jacobi.update(pattern, blocks, stencils, filter);
        let stop =
            Stop { iterations: settings.iterations, tolerance: settings.tolerance, reference };
        let mut system = System { pattern, blocks, stencils, filter, bodies: &self.masses };
        system.solve(
            &mut self.jacobi,
            (&self.b, &self.b_bodies),
            &stop,
            (&mut self.u, &mut self.u_bodies),
            &mut self.pcg,
        )
    }

    /// Judges every touch by the impulse of its constraint; true if another round is needed.
    fn judge(&mut self, context: &Context, state: &State, span: &Span) -> bool {
        if self.touches.is_empty() && self.filter.holds.is_empty() {
            return false;
        }
        let sheet = &*context.model.sheet;
        let pattern = &sheet.layout.pattern;
        if context.settings.cloth.solver == ClothSolver::Penalty {
            // the springs are the constraints: what they push is what is left without them
            self.stencils.retract_targets(&mut self.b);
        }
        let mut system = System {
            pattern,
            blocks: &self.blocks,
            stencils: &mut self.stencils,
            filter: &self.filter,
            bodies: &self.masses,
        };
        let impulses = system.impulses(&self.b, &self.u, &self.u_bodies, &mut self.pcg);
        self.pins.clear();
        for (particle, _) in &sheet.pins {
            let force = vector(&impulses[*particle as usize]) / span.h;
            self.pins.push((*particle, force));
        }
        let mut changed = false;
        for touch in &mut self.touches {
            let i = touch.particle as usize;
            let solid = &self.solids.list[touch.solid as usize];
            let delta = match solid.unknown {
                NONE => [Vec3::ZERO; 2],
                unknown => self.u_bodies[unknown as usize],
            };
            let moved = Moved {
                x0: state.particles.x[i],
                x1: self.x1[i],
                velocity: vector(&self.u[i]) - self.alter[i] / span.h,
                impulse: vector(&impulses[i]),
            };
            changed |= touch.judge(context.model, solid, &moved, span, &delta);
        }
        changed
    }

    /// Takes over what the last attempt found.
    pub fn accept(&mut self, context: &Context, state: &mut State, share: (f64, f64)) {
        let h = (share.1 - share.0) * context.dt;
        state.particles.x.copy_from_slice(&self.x1);
        for ((v, u), alter) in state.particles.v.iter_mut().zip(&self.u).zip(&self.alter) {
            *v = vector(u) - *alter / h;
        }
        for (unknown, delta) in self.solids.unknowns.iter_mut().zip(&self.u_bodies) {
            let momentum = pcg::body_momentum(&unknown.mass, delta);
            for k in 0..2 {
                unknown.impulse[k] += momentum[k] + h * unknown.expected[k];
                unknown.change[k] += delta[k];
                unknown.drift[k] += h * unknown.change[k];
            }
        }
        let touches = &mut state.cloth.touches;
        touches.clear();
        touches.extend(self.touches.iter().filter(|t| t.active).map(|t| t.last(&self.solids, h)));
        state.cloth.pins.clone_from(&self.pins);
        self.strain = largest_strain(&context.model.sheet, &self.x1);
    }

    /// At the end of the world's step: bodies get what cloth did to them.
    pub fn finish(&mut self, context: &Context, state: &mut State) {
        state.cloth.pushes.clear();
        for unknown in &self.solids.unknowns {
            let force = unknown.impulse.map(|i| i / context.dt);
            if force == [Vec3::ZERO; 2] {
                continue;
            }
            state.cloth.pushes.push((unknown.slot, force));
            let body = &mut state.bodies[unknown.slot as usize];
            body.velocity.linear += unknown.change[0];
            body.velocity.angular += unknown.change[1];
            body.position += unknown.drift[0];
            if unknown.drift[1] != Vec3::ZERO {
                let turn = crate::math::rotation_from_vector(unknown.drift[1]);
                body.rotation = (turn * body.rotation).normalize();
            }
            body.asleep = false;
            body.quiet = 0.0;
        }
    }
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

/// Largest tensile strain along warp or weft of any triangle.
pub fn largest_strain(sheet: &Sheet, x: &[Vec3]) -> f64 {
    let elements = &sheet.elements;
    let mut largest: f64 = 0.0;
    for membrane in &elements.membranes {
        let (w_u, w_v) = directions(membrane, x);
        let [b_u, b_v] = elements.fabrics[membrane.fabric as usize].rest_scale;
        let strain = (w_u.length() / b_u).max(w_v.length() / b_v) - 1.0;
        if strain.is_nan() {
            return f64::NAN;
        }
        largest = largest.max(strain);
    }
    largest
}
