//! The constant part of a rigid body: its description, checked, with masses worked out.

use super::part::{Assembly, BodyPart, PartModel};
use super::{AxisLocks, Body, BodyKind, Force, Groups, Keyframe, Keyframes, Mass, Material};
use crate::math::{Mat3, Vec3};
use crate::model::error::{BodyError, check_number, check_pose, check_vector, error};
use crate::shape::Shape;
use std::hash::{Hash, Hasher};

/// The constant part of a rigid body.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BodyModel {
    /// Whether the slot is in use.
    pub alive: bool,
    /// How often the slot had been used before.
    pub generation: u32,
    /// What moves it; [`BodyKind::Fixed`] while it is not enabled.
    pub kind: BodyKind,
    /// What moves it while it is enabled.
    pub asked_kind: BodyKind,
    /// How its mass was given.
    pub asked_mass: Mass,
    /// The groups it was given.
    pub asked_groups: Groups,
    /// The groups of those it was to push.
    pub asked_solver_groups: Groups,
    /// All its parts, the one that it was made with first; none where that is the only one.
    pub parts: Vec<PartModel>,
    /// The number that the next part gets.
    pub next_part: u32,
    /// Whether it, with all its parts, only tells what overlaps it.
    pub sensor: bool,
    /// Whether it takes part.
    pub enabled: bool,
    /// Collision shape in the body's own frame.
    #[serde(skip, default = "Shape::placeholder")]
    pub shape: Shape,
    /// kg; infinite unless dynamic.
    pub mass: f64,
    /// About the centre of mass in the body's own axes, kg·m².
    pub inertia: Mat3,
    /// Its inverse; zero unless dynamic.
    pub inv_inertia: Mat3,
    /// Centre of mass in the body's own frame, m.
    pub center: Vec3,
    /// Whether the inertia is the same about every axis, so that it need not be turned.
    pub isotropic: bool,
    /// Largest moment of inertia over the least: 1 for a ball, hundreds for a rod; 1 unless dynamic.
    pub slenderness: f64,
    /// Friction and restitution.
    pub material: Material,
    /// Which bodies it may touch, with any of its parts; none while it is a sensor or not enabled.
    pub groups: Groups,
    /// Which of those it pushes, with any of its parts.
    pub solver_groups: Groups,
    /// Of two dynamic bodies that touch the one of lower dominance gives way.
    pub dominance: i8,
    /// 1/s.
    pub linear_damping: f64,
    /// 1/s.
    pub angular_damping: f64,
    /// Factor on gravity.
    pub gravity_scale: f64,
    /// Locked world axes.
    pub locks: AxisLocks,
    /// Constant and timed forces.
    pub forces: Vec<Force>,
    /// Path of a kinematic body.
    pub motion: Keyframes,
    /// Whether it may sleep.
    pub can_sleep: bool,
    /// Distance from the centre of mass to the farthest surface point, m.
    pub reach: f64,
    /// Half its thickness, m: radius of a ball inside of it, or its reach where that is a mesh.
    pub half_thickness: f64,
}

/// Distance from the middle of a cube 0.5 m wide to its corners, m: the body that speeds of thresholds are for.
const REACH: f64 = 0.433_012_7;

/// Least half thickness, as a share of the reach.
const THINNEST: f64 = 1e-3;

/// Speeds of a body with this reach (m) over those of a like body 0.5 m across, in like motions under the same
/// gravity: √(g·size).
pub(crate) fn speed_scale(reach: f64) -> f64 {
    let scale = (reach / REACH).sqrt();
    if scale.is_finite() { scale } else { 1.0 }
}

/// Half the thickness of a shape with this reach, m. Compounds whose middle is empty have no ball inside.
fn half_thickness(shape: &Shape, reach: f64) -> f64 {
    let inner = shape.inner_radius();
    if shape.is_mesh() || shape.is_half_space() {
        reach
    } else if inner > 0.0 {
        inner.clamp(THINNEST * reach, reach)
    } else {
        0.1 * reach
    }
}

/// Ratio of the largest and the least moment.
fn slenderness(inertia: &Mat3) -> f64 {
    if *inertia == Mat3::ZERO {
        return 1.0;
    }
    let moments = glamx::DSymmetricEigen3::new(*inertia).eigenvalues;
    (moments.max_element() / moments.min_element()).max(1.0)
}

impl BodyModel {
    /// Checks a description and derives the constant part of a body from it.
    pub fn build(body: &Body, generation: u32) -> Result<BodyModel, BodyError> {
        BodyModel::rebuild(body, generation, 1)
    }

    /// The same of a body that had parts with numbers below `next`.
    pub fn rebuild(body: &Body, generation: u32, next: u32) -> Result<BodyModel, BodyError> {
        check_body(body)?;
        let assembly = Assembly::build(body, next)?;
        let sensor = body.sensor && !assembly.parts.iter().any(PartModel::is_solid);
        let groups = assembly.groups(|part| part.groups).unwrap_or(body.groups);
        let pushes = assembly.groups(|part| part.solver_groups).unwrap_or(body.solver_groups);
        let shape = assembly.shape.clone();
        let kind = if body.enabled { body.kind } else { BodyKind::Fixed };
        let touches = body.enabled && !sensor;
        let (mass, center, inertia) = match kind {
            BodyKind::Dynamic => mass_properties(body, &assembly)?,
            _ => {
                let center = assembly.mass.map_or(Vec3::ZERO, |m| m.center_of_mass);
                (f64::INFINITY, center, Mat3::ZERO)
            }
        };
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let deviation = inertia - Mat3::from_diagonal(Vec3::splat(trace / 3.0));
        let largest = |m: &Mat3| {
            [m.x_axis, m.y_axis, m.z_axis].iter().map(|c| c.abs().max_element()).fold(0.0, f64::max)
        };
        let reach = shape.outer_radius() + center.length();
        Ok(BodyModel {
            alive: true,
            generation,
            kind,
            asked_kind: body.kind,
            asked_mass: body.mass,
            asked_groups: body.groups,
            asked_solver_groups: body.solver_groups,
            parts: assembly.parts,
            next_part: assembly.next,
            sensor,
            enabled: body.enabled,
            reach,
            half_thickness: half_thickness(&shape, reach),
            shape,
            mass,
            inertia,
            inv_inertia: if kind == BodyKind::Dynamic { inertia.inverse() } else { Mat3::ZERO },
            center,
            slenderness: slenderness(&inertia),
            isotropic: largest(&deviation) <= 1e-12 * largest(&inertia),
            material: body.material,
            groups: if touches { groups } else { Groups { member: 0, collides: 0 } },
            solver_groups: pushes,
            dominance: body.dominance,
            linear_damping: body.linear_damping,
            angular_damping: body.angular_damping,
            gravity_scale: body.gravity_scale,
            locks: body.locks,
            forces: body.forces.clone(),
            motion: Keyframes {
                keys: body.motion.keys.iter().map(Keyframe::normalized).collect(),
                ..body.motion.clone()
            },
            can_sleep: body.can_sleep,
        })
    }

    /// Whether forces move it.
    pub fn is_dynamic(&self) -> bool {
        self.alive && self.kind == BodyKind::Dynamic
    }

    /// Whether it goes its way where it touches another dynamic body, which gives way.
    pub fn dominates(&self, other: &BodyModel) -> bool {
        self.is_dynamic() && other.is_dynamic() && self.dominance > other.dominance
    }

    /// The part that a convex piece of its shape belongs to; none where it has no other than its own.
    pub fn part_of(&self, piece: u32) -> Option<&PartModel> {
        self.parts.iter().find(|part| (part.pieces.0..part.pieces.1).contains(&piece))
    }

    /// What a convex piece of its shape is made of.
    pub fn material_of(&self, piece: u32) -> &Material {
        self.part_of(piece).map_or(&self.material, |part| &part.part.material)
    }

    /// What it and its parts are made of.
    pub fn materials(&self) -> impl Iterator<Item = &Material> {
        std::iter::once(&self.material).chain(self.parts.iter().map(|part| &part.part.material))
    }

    /// Whether any of its parts may bounce.
    pub fn bounces(&self) -> bool {
        self.materials().any(|material| material.restitution > 0.0)
    }

    /// Whether a convex piece of this body may touch, and push, one of another whose groups touch.
    pub fn collides_with(&self, piece: u32, other: &BodyModel, other_piece: u32) -> bool {
        if self.parts.is_empty() && other.parts.is_empty() {
            return true;
        }
        let of = |body: &BodyModel, piece| match body.part_of(piece) {
            Some(part) => (part.part.groups, part.part.solver_groups),
            None => (body.groups, body.solver_groups),
        };
        let (a, b) = (of(self, piece), of(other, other_piece));
        a.0.touch(b.0) && a.1.touch(b.1)
    }

    /// The shapes that collide, each with what it may touch and push.
    pub fn surfaces(&self) -> impl Iterator<Item = (&Shape, Groups, Groups)> {
        let own = self.parts.is_empty().then_some((&self.shape, self.groups, self.solver_groups));
        let solid = self.parts.iter().filter(|part| part.is_solid());
        own.into_iter()
            .chain(solid.map(|part| (&part.shape, part.part.groups, part.part.solver_groups)))
    }

    pub(crate) fn fingerprint(&self, hasher: &mut crate::math::hash::BitHasher) {
        self.alive.hash(hasher);
        self.generation.hash(hasher);
        if !self.alive {
            return;
        }
        self.shape.fingerprint(hasher);
        // plain data without pointers: its serialized bytes are its content
        let plain = (
            (self.kind, self.mass, self.inertia, self.center, self.material, self.groups),
            (self.linear_damping, self.angular_damping, self.gravity_scale, self.locks),
            (&self.forces, &self.motion, self.can_sleep),
        );
        if let Ok(bytes) = postcard::to_stdvec(&plain) {
            hasher.write(&bytes);
        }
        if !self.parts.is_empty() || self.asked_solver_groups != Groups::default() {
            for part in &self.parts {
                part.shape.fingerprint(hasher);
                let BodyPart { material, groups, solver_groups, sensor, .. } = part.part;
                let plain = (part.number(), material, groups, solver_groups, sensor);
                if let Ok(bytes) = postcard::to_stdvec(&plain) {
                    hasher.write(&bytes);
                }
            }
            if let Ok(bytes) = postcard::to_stdvec(&self.asked_solver_groups) {
                hasher.write(&bytes);
            }
        }
        if self.dominance != 0 {
            hasher.write(&[7, self.dominance.cast_unsigned()]);
        }
        if self.sensor || !self.enabled {
            let asked = (self.sensor, self.enabled, self.asked_kind, self.asked_groups);
            if let Ok(bytes) = postcard::to_stdvec(&asked) {
                hasher.write(&bytes);
            }
        }
    }
}

fn check_body(body: &Body) -> Result<(), BodyError> {
    check_pose(&body.pose)?;
    check_vector("linear_velocity", body.linear_velocity)?;
    check_vector("angular_velocity", body.angular_velocity)?;
    check_number("material.friction", body.material.friction, 0.0..=1e6)?;
    check_number("material.restitution", body.material.restitution, 0.0..=1.0)?;
    check_material(&body.material)?;
    check_number("linear_damping", body.linear_damping, 0.0..=f64::INFINITY)?;
    check_number("angular_damping", body.angular_damping, 0.0..=f64::INFINITY)?;
    check_number("gravity_scale", body.gravity_scale, f64::NEG_INFINITY..=f64::INFINITY)?;
    for force in &body.forces {
        check_vector("forces.force", force.force)?;
        check_vector("forces.torque", force.torque)?;
        check_vector("forces.point", force.point.unwrap_or_default())?;
        if !force.from.is_finite() || force.until.is_nan() || force.until < force.from {
            return Err(error(
                "forces",
                format!(
                    "must end after it begins, not act from {} until {}",
                    force.from, force.until
                ),
            ));
        }
    }
    for (i, key) in body.motion.keys.iter().enumerate() {
        check_number("motion.keys.time", key.time, f64::NEG_INFINITY..=f64::INFINITY)?;
        check_pose(&crate::math::Pose::from_parts(key.position, key.rotation)).map_err(|e| {
            error("motion.keys", format!("the {} of key {i} {}", e.field, e.problem))
        })?;
        if i > 0 && key.time <= body.motion.keys[i - 1].time {
            return Err(error(
                "motion.keys",
                format!(
                    "times must increase, but key {i} at {} s follows one at {} s",
                    key.time,
                    body.motion.keys[i - 1].time
                ),
            ));
        }
    }
    if !body.motion.keys.is_empty() && body.kind != BodyKind::Kinematic {
        return Err(error("motion", "only a kinematic body follows keyframes"));
    }
    let still = body.linear_velocity == Vec3::ZERO && body.angular_velocity == Vec3::ZERO;
    if body.kind == BodyKind::Fixed && !still {
        return Err(error("linear_velocity", "a fixed body cannot move; make it kinematic"));
    }
    Ok(())
}

fn check_material(material: &Material) -> Result<(), BodyError> {
    for (field, lever) in [
        ("material.rolling_friction", material.rolling_friction),
        ("material.torsional_friction", material.torsional_friction),
        ("material.restitution_threshold", material.restitution_threshold.unwrap_or(0.0)),
    ] {
        check_number(field, lever, 0.0..=1e6)?;
    }
    check_vector("material.surface_velocity", material.surface_velocity)?;
    if let Some(sticking) = material.static_friction {
        let field = "material.static_friction";
        check_number(field, sticking, 0.0..=1e6)?;
        if sticking < material.friction {
            let friction = material.friction;
            return Err(error(
                field,
                format!("must be at least the friction while sliding, {friction}, not {sticking}"),
            ));
        }
    }
    Ok(())
}

/// Largest and smallest mass taken, kg. Beyond these f64 runs out of digits against ordinary bodies.
const MASS_RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e18;

fn mass_properties(body: &Body, whole: &Assembly) -> Result<(f64, Vec3, Mat3), BodyError> {
    let check_mass = |field, mass: f64| {
        if MASS_RANGE.contains(&mass) {
            return Ok(());
        }
        let (low, high) = (MASS_RANGE.start(), MASS_RANGE.end());
        Err(error(
            field,
            format!("a dynamic body weighs between {low:e} and {high:e} kg, not {mass:e}"),
        ))
    };
    if !whole.shape.outer_radius().is_finite() {
        return Err(error(
            "shape",
            "a half-space cannot be dynamic; make the body fixed or kinematic",
        ));
    }
    let of_shape = || {
        whole.mass.ok_or_else(|| {
            error(
                "shape",
                "is an open mesh without volume; make the body fixed or kinematic, or give its \
                 mass and inertia",
            )
        })
    };
    let (mass, center, inertia) = match body.mass {
        Mass::Density(density) => {
            if !(density.is_finite() && density > 0.0) {
                return Err(error("mass", format!("the density must be positive, not {density}")));
            }
            let unit = of_shape()?;
            // parts bring their densities with them
            let density = if whole.weighed { 1.0 } else { density };
            (density * unit.volume, unit.center_of_mass, unit.inertia * density)
        }
        Mass::Total(mass) => {
            check_mass("mass", mass)?;
            let unit = of_shape()?;
            (mass, unit.center_of_mass, unit.inertia * (mass / unit.volume))
        }
        Mass::Explicit { mass, center, inertia } => {
            check_vector("mass.center", center)?;
            (mass, center, inertia)
        }
    };
    check_mass("mass", mass)?;
    check_inertia(inertia)?;
    Ok((mass, center, inertia))
}

/// An inertia tensor is symmetric, positive definite, and no principal moment exceeds the sum of the
/// other two (it could not come from any distribution of mass).
fn check_inertia(inertia: Mat3) -> Result<(), BodyError> {
    let field = "mass.inertia";
    if !inertia.is_finite() {
        return Err(error(field, "must be finite"));
    }
    let asymmetry = inertia - inertia.transpose();
    let scale = inertia.x_axis.x.abs() + inertia.y_axis.y.abs() + inertia.z_axis.z.abs();
    if asymmetry.to_cols_array().iter().any(|x| x.abs() > 1e-9 * scale) {
        return Err(error(field, "must be symmetric"));
    }
    let mut moments = glamx::DSymmetricEigen3::new(inertia).eigenvalues.to_array();
    moments.sort_by(f64::total_cmp);
    if moments[0] <= 1e-14 * scale {
        return Err(error(
            field,
            format!("must be positive definite; its principal moments are {moments:?}"),
        ));
    }
    if !inertia.inverse().is_finite() {
        return Err(error(field, "is too small to be inverted"));
    }
    if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9) {
        return Err(error(
            field,
            format!(
                "no principal moment may exceed the sum of the others, but they are {moments:?}"
            ),
        ));
    }
    Ok(())
}
