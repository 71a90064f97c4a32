//! Contact where neither simulator finds collisions: an agent outside does, over the surfaces that
//! both export [baraff1997 §4.1].
//!
//! Contact points come from the collision library at the beginning of the step. Impulses λ at them,
//! n upwards from b to a, obey at its end
//!
//!   0 ≤ λ_n ⊥ u_n + gap/h ≥ 0,   |λ_t| ≤ μ λ_n,   u = u(λ) the relative velocity at the point.
//!
//! u(λ) is what both simulators do when they are pushed. Its derivative is taken from the responses
//! of the handles; projected Gauss–Seidel solves the linearized problem, the simulators step, and
//! what they did instead corrects λ and, like a secant, the derivative: as many times as it takes,
//! once where they are free bodies. What stops an approach acts at the beginning of the step, what
//! carries a load acts throughout.

use crate::couple::component::{Component, Step, Unsettled};
use crate::couple::coupling::{Coupling, input};
use crate::couple::error::CoupleError;
use crate::couple::ledger::LedgerEntry;
use crate::couple::links::LinkKind;
use crate::couple::member::Member;
use crate::math::{Mat3, Pose, Vec3, tangents};
use crate::simulator::{ContactSurface, HandleResponse, Motion, Wrench};
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};

/// Sweeps of the linearized problem.
const SWEEPS: u32 = 200;
/// Overlap that stays, so that resting contacts persist, as a share of the smaller size.
const SLOP: f64 = 1e-3;
/// Fastest push out of an overlap, m/s.
const PUSH: f64 = 1.0;
/// Below this approach nothing bounces, m/s.
const BOUNCE: f64 = 0.2;

/// Two simulators whose surfaces are watched from outside.
pub(crate) struct Watched {
    /// Counted over all watched pairs of the coupling.
    pub number: usize,
    pub sides: [usize; 2],
    surfaces: [Vec<ContactSurface>; 2],
    kickable: [bool; 2],
    points: Vec<Point>,
}

/// A contact point and its impulse.
#[derive(Clone, Copy, Debug)]
struct Point {
    handles: [usize; 2],
    dynamic: [bool; 2],
    arms: [Vec3; 2],
    axes: [Vec3; 3],
    /// Least separation speed wanted at the end, m/s.
    wanted: f64,
    friction: f64,
    lambda: Vec3,
    /// Relative velocity after the last trial, in `axes`, and along the normal as foreseen.
    u: Vec3,
    foreseen: f64,
    /// Separation speed at the beginning, and at the end of a step without pushing, m/s.
    approach: f64,
    free: Option<f64>,
    /// How much of the answer that the handles promise is seen.
    seen: f64,
    response: [Option<(f64, Mat3)>; 2],
    starts: [Motion; 2],
    ends: [Motion; 2],
}

impl Coupling {
    /// Watches the surfaces of two simulators and keeps them apart, for simulators that find no
    /// collisions themselves.
    pub fn watch(&mut self, a: usize, b: usize) -> Result<(), CoupleError> {
        let count = self.members.len();
        if a >= count || b >= count || a == b {
            let problem = format!("{a} and {b} are not two of the {count} simulators");
            return Err(input("simulator", problem));
        }
        let sides = [a, b];
        self.check_mixture((LinkKind::Watch, true), sides)?;
        let mut watches = self.components.iter().flat_map(|component| &component.watches);
        if watches.any(|w| w.sides == [a, b] || w.sides == [b, a]) {
            // each pair would take the whole of every push on itself
            let [a, b] = sides.map(|i| &self.members[i].name);
            return Err(input("simulator", format!("`{a}` and `{b}` are watched already")));
        }
        let mut watched = Watched {
            number: self.components.iter().map(|c| c.watches.len()).sum(),
            sides,
            surfaces: Default::default(),
            kickable: [true; 2],
            points: Vec::new(),
        };
        for (side, member) in sides.into_iter().enumerate() {
            let member = &mut self.members[member];
            let surfaces = member.surfaces()?;
            member.save()?;
            for surface in surfaces.iter().filter(|s| s.dynamic) {
                member.watch(surface.handle);
                let handle = surface.handle;
                let can = member.ask("kick", |s| s.kick(handle, Wrench::ZERO))?;
                watched.kickable[side] &= can;
            }
            member.save()?;
            if surfaces.is_empty() {
                let problem = format!("`{}` exports no surfaces", member.name);
                return Err(input("simulator", problem));
            }
            watched.surfaces[side] = surfaces;
        }
        self.connect(sides).watches.push(watched);
        Ok(())
    }
}

impl Component {
    /// Finds where watched surfaces come near.
    pub fn begin_watches(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.watches.iter_mut().try_for_each(|watched| watched.find(step.members, step.dt))
    }

    /// A step in which watched surfaces are kept apart.
    pub fn keep_apart(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let mut start = None;
        for exchange in 0..step.settings.evaluations {
            self.solve(step, Some(LinkKind::Watch))?;
            step.report.exchanges = exchange + 1;
            let mut worst = (0.0_f64, 1e-3_f64);
            for watched in &mut self.watches {
                let (error, speed) = watched.read(step.members)?;
                worst = (worst.0.max(error), worst.1.max(speed));
            }
            step.report.residual = worst.0;
            let first = *start.get_or_insert(worst.0.max(worst.1));
            if worst.0.is_nan() || worst.0 > 10.0 * first {
                let between = self.watches[0].sides.map(|side| step.name(side)).into();
                let (growth, residual) = (worst.0 / first, worst.0);
                let method = step.settings.method;
                return Err(CoupleError::Diverged { between, growth, residual, method });
            }
            let wanted = step.settings.contact_tolerance * worst.1;
            if worst.0 <= wanted {
                step.loose_contact = None;
                break;
            }
            let Watched { number, sides: between, .. } = self.watches[0];
            let (kind, residual) = (LinkKind::Watch, worst.0);
            step.loose_contact = Some(Unsettled { kind, number, between, residual, wanted });
            if exchange + 1 < step.settings.evaluations {
                self.watches.iter_mut().for_each(Watched::solve);
            }
        }
        Ok(())
    }

    /// Gives a member what watched contacts push it with.
    pub fn push_watched(&self, step: &mut Step<'_>, member: usize) {
        let number = member;
        for watched in &self.watches {
            for side in (0..2).filter(|&s| watched.sides[s] == member) {
                for point in watched.points.iter().filter(|p| p.dynamic[side]) {
                    let impulse = point.impulse(side);
                    if impulse == Wrench::ZERO {
                        continue;
                    }
                    let member = &mut step.members[member];
                    let mut early = if watched.kickable[side] { point.early() } else { 0.0 };
                    if self.holds_handle(number, point.handles[side]) {
                        // at once only what stops the handle itself: what is tied to it is held steadily
                        let own = point.wanted - point.approach;
                        let share = own / (point.lambda.x * point.give(point.axes[0]));
                        early = early.min(if share.is_finite() { share.max(0.0) } else { 0.0 });
                    }
                    if early > 0.0 {
                        member.kicks.push((point.handles[side], impulse.scaled(early)));
                    }
                    if early < 1.0 {
                        let steady = impulse.scaled((1.0 - early) / step.dt);
                        member.pushes.push((point.handles[side], steady));
                    }
                }
            }
        }
    }
}

impl Watched {
    /// Contact points at the beginning of the step.
    fn find(&mut self, members: &mut [Member], dt: f64) -> Result<(), CoupleError> {
        self.points.clear();
        let mut motions: [Vec<Motion>; 2] = Default::default();
        for side in 0..2 {
            for surface in &self.surfaces[side] {
                motions[side].push(members[self.sides[side]].read(surface.handle)?);
            }
        }
        for i in 0..self.surfaces[0].len() {
            for j in 0..self.surfaces[1].len() {
                self.find_pair((i, j), (&motions[0][i], &motions[1][j]), dt);
            }
        }
        for k in 0..self.points.len() {
            for side in 0..2 {
                if !self.points[k].dynamic[side] {
                    continue;
                }
                let handle = self.points[k].handles[side];
                let HandleResponse { mass, inertia, .. } =
                    members[self.sides[side]].response(handle, dt)?;
                let turns = inertia != Mat3::ZERO && mass.is_finite();
                let spin = if turns { inertia.inverse() } else { Mat3::ZERO };
                self.points[k].response[side] = Some((1.0 / mass, spin));
            }
        }
        Ok(())
    }

    fn find_pair(&mut self, (i, j): (usize, usize), motions: (&Motion, &Motion), dt: f64) {
        let (a, b) = (&self.surfaces[0][i], &self.surfaces[1][j]);
        if !(a.dynamic || b.dynamic) {
            return;
        }
        let (ma, mb) = motions;
        let speed = |m: &Motion, s: &ContactSurface| {
            let radius = s.shape.outer_radius();
            let spin = m.velocity.angular.length();
            m.velocity.linear.length() + if spin > 0.0 { spin * radius } else { 0.0 }
        };
        let size = a.shape.inner_radius().min(b.shape.inner_radius());
        let slop = SLOP * size;
        let reach = dt * (speed(ma, a) + speed(mb, b)) + 2.0 * slop;
        let (pa, pb) = (pose(ma, a), pose(mb, b));
        let near = a.shape.aabb(&pa).loosened(reach).intersects(&b.shape.aabb(&pb));
        if !near {
            return;
        }
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        let found = DefaultQueryDispatcher.contact_manifolds(
            &pa.inv_mul(&pb),
            &**a.shape.parry(),
            &**b.shape.parry(),
            reach,
            &mut manifolds,
            &mut None,
        );
        if found.is_err() {
            return;
        }
        let (m, n) = (&a.material, &b.material);
        let friction = m.friction_combine.apply(m.friction, n.friction_combine, n.friction);
        let bounce =
            m.restitution_combine.apply(m.restitution, n.restitution_combine, n.restitution);
        for manifold in &manifolds {
            let first = manifold.subshape_pos1().map_or(pa, |local| pa * *local);
            let second = manifold.subshape_pos2().map_or(pb, |local| pb * *local);
            // out of a, so that a is pushed against it
            let normal = -(first.rotation * manifold.local_n1);
            let (s, t) = tangents(normal);
            for contact in &manifold.points {
                let (p, q) = (first * contact.local_p1, second * contact.local_p2);
                let at = 0.5 * (p + q);
                let arms = [at - ma.position, at - mb.position];
                let velocity =
                    |m: &Motion, r: Vec3| m.velocity.linear + m.velocity.angular.cross(r);
                let approach = (velocity(ma, arms[0]) - velocity(mb, arms[1])).dot(normal);
                let gap = contact.dist + slop;
                let mut wanted = (-gap / dt).min(PUSH);
                if approach < -BOUNCE && contact.dist + dt * approach < 0.0 {
                    wanted = wanted.max(-bounce * approach - gap.max(0.0) / dt);
                }
                self.points.push(Point {
                    handles: [a.handle, b.handle],
                    dynamic: [a.dynamic, b.dynamic],
                    arms,
                    axes: [normal, s, t],
                    wanted,
                    friction,
                    lambda: Vec3::ZERO,
                    u: Vec3::ZERO,
                    foreseen: 0.0,
                    approach,
                    free: None,
                    seen: 1.0,
                    response: [None; 2],
                    starts: [*ma, *mb],
                    ends: [*ma, *mb],
                });
            }
        }
    }

    /// Reads the relative velocities after a trial; returns the largest violation of the contact
    /// conditions, and the speed that it is to be compared with.
    fn read(&mut self, members: &mut [Member]) -> Result<(f64, f64), CoupleError> {
        let mut worst = (0.0_f64, 0.0_f64);
        for point in &mut self.points {
            for side in 0..2 {
                point.ends[side] = members[self.sides[side]].read(point.handles[side])?;
            }
            let at = |side: usize| {
                let v = &point.ends[side].velocity;
                v.linear + v.angular.cross(point.arms[side])
            };
            let u = at(0) - at(1);
            let old = point.u.x;
            point.u = Vec3::from_array(point.axes.map(|axis| u.dot(axis)));
            match point.free {
                None => point.free = Some(point.u.x),
                Some(_) => {
                    let share = (point.u.x - old) / (point.foreseen - old);
                    if share.is_finite() {
                        // little by little: points of one body answer for each other
                        point.seen = (point.seen * share.clamp(0.5, 2.0)).clamp(0.1, 1.0);
                    }
                }
            }
            let over = point.u.x - point.wanted;
            let error = if point.lambda.x > 0.0 { over.abs() } else { (-over).max(0.0) };
            // and the change of speed that the contact makes
            let change = point.lambda.length() * point.give(point.axes[0]);
            let speed = u.length().max(point.wanted.abs()).max(change);
            worst = (worst.0.max(error), worst.1.max(speed));
        }
        Ok(worst)
    }

    /// Impulses for a step that cannot be tried: against the velocities at its beginning, at once where handles
    /// can be kicked.
    pub fn solve_ahead(&mut self) {
        for point in &mut self.points {
            let at = |side: usize| {
                let v = &point.starts[side].velocity;
                v.linear + v.angular.cross(point.arms[side])
            };
            let u = at(0) - at(1);
            point.u = Vec3::from_array(point.axes.map(|axis| u.dot(axis)));
            point.free = Some(point.approach);
        }
        self.solve();
    }

    /// Reads where handles are after a step.
    pub fn read_ends(&mut self, members: &mut [Member]) -> Result<(), CoupleError> {
        for point in &mut self.points {
            for side in 0..2 {
                point.ends[side] = members[self.sides[side]].read(point.handles[side])?;
            }
        }
        Ok(())
    }

    /// Projected Gauss–Seidel on the problem linearized at the last trial.
    fn solve(&mut self) {
        let mut change: Vec<[[Vec3; 2]; 2]> = vec![[[Vec3::ZERO; 2]; 2]; self.points.len()];
        for _ in 0..SWEEPS {
            let mut moved: f64 = 0.0;
            for k in 0..self.points.len() {
                let point = self.points[k];
                let u = self.foresee(k, &change);
                let give = |axis: usize| point.seen * point.give(point.axes[axis]);
                let mut lambda = point.lambda;
                lambda.x = (lambda.x - (u.x - point.wanted) / give(0)).max(0.0);
                let bound = point.friction * lambda.x;
                let mut slide = [lambda.y - u.y / give(1), lambda.z - u.z / give(2)];
                let size = (slide[0] * slide[0] + slide[1] * slide[1]).sqrt();
                if size > bound {
                    slide = slide.map(|s| s * bound / size);
                }
                (lambda.y, lambda.z) = (slide[0], slide[1]);
                if !lambda.is_finite() {
                    continue;
                }
                let step = lambda - point.lambda;
                moved = moved.max(step.length() * give(0));
                self.points[k].lambda = lambda;
                for (side, change) in change[k].iter_mut().enumerate() {
                    let [dv, dw] = self.points[k].moves(side, step);
                    change[0] += dv;
                    change[1] += dw;
                }
            }
            if moved < 1e-9 {
                break;
            }
        }
        for k in 0..self.points.len() {
            self.points[k].foreseen = self.foresee(k, &change).x;
        }
    }

    /// Relative velocity at a point after the changes that all points have made to its handles.
    fn foresee(&self, k: usize, change: &[[[Vec3; 2]; 2]]) -> Vec3 {
        let point = &self.points[k];
        let mut u = point.u;
        for side in 0..2 {
            let mut sum = [Vec3::ZERO; 2];
            for (other, change) in self.points.iter().zip(change) {
                if other.handles[side] == point.handles[side] {
                    sum[0] += change[side][0];
                    sum[1] += change[side][1];
                }
            }
            let v = sum[0] + sum[1].cross(point.arms[side]);
            let sign = if side == 0 { point.seen } else { -point.seen };
            u += sign * Vec3::from_array(point.axes.map(|axis| v.dot(axis)));
        }
        u
    }

    /// Handles of a side that are pushed.
    pub fn handles(&self, side: usize) -> Vec<usize> {
        self.points.iter().filter(|p| p.dynamic[side]).map(|p| p.handles[side]).collect()
    }

    /// What crossed in the step.
    pub fn entry(&self, dt: f64) -> LedgerEntry {
        let mut entry = LedgerEntry { between: self.sides, ..LedgerEntry::default() };
        for point in &self.points {
            for side in 0..2 {
                let impulse = point.impulse(side);
                entry.book(side, impulse, &point.starts[side], &point.ends[side], dt);
            }
        }
        entry
    }
}

impl Point {
    fn world(&self, lambda: Vec3) -> Vec3 {
        lambda.x * self.axes[0] + lambda.y * self.axes[1] + lambda.z * self.axes[2]
    }

    /// How much of the impulse stops an approach that was there at the beginning.
    fn early(&self) -> f64 {
        let share = (self.wanted - self.approach) / (self.wanted - self.free.unwrap_or(0.0));
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Impulse on a handle.
    fn impulse(&self, side: usize) -> Wrench {
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let force = sign * self.world(self.lambda);
        Wrench { force, torque: self.arms[side].cross(force) }
    }

    /// How a handle answers a change of λ.
    fn moves(&self, side: usize, step: Vec3) -> [Vec3; 2] {
        let Some((mobility, spin)) = self.response[side] else { return [Vec3::ZERO; 2] };
        let force = if side == 0 { self.world(step) } else { -self.world(step) };
        [mobility * force, spin * self.arms[side].cross(force)]
    }

    /// Change of the relative velocity along an axis by a unit impulse along it.
    fn give(&self, axis: Vec3) -> f64 {
        let of = |side: usize| {
            self.response[side].map_or(0.0, |(mobility, spin)| {
                let turn = self.arms[side].cross(axis);
                mobility + turn.dot(spin * turn)
            })
        };
        of(0) + of(1)
    }
}

/// Pose of a surface's own axes.
fn pose(motion: &Motion, surface: &ContactSurface) -> Pose {
    let center = motion.rotation * surface.center;
    Pose::from_parts(motion.position - center, motion.rotation)
}
