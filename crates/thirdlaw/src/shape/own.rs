//! Convex shapes of the user's own, given by how far they reach.
//!
//! ```
//! use std::sync::Arc;
//! use thirdlaw::prelude::*;
//! use thirdlaw::shape::{ConvexSurface, MassProperties};
//!
//! /// x²/a² + y²/b² + z²/c² ≤ 1.
//! #[derive(Debug)]
//! struct Ellipsoid(Vec3);
//!
//! impl ConvexSurface for Ellipsoid {
//!     fn support(&self, direction: Vec3) -> Vec3 {
//!         let scaled = self.0 * direction;
//!         self.0 * scaled / scaled.length()
//!     }
//!
//!     fn mass_properties(&self) -> MassProperties {
//!         let volume = 4.0 / 3.0 * std::f64::consts::PI * self.0.element_product();
//!         let s = 0.2 * volume * self.0 * self.0;
//!         let inertia = Mat3::from_diagonal(Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y));
//!         MassProperties { volume, center_of_mass: Vec3::ZERO, inertia }
//!     }
//! }
//!
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let egg = Shape::own(Arc::new(Ellipsoid(Vec3::new(0.3, 0.2, 0.25))))?;
//! let egg = world.add_body(Body::dynamic(egg).at(0.0, 0.5, 0.0))?;
//! for _ in 0..120 {
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! assert!((world.center(egg)?.y - 0.2).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::distance::Surface;
use super::supported::Supported;
use super::{Aabb, Convex, MassProperties, ShapeError, usable};
use crate::math::{Quat, Vec3};
use parry3d_f64::bounding_volume::details::local_support_map_aabb;
use parry3d_f64::query::Ray;
use parry3d_f64::query::details::{
    local_point_projection_on_support_map, local_ray_intersection_with_support_map_with_params,
};
use parry3d_f64::query::gjk::VoronoiSimplex;
use std::sync::Arc;

/// A bounded convex solid, said by its farthest points.
///
/// Whoever implements it owes the engine its promise of the same bits: the answer must follow from the
/// direction and from what the shape is made of, without the platform's sine. With a world its name is
/// written, and it is attached again by name ([`crate::Attachments::shape`]).
pub trait ConvexSurface: std::fmt::Debug + Send + Sync {
    /// The point that is farthest along `direction`, which is of any length but 0, in the frame of the
    /// shape, m. Any of them where there are several.
    fn support(&self, direction: Vec3) -> Vec3;

    /// Volume, centre of mass and inertia at density 1 kg/m³.
    fn mass_properties(&self) -> MassProperties;

    /// Under what name it is written with a world and attached again.
    fn name(&self) -> String {
        std::any::type_name::<Self>().into()
    }

    /// A number that differs between shapes of one name with different content, for snapshots.
    fn fingerprint(&self) -> u64 {
        0
    }
}

/// A shape of the user's own, checked.
#[derive(Clone, Debug)]
pub struct OwnShape {
    surface: Arc<dyn ConvexSurface>,
    pub(crate) mass: MassProperties,
    pub(crate) bounds: Aabb,
    /// Of a ball about the centre of mass that lies inside, m.
    pub(crate) inner: f64,
}

/// Directions in which a new shape is asked.
const NET: usize = 400;
/// How far, of its size, the points of a shape may contradict each other.
const CONTRADICTION: f64 = 1e-9;

/// Most turns of a direction: it takes some forty, of a shape that does not contradict itself.
const TURNS: usize = 200;

/// An even net of directions: the golden spiral.
fn net(count: usize) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |i| {
        let y = 1.0 - (2.0 * i as f64 + 1.0) / count as f64;
        let (r, turn) = ((1.0 - y * y).sqrt(), 2.399_963_229_728_653 * i as f64);
        Vec3::new(r * libm::cos(turn), y, r * libm::sin(turn))
    })
}

impl OwnShape {
    /// Asks the shape in many directions whether it can be one.
    pub(crate) fn new(surface: Arc<dyn ConvexSurface>) -> Result<OwnShape, ShapeError> {
        let wrong = |problem| ShapeError::Own { problem };
        let directions: Vec<Vec3> = net(NET).collect();
        let points: Vec<Vec3> = directions.iter().map(|&d| surface.support(d)).collect();
        if !points.iter().all(|&p| usable(p)) {
            return Err(wrong("a farthest point is not finite, or too far"));
        }
        let size = points.iter().fold(0.0, |size: f64, p| size.max(p.length()));
        for (&d, &p) in directions.iter().zip(&points) {
            let reach = d.dot(p) + CONTRADICTION * size;
            if points.iter().any(|&q| d.dot(q) > reach) {
                return Err(wrong("in one direction it says another point than the farthest"));
            }
            // a longer way to say the same
            if (surface.support(7.5 * d) - p).length() > 1e-6 * size
                && d.dot(surface.support(7.5 * d)) < d.dot(p) - CONTRADICTION * size
            {
                return Err(wrong("farthest points depend on the length of the direction"));
            }
        }
        let mass = surface.mass_properties();
        let MassProperties { volume, center_of_mass, inertia } = mass;
        if !(volume.is_finite() && volume > 0.0 && usable(center_of_mass) && inertia.is_finite()) {
            return Err(wrong("its mass properties are not finite, or it has no volume"));
        }
        let beside = |(d, p): (&Vec3, &Vec3)| d.dot(*p - center_of_mass);
        let inner = directions.iter().zip(&points).map(beside).fold(f64::INFINITY, f64::min);
        if inner.is_nan() || inner <= 1e-9 * size {
            return Err(wrong("its centre of mass is not inside, or it is flat"));
        }
        let bounds = Aabb::new(center_of_mass, center_of_mass);
        let mut own = OwnShape { surface, mass, bounds, inner };
        own.bounds = local_support_map_aabb(&Supported(Convex::Own(Arc::new(own.clone()))));
        own.inner = -own.distance(center_of_mass).distance;
        if own.inner.is_nan() || own.inner <= 0.0 {
            own.inner = inner;
        }
        Ok(own)
    }

    /// The user's own code.
    pub fn surface(&self) -> &Arc<dyn ConvexSurface> {
        &self.surface
    }

    /// The point that is farthest along a direction; the centre where the user's code says nonsense.
    pub fn support(&self, direction: Vec3) -> Vec3 {
        let direction = if direction == Vec3::ZERO { Vec3::Y } else { direction };
        let p = self.surface.support(direction);
        if usable(p) { p } else { self.mass.center_of_mass }
    }

    /// Where a point is from the surface.
    pub(crate) fn distance(&self, p: Vec3) -> Surface {
        let map = SupportOf(self);
        let mut simplex = VoronoiSimplex::new();
        let found = local_point_projection_on_support_map(&map, &mut simplex, p, false);
        let way = p - found.point;
        // what is hardly off the surface does not know where it came from
        let near = 1e-6 * (self.bounds.maxs - self.bounds.mins).max_element();
        let normal = match way.try_normalize() {
            Some(way_out) if !found.is_inside && way.length() > near => {
                self.turned_up(p, way_out, 1e-3)
            }
            _ => self.way_out(p),
        };
        // no point is nearer than the plane that touches in that direction
        let distance = normal.dot(p - self.support(normal));
        Surface { distance, normal, point: p - normal * distance }
    }

    /// The direction in which a point inside, or hardly outside, is nearest to the plane that touches the solid:
    /// the best of a net, turned by ever smaller steps. Inside a convex solid none is better than one from
    /// which all small turns are worse, but for equals; the net decides among those.
    fn way_out(&self, p: Vec3) -> Vec3 {
        let level = |n: Vec3| n.dot(p - self.support(n));
        let from_middle = (p - self.mass.center_of_mass).try_normalize();
        let sides = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|n| [n, -n]);
        let mut best = (f64::NEG_INFINITY, Vec3::Y);
        for n in sides.chain(net(48)).chain(from_middle) {
            let here = level(n);
            if here > best.0 {
                best = (here, n);
            }
        }
        self.turned_up(p, best.1, 0.3)
    }

    /// A direction turned to where the plane that touches the solid is farthest below a point: uphill on a
    /// concave function, by ever smaller steps.
    fn turned_up(&self, p: Vec3, start: Vec3, mut step: f64) -> Vec3 {
        let level = |n: Vec3| n.dot(p - self.support(n));
        let mut best = (level(start), start);
        for _ in 0..TURNS {
            if step <= 1e-8 {
                break;
            }
            let (t, u) = crate::math::tangents(best.1);
            let before = best.0;
            for turn in [t, -t, u, -u] {
                let n = (best.1 + step * turn).normalize_or(best.1);
                let here = level(n);
                if here > best.0 {
                    best = (here, n);
                }
            }
            if best.0 == before {
                step *= 0.4;
            }
        }
        best.1
    }

    /// Where a ray from outside along the unit vector `d` meets the surface, before `most`, and the normal there.
    pub(crate) fn met_from_outside(&self, o: Vec3, d: Vec3, most: f64) -> Option<(f64, Vec3)> {
        let (ray, mut simplex) = (Ray::new(o, d), VoronoiSimplex::new());
        let map = SupportOf(self);
        let met = local_ray_intersection_with_support_map_with_params(
            &map,
            &mut simplex,
            &ray,
            most,
            true,
        )?;
        let normal = met.normal.try_normalize()?;
        Some((met.time_of_impact, normal))
    }

    /// The smaller radius of curvature where the surface faces `n`, m: 0 at an edge or corner.
    pub(crate) fn curvature(&self, n: Vec3) -> f64 {
        const TILT: f64 = 1e-3;
        let (t, u) = crate::math::tangents(n);
        let across = |t: Vec3| {
            let apart = self.support(n + TILT * t) - self.support(n - TILT * t);
            (0.5 * apart.dot(t) / TILT).max(0.0)
        };
        let diagonal = |a: f64, b: f64| (a * t + b * u) * std::f64::consts::FRAC_1_SQRT_2;
        let ways = [t, u, diagonal(1.0, 1.0), diagonal(1.0, -1.0)];
        let least = ways.into_iter().map(across).fold(f64::INFINITY, f64::min);
        // no deeper than where the body's own middle is
        least.min(n.dot(self.support(n) - self.mass.center_of_mass)).max(0.0)
    }
}

/// For questions of the library's.
struct SupportOf<'a>(&'a OwnShape);

impl parry3d_f64::shape::SupportMap for SupportOf<'_> {
    fn local_support_point(&self, direction: Vec3) -> Vec3 {
        self.0.support(direction)
    }
}

/// What stands where a shape of the user's own was written, until it is attached.
#[derive(Debug)]
pub(crate) struct Missing {
    pub name: String,
}

impl ConvexSurface for Missing {
    fn support(&self, direction: Vec3) -> Vec3 {
        direction.normalize_or(Vec3::Y)
    }

    fn mass_properties(&self) -> MassProperties {
        MassProperties::sphere(1.0)
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Turned into another frame.
pub(crate) fn turned(own: &OwnShape, rotation: Quat, direction: Vec3) -> Vec3 {
    rotation * own.support(rotation.conjugate() * direction)
}
