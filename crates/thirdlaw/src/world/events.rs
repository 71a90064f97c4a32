//! What happened in a step, for who listens: contacts that begin, last and end, sensors, joints that
//! break, bodies that fall asleep and wake.
//!
//! Events are found by comparing the world before and after a step. Listening changes nothing of it, and
//! costs nothing when nobody does. They stand in a fixed order: contacts that begin, last, end; sensors;
//! joints; sleep; each by ids. Take them out after every step:
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let ball = world.add_body(Body::dynamic(Shape::sphere(0.1)?).mass(2.0).at(0.0, 1.0, 0.0))?;
//! world.listen(Listening { contacts: true, ..Listening::default() });
//! let mut blows = Vec::new();
//! for _ in 0..60 {
//!     let _report = world.step(1.0 / 60.0)?;
//!     for event in world.drain_events() {
//!         if let WorldEvent::ContactBegan { impulse, .. } = event {
//!             blows.push(impulse);
//!         }
//!     }
//! }
//! // from 0.9 m, 2 kg arrive with 4.2 m/s
//! assert!(blows.len() == 1 && (blows[0] - 8.4).abs() < 0.4, "{blows:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::World;
use super::query::Filter;
use crate::ids::{AnyId, BodyId, JointId, PartId, StaleId};
use crate::math::{Twist, Vec3};
use crate::model::body::part::PartModel;
use crate::state::contact::Contact;
use serde::{Deserialize, Serialize};

/// What a world shall tell of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[doc(alias = "ActiveEvents")]
pub struct Listening {
    /// Contacts of bodies that begin and end.
    pub contacts: bool,
    /// Contacts that last, in every step.
    pub lasting: bool,
    /// Impulse in a step below which a contact is not told of, N·s. Its end is told of if anything else
    /// was.
    #[doc(alias = "contact_force_event_threshold")]
    pub least_impulse: f64,
    /// What enters and leaves sensors.
    pub sensors: bool,
    /// Joints that break.
    pub joints: bool,
    /// Bodies that fall asleep and wake.
    pub sleep: bool,
}

impl Listening {
    /// Everything.
    pub fn all() -> Listening {
        Listening {
            contacts: true,
            lasting: true,
            least_impulse: 0.0,
            sensors: true,
            joints: true,
            sleep: true,
        }
    }
}

/// Something that happened in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "CollisionEvent")]
#[doc(alias = "ContactForceEvent")]
pub enum WorldEvent {
    /// Two bodies have begun to push each other.
    ContactBegan {
        /// The body in the lower slot.
        a: BodyId,
        /// The other one.
        b: BodyId,
        /// Which of their parts. Each pair of parts has events of its own.
        parts: [PartId; 2],
        /// What passed between them in the step, N·s; 0 where solver groups let them through. Exact where one of the two touches nothing else
        /// and nothing holds it; else the larger of the force at the end of the step and what
        /// stopping their approach takes.
        impulse: f64,
        /// Speed at which they approached each other, m/s.
        approach: f64,
    },
    /// Two bodies push each other on.
    ContactLasts {
        /// The body in the lower slot.
        a: BodyId,
        /// The other one.
        b: BodyId,
        /// Which of their parts.
        parts: [PartId; 2],
        /// What passed between them in the step, N·s, by the force at its end.
        impulse: f64,
    },
    /// Two bodies have parted.
    ContactEnded {
        /// The body in the lower slot.
        a: BodyId,
        /// The other one; either may have been removed.
        b: BodyId,
        /// Which of their parts.
        parts: [PartId; 2],
    },
    /// A body that is not fixed, or a deformable object, has come into a sensor.
    SensorEntered {
        /// The sensor.
        sensor: BodyId,
        /// Which of its parts.
        part: PartId,
        /// Who.
        who: AnyId,
    },
    /// It has left it.
    SensorLeft {
        /// The sensor.
        sensor: BodyId,
        /// Which of its parts.
        part: PartId,
        /// Who; it may have been removed.
        who: AnyId,
    },
    /// A joint broke.
    JointBroke(JointId),
    /// A body fell asleep.
    Slept(BodyId),
    /// A body woke.
    Woke(BodyId),
}

/// Gap up to which bodies that pushed each other count as touching still, over half the thickness of the thinner.
const STILL: f64 = 4e-3;

/// What is remembered from step to step by a world that somebody listens to.
#[derive(Clone, Debug, Default)]
pub(super) struct Ears {
    what: Listening,
    touching: Vec<Touching>,
    /// Sensors with who is inside, ordered.
    inside: Vec<(PartId, AnyId)>,
    /// Of every slot before the step.
    velocities: Vec<Twist>,
    asleep: Vec<bool>,
    broken: Vec<bool>,
    heard: Vec<WorldEvent>,
}

/// Two parts of two bodies that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Touching {
    a: PartId,
    b: PartId,
    /// Sum of the forces along the normals, N.
    force: f64,
    told: bool,
    /// Whether solver groups let them through each other.
    silent: bool,
}

impl World {
    /// Says what to tell of from now on; nothing by default. What touches already is not told of as new.
    pub fn listen(&mut self, what: Listening) {
        if what == Listening::default() {
            self.ears = None;
            return;
        }
        let heard = self.ears.take().map(|ears| ears.heard).unwrap_or_default();
        self.ears = Some(Box::new(Ears { what, heard, ..Ears::default() }));
        self.prick_ears();
    }

    /// What is told of.
    pub fn listening(&self) -> Listening {
        self.ears.as_ref().map_or(Listening::default(), |ears| ears.what)
    }

    /// Takes out what happened since it was last asked for, in order.
    pub fn drain_events(&mut self) -> impl Iterator<Item = WorldEvent> + '_ {
        self.ears.iter_mut().flat_map(|ears| ears.heard.drain(..))
    }

    /// What is inside of a sensor now: bodies that are not fixed, then deformable objects. Sensors do not
    /// see each other. Of a body of several parts it is what is inside of any of its sensor parts, or of the
    /// whole of it if it has none.
    #[doc(alias = "intersection_pairs_with")]
    pub fn inside_sensor(&self, sensor: BodyId) -> Result<Vec<AnyId>, StaleId> {
        let slot = self.model.slot(sensor)?;
        let body = &self.model.bodies[slot];
        let mut sensors: Vec<&PartModel> = body.parts.iter().filter(|p| p.part.sensor).collect();
        if sensors.is_empty() {
            sensors.extend(&body.parts);
        }
        if sensors.is_empty() {
            return self.inside_part(PartId { body: sensor, number: 0 });
        }
        let mut inside = Vec::new();
        for part in sensors {
            inside.extend(self.inside_part(PartId { body: sensor, number: part.number() })?);
        }
        inside.sort_unstable();
        inside.dedup();
        Ok(inside)
    }

    /// The same of one part of a body.
    pub fn inside_part(&self, id: PartId) -> Result<Vec<AnyId>, StaleId> {
        self.describe_part(id).map(drop)?;
        let slot = self.model.slot(id.body)?;
        let body = &self.model.bodies[slot];
        let part = body.parts.iter().find(|part| part.number() == id.number);
        let own = (&body.shape, body.asked_groups);
        let (shape, groups) = part.map_or(own, |part| (&part.shape, part.part.groups));
        if !body.enabled || shape.is_half_space() {
            return Ok(Vec::new());
        }
        let filter = Filter::new().groups(groups).except(id.body).without_fixed();
        Ok(self.overlapping(shape, &self.slot_pose(slot), &filter))
    }

    /// Takes the world as it is for what was known before.
    pub(super) fn prick_ears(&mut self) {
        let Some(mut ears) = self.ears.take() else { return };
        ears.touching = self.touching(&[], &[]);
        ears.inside = self.insides(&ears.what);
        self.ears = Some(ears);
    }

    /// Before a step.
    pub(super) fn hear_before(&mut self) {
        let Some(ears) = &mut self.ears else { return };
        ears.velocities.clear();
        ears.velocities.extend(self.state.bodies.iter().map(|body| body.velocity));
        ears.asleep.clear();
        ears.asleep.extend(self.state.bodies.iter().map(|body| body.asleep));
        ears.broken.clear();
        ears.broken.extend(self.state.joints.iter().map(|joint| joint.broken));
    }

    /// After a step of `dt` seconds.
    pub(super) fn hear_after(&mut self, dt: f64) {
        let Some(mut ears) = self.ears.take() else { return };
        if ears.what.contacts || ears.what.lasting {
            self.hear_contacts(&mut ears, dt);
        }
        if ears.what.sensors {
            let now = self.insides(&ears.what);
            let entered = now.iter().filter(|pair| ears.inside.binary_search(pair).is_err());
            let entered = entered.map(|&(part, who)| WorldEvent::SensorEntered {
                sensor: part.body,
                part,
                who,
            });
            ears.heard.extend(entered);
            let left = ears.inside.iter().filter(|pair| now.binary_search(pair).is_err());
            let left =
                left.map(|&(part, who)| WorldEvent::SensorLeft { sensor: part.body, part, who });
            ears.heard.extend(left);
            ears.inside = now;
        }
        if ears.what.joints {
            let joints = self.model.joints.iter().zip(&self.state.joints).zip(&ears.broken);
            for (slot, ((joint, now), &before)) in joints.enumerate() {
                if joint.alive && now.broken && !before {
                    let generation = joint.generation;
                    ears.heard
                        .push(WorldEvent::JointBroke(JointId { index: slot as u32, generation }));
                }
            }
        }
        if ears.what.sleep {
            for (slot, (now, &before)) in self.state.bodies.iter().zip(&ears.asleep).enumerate() {
                if self.model.bodies[slot].alive && now.asleep != before {
                    let id = self.model.id(slot);
                    let woke = WorldEvent::Woke(id);
                    ears.heard.push(if now.asleep { WorldEvent::Slept(id) } else { woke });
                }
            }
        }
        self.ears = Some(ears);
    }

    fn hear_contacts(&self, ears: &mut Ears, dt: f64) {
        let mut now = self.touching(&ears.touching, &ears.velocities);
        let places: Vec<(PartId, PartId)> = ears.touching.iter().map(|t| (t.a, t.b)).collect();
        let mut lasting = Vec::new();
        for i in 0..now.len() {
            let Touching { a: one, b: other, force, .. } = now[i];
            let (a, b, parts) = (one.body, other.body, [one, other]);
            let known = places.binary_search(&(one, other)).ok().map(|at| ears.touching[at]);
            now[i].told = known.is_some_and(|known| known.told);
            if known.is_some() {
                let impulse = force * dt;
                if ears.what.lasting && impulse >= ears.what.least_impulse {
                    now[i].told = true;
                    lasting.push(WorldEvent::ContactLasts { a, b, parts, impulse });
                }
                continue;
            }
            let (impulse, approach) =
                if now[i].silent { (0.0, 0.0) } else { self.blow(&now, i, &ears.velocities, dt) };
            if ears.what.contacts && impulse >= ears.what.least_impulse {
                now[i].told = true;
                ears.heard.push(WorldEvent::ContactBegan { a, b, parts, impulse, approach });
            }
        }
        ears.heard.append(&mut lasting);
        for &Touching { a, b, told, .. } in &ears.touching {
            let parted = now.binary_search_by(|t| (t.a, t.b).cmp(&(a, b))).is_err();
            if told && parted && ears.what.contacts {
                let parts = [a, b];
                ears.heard.push(WorldEvent::ContactEnded { a: a.body, b: b.body, parts });
            }
        }
        ears.touching = now;
    }

    /// Pairs that push each other, or have and are still near.
    fn touching(&self, before: &[Touching], velocities: &[Twist]) -> Vec<Touching> {
        let mut found: Vec<Touching> = Vec::new();
        let per_second = if self.state.substep > 0.0 { 1.0 / self.state.substep } else { 0.0 };
        for contact in self.live_contacts() {
            let [a, b] = self.parts_of(contact);
            let load: f64 = contact.points().map(|point| point.normal_impulse).sum();
            let same = |t: &Touching| (t.a, t.b).cmp(&(a, b));
            let half = |slot: u32| self.model.bodies[slot as usize].half_thickness;
            let still = STILL * half(contact.key.a).min(half(contact.key.b));
            let near = contact.points().any(|p| p.separation < still + f64::from(contact.skin));
            let bounced = self.has_bounced(contact, velocities);
            if load <= 0.0 && !bounced && !(near && before.binary_search_by(same).is_ok()) {
                continue;
            }
            let force = load * per_second;
            found.push(Touching { a, b, force, told: false, silent: false });
        }
        found.extend(self.silent_contacts().map(|[a, b]| Touching {
            a,
            b,
            force: 0.0,
            told: false,
            silent: true,
        }));
        // pieces of one part stand together, parts need not stand in the order of their numbers
        found.sort_by_key(|touching| (touching.a, touching.b));
        found.dedup_by(|next, first| {
            let same = (next.a, next.b) == (first.a, first.b);
            if same {
                first.force += next.force;
                first.silent &= next.silent;
            }
            same
        });
        found
    }

    /// Whether a contact that carries nothing at the end of the step has turned its bodies round in it, or taken
    /// most of the speed at which they came: a blow may end substeps before the step does.
    fn has_bounced(&self, contact: &Contact, before: &[Twist]) -> bool {
        if before.is_empty() {
            return false;
        }
        let slots = [contact.key.a as usize, contact.key.b as usize];
        let place = self.place_of(contact);
        let speed = |of: &dyn Fn(usize) -> Twist| {
            let [a, b] = slots.map(|slot| {
                let v = of(slot);
                v.linear + v.angular.cross(place - self.state.bodies[slot].position)
            });
            contact.normal.dot(b - a)
        };
        let came = speed(&|slot| before.get(slot).copied().unwrap_or_default());
        came < 0.0 && speed(&|slot| self.state.bodies[slot].velocity) > 0.5 * came
    }

    /// Impulse that passed in the step between two that have just met (N·s), and how fast they met.
    fn blow(&self, all: &[Touching], at: usize, before: &[Twist], dt: f64) -> (f64, f64) {
        let Touching { a, b, force, .. } = all[at];
        let slots = [a.body.index as usize, b.body.index as usize];
        let contact = self.live_contacts().find(|c| self.parts_of(c) == [a, b]);
        let Some(contact) = contact else { return (force * dt, 0.0) };
        let velocity = |i: usize| before.get(i).copied().unwrap_or_default();
        let [va, vb] = slots.map(velocity);
        let [xa, xb] = slots.map(|i| self.state.bodies[i].position);
        let place = self.place_of(contact);
        let at_point = |v: Twist, x: Vec3| v.linear + v.angular.cross(place - x);
        let approach = -contact.normal.dot(at_point(vb, xb) - at_point(va, xa));
        for slot in slots {
            let body = &self.model.bodies[slot];
            let alone = all.iter().filter(|t| {
                !t.silent && [t.a.body, t.b.body].iter().any(|id| id.index as usize == slot)
            });
            let plain = body.is_dynamic() && body.forces.is_empty() && body.linear_damping == 0.0;
            if plain && alone.count() == 1 && !self.is_held(slot) {
                let gained = self.state.bodies[slot].velocity.linear - velocity(slot).linear;
                let fallen = body.gravity_scale * self.settings.gravity * dt;
                return (body.mass * (gained - fallen).length(), approach.max(0.0));
            }
        }
        let inverse: f64 = slots.iter().map(|&i| 1.0 / self.model.bodies[i].mass).sum();
        let stopping = if inverse > 0.0 { approach.max(0.0) / inverse } else { 0.0 };
        ((force * dt).max(stopping), approach.max(0.0))
    }

    /// The middle of the points of a contact, m.
    fn place_of(&self, contact: &Contact) -> Vec3 {
        let [a, b] = [contact.key.a, contact.key.b].map(|i| self.state.bodies[i as usize]);
        let axes = [a, b].map(|body| crate::math::Mat3::from_quat(body.rotation));
        let count = contact.points().count().max(1);
        let arm = |i| contact.on_surface_of_a(i, [&axes[0], &axes[1]], b.position - a.position);
        a.position + (0..count).map(arm).sum::<Vec3>() / count as f64
    }

    /// Whether a joint, a constraint or cloth acts on a body.
    fn is_held(&self, slot: usize) -> bool {
        use crate::model::joint::model::Node;
        let node = Node::Body(slot as u32);
        self.model.joints.iter().any(|j| j.alive && (j.a == node || j.b == node))
            || self.model.constraints.iter().any(|c| c.nodes.contains(&node))
            || self.state.cloth.touches.iter().any(|t| t.body as usize == slot)
    }

    fn insides(&self, what: &Listening) -> Vec<(PartId, AnyId)> {
        let mut found = Vec::new();
        if !what.sensors {
            return found;
        }
        for (slot, body) in self.model.bodies.iter().enumerate() {
            if !body.alive {
                continue;
            }
            let own = body.sensor && body.parts.is_empty();
            let parts = body.parts.iter().filter(|part| part.part.sensor);
            let numbers = own.then_some(0).into_iter().chain(parts.map(PartModel::number));
            for number in numbers {
                let part = PartId { body: self.model.id(slot), number };
                let inside = self.inside_part(part).unwrap_or_default();
                found.extend(inside.into_iter().map(|who| (part, who)));
            }
        }
        found.sort_unstable();
        found
    }
}
