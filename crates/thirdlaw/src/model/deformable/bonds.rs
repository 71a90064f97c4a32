//! Vertices bound to places on bodies and on what deforms \[SSIF07b\]: what a user says about them, and what
//! becomes of it.
//!
//! A vertex keeps to a place on a rigid body, or to Σ w_i x_i of the corners of a triangle or a tetrahedron of
//! another object. Hard, to a body: it moves as the body does (a pin). Hard, to others: a spring so stiff that what
//! the objects themselves are like decides how they move. Soft: a spring of one's own. All of them push both ways.

use super::DeformableError;
use super::elements::Elements;
use super::pins::{PinHold, PinnedVertex};
use crate::energy::Energy;
use crate::energy::binding::BoundParticle;
use crate::ids::{BodyId, DeformableId};
use crate::math::{Quat, Vec3};
use parry3d_f64::query::PointQueryWithLocation;
use parry3d_f64::shape::Triangle;
use serde::{Deserialize, Serialize};

/// What binds vertices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bond {
    /// Where they are bound to.
    pub to: BondPlace,
    /// How softly; none: hard.
    pub spring: Option<BondSpring>,
}

/// Where a vertex is bound to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BondPlace {
    /// Its place on a body when it is added.
    Body(BodyId),
    /// Its place in the tetrahedron of an object that it lies in when it is added, or is nearest to.
    Inside(DeformableId),
    /// The nearest place on the surface of an object.
    Surface(DeformableId),
    /// Σ wᵢ xᵢ of up to four vertices of an object, with weights that sum to one.
    At {
        /// Which object.
        object: DeformableId,
        /// Its vertices.
        corners: Vec<u32>,
        /// w of each.
        weights: Vec<f64>,
    },
}

impl BondPlace {
    /// The object that it is on, if it is not a body.
    pub fn object(&self) -> Option<DeformableId> {
        match self {
            BondPlace::Body(_) => None,
            BondPlace::Inside(object)
            | BondPlace::Surface(object)
            | BondPlace::At { object, .. } => Some(*object),
        }
    }
}

/// A spring of no length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BondSpring {
    /// Of each vertex, N/m.
    pub stiffness: f64,
    /// Time in which the stiffness acts on the rate of the gap, s.
    pub damping: f64,
}

impl Bond {
    /// To a body.
    pub fn body(body: BodyId) -> Bond {
        Bond { to: BondPlace::Body(body), spring: None }
    }

    /// To the tetrahedra of an object.
    pub fn inside(object: DeformableId) -> Bond {
        Bond { to: BondPlace::Inside(object), spring: None }
    }

    /// To the surface of an object.
    pub fn surface(object: DeformableId) -> Bond {
        Bond { to: BondPlace::Surface(object), spring: None }
    }

    /// By a spring of this stiffness (N/m), damped over a time (s).
    pub fn soft(mut self, stiffness: f64, damping: f64) -> Bond {
        self.spring = Some(BondSpring { stiffness, damping });
        self
    }
}

/// A vertex that is bound by a spring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundVertex {
    /// Which, of its object.
    pub vertex: u32,
    /// Where to.
    pub to: BoundTo,
    /// How softly; none: hard.
    pub spring: Option<BondSpring>,
}

/// Where a vertex is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BoundTo {
    /// A body.
    Body {
        /// Which; once it is removed, the vertex is free.
        body: BodyId,
        /// Place in the body's own frame, from its centre of mass.
        local: Vec3,
    },
    /// A place among vertices.
    Vertices {
        /// Of which object; once it is removed, the vertex is free.
        object: DeformableId,
        /// Those that are in use have weights.
        corners: [u32; 4],
        /// w of each; they sum to one.
        weights: [f64; 4],
    },
}

/// The objects and bodies that bonds may name.
#[allow(missing_debug_implementations)]
pub struct Around<'a> {
    /// Centre of mass and orientation of a body.
    pub body: &'a dyn Fn(BodyId) -> Option<(Vec3, Quat)>,
    /// Elements of an object, and where its vertices are.
    pub object: &'a dyn Fn(DeformableId) -> Option<(&'a Elements, &'a [Vec3])>,
}

fn refused<T>(problem: String) -> Result<T, DeformableError> {
    Err(DeformableError::Value { field: "pins", problem })
}

/// What binds a vertex at a place.
pub(super) fn bind(
    (vertex, at): (u32, Vec3),
    bond: &Bond,
    around: &Around<'_>,
) -> Result<Held, DeformableError> {
    if let Some(BondSpring { stiffness, damping }) = bond.spring {
        let usable = (0.0..1e12).contains(&stiffness) && (0.0..1e6).contains(&damping);
        if !usable || stiffness == 0.0 {
            return refused(format!(
                "a bond needs a stiffness above 0 and a damping that is not negative, \
                 not {stiffness} and {damping}"
            ));
        }
    }
    let known = |object: DeformableId| {
        (around.object)(object).ok_or(DeformableError::Stale(crate::ids::StaleId::of(object)))
    };
    let to = match &bond.to {
        BondPlace::Body(body) => {
            let (center, rotation) =
                (around.body)(*body).ok_or(DeformableError::NoSuchBody(*body))?;
            let local = rotation.conjugate() * (at - center);
            if bond.spring.is_none() {
                let hold = PinHold::Body { body: *body, local };
                return Ok(Held::Pin(PinnedVertex { vertex, hold }));
            }
            BoundTo::Body { body: *body, local }
        }
        BondPlace::Inside(object) => {
            let (elements, x) = known(*object)?;
            let Some((corners, weights)) = tetrahedron(elements, x, at) else {
                return refused(format!("vertex {vertex} is not near a tetrahedron of {object}"));
            };
            BoundTo::Vertices { object: *object, corners, weights }
        }
        BondPlace::Surface(object) => {
            let (elements, x) = known(*object)?;
            let Some((corners, weights)) = triangle(elements, x, at) else {
                return refused(format!("{object} has no surface to bind a vertex to"));
            };
            BoundTo::Vertices { object: *object, corners, weights }
        }
        BondPlace::At { object, corners, weights } => {
            let (_, x) = known(*object)?;
            let (corners, weights) = given(x.len(), corners, weights)?;
            BoundTo::Vertices { object: *object, corners, weights }
        }
    };
    Ok(Held::Bond(BoundVertex { vertex, to, spring: bond.spring }))
}

/// What becomes of a vertex that is held.
#[derive(Clone, Debug)]
pub enum Held {
    /// The solve holds it.
    Pin(PinnedVertex),
    /// A spring does.
    Bond(BoundVertex),
}

/// Farthest outside of a tetrahedron, in its own size, that a vertex is bound to it.
const FAR: f64 = 4.0;

/// The tetrahedron that a place is in, or the least outside of, and its weights.
fn tetrahedron(elements: &Elements, x: &[Vec3], at: Vec3) -> Option<([u32; 4], [f64; 4])> {
    let set = &elements.energies.tetrahedra;
    let mut best = None;
    let mut inside = -FAR;
    for element in 0..set.len() {
        let nodes = set.nodes(element);
        let [o, a, b, c] = nodes.map(|i| x[i as usize]);
        let (a, b, c, p) = (a - o, b - o, c - o, at - o);
        let volume = a.dot(b.cross(c));
        let [wa, wb, wc] = [b.cross(c), c.cross(a), a.cross(b)].map(|n| n.dot(p) / volume);
        let weights = [1.0 - wa - wb - wc, wa, wb, wc];
        let least = weights.iter().fold(f64::INFINITY, |least, w| least.min(*w));
        if least > inside {
            (inside, best) = (least, Some((nodes, weights)));
        }
    }
    best
}

/// The place of the surface that is nearest.
fn triangle(elements: &Elements, x: &[Vec3], at: Vec3) -> Option<([u32; 4], [f64; 4])> {
    let mut best = None;
    let mut least = f64::INFINITY;
    for &[a, b, c] in &elements.triangles {
        let [p, q, r] = [a, b, c].map(|i| x[i as usize]);
        let (near, location) =
            Triangle::new(p, q, r).project_local_point_and_get_location(at, false);
        let distance = near.point.distance_squared(at);
        let weights = location.barycentric_coordinates();
        if let Some([u, v, w]) = weights.filter(|_| distance < least) {
            least = distance;
            best = Some(([a, b, c, a], [u, v, w, 0.0]));
        }
    }
    best
}

fn given(
    count: usize,
    corners: &[u32],
    weights: &[f64],
) -> Result<([u32; 4], [f64; 4]), DeformableError> {
    let sum: f64 = weights.iter().sum();
    if corners.len() != weights.len() || corners.is_empty() || corners.len() > 4 {
        return refused("a bond is to one to four corners, each with a weight".into());
    }
    if !((sum - 1.0).abs() < 1e-6 && weights.iter().all(|w| w.abs() < 1e3)) {
        return refused(format!("the weights of a bond must sum to one, not {sum}"));
    }
    let twice = (0..corners.len()).any(|i| corners[..i].contains(&corners[i]));
    if twice || corners.iter().any(|&i| i as usize >= count) {
        return refused(format!(
            "the corners of a bond must be different ones of {count} vertices"
        ));
    }
    let (mut all, mut shares) = ([corners[0]; 4], [0.0; 4]);
    all[..corners.len()].copy_from_slice(corners);
    shares[..weights.len()].copy_from_slice(weights);
    shares.iter_mut().for_each(|w| *w /= sum);
    Ok((all, shares))
}

/// How many times as stiff as the objects a hard bond is.
const HARD: f64 = 100.0;

/// The spring of a vertex bound to others: numbered by the world's particles, with the masses of all and what
/// frequency squared (1/s²) the stiffest element of both objects has.
pub(super) fn spring(
    bound: &BoundVertex,
    (own, other): (u32, u32),
    mass: &[f64],
    frequency: f64,
) -> Option<BoundParticle> {
    let BoundTo::Vertices { corners, weights, .. } = bound.to else { return None };
    let mut nodes = [crate::energy::NONE; 5];
    let mut shares = [0.0; 5];
    (nodes[0], shares[0]) = (own + bound.vertex, 1.0);
    for k in 0..4 {
        if weights[k] != 0.0 {
            (nodes[k + 1], shares[k + 1]) = (other + corners[k], -weights[k]);
        }
    }
    // rounding must not make forces of its own
    let rest: f64 = shares[1..].iter().sum();
    shares[1..].iter_mut().for_each(|w| *w /= -rest);
    let there = nodes.iter().zip(&shares).filter(|(node, _)| **node != crate::energy::NONE);
    let inverse: f64 = there.map(|(node, w)| w * w / mass[*node as usize]).sum();
    let hard = BondSpring { stiffness: HARD * frequency / inverse, damping: 0.0 };
    let BondSpring { stiffness, damping } = bound.spring.unwrap_or(hard);
    Some(BoundParticle { nodes, weights: shares, stiffness, damping })
}
