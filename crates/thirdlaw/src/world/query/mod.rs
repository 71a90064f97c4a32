//! Questions to a world: what does a ray meet, what lies in a box, what would a shape touch?
//!
//! All of them read the world as it is now, change nothing, and may be asked from many threads at once.
//! Answers depend on the world alone: ties are broken by ids. Lengths are metres.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! let ball = world.add_body(Body::dynamic(Shape::sphere(0.5)?).at(0.0, 3.0, 0.0))?;
//! let ray = Ray::new(Vec3::ZERO, Vec3::Y)?;
//! let hit = world.cast_ray(&ray, &Filter::new()).ok_or("nothing there")?;
//! assert_eq!((hit.body(), hit.distance, hit.normal), (Some(ball), 2.5, -Vec3::Y));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod filter;
mod pieces;
mod scene;
mod shapes;

pub use filter::Filter;
pub(super) use shapes::shapes_overlap;
pub use shapes::{PointHit, ShapeHit};

use super::World;
use crate::ids::{AnyId, BodyId, DeformableId, PartId};
use crate::math::Vec3;
use crate::shape::ray::{SurfaceHit, nearest_triangle};
use crate::shape::tree::TreeRay;
use scene::Scene;
use std::sync::{Arc, RwLock};

/// A question with numbers that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryError {
    /// Which number.
    pub field: &'static str,
    /// What is wrong with it and what would be right.
    pub problem: String,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl std::error::Error for QueryError {}

fn refuse(field: &'static str, problem: impl Into<String>) -> QueryError {
    QueryError { field, problem: problem.into() }
}

/// Coordinates beyond this (m) overflow when they are squared and multiplied.
const FAR: f64 = 1e12;

fn check(field: &'static str, v: Vec3) -> Result<(), QueryError> {
    if v.is_finite() && v.abs().max_element() <= FAR {
        return Ok(());
    }
    Err(refuse(field, format!("must be finite and at most {FAR:e}, not {v}")))
}

/// Half a line, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: Vec3,
    direction: Vec3,
    length: f64,
}

impl Ray {
    /// From `origin` (m) in a `direction` of any length, without end.
    pub fn new(origin: Vec3, direction: Vec3) -> Result<Ray, QueryError> {
        check("origin", origin)?;
        let largest = direction.abs().max_element();
        let unit = (direction / largest).try_normalize();
        match unit {
            Some(direction) if largest > 0.0 && largest.is_finite() && !direction.is_nan() => {
                Ok(Ray { origin, direction, length: f64::INFINITY })
            }
            _ => Err(refuse("direction", format!("must be finite and not zero, not {direction}"))),
        }
    }

    /// From one place to another (m).
    pub fn between(from: Vec3, to: Vec3) -> Result<Ray, QueryError> {
        check("to", to)?;
        Ok(Ray::new(from, to - from)?.up_to(from.distance(to)))
    }

    /// Ends it after `length` metres. One that is negative or NaN meets nothing.
    pub fn up_to(mut self, length: f64) -> Ray {
        self.length = if length >= 0.0 { length } else { -1.0 };
        self
    }

    /// Where it starts, m.
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Unit vector.
    pub fn direction(&self) -> Vec3 {
        self.direction
    }

    /// How long it is, m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The place `distance` metres along it.
    pub fn at(&self, distance: f64) -> Vec3 {
        self.origin + distance * self.direction
    }
}

/// Where a ray meets something.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RayHit {
    /// A body or a deformable object.
    pub who: AnyId,
    /// Along the ray, m; 0 where it starts inside of a solid.
    pub distance: f64,
    /// m.
    pub point: Vec3,
    /// Outward unit normal of the surface; against the ray where that starts inside of a solid.
    pub normal: Vec3,
    /// Which triangle of a mesh or of a deformable object, or which convex piece of a compound.
    pub piece: u32,
    /// Which part of a body.
    pub part: Option<PartId>,
    /// Whether the ray came from inside, or from behind a triangle.
    pub back: bool,
}

impl RayHit {
    /// The body that was hit, if it is one.
    pub fn body(&self) -> Option<BodyId> {
        self.who.body()
    }

    /// The cloth or other deformable object that was hit, if it is one.
    pub fn deformable(&self) -> Option<DeformableId> {
        self.who.deformable()
    }

    fn order(&self) -> (f64, AnyId, u32) {
        (self.distance, self.who, self.piece)
    }

    fn comes_before(&self, other: &RayHit) -> bool {
        self.order() < other.order()
    }
}

/// What questions go through, kept until something changes.
#[derive(Debug, Default)]
pub(super) struct Kept(RwLock<Option<(Changes, Arc<Scene>)>>);

/// Counts of changes of model and state.
type Changes = (u64, u64);

impl Clone for Kept {
    /// A copy of a world makes its own when it is asked.
    fn clone(&self) -> Kept {
        Kept::default()
    }
}

impl World {
    /// Everything that can be hit, where it is now.
    pub(super) fn scene(&self) -> Arc<Scene> {
        let now = (self.model.changes(), self.state.changes());
        if let Ok(kept) = self.asked.0.read()
            && let Some((then, scene)) = &*kept
            && *then == now
        {
            return scene.clone();
        }
        let Ok(mut kept) = self.asked.0.write() else {
            // a thread panicked while it held this memory
            let mut scene = Scene::default();
            scene.update(&self.model, &self.state, true);
            return Arc::new(scene);
        };
        if let Some((then, scene)) = &*kept
            && *then == now
        {
            return scene.clone();
        }
        let (edited, mut scene) = match kept.take() {
            Some((then, scene)) => (then.0 != now.0, scene),
            None => (true, Arc::default()),
        };
        Arc::make_mut(&mut scene).update(&self.model, &self.state, edited);
        *kept = Some((now, scene.clone()));
        scene
    }

    /// The first thing that a ray meets.
    #[doc(alias = "intersect_ray")]
    pub fn cast_ray(&self, ray: &Ray, filter: &Filter) -> Option<RayHit> {
        let mut best: Option<RayHit> = None;
        self.each_hit(ray, filter, |hit| {
            if best.is_none_or(|best| hit.comes_before(&best)) {
                best = Some(hit);
            }
            best.map_or(ray.length, |best| best.distance)
        });
        best
    }

    /// Everything that a ray meets, each thing once, where it meets it first; near ones first.
    #[doc(alias = "intersections_with_ray")]
    pub fn cast_ray_all(&self, ray: &Ray, filter: &Filter) -> Vec<RayHit> {
        let mut hits = Vec::new();
        self.each_hit(ray, filter, |hit| {
            hits.push(hit);
            ray.length
        });
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.who.cmp(&b.who)));
        hits
    }

    /// Whether a ray meets anything: cheaper than asking what.
    pub fn is_hit(&self, ray: &Ray, filter: &Filter) -> bool {
        let mut found = false;
        self.each_hit(ray, filter, |_| {
            found = true;
            -1.0
        });
        found
    }

    /// Calls `take` with hits in no particular order; it returns how far the ray goes from now on.
    fn each_hit(&self, ray: &Ray, filter: &Filter, mut take: impl FnMut(RayHit) -> f64) {
        if ray.length < 0.0 {
            return;
        }
        let scene = self.scene();
        let mut most = ray.length;
        let mut test = |number: u32, most: f64| match self.meet(&scene, number, ray, most, filter) {
            Some(hit) => take(hit).min(most),
            None => most,
        };
        for &slot in &scene.endless {
            most = test(slot, most);
        }
        scene.tree.ray(&TreeRay::new(ray.origin, ray.direction), most, test);
    }

    /// Where a ray meets a body, and which of its parts.
    fn meet_body(
        &self,
        slot: usize,
        placed: &scene::Placed,
        line: (Vec3, Vec3),
        most: f64,
        filter: &Filter,
    ) -> Option<(SurfaceHit, PartId)> {
        let body = &self.model.bodies[slot];
        let id = |number| PartId { body: self.model.id(slot), number };
        if body.parts.is_empty() {
            let hit = placed.shape.meet_ray(&placed.pose, line, most, !filter.hollow)?;
            return Some((hit, id(0)));
        }
        let mut first: Option<(SurfaceHit, PartId)> = None;
        for part in body.parts.iter().filter(|part| filter.takes_part(part)) {
            let most = first.as_ref().map_or(most, |(hit, _)| hit.distance);
            let hit = part.shape.meet_ray(&placed.pose, line, most, !filter.hollow);
            if let Some(hit) = hit
                && first.as_ref().is_none_or(|(first, _)| hit.distance < first.distance)
            {
                let piece = part.pieces.0 + hit.piece;
                first = Some((SurfaceHit { piece, ..hit }, id(part.number())));
            }
        }
        first
    }

    #[inline]
    fn meet(
        &self,
        scene: &Scene,
        number: u32,
        ray: &Ray,
        most: f64,
        filter: &Filter,
    ) -> Option<RayHit> {
        let index = number as usize;
        let line = (ray.origin, ray.direction);
        if most < 0.0 {
            return None;
        }
        let (hit, part, who): (SurfaceHit, Option<PartId>, AnyId) =
            match index.checked_sub(scene.bodies.len()) {
                None => {
                    let placed = scene.bodies[index].as_ref()?;
                    if !filter.takes_body(self, index) {
                        return None;
                    }
                    let (hit, part) = self.meet_body(index, placed, line, most, filter)?;
                    (hit, Some(part), part.body.into())
                }
                Some(slot) => {
                    let soft = scene.soft[slot].as_ref()?;
                    if !filter.takes_soft(self, slot) {
                        return None;
                    }
                    let hit = nearest_triangle(&soft.tree, line, most, |i| soft.corners(i))?;
                    (hit, None, self.model.cloth_id(slot).into())
                }
            };
        filter.lets(who).then(|| RayHit {
            who,
            distance: hit.distance,
            point: ray.at(hit.distance),
            normal: hit.normal,
            piece: hit.piece,
            part,
            back: hit.back,
        })
    }
}
