//! Shapes that `parry` does not know, for its questions.

use super::distance::convex_distance;
use super::ray::chord;
use super::{Aabb, Convex};
use crate::math::{Pose, Vec3};
use parry3d_f64::bounding_volume::BoundingSphere;
use parry3d_f64::bounding_volume::details::{local_support_map_aabb, support_map_aabb};
use parry3d_f64::mass_properties::MassProperties;
use parry3d_f64::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use parry3d_f64::shape::{FeatureId, Shape, ShapeType, SupportMap, TypedShape};

/// A bounded convex solid by its farthest points.
#[derive(Clone, Debug)]
pub(crate) struct Supported(pub Convex);

impl SupportMap for Supported {
    fn local_support_point(&self, direction: Vec3) -> Vec3 {
        self.0.support(direction)
    }
}

impl PointQuery for Supported {
    fn project_local_point(&self, point: Vec3, solid: bool) -> PointProjection {
        let Some(found) = convex_distance(&self.0, point, f64::INFINITY) else {
            return PointProjection::new(false, point);
        };
        let inside = found.distance <= 0.0;
        PointProjection::new(inside, if inside && solid { point } else { found.point })
    }

    fn project_local_point_and_get_feature(&self, point: Vec3) -> (PointProjection, FeatureId) {
        (self.project_local_point(point, false), FeatureId::Unknown)
    }
}

impl RayCast for Supported {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        most: f64,
        solid: bool,
    ) -> Option<RayIntersection> {
        let length = ray.dir.length();
        let way = ray.dir.try_normalize()?;
        let found = chord(&self.0, ray.origin, way)?;
        let (distance, normal) = match (found.enter.0 >= 0.0, solid) {
            _ if found.leave.0 < 0.0 => return None,
            (true, _) => found.enter,
            (false, true) => (0.0, Vec3::ZERO),
            (false, false) => (found.leave.0, -found.leave.1),
        };
        let time = distance / length;
        (time <= most).then(|| RayIntersection::new(time, normal, FeatureId::Unknown))
    }
}

impl Shape for Supported {
    fn compute_local_aabb(&self) -> Aabb {
        local_support_map_aabb(self)
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        BoundingSphere::new(Vec3::ZERO, self.0.outer_radius(&Pose::IDENTITY))
    }

    fn compute_aabb(&self, pose: &Pose) -> Aabb {
        support_map_aabb(pose, self)
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    fn scale_dyn(&self, _: Vec3, _: u32) -> Option<Box<dyn Shape>> {
        None
    }

    fn mass_properties(&self, _: f64) -> MassProperties {
        // the engine has its own
        MassProperties::default()
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> f64 {
        0.0
    }

    fn ccd_angular_thickness(&self) -> f64 {
        0.0
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn as_support_map(&self) -> Option<&dyn SupportMap> {
        Some(self)
    }
}
