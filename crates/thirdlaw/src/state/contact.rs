//! A contact as it is kept from step to step.
//!
//! In a pile most of what contacts cost beside their solve is the bytes that are touched, so nothing is
//! kept twice: points are fixed to one body, the one whose corners they are, and where they lie on the
//! other follows from their gaps along the normal. Fields lie in the order of who asks for them: what finds
//! and orders contacts first, then what solves them, impulses last.

use crate::math::{Mat3, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Which two convex pieces touch. The order of keys is the order of contacts everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContactKey {
    /// Slot of the lower body.
    pub a: u32,
    /// Slot of the higher body.
    pub b: u32,
    /// Piece of a: part of a compound, triangle of a mesh.
    pub piece_a: u32,
    /// Piece of b.
    pub piece_b: u32,
}

/// Contact between two convex pieces of two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Contact {
    /// Which pieces.
    pub key: ContactKey,
    /// Number of points; none where a contact has ended and left its place free.
    pub count: u32,
    /// Gap up to which its points count as closed, m (see `step/rigid/restitution.rs`); 0 where it bounces,
    /// −0 where the bodies lie deep in each other, or did and still overlap.
    pub skin: f32,
    /// Combined restitution.
    pub restitution: f64,
    /// What its points have on both sides, and for how long they stay.
    pub basis: Basis,
    /// Which features met, point by point.
    pub features: [u32; POINTS_MAX],
    /// Combined friction.
    pub friction: f64,
    /// Cores of the points on the body that they are fixed to, in axes that turn with it, from its centre
    /// of mass, m. See [`crate::collide::manifold::Point`] for cores and radii.
    pub anchors: [Vec3; POINTS_MAX],
    /// Unit normal from a to b.
    pub normal: Vec3,
    /// Gaps at the beginning of the step, m.
    pub separations: [f64; POINTS_MAX],
    /// Impulses of the last substep.
    pub impulses: Impulses,
}

/// A surface that runs in one contact and one step, as a user's hook says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningSurface {
    /// Which contact.
    pub key: ContactKey,
    /// Of the surface of b over its body, less that of a, in axes of the world, m/s.
    pub velocity: Vec3,
}

/// What the points of a contact have on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Basis {
    /// Faces, edges and corners: points are fixed to a if the face is of b, else to b, and stay while the
    /// pair lies as it did when they were found.
    Flat(Found),
    /// A side is round, and points move over it: they are fixed to b for this step only. Distances from
    /// the cores to the surfaces of a and of b, m.
    Round([[f64; 2]; POINTS_MAX]),
    /// The pair is still far apart and meets within the step: points are those of the poses in which it
    /// will, fixed to both bodies for this step only.
    Ahead(Ahead),
}

/// Points in which a pair will meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ahead {
    /// Cores on a, in axes that turn with it, from its centre of mass, m.
    pub on_a: [Vec3; POINTS_MAX],
    /// Distances from the cores to the surfaces of a and of b, m.
    pub radii: [f32; 2],
}

/// How a pair of bodies lay when its contacts were found, in axes of a.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Distance up to which the contacts would be the same, m.
    pub margin: f64,
    /// From the centre of mass of a to that of b, m.
    pub between: Vec3,
    /// Orientation of b: x, y, z, w.
    pub turn: [f32; 4],
    /// Normal from a to b, in axes of the body whose face it belongs to.
    pub normal: Vec3,
    /// Where the points are on that body, along the normal from its centre of mass, m.
    pub levels: [f64; POINTS_MAX],
}

/// Impulses of the points of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub struct Impulses {
    /// Along the normal, N·s.
    pub normal: [f64; POINTS_MAX],
    /// Friction on b in world axes, N·s.
    pub friction: [Vec3; POINTS_MAX],
}

/// One point of a contact, for readers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// Gap at the beginning of the step, m.
    pub separation: f64,
    /// Normal impulse of the last substep, N·s.
    pub normal_impulse: f64,
    /// Friction impulse on b of the last substep in world axes, N·s.
    pub friction_impulse: Vec3,
    /// Which features met.
    pub feature: u32,
}

/// Cores of a point on both bodies, and their distances from the surfaces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cores {
    /// From the centres of mass of a and b, in axes of the world, m.
    pub arms: [Vec3; 2],
    /// To the surfaces of a and b, m.
    pub radii: [f64; 2],
}

impl Default for Basis {
    fn default() -> Basis {
        Basis::Round(Default::default())
    }
}

impl Contact {
    /// The points in use.
    pub fn points(&self) -> impl Iterator<Item = ContactPoint> + '_ {
        (0..POINTS_MAX.min(self.count as usize)).map(|i| ContactPoint {
            separation: self.separations[i],
            normal_impulse: self.impulses.normal[i],
            friction_impulse: self.impulses.friction[i],
            feature: self.features[i],
        })
    }

    /// Whether the bodies lie deep in each other: not as loads press them, but as they were put.
    pub(crate) fn is_deep(&self) -> bool {
        self.skin.is_sign_negative()
    }

    /// The part that says whether a contact is kept.
    pub(crate) fn hot(&self) -> *const [u8; std::mem::offset_of!(Contact, impulses)] {
        std::ptr::from_ref(self).cast()
    }

    /// Whether points are fixed to a, else to b.
    pub(crate) fn is_on_a(&self) -> bool {
        match self.basis {
            Basis::Flat(_) => is_face_of_b(self.features[0]),
            Basis::Round(_) | Basis::Ahead(_) => false,
        }
    }

    /// Distances of a point's cores from the surfaces of a and b, m.
    #[inline(always)]
    pub(crate) fn radii(&self, i: usize) -> [f64; 2] {
        match &self.basis {
            Basis::Flat(_) => [0.0; 2],
            Basis::Round(radii) => radii[i],
            Basis::Ahead(ahead) => ahead.radii.map(f64::from),
        }
    }

    /// Where the cores of a point are, for bodies with these axes and `between` their centres of mass at
    /// the beginning of the step.
    pub fn cores(&self, i: usize, axes: [&Mat3; 2], between: Vec3) -> Cores {
        let radii = self.radii(i);
        if let Basis::Ahead(ahead) = &self.basis {
            return Cores { arms: [*axes[0] * ahead.on_a[i], *axes[1] * self.anchors[i]], radii };
        }
        let way = (self.separations[i] + radii[0] + radii[1]) * self.normal;
        let arms = if self.is_on_a() {
            let arm = *axes[0] * self.anchors[i];
            [arm, arm + (way - between)]
        } else {
            let arm = *axes[1] * self.anchors[i];
            [arm - (way - between), arm]
        };
        Cores { arms, radii }
    }

    /// Where a point is on the surface of a, from its centre of mass, for bodies that lie with these axes and
    /// `between` their centres of mass now: flat contacts follow the bodies, round ones have the gap of the
    /// beginning of the step.
    pub fn on_surface_of_a(&self, i: usize, axes: [&Mat3; 2], between: Vec3) -> Vec3 {
        match &self.basis {
            Basis::Flat(_) if self.is_on_a() => *axes[0] * self.anchors[i],
            Basis::Flat(found) => {
                let (normal, corner) =
                    (*axes[0] * found.normal, between + *axes[1] * self.anchors[i]);
                corner - (normal.dot(corner) - found.levels[i]) * normal
            }
            Basis::Round(_) | Basis::Ahead(_) => {
                let cores = self.cores(i, axes, between);
                cores.arms[0] + cores.radii[0] * self.normal
            }
        }
    }

    /// Whether all its numbers can be used.
    pub(crate) fn is_sound(&self) -> bool {
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        let all_finite = |vectors: &[Vec3]| vectors.iter().all(|v| v.is_finite());
        let sound = match &self.basis {
            Basis::Flat(Found { margin, between, turn, normal, levels }) => {
                margin.is_finite()
                    && all_finite(&[*between, *normal])
                    && turn.iter().all(|x| x.is_finite())
                    && finite(levels)
            }
            Basis::Round(radii) => finite(radii.as_flattened()),
            Basis::Ahead(ahead) => {
                all_finite(&ahead.on_a) && ahead.radii.iter().all(|r| r.is_finite())
            }
        };
        sound
            && self.count as usize <= POINTS_MAX
            && (self.normal.length_squared() - 1.0).abs() < 1e-6
            && self.friction >= 0.0
            && (0.0..=1.0).contains(&self.restitution)
            && all_finite(&self.anchors)
            && all_finite(&self.impulses.friction)
            && finite(&self.impulses.normal)
            && finite(&self.separations)
    }

    /// Leaves its place free. What it was leaves no trace: the state does not tell who looked last.
    pub(crate) fn end(&mut self) {
        if self.count > 0 {
            *self = Contact { key: self.key, normal: Vec3::Y, ..Contact::default() };
        }
    }

    pub(crate) fn scale_impulses(&mut self, scale: f64) {
        self.impulses.normal.iter_mut().for_each(|z| *z *= scale);
        self.impulses.friction.iter_mut().for_each(|z| *z *= scale);
    }
}

impl Found {
    /// The orientation of b.
    #[inline(always)]
    pub(crate) fn orientation(&self) -> Quat {
        let [x, y, z, w] = self.turn.map(f64::from);
        Quat::from_xyzw(x, y, z, w)
    }
}

/// Most points one manifold keeps.
pub const POINTS_MAX: usize = 4;

/// Marks features whose reference face belongs to b.
pub(crate) const ON_B: u32 = 1 << 30;

/// Whether a feature says that the face of a contact belongs to b.
pub(crate) fn is_face_of_b(feature: u32) -> bool {
    feature & ON_B != 0
}
