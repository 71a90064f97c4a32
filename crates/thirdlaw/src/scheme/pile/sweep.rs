//! One pass over bundles: the rows of [`crate::contact`], with friction for a whole contact.
//!
//! A point's normal impulse takes z ← max(0, z − (w + b + Γz)/(N + Γ)), with w = J v. Overlaps are pushed
//! apart by the spring of [`crate::scheme::rebound`], Γ = sN; all terms are kept over N, so that
//! z ← max(0, z − (w/N + b/N + sz)/(1 + s)). Friction acts in the middle of the points: two tangents
//! together within the disc of radius μ Σz, as [`crate::contact`] has them for each point, and a
//! torque about the normal within μ ρ Σz, ρ the mean distance of the points from their middle.
//!
//! Differences of linear velocities are formed in double precision, and what a contact did to its two
//! bodies is added to their velocities in double precision with the same impulse: momentum keeps
//! its digits. Angular velocities are rounded on the way.

// a side or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, Line, Padded, Points};
use super::patience::Outcome;
use super::share::Shared;
use super::vector::{LANES, Quad, Vector, Wide, Wide3, cross, dot, load};

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Gives the bodies the impulses there are.
    Warm,
    /// The first iteration of a substep: where the points are now, and what they want.
    Place,
    /// Another iteration with overlaps pushed apart.
    Push,
    /// An iteration without.
    Relax,
    /// The last of these, which says what it still had to change.
    Last,
}

/// The numbers of a pass that are the same for all contacts.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    /// 1/h.
    pub inv_h: f32,
    /// b of an overlap of one metre, 1/s.
    pub rate: f32,
    /// s.
    pub softness: f32,
    /// Overlap left alone, m.
    pub slop: f32,
    /// Most of b, m/s.
    pub speed: f32,
    /// Most that the spring gives way at rest, m.
    pub sag: f32,
}

/// Velocities, ways since the step began, and inverse masses, by lines.
pub struct Bodies<'a> {
    pub velocity: &'a Shared<'a, Line>,
    pub moved: &'a Shared<'a, Line>,
    pub inv_mass: &'a [Padded],
}

/// Some bundles of a colour, and what belongs to them.
pub struct Part<'a> {
    pub bundles: &'a mut [Bundle],
    /// Their records of points, from number `base` on.
    pub points: &'a mut [Points],
    pub base: usize,
    /// One for each bundle where there is patience: only contacts that are open there take part, and each
    /// is told the change it asked for.
    pub outcomes: Option<&'a mut [Outcome]>,
}

/// One pass over a part of a colour. The last returns the largest change that a normal impulse asked for,
/// m/s.
///
/// # Safety
/// The bundles name lines and masses that there are; nobody else reads or changes the velocity lines of
/// bodies that move in these bundles, nor changes any other line they name.
pub unsafe fn sweep(pass: Pass, part: Part, bodies: &Bodies, spring: &Spring) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for; the rest is the caller's
        return unsafe { sweep_avx2(pass, part, bodies, spring) };
    }
    // SAFETY: the caller's
    unsafe { sweep_as::<Wide>(pass, part, bodies, spring) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sweep_avx2(pass: Pass, part: Part, bodies: &Bodies, spring: &Spring) -> f32 {
    unsafe { sweep_as::<super::vector::avx2::Register>(pass, part, bodies, spring) }
}

/// The same with one kind of vectors.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn sweep_as<V: Vector>(pass: Pass, part: Part, bodies: &Bodies, spring: &Spring) -> f32 {
    // SAFETY: the caller's
    unsafe {
        match part.outcomes {
            None => sweep_with::<V, false>(pass, part, bodies, spring),
            Some(_) => sweep_with::<V, true>(pass, part, bodies, spring),
        }
    }
}

/// The same, with or without patience.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn sweep_with<V: Vector, const PATIENT: bool>(
    pass: Pass,
    Part { bundles, points, base, outcomes }: Part,
    bodies: &Bodies,
    spring: &Spring,
) -> f32 {
    let outcomes = outcomes.unwrap_or_default();
    let mut met = V::splat(0.0);
    for (i, bundle) in bundles.iter_mut().enumerate() {
        if PATIENT && outcomes[i].is_done() {
            continue;
        }
        let start = bundle.start as usize - base;
        let points = &mut points[start..start + bundle.count as usize];
        // SAFETY: the caller's
        let mut sides = unsafe { Sides::<V, PATIENT>::gather(bundle, bodies) };
        if PATIENT {
            sides.open = V::load(&outcomes[i].open);
        }
        match pass {
            Pass::Warm => sides.warm(bundle, points),
            Pass::Place => {
                // SAFETY: the caller's; ways change in no pass
                unsafe { place::<V>(bundle, points, bodies, spring) };
                sides.friction(bundle, points);
                sides.normals(Row::Push, bundle, points, spring);
            }
            Pass::Push => {
                sides.friction(bundle, points);
                sides.normals(Row::Push, bundle, points, spring);
            }
            Pass::Relax => {
                sides.friction(bundle, points);
                sides.normals(Row::Relax, bundle, points, spring);
            }
            Pass::Last => {
                sides.friction(bundle, points);
                met = met.max(sides.normals(Row::Last, bundle, points, spring));
            }
        }
        if PATIENT {
            sides.error.store(&mut outcomes[i].error);
        }
        // SAFETY: the caller's
        unsafe { sides.scatter(bundle, bodies) };
    }
    let mut out = Wide::default();
    met.store(&mut out);
    out.0.into_iter().fold(0.0, f32::max)
}

/// What a pass wants of normal impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// Overlaps pushed apart.
    Push,
    /// No closing.
    Relax,
    /// No closing, and to be told what was left.
    Last,
}

/// What the points of a bundle tell each other.
struct Changes<'a, V, const N: usize> {
    row: Row,
    bundle: &'a Bundle,
    spring: &'a Spring,
    /// w/N of each.
    closing: [V; N],
    /// Of impulses.
    sum: V,
    /// Largest, m/s, in the last pass.
    met: V,
}

/// What a bundle sees of its bodies.
struct Sides<V, const PATIENT: bool> {
    /// v_b − v_a.
    relative: [V; 3],
    angular: [[V; 3]; 2],
    /// Impulse on b so far, and what impulses did to the turning of both.
    push: [V; 3],
    turn: [[V; 3]; 2],
    /// As in [`Outcome`], where there is patience.
    open: V,
    error: V,
}

#[inline(always)]
fn add<V: Vector>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn sub<V: Vector>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn scaled<V: Vector>(a: [V; 3], k: V) -> [V; 3] {
    [a[0] * k, a[1] * k, a[2] * k]
}

type Addresses = [*mut Line; LANES];

/// Where the lines of one side lie.
///
/// # Safety
/// The bundle names lines that there are.
#[inline(always)]
unsafe fn lines(of: &Shared<Line>, bundle: &Bundle, side: usize) -> Addresses {
    let mut out = [std::ptr::null_mut(); LANES];
    for (out, &line) in out.iter_mut().zip(&bundle.body[side]) {
        // SAFETY: the caller's
        *out = unsafe { of.start().add(line as usize) };
    }
    out
}

macro_rules! part {
    ($name:ident, $field:ident, $raw:tt, $pointer:ty) => {
        /// # Safety
        /// The lines are there.
        #[inline(always)]
        unsafe fn $name(lines: Addresses) -> [$pointer; LANES] {
            let mut out = [std::ptr::null_mut::<Quad>() as $pointer; LANES];
            for (out, &line) in out.iter_mut().zip(&lines) {
                // SAFETY: the caller's
                *out = unsafe { &raw $raw (*line).$field };
            }
            out
        }
    };
}
part!(linear, linear, const, *const Quad);
part!(angular, angular, const, *const Quad);
part!(linear_mut, linear, mut, *mut Quad);
part!(angular_mut, angular, mut, *mut Quad);

impl<V: Vector, const PATIENT: bool> Sides<V, PATIENT> {
    #[inline(always)]
    unsafe fn gather(bundle: &Bundle, bodies: &Bodies) -> Self {
        // SAFETY: the caller's
        unsafe {
            let [a, b] = [lines(bodies.velocity, bundle, 0), lines(bodies.velocity, bundle, 1)];
            Sides {
                relative: V::read_difference(linear(b), linear(a)),
                angular: [V::read(angular(a)), V::read(angular(b))],
                push: [V::splat(0.0); 3],
                turn: [[V::splat(0.0); 3]; 2],
                open: V::splat(1.0),
                error: V::splat(0.0),
            }
        }
    }

    /// The next impulse, where the contact takes part.
    #[inline(always)]
    fn if_open(&self, next: V, now: V) -> V {
        if PATIENT { self.open.select_le(V::splat(0.0), now, next) } else { next }
    }

    /// Notes a change of impulse by the change of velocity it makes, m/s.
    #[inline(always)]
    fn note(&mut self, change: V, inverse: V) {
        if PATIENT {
            let zero = V::splat(0.0);
            let speed = change.max(zero - change) / inverse;
            self.error = self.error.max(inverse.select_le(zero, zero, speed));
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, bundle: &Bundle, bodies: &Bodies) {
        let zero = V::splat(0.0);
        let pushes = [sub([zero; 3], self.push), self.push];
        for side in 0..2 {
            let moves = bundle.moves[side];
            // SAFETY: the caller's; every body has a mass
            unsafe {
                let lines = lines(bodies.velocity, bundle, side);
                let mut masses = [std::ptr::null(); LANES];
                for (out, &line) in masses.iter_mut().zip(&bundle.body[side]) {
                    *out = &raw const bodies.inv_mass.get_unchecked(line as usize).0;
                }
                V::add_scaled_to(pushes[side], masses, linear_mut(lines), moves);
                V::add_to(self.turn[side], angular_mut(lines), moves);
            }
        }
    }

    /// One iteration for the normal impulses, point after point. What the impulse of a point does to the
    /// points behind it is known beforehand (`coupling`), so that the bodies need not be asked between them.
    /// Returns the largest change asked for, m/s, of the last pass.
    #[inline(always)]
    fn normals(&mut self, row: Row, bundle: &Bundle, points: &mut [Points], spring: &Spring) -> V {
        match points.len() {
            1 => self.normals_of::<1>(row, bundle, points, spring),
            2 => self.normals_of::<2>(row, bundle, points, spring),
            3 => self.normals_of::<3>(row, bundle, points, spring),
            _ => self.normals_of::<4>(row, bundle, points, spring),
        }
    }

    #[inline(always)]
    fn normals_of<const N: usize>(
        &mut self,
        row: Row,
        bundle: &Bundle,
        points: &mut [Points],
        spring: &Spring,
    ) -> V {
        let zero = V::splat(0.0);
        let Some(points) = points.first_chunk_mut::<N>() else { return zero };
        let normal = load::<V>(&bundle.normal);
        let along = dot(normal, self.relative);
        // w/N
        let mut closing = [zero; N];
        for (w, point) in closing.iter_mut().zip(&*points) {
            let [a, b] = [load(&point.arm[0]), load(&point.arm[1])];
            let turning = dot(b, self.angular[1]) - dot(a, self.angular[0]);
            *w = (along + turning) * V::load(&point.inverse);
        }
        // by hand, as compilers leave loops over registers in memory
        let mut done = Changes { row, bundle, spring, closing, sum: zero, met: zero };
        self.point::<N, 0>(points, &mut done);
        self.point::<N, 1>(points, &mut done);
        self.point::<N, 2>(points, &mut done);
        self.point::<N, 3>(points, &mut done);
        self.push = add(self.push, scaled(normal, done.sum));
        done.met
    }

    /// Point `K`, if there is one.
    #[inline(always)]
    fn point<const N: usize, const K: usize>(
        &mut self,
        points: &mut [Points; N],
        changes: &mut Changes<V, N>,
    ) {
        if K >= N {
            return;
        }
        let (point, zero) = (&mut points[K], V::splat(0.0));
        let change = self.normal(changes.row, point, changes.closing[K], changes.spring);
        for j in [1, 2, 3] {
            if K < j && j < N {
                let coupling = V::load(&changes.bundle.coupling[j * (j - 1) / 2 + K]);
                changes.closing[j] = changes.closing[j] + coupling * change;
            }
        }
        if changes.row == Row::Last {
            let inverse = V::load(&point.inverse);
            let error = change.max(zero - change) / inverse;
            changes.met = changes.met.max(inverse.select_le(zero, zero, error));
        }
        changes.sum = changes.sum + change;
        self.turn[0] = sub(self.turn[0], scaled(load(&point.arm[0]), change));
        self.turn[1] = add(self.turn[1], scaled(load(&point.arm[1]), change));
    }

    /// The next normal impulse of a point with w/N; returns its change.
    #[inline(always)]
    fn normal(&mut self, row: Row, point: &mut Points, closing: V, spring: &Spring) -> V {
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let (now, wanted) = (V::load(&point.impulse), V::load(&point.push));
        let next = match row {
            Row::Push => {
                let soft = wanted.select_le(zero, V::splat(spring.softness), zero);
                let share = V::splat(1.0 / (1.0 + spring.softness));
                let scale = wanted.select_le(zero, share, one);
                now - scale * (closing + (wanted + soft * now))
            }
            // what an open point wants is its room
            Row::Relax | Row::Last => (now - wanted.max(zero)) - closing,
        };
        let next = self.if_open(next.max(zero), now);
        next.store(&mut point.impulse);
        let change = next - now;
        self.note(change, V::load(&point.inverse));
        change
    }

    #[inline(always)]
    fn friction(&mut self, bundle: &mut Bundle, points: &[Points]) {
        let zero = V::splat(0.0);
        let normal = load::<V>(&bundle.normal);
        let t = load::<V>(&bundle.tangent);
        let u = cross(normal, t);
        let mut load_sum = zero;
        for point in points {
            load_sum = load_sum + V::load(&point.impulse);
        }
        let limit = V::load(&bundle.coefficient) * load_sum;
        let [z1, z2, z3] = load::<V>(&bundle.friction);

        let [ya, yb] = self.angular;
        let [a, b] = [&bundle.turn[0], &bundle.turn[1]];
        let w1 = dot(t, self.relative) + (dot(load(&b[0]), yb) - dot(load(&a[0]), ya));
        let w2 = dot(u, self.relative) + (dot(load(&b[1]), yb) - dot(load(&a[1]), ya));
        let w3 = dot(load(&b[2]), yb) - dot(load(&a[2]), ya);

        let [p, q, r] = load::<V>(&bundle.stick);
        let mut next1 = z1 - (p * w1 + q * w2);
        let mut next2 = z2 - (q * w1 + r * w2);
        let (size, square) = (next1 * next1 + next2 * next2, limit * limit);
        // the root and the quotient are long to wait for, and most contacts at rest stick
        if !size.all_le(square) {
            let k = V::load(&bundle.slide);
            let slid = [z1 - k * w1, z2 - k * w2];
            let length = (slid[0] * slid[0] + slid[1] * slid[1]).sqrt();
            let shrink = length.select_le(limit, V::splat(1.0), limit / length);
            next1 = size.select_le(square, next1, slid[0] * shrink);
            next2 = size.select_le(square, next2, slid[1] * shrink);
        }
        let most = limit * V::load(&bundle.radius);
        let next3 = (z3 - V::load(&bundle.twist) * w3).max(zero - most).min(most);
        let [next1, next2, next3] =
            [self.if_open(next1, z1), self.if_open(next2, z2), self.if_open(next3, z3)];
        next1.store(&mut bundle.friction[0]);
        next2.store(&mut bundle.friction[1]);
        next3.store(&mut bundle.friction[2]);

        let change = [next1 - z1, next2 - z2, next3 - z3];
        if PATIENT {
            let slide = V::load(&bundle.slide);
            self.note(change[0], slide);
            self.note(change[1], slide);
        }
        self.push = add(scaled(t, change[0]), scaled(u, change[1]));
        let [a, b] = [turned(&bundle.turn[0], change), turned(&bundle.turn[1], change)];
        self.turn = [sub([zero; 3], a), b];
        let mass = load::<V>(&bundle.mass);
        for x in 0..3 {
            self.relative[x] = self.relative[x] + mass[x] * self.push[x];
        }
        self.angular = [sub(self.angular[0], a), add(self.angular[1], b)];
    }

    #[inline(always)]
    fn warm(&mut self, bundle: &Bundle, points: &[Points]) {
        let normal = load::<V>(&bundle.normal);
        let t = load::<V>(&bundle.tangent);
        let [z1, z2, z3] = load::<V>(&bundle.friction);
        let push = add(scaled(t, z1), scaled(cross(normal, t), z2));
        let z = [z1, z2, z3];
        let [mut a, mut b] = [turned(&bundle.turn[0], z), turned(&bundle.turn[1], z)];
        let (zero, mut sum) = (V::splat(0.0), V::splat(0.0));
        for point in points {
            let z = V::load(&point.impulse);
            sum = sum + z;
            a = add(a, scaled(load(&point.arm[0]), z));
            b = add(b, scaled(load(&point.arm[1]), z));
        }
        self.push = add(push, scaled(normal, sum));
        self.turn = [sub([zero; 3], a), b];
    }
}

/// What the three impulses of friction do to the turning of a side.
#[inline(always)]
fn turned<V: Vector>(turn: &[Wide3; 3], [z1, z2, z3]: [V; 3]) -> [V; 3] {
    let [t, u, n] = [load::<V>(&turn[0]), load::<V>(&turn[1]), load::<V>(&turn[2])];
    add(add(scaled(t, z1), scaled(u, z2)), scaled(n, z3))
}

/// Where the points are after what bodies have moved so far, and what they want.
#[inline(always)]
unsafe fn place<V: Vector>(
    bundle: &Bundle,
    points: &mut [Points],
    bodies: &Bodies,
    spring: &Spring,
) {
    // SAFETY: the caller's
    let (way, turn) = unsafe {
        let [a, b] = [lines(bodies.moved, bundle, 0), lines(bodies.moved, bundle, 1)];
        (V::read_difference(linear(b), linear(a)), [V::read(angular(a)), V::read(angular(b))])
    };
    let apart = dot(load(&bundle.normal), way);
    let (zero, inv_h, rate) = (V::splat(0.0), V::splat(spring.inv_h), V::splat(spring.rate));
    let (slop, speed) = (V::splat(spring.slop), V::splat(spring.speed));
    let softness = V::splat(spring.softness);
    let held = V::splat(spring.rate * spring.sag);
    for point in points {
        let turned = dot(load(&point.arm[1]), turn[1]) - dot(load(&point.arm[0]), turn[0]);
        let gap = V::load(&point.gap_start) + apart + turned;
        let inverse = V::load(&point.inverse);
        // a load that would press the spring farther than the sag allowed is carried by b
        let excess = (softness * V::load(&point.impulse) - held * inverse).max(zero);
        let push = (rate * (gap + slop).min(zero)).max(zero - speed) * inverse - excess;
        gap.select_le(zero, push, gap * inv_h * inverse).store(&mut point.push);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: [Pass; 5] = [Pass::Warm, Pass::Place, Pass::Push, Pass::Relax, Pass::Last];

    /// Numbers between −1 and 1 that look random.
    fn numbers(seed: u32) -> impl FnMut() -> f32 {
        let mut x = seed;
        move || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 8) as f32 / (1 << 23) as f32 - 1.0
        }
    }

    fn fill(wide: &mut Wide, mut f: impl FnMut() -> f32) {
        wide.0.iter_mut().for_each(|x| *x = f());
    }

    type Setup = (Bundle, Vec<Points>, Vec<Line>, Vec<Line>, Vec<Padded>);

    fn setup() -> Setup {
        let mut f = numbers(7);
        let mut bundle = Bundle { count: 4, moves: [0xFF, 0b1011_0111], ..Bundle::default() };
        for lane in 0..LANES {
            bundle.body[0][lane] = 1 + lane as u32;
            bundle.body[1][lane] = 9 + lane as u32;
        }
        let wide3 = [&mut bundle.normal, &mut bundle.tangent, &mut bundle.friction];
        wide3.into_iter().flatten().for_each(|w| fill(w, &mut f));
        bundle.turn.iter_mut().flatten().flatten().for_each(|w| fill(w, &mut f));
        bundle.mass.iter_mut().chain(&mut bundle.stick).for_each(|w| fill(w, || 0.3 * f().abs()));
        for w in [&mut bundle.slide, &mut bundle.twist, &mut bundle.coefficient] {
            fill(w, || f().abs());
        }
        let mut points = vec![Points::default(); 4];
        for p in &mut points {
            p.arm.iter_mut().flatten().for_each(|w| fill(w, &mut f));
            [&mut p.inverse, &mut p.impulse].into_iter().for_each(|w| fill(w, || f().abs()));
            fill(&mut p.gap_start, || 0.01 * f());
        }
        let mut line = || {
            let mut v = || crate::math::Vec3::new(f().into(), f().into(), f().into());
            Line::new(v(), v())
        };
        let lines: Vec<Line> = (0..17).map(|_| line()).collect();
        let moved: Vec<Line> = (0..17).map(|_| line()).collect();
        let masses = vec![Padded([0.5, 0.25, 1.0, 0.0]); 17];
        (bundle, points, lines, moved, masses)
    }

    const SPRING: Spring =
        Spring { inv_h: 480.0, rate: 90.0, softness: 0.1, slop: 1e-4, speed: 3.0, sag: 1e-3 };

    /// All passes, by vectors of the machine or by portable ones: impulses and velocities after them.
    fn passes(portable: bool, patient: bool) -> (Vec<u32>, Vec<u64>) {
        let (mut bundle, mut points, mut lines, mut moved, masses) = setup();
        let bundles = std::slice::from_mut(&mut bundle);
        {
            let (velocity, moved) = (Shared::new(&mut lines), Shared::new(&mut moved));
            let bodies = Bodies { velocity: &velocity, moved: &moved, inv_mass: &masses };
            let open = Wide([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
            let mut outcome = Outcome { open, ..Outcome::default() };
            for pass in PASSES {
                let outcomes = patient.then_some(std::slice::from_mut(&mut outcome));
                let part = Part { bundles, points: &mut points, base: 0, outcomes };
                // SAFETY: one thread, and lines for all bodies
                unsafe {
                    if portable {
                        sweep_as::<Wide>(pass, part, &bodies, &SPRING);
                    } else {
                        sweep(pass, part, &bodies, &SPRING);
                    }
                }
            }
        }
        let impulses = points.iter().flat_map(|p| p.impulse.0).chain(bundle.friction[0].0);
        let velocities = lines.iter().flat_map(|l| l.linear.into_iter().chain(l.angular));
        (impulses.map(f32::to_bits).collect(), velocities.map(f64::to_bits).collect())
    }

    #[test]
    fn portable_vectors_give_the_bits_of_the_machine() {
        for patient in [false, true] {
            let (machine, portable) = (passes(false, patient), passes(true, patient));
            assert_eq!(machine, portable);
            assert!(machine.0.iter().any(|&z| z != 0), "impulses act");
        }
    }

    #[test]
    fn a_contact_that_is_done_stands_still_beside_the_others() {
        let (_, points, ..) = setup();
        let (alone, _) = passes(false, false);
        let (beside, _) = passes(false, true);
        let lane = |impulses: &[u32], lane: usize| -> Vec<u32> {
            impulses.iter().copied().skip(lane).step_by(LANES).collect()
        };
        let start: Vec<u32> = points.iter().flat_map(|p| p.impulse.0).map(f32::to_bits).collect();
        // bodies of different lanes are different ones, so that what iterates sees no difference
        assert_eq!(lane(&alone, 0), lane(&beside, 0));
        assert_eq!(lane(&beside, 1)[..4], lane(&start, 1)[..]);
        assert_ne!(lane(&alone, 1)[..4], lane(&start, 1)[..]);
    }

    #[test]
    fn linear_momentum_keeps_its_digits() {
        let (mut bundle, mut points, mut lines, mut moved, masses) = setup();
        bundle.moves = [0xFF; 2];
        let momentum = |lines: &[Line]| -> f64 {
            lines.iter().zip(&masses).map(|(l, m)| l.linear[0] / m.0[0]).sum()
        };
        let before = momentum(&lines);
        {
            let (velocity, moved) = (Shared::new(&mut lines), Shared::new(&mut moved));
            let bodies = Bodies { velocity: &velocity, moved: &moved, inv_mass: &masses };
            let bundles = std::slice::from_mut(&mut bundle);
            for pass in PASSES {
                let part = Part { bundles, points: &mut points, base: 0, outcomes: None };
                // SAFETY: one thread, and lines for all bodies
                unsafe { sweep(pass, part, &bodies, &SPRING) };
            }
        }
        assert!((momentum(&lines) - before).abs() < 1e-13);
    }
}
