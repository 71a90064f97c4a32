//! Cloth against cloth, and corners and edges of solids against the insides of triangles.
//!
//! These contacts couple several particles, so the filter cannot hold them; they are stiff terms of
//! the system itself, pushing only where the gap would close [baraff1998: strong damped springs].
//! Near pairs are known before they touch; pairs that would still cross on the way of a step are
//! added and the step is solved again. Friction is a drag, bounded by Coulomb's law with the pressure
//! of the round before.

use super::solids::{Solids, surface};
use super::touch::{Span, Verdict};
use crate::collide::deformable::parts::distance_to_parts;
use crate::collide::deformable::{DeformableContact, Hit, NO_BODY};
use crate::linalg::filter::NONE;
use crate::linalg::stencil::Stencil;
use crate::math::{Vec3, tangents};
use crate::model::Model;
use crate::state::cloth::{HitKind, LastPair};

/// A place where cloth is near cloth, or a feature of a solid near the inside of a triangle or edge.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    hit: Hit,
    /// Which of the near solids, or `NONE`.
    pub solid: u32,
    /// Outward unit vector and surface point of a solid, m, and whether they are those of the end of the step.
    normal: Vec3,
    point: Vec3,
    aimed: bool,
    /// Distance to keep, m.
    apart: f64,
    /// Impulse per velocity, N·s/(m/s).
    stiffness: f64,
    /// Mass that it moves, kg.
    mass: f64,
    /// Coulomb's μ.
    mu: f64,
    /// Normal velocity at which nothing pushes, m/s.
    target: f64,
    /// Whether it pushes.
    pub active: bool,
    /// How often it stopped to push in this step.
    releases: u8,
    /// Impulse along the normal, N·s.
    pressure: f64,
    /// Speed along the surface, m/s.
    slip: f64,
}

/// What a pair needs to know of its particles.
pub struct Surface<'a> {
    pub mass: &'a [f64],
    /// Mean of the diagonal of each particle's block, N·s/(m/s).
    pub stiffness: &'a dyn Fn(usize) -> f64,
}

/// Stiffness of cloth against cloth, in units of the particles' mass: two layers of cloth push each
/// other with their weight, not with their membrane stiffness.
const LAYER_STIFFNESS: f64 = 200.0;
/// Part of the distance kept by which the pressure of the last step may bring layers closer in a step.
const YIELD: f64 = 0.1;
/// Most that layers are made stiffer for it.
const HARDEST: f64 = 100.0;
/// Gap below which a body that was carried in the last step touches, relative to the distance kept.
pub(super) const CARRIED: f64 = 0.25;
/// Change of pressure, relative to the larger, after which friction is looked at again.
const FRICTION_CHANGE: f64 = 0.25;
/// Cosine of the angle beyond which the surface at the end of a step is another one than that at its
/// beginning.
const TURNED: f64 = 0.5;
/// Of overlap, the share that is taken out in a step.
const RECOVERY: f64 = 0.3;

impl Pair {
    /// A pair found near, or found to cross.
    pub fn new(
        contact: &DeformableContact,
        solids: &Solids,
        around: &Surface,
        crossing: bool,
    ) -> Option<Pair> {
        let hit = &contact.hit;
        let used =
            || (0..usize::from(hit.count)).map(|k| (hit.particles[k] as usize, hit.weights[k]));
        let inverse: f64 = used().map(|(i, w)| w * w / around.mass[i]).sum();
        if inverse.is_nan() || inverse <= 0.0 {
            return None;
        }
        let own = LAYER_STIFFNESS / inverse;
        let (solid, stiffness) = if hit.body == NO_BODY {
            (NONE, if crossing { 10.0 * own } else { own })
        } else {
            let stiff = used().map(|(i, _)| (around.stiffness)(i)).fold(0.0, f64::max);
            (solids.find(hit.body)? as u32, own.max(2.0 * stiff))
        };
        Some(Pair {
            hit: *hit,
            solid,
            normal: hit.normal,
            point: hit.point,
            aimed: false,
            apart: contact.apart,
            stiffness,
            mass: 1.0 / inverse,
            mu: contact.friction,
            target: 0.0,
            active: false,
            releases: 0,
            pressure: 0.0,
            slip: 0.0,
        })
    }

    /// Pushes harder: it was passed through.
    pub fn harden(&mut self) {
        self.stiffness *= 10.0;
        self.active = true;
    }

    /// What names the pair.
    pub fn key(&self) -> (HitKind, [u32; 3]) {
        self.hit.key()
    }

    /// Places the pair for a step: `x` are the positions at its beginning, `guess` those of free
    /// flight.
    pub fn begin(&mut self, solids: &Solids, x: &[Vec3], guess: &[Vec3], span: &Span) {
        let n = self.hit.normal;
        let mut gap = n.dot(self.hit.combine(x)) - self.apart;
        let mut surface = 0.0;
        if self.solid != NONE {
            gap -= n.dot(self.hit.point);
            surface = n.dot(solids.list[self.solid as usize].velocity_before(self.hit.point));
        }
        self.target =
            if gap > 0.0 { -gap / span.h } else { (-RECOVERY * gap / span.h).min(span.push_speed) }
                + surface;
        let ahead = n.dot(self.hit.combine(guess) - self.hit.combine(x)) / span.h;
        // a body that cloth carries is carried on, if by other triangles than before
        let carried = self.solid != NONE
            && solids.list[self.solid as usize].is_pushed()
            && gap < CARRIED * self.apart;
        self.active = ahead < self.target || carried;
    }

    /// Takes the plane of the solid where the place of the cloth, which moves at `velocity`, will be at the end
    /// of the step. A pulley's force along normals of the beginning would hold back the strip that runs
    /// over it, by the angle that it turns in a step.
    pub fn aim(&mut self, model: &Model, solids: &Solids, (x, v): (&[Vec3], &[Vec3]), span: &Span) {
        if self.solid == NONE {
            return;
        }
        let solid = &solids.list[self.solid as usize];
        let body = &model.bodies[solid.slot as usize];
        let (shape, center, _, _) = surface(model, solid.slot);
        let groups = model.sheet.groups.get(self.hit.particles[0] as usize);
        let (from, velocity) = (self.hit.combine(x), self.hit.combine(v));
        let end = solid.after.pose(center);
        let local = end.inverse() * (from + span.h * velocity);
        let reach = 4.0 * self.apart;
        let Some((found, _)) = distance_to_parts(shape, &body.parts, groups, local, reach) else {
            return;
        };
        let normal = end.rotation * found.normal;
        // inside of a corner the nearest surface says nothing
        if found.distance <= 0.0 || normal.dot(self.normal) < TURNED {
            return;
        }
        let overlap = (self.apart - self.normal.dot(from - self.point)).max(0.0);
        (self.normal, self.point, self.aimed) = (normal, end * found.point, true);
        let gap = self.normal.dot(from - self.point) - self.apart;
        self.target =
            -(gap + overlap) / span.h + (RECOVERY * overlap / span.h).min(span.push_speed);
        let ahead = self.normal.dot(velocity);
        self.active |= ahead < self.target;
    }

    /// Velocity of the solid where it touches, m/s.
    fn surface_velocity(&self, solids: &Solids) -> Vec3 {
        let solid = &solids.list[self.solid as usize];
        if self.aimed { solid.velocity_at(self.point) } else { solid.velocity_before(self.point) }
    }

    /// From the body's centre of mass to where it touches, m.
    fn arm(&self, solids: &Solids) -> Vec3 {
        let solid = &solids.list[self.solid as usize];
        self.point - if self.aimed { solid.after.center } else { solid.before.center }
    }

    /// Goes on as in the last step.
    pub fn resume(&mut self, last: &[LastPair], h: f64) {
        let (kind, feature) = self.key();
        let found = last.binary_search_by_key(&(kind, feature, self.hit.body), LastPair::key);
        if let Ok(found) = found {
            self.active = true;
            self.pressure = last[found].pressure * h;
            self.slip = last[found].slip;
            if self.solid == NONE {
                // pressed harder than by its weight it would give way, and be passed through
                let needed = self.pressure * h / (YIELD * self.apart);
                self.stiffness = needed.clamp(self.stiffness, HARDEST * self.stiffness);
            }
        }
    }

    /// For the next step, if it pushes.
    pub fn last(&self, h: f64) -> Option<LastPair> {
        let (kind, feature) = self.key();
        let (pressure, slip) = (self.pressure / h, self.slip);
        (self.active && pressure > 0.0).then_some(LastPair {
            kind,
            feature,
            body: self.hit.body,
            pressure,
            slip,
        })
    }

    /// The stiff terms of the pair for the next round.
    pub fn stencils(&self, solids: &Solids, span: &Span, out: &mut Vec<Stencil>) {
        if !self.active {
            return;
        }
        let n = self.normal;
        out.push(self.stencil(solids, n, self.stiffness, self.target));
        let limit = self.mu * self.pressure;
        if limit > 0.0 {
            // no stiffer than the contact itself: friction beyond that only grows with its own push
            let drag = (limit / self.slip.max(span.creep_speed)).min(self.stiffness);
            let (a, b) = tangents(n);
            for axis in [a, b] {
                let surface = match self.solid {
                    NONE => 0.0,
                    _ => axis.dot(self.surface_velocity(solids)),
                };
                out.push(self.stencil(solids, axis, drag, surface));
            }
        }
    }

    fn stencil(&self, solids: &Solids, axis: Vec3, stiffness: f64, target: f64) -> Stencil {
        let mut gradient = [Vec3::ZERO; 4];
        let mut particles = [self.hit.particles[0]; 4];
        for k in 0..usize::from(self.hit.count) {
            particles[k] = self.hit.particles[k];
            gradient[k] = self.hit.weights[k] * axis;
        }
        let mut body = NONE;
        let mut wrench = [Vec3::ZERO; 2];
        if self.solid != NONE {
            let solid = &solids.list[self.solid as usize];
            body = solid.unknown;
            wrench = [axis, self.arm(solids).cross(axis)];
        }
        Stencil { particles, gradient, stiffness, target, body, wrench }
    }

    /// What its solid, which nothing pushes, and taking out overlap gave in the step, J.
    pub fn gave(&self, solids: &Solids) -> f64 {
        let [parts, carries] = self.moves(solids);
        self.pressure * (parts + carries)
    }

    /// Speed at which overlap is taken out, and at which a solid that nothing pushes comes, m/s.
    pub fn moves(&self, solids: &Solids) -> [f64; 2] {
        if !self.active {
            return [0.0; 2];
        }
        if self.solid == NONE {
            return [self.target.max(0.0), 0.0];
        }
        let surface = self.normal.dot(self.surface_velocity(solids));
        let by_itself = solids.list[self.solid as usize].unknown == NONE;
        let carries = if by_itself { surface.max(0.0) } else { 0.0 };
        [(self.target - surface).max(0.0), carries]
    }

    /// What moving it at a speed takes at most, J.
    pub fn pull(&self, speed: f64) -> f64 {
        0.5 * self.stiffness * speed * speed
    }

    /// Pushed only this part of what it did.
    pub fn weaken(&mut self, part: f64) {
        self.pressure = if part > 0.0 { part * self.pressure } else { 0.0 };
    }

    /// Judges the pair by the velocities `u` of a round; `delta` are the changes of the bodies'
    /// velocities.
    pub fn judge(
        &mut self,
        solids: &Solids,
        u: &dyn Fn(u32) -> Vec3,
        delta: &[[Vec3; 2]],
    ) -> Verdict {
        let n = self.normal;
        let mut relative = Vec3::ZERO;
        for k in 0..usize::from(self.hit.count) {
            relative += self.hit.weights[k] * u(self.hit.particles[k]);
        }
        let mut moved = Vec3::ZERO;
        let mut surface = Vec3::ZERO;
        if self.solid != NONE {
            let solid = &solids.list[self.solid as usize];
            surface = self.surface_velocity(solids);
            if solid.unknown != NONE {
                let [v, w] = delta[solid.unknown as usize];
                moved = v + w.cross(self.arm(solids));
            }
        }
        let along = n.dot(relative - moved);
        let was = self.active;
        self.active = along < self.target;
        if was && !self.active && self.solid != NONE {
            // one that was let go and came back stays to the end of the step, or it would go on so
            self.active = self.releases > 0;
            self.releases += 1;
        }
        let before = self.pressure;
        self.pressure =
            if self.active { self.stiffness * (self.target - along).max(0.0) } else { 0.0 };
        let slip = relative - moved - surface;
        self.slip = (slip - n * n.dot(slip)).length();
        // friction was bounded by the pressure before
        let other = (self.pressure - before).abs() > FRICTION_CHANGE * self.pressure.max(before);
        let flipped = was != self.active;
        // a stiff term that is new would push less than this once it is there
        let wrong = if flipped { self.mass * (self.target - along).abs() } else { 0.0 };
        Verdict {
            changed: flipped || (self.mu > 0.0 && other),
            entered: flipped && self.active && self.solid != NONE,
            error: wrong + self.mu * (self.pressure - before).abs().min(self.pressure.max(before)),
            push: self.pressure,
        }
    }
}
