//! The balance of energy of a cloth step: what motion, elements and touched bodies have more at its end than
//! at its beginning, less what weight, wind and forces gave.
//!
//! Backward Euler only takes energy, and so do friction, drags and constraints that stand still. What a step
//! makes must have come from what moves by itself: pins, and bodies that nothing pushes. Linearized forces
//! make some as well, which later steps take out again; `owed` is what of that is left. It may be a part of all
//! the energy that is there, so that no motion ever has more than twice what was put in. A step beyond has not
//! come out, whatever its residual says: from one to the next it could grow a millionfold. It is made again
//! with half its length; where no shorter one is left, it goes as far along its way as the balance holds,
//! beginning with cloth that has stopped.

use super::constraints::Constraints;
use super::linear::Linear;
use super::near::Contacts;
use super::solids::{Place, Solids, Unknown};
use super::solution::{Motion, Solution};
use super::system::{Context, Trial};
use super::volume::Volumes;
use crate::linalg::block::{lane, matrix, vector};
use crate::linalg::filter::NONE;
use crate::linalg::pcg::body_momentum;
use crate::math::Vec3;
use crate::model::deformable::model::PinHold;

/// Part of all energy in cloth that may be owed, and part that a step may make where no shorter one is left, or owe
/// to bodies.
const OWED: f64 = 0.5;
const OWED_AT_LAST: f64 = 0.1;
/// Parts of its way that are tried of a step that makes too much.
const PARTS: u32 = 10;

/// What a balance reads of a step.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub solids: &'a Solids,
    pub contacts: &'a Contacts,
    pub constraints: &'a Constraints,
    pub volumes: &'a Volumes,
    pub solution: &'a Solution,
}

/// What a reined step changes.
pub struct Reined<'a> {
    pub solids: &'a Solids,
    pub contacts: &'a mut Contacts,
    pub constraints: &'a mut Constraints,
    pub volumes: &'a mut Volumes,
    pub solution: &'a mut Solution,
}

/// Energies of a step, J.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balance {
    /// More at its end than at its beginning, less what weight, wind, forces, and what moves by itself gave.
    made: f64,
    /// What was there in cloth.
    cloth: f64,
    /// What touched bodies had, and what they gave.
    bodies: f64,
    turned: f64,
    /// Work of weight by how far velocities at the end of a step are ahead of those within it.
    lag: f64,
    /// All that weighs, N.
    weight: f64,
    /// The same of touched bodies, whose own weight their rigid step lifts.
    carried: f64,
    /// Σ of what bodies got, N·s.
    momentum: f64,
}

impl Balance {
    /// That of a trial from cloth with the energy `before` in its elements.
    pub fn of(trial: &Trial, linear: &mut Linear, before: f64, parts: &Parts) -> Balance {
        let Trial { state, span, .. } = trial;
        let (mass, h) = (&trial.sheet().elements.mass, span.h);
        let Parts { constraints, volumes, solution, .. } = *parts;
        let after = linear.elastic(trial, &solution.x1);
        let mut out = Balance { made: after - before, cloth: before, ..Balance::default() };
        let sheet = trial.sheet();
        let Context { settings, pushed, .. } = trial.context;
        let fall = h * settings.gravity;
        let mut air = 0.0;
        for (i, v0) in state.particles.v.iter().enumerate() {
            let u = vector(&solution.u[i]);
            let kick = volumes.kick.get(i).copied().unwrap_or(Vec3::ZERO);
            let kept = u - constraints.alter[i] / h + kick;
            let (m, drag) = (mass[i], h * linear.drag[i]);
            let weight = m * sheet.gravity_scale[i] * fall;
            let start = 0.5 * m * v0.length_squared();
            out.made += 0.5 * m * kept.length_squared() - start - weight.dot(u);
            air += (linear.given[i] - m * *v0 - weight).dot(u) - drag * u.length_squared();
            out.cloth += start;
            out.lag += 0.5 * weight.length_squared() / m;
            out.weight += weight.length() / h;
        }
        // where nothing blows and nothing presses, air only takes
        let blows = settings.cloth.wind != Vec3::ZERO;
        let gives = blows || !pushed.is_empty();
        out.made -= if gives { air } else { air.min(0.0) };
        out.add_bodies(trial, parts);
        out.add_bonds(trial, parts);
        let given = driven(trial, parts);
        if out.made > 0.0 && given > 0.0 {
            out.made = (out.made - given.min(most_driven(trial, linear, &out, parts))).max(0.0);
        }
        if out.made > 0.0 {
            out.made = (out.made - out.lag).max(0.0);
        }
        out
    }

    fn add_bodies(&mut self, trial: &Trial, parts: &Parts) {
        let Parts { solids, volumes, solution, .. } = *parts;
        let h = trial.span.h;
        let fall = h * trial.context.settings.gravity;
        for solid in solids.list.iter().filter(|s| s.unknown != NONE) {
            let k = solid.unknown as usize;
            let unknown = &solids.unknowns[k];
            let kick = volumes.kick_bodies.get(k).copied().unwrap_or([Vec3::ZERO; 2]);
            let delta = [0, 1].map(|i| solution.u_bodies[k][i] + kick[i]);
            if delta == [Vec3::ZERO; 2] && unknown.expected == [Vec3::ZERO; 2] {
                continue;
            }
            let free = [solid.velocity.linear, solid.velocity.angular];
            let momentum = body_momentum(&unknown.mass, &delta);
            let own = body_momentum(&unknown.mass, &free);
            let mut made = 0.0;
            self.momentum += (momentum[0] + h * unknown.expected[0]).length();
            for i in 0..2 {
                made += momentum[i].dot(free[i] + 0.5 * delta[i]);
                // what the rigid step was told to expect has done its work already
                made += unknown.expected[i].dot(h * free[i] - solid.extra[i]);
                self.bodies += 0.5 * own[i].dot(free[i]);
            }
            let falls = body_momentum(&unknown.mass, &[fall, Vec3::ZERO]);
            self.lag += 0.5 * falls[0].dot(fall);
            self.carried += falls[0].length() / h;
            self.made += made;
            self.turned += (-made).max(0.0);
        }
    }

    /// Bonds to bodies, which are no elements.
    fn add_bonds(&mut self, trial: &Trial, parts: &Parts) {
        let (solids, solution, h) = (parts.solids, parts.solution, trial.span.h);
        for bond in &trial.sheet().body_bonds {
            let found = trial.context.model.slot(bond.body).ok();
            let Some(found) = found.and_then(|slot| solids.find(slot as u32)) else { continue };
            let solid = &solids.list[found];
            let delta = match solid.unknown {
                NONE => [Vec3::ZERO; 2],
                unknown => solution.u_bodies[unknown as usize],
            };
            let i = bond.particle as usize;
            let (start, end) = (solid.before, solid.changed(&delta, h));
            let stretch = |x: Vec3, place: &Place| {
                let length = x - place.center - place.rotation * bond.local;
                0.5 * bond.spring.stiffness * length.length_squared()
            };
            let was = stretch(trial.state.particles.x[i], &start);
            self.made += stretch(solution.x1[i], &end) - was;
            self.cloth += was;
        }
    }

    /// The most that may be owed.
    fn most(&self) -> f64 {
        OWED * (self.cloth + self.lag) + OWED_AT_LAST * self.bodies
    }

    /// What is owed after the step: what went elsewhere, at contacts of bodies, is not any longer.
    pub fn owed(&self, before: f64) -> f64 {
        (before + self.made).clamp(0.0, self.most().max(self.made).max(0.0))
    }

    /// Whether that is too much, or more than the shortest step may make; of what is no number, it is.
    pub fn breaks(&self, before: f64, last: bool) -> bool {
        let alone = OWED_AT_LAST * (self.cloth + self.turned + self.lag);
        let wild = last && self.made > alone;
        self.made.is_nan() || (self.made > 0.0 && (wild || before + self.made > self.most()))
    }
}

/// What moves by itself, and what pushes overlaps apart, gave, J.
fn driven(trial: &Trial, parts: &Parts) -> f64 {
    let Parts { solids, contacts, constraints, solution, .. } = *parts;
    let (sheet, h) = (trial.sheet(), trial.span.h);
    let mut sum = 0.0;
    for ((particle, pin), (_, force)) in sheet.pins.iter().zip(&constraints.pins) {
        if !matches!(pin, PinHold::Directions(_)) {
            sum += h * force.dot(vector(&solution.u[*particle as usize]));
        }
    }
    for touch in contacts.touches.iter().filter(|t| t.active) {
        let solid = &solids.list[touch.solid as usize];
        sum += touch.pressure * touch.alter / h;
        if solid.unknown == NONE {
            let impulse = touch.pressure * touch.normal + touch.friction;
            sum += impulse.dot(solid.velocity_at(touch.point)).max(0.0);
        }
    }
    sum + contacts.pairs.iter().map(|pair| pair.gave(solids)).sum::<f64>()
}

/// The most that a step which comes out gets from what moves by itself, and from pushing apart, J. A driven
/// particle i pulls with what its neighbours hold it with, and no more than if these stayed where they are:
/// −h f·w + ½ w·Aw. What is pushed apart is lifted, against weight and what its neighbours hold it with. Bodies
/// that moving ones push through cloth get w·Δp. What constraints say of themselves is no measure: where a step
/// does not come out, they pull without bound.
fn most_driven(trial: &Trial, linear: &Linear, balance: &Balance, parts: &Parts) -> f64 {
    let Parts { solids, contacts, constraints, .. } = *parts;
    let (sheet, h) = (trial.sheet(), trial.span.h);
    let (mut needed, mut fastest, mut pushing, mut lifted) = (0.0, 0.0_f64, 0.0_f64, 0.0_f64);
    let pull = |i: usize, w: Vec3| {
        let own = matrix(&linear.blocks[sheet.layout().pattern.diagonal[i] as usize]);
        let elastic = linear.base[i] - linear.given[i];
        (0.5 * w.dot(own * w), (-elastic.dot(w)).max(0.0))
    };
    for (particle, pin) in &sheet.pins {
        let hold = constraints.filter.held(*particle as usize);
        let Some(hold) = hold.filter(|_| !matches!(pin, PinHold::Directions(_))) else { continue };
        let w = constraints.filter.holds[hold].prescribed;
        let (first, held) = pull(*particle as usize, w);
        needed += first + held;
        fastest = fastest.max(w.length());
    }
    for touch in contacts.touches.iter().filter(|t| t.active) {
        let solid = &solids.list[touch.solid as usize];
        let pushed = touch.alter / h;
        lifted = lifted.max(pushed);
        needed += pull(touch.particle as usize, pushed * touch.normal).1;
        if solid.unknown == NONE {
            let w = solid.velocity_at(touch.point);
            let (first, held) = pull(touch.particle as usize, w);
            needed += first + held;
            pushing = pushing.max(w.length());
        }
    }
    for pair in &contacts.pairs {
        let [parts, carries] = pair.moves(solids);
        lifted = lifted.max(parts);
        pushing = pushing.max(carries);
        needed += pair.pull(carries);
    }
    let all = balance.weight + balance.carried;
    needed + h * (balance.weight * lifted + all * fastest.max(pushing)) + balance.momentum * pushing
}

/// How a body goes on where cloth pushes it no more than takes energy out of it: between no push and that which
/// its rigid step was told to expect.
fn let_go(unknown: &Unknown, [linear, angular]: [Vec3; 2], h: f64) -> [Vec3; 2] {
    let impulse = unknown.expected.map(|f| h * f);
    let mass = &unknown.mass;
    let answer = [mass.inv_mass * impulse[0], mass.inv_inertia * impulse[1]];
    let along = impulse[0].dot(linear) + impulse[1].dot(angular);
    let square = impulse[0].dot(answer[0]) + impulse[1].dot(answer[1]);
    let part = if square > 0.0 { (along / square).clamp(0.0, 1.0) } else { 0.0 };
    answer.map(|a| -part * a)
}

/// The way of a step, from cloth that has stopped to what was found.
struct Way {
    from: Motion,
    to: Motion,
    alter: Vec<Vec3>,
    kick: Vec<Vec3>,
    kick_bodies: Vec<[Vec3; 2]>,
}

impl Reined<'_> {
    /// Goes back along the way found to where its balance holds, at the farthest to cloth that has stopped; what
    /// the step is then, and whether even that balance holds.
    pub fn rein_in(
        &mut self,
        trial: &Trial,
        linear: &mut Linear,
        before: f64,
        owed: f64,
    ) -> (Balance, bool) {
        let way = Way {
            from: self.stopped(trial),
            to: Motion {
                particles: self.solution.u.clone(),
                bodies: self.solution.u_bodies.clone(),
            },
            alter: self.constraints.alter.clone(),
            kick: self.volumes.kick.clone(),
            kick_bodies: self.volumes.kick_bodies.clone(),
        };
        let mut velocities =
            way.to.particles.iter().map(vector).chain(way.to.bodies.iter().flatten().copied());
        let mut part = if velocities.all(|u| u.is_finite()) { 0.5 } else { 0.0 };
        for tries in 0.. {
            if tries == PARTS {
                part = 0.0;
            }
            self.go(trial, &way, part);
            let Reined { solids, contacts, constraints, volumes, solution } = &*self;
            let parts = Parts { solids, contacts, constraints, volumes, solution };
            let balance = Balance::of(trial, linear, before, &parts);
            if part == 0.0 || !balance.breaks(owed, true) {
                self.contacts.weaken(part);
                // nothing moves in cloth that has stopped but what moves by itself: that gave what there is more
                let made = if part > 0.0 { balance.made } else { balance.made.min(0.0) };
                return (Balance { made, ..balance }, balance.made.is_finite());
            }
            part *= 0.5;
        }
        (Balance::default(), false)
    }

    /// Goes this part of the way.
    fn go(&mut self, trial: &Trial, way: &Way, part: f64) {
        // what is infinite at the end of the way is nothing at its beginning
        let scaled = |v: Vec3| if part > 0.0 { part * v } else { Vec3::ZERO };
        let between = |from: Vec3, to: Vec3| if part > 0.0 { from.lerp(to, part) } else { from };
        let ways = way.from.particles.iter().zip(&way.to.particles);
        for (u, (from, to)) in self.solution.u.iter_mut().zip(ways) {
            *u = lane(between(vector(from), vector(to)));
        }
        let ways = way.from.bodies.iter().zip(&way.to.bodies);
        for (u, (from, to)) in self.solution.u_bodies.iter_mut().zip(ways) {
            *u = [0, 1].map(|k| between(from[k], to[k]));
        }
        let ways = self.constraints.alter.iter_mut().zip(&way.alter);
        ways.chain(self.volumes.kick.iter_mut().zip(&way.kick))
            .for_each(|(to, v)| *to = scaled(*v));
        for (to, v) in self.volumes.kick_bodies.iter_mut().zip(&way.kick_bodies) {
            *to = v.map(scaled);
        }
        self.solution.place(trial);
    }

    /// Velocities of cloth that stops at once but where it is pinned, and changes of those of bodies that it
    /// lets go.
    fn stopped(&self, trial: &Trial) -> Motion {
        let mut particles = vec![Vec3::ZERO; self.solution.u.len()];
        let holds = &self.constraints.filter;
        for (particle, pin) in &trial.sheet().pins {
            let i = *particle as usize;
            let Some(hold) = holds.held(i).map(|hold| &holds.holds[hold]) else { continue };
            if !matches!(pin, PinHold::Directions(_)) {
                particles[i] = hold.prescribed;
            }
        }
        let mut bodies = vec![[Vec3::ZERO; 2]; self.solids.unknowns.len()];
        for solid in self.solids.list.iter().filter(|s| s.unknown != NONE) {
            let k = solid.unknown as usize;
            let free = [solid.velocity.linear, solid.velocity.angular];
            bodies[k] = let_go(&self.solids.unknowns[k], free, trial.span.h);
        }
        for hold in holds.holds.iter().filter(|h| h.body != NONE) {
            let i = hold.particle as usize;
            if particles[i] != Vec3::ZERO {
                particles[i] += hold.follow(&bodies[hold.body as usize]);
            }
        }
        Motion { particles: particles.iter().map(|u| lane(*u)).collect(), bodies }
    }
}
