//! When a particle comes to touch something convex, without ever stepping through it.
//!
//! A particle is advanced while a plane keeps it apart from the convex piece: the plane through the
//! nearest point of the piece, square to the line to the particle. Until the particle has come to
//! that plane it cannot have touched the piece, so that the step is safe however thin the piece is;
//! where nothing turns and the nearest face stays the nearest, one step arrives.

use crate::math::Vec3;

/// A short straight flight.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Where it begins, m.
    pub x: Vec3,
    /// m/s.
    pub u: Vec3,
    /// When it begins, s into the step.
    pub from: f64,
    /// When it ends, s into the step.
    pub until: f64,
    /// Distance that the particle keeps from surfaces, m.
    pub radius: f64,
    /// Gap at which it counts as touching, m.
    pub skin: f64,
}

impl Flight {
    /// Where the particle is at `time`.
    pub fn at(&self, time: f64) -> Vec3 {
        self.x + self.u * (time - self.from)
    }
}

/// A touch: when, which way the surface faces, how far off it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// s into the step.
    pub time: f64,
    /// Unit vector from the surface to the particle.
    pub normal: Vec3,
    /// Distance from the surface less the radius, m.
    pub gap: f64,
}

/// Gap at which a particle of `radius` counts as touching, m.
pub fn skin(radius: f64) -> f64 {
    (1e-3 * radius).clamp(1e-6, 1e-4)
}

/// Most steps of an advance; beyond, the particle counts as touching.
const STEPS_MAX: u32 = 64;

/// How fast something comes nearer at least, m/s, to count as coming nearer at all.
pub fn still(speed: f64) -> f64 {
    1e-10 * (1.0 + speed)
}

/// What is left between particle and surface, of which a single advance may use up only a part.
pub fn room(gap: f64, skin: f64) -> f64 {
    (gap - 0.5 * skin).max(0.25 * skin)
}

/// The nearest place on a piece.
pub struct Nearest {
    /// Distance of the particle's middle, negative inside, m.
    pub distance: f64,
    /// Outward unit vector.
    pub normal: Vec3,
}

/// First touch of a particle on a path in the frame of a rigid convex piece. `path` gives position
/// and velocity there; `bend` bounds the acceleration that the turning of the frame causes, m/s²;
/// `nearest` is none where the piece is out of reach. A particle that begins inside the piece passes
/// out of it freely.
pub fn touch_piece(
    flight: &Flight,
    bend: f64,
    path: impl Fn(f64) -> (Vec3, Vec3),
    nearest: impl Fn(Vec3) -> Option<Nearest>,
) -> Option<Touch> {
    let Flight { radius, skin, .. } = *flight;
    let mut time = flight.from;
    let mut last = None;
    for _ in 0..STEPS_MAX {
        let (y, w) = path(time);
        let Nearest { distance, normal } = nearest(y)?;
        let gap = distance - radius;
        if distance < -4.0 * skin {
            return None;
        }
        let approach = -normal.dot(w);
        last = Some(Touch { time, normal, gap });
        if gap <= skin && approach > still(w.length()) {
            return last;
        }
        time += closing_time(room(gap, skin), approach, bend);
        if time >= flight.until {
            return None;
        }
    }
    last
}

/// Time in which `room` is used up at the speed `approach` and the acceleration `bend` ≥ 0.
fn closing_time(room: f64, approach: f64, bend: f64) -> f64 {
    if bend <= 0.0 {
        return if approach > 0.0 { room / approach } else { f64::INFINITY };
    }
    let root = (approach * approach + 2.0 * bend * room).sqrt();
    if approach > 0.0 { 2.0 * room / (approach + root) } else { (root - approach) / bend }
}

/// First touch of a particle with a triangle whose corners move evenly from `corners` (at the
/// beginning of the step) with `velocities`. Both sides of it are solid.
pub fn touch_triangle(
    flight: &Flight,
    corners: [Vec3; 3],
    velocities: [Vec3; 3],
) -> Option<(Touch, [f64; 3])> {
    let Flight { radius, skin, u, .. } = *flight;
    let mut time = flight.from;
    let mut last = None;
    for _ in 0..STEPS_MAX {
        let p = flight.at(time);
        let at: [Vec3; 3] = std::array::from_fn(|k| corners[k] + velocities[k] * time);
        let weights = crate::math::closest::point_triangle(p, at);
        let d = p - blend(at, weights);
        let w = u - blend(velocities, weights);
        let distance = d.length();
        let normal = if distance > 0.0 { d / distance } else { facing(at, -w) };
        let gap = distance - radius;
        last = Some((Touch { time, normal, gap }, weights));
        if gap <= skin && -normal.dot(w) > still(w.length()) {
            return last;
        }
        let room = room(gap, skin);
        let mut step = f64::INFINITY;
        for k in 0..3 {
            let approach = -normal.dot(u - velocities[k]);
            if approach > 0.0 {
                let beyond = (normal.dot(p - at[k]) - distance).max(0.0);
                step = step.min((room + beyond) / approach);
            }
        }
        time += step;
        if time >= flight.until {
            return None;
        }
    }
    last
}

/// Σ weight·value.
pub fn blend(values: [Vec3; 3], weights: [f64; 3]) -> Vec3 {
    values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2]
}

/// The unit normal of a triangle on the side of `way`.
fn facing([a, b, c]: [Vec3; 3], way: Vec3) -> Vec3 {
    let normal = (b - a).cross(c - a).try_normalize().unwrap_or(Vec3::Y);
    if normal.dot(way) < 0.0 { -normal } else { normal }
}
