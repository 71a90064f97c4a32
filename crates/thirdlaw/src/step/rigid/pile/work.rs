//! The parts that the stages of a pile are made of, each for some bundles or some bodies.

use super::bodies::SharedLines;
use super::bounce::{self, Rebound};
use super::bundle::{Bundle, Padded, Points};
use super::convergence::Outcome;
use super::joints::SharedJoints;
use super::order::{Chunk, Group, NONE, Order};
use super::pack::{Place, Source, pack};
use super::sweep::{self, Bodies, Part, Pass, Spring};
use super::unpack::unpack;
use crate::math::{Quat, Twist, Vec3};
use crate::model::joint::model::Node;
use crate::parallel::share::{Shared, prefetch};
use crate::simd::f32x8::{LANES, Wide};
use crate::state::body::BodyState;
use crate::state::contact::{Contact, Impulses};
use crate::step::island::Touch;
use crate::step::rigid::restitution::Springs;
use crate::step::rigid::substep::Setting;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the impulses of a contact lie.
const IMPULSES: usize = std::mem::offset_of!(Contact, impulses);

/// A pile on its way through a step.
///
/// # Safety
/// Of all its functions: bundles, and bodies, are worked on by one thread at a time, and so are movable
/// bodies that bundles have in common.
pub struct Work<'a> {
    pub setting: Setting<'a>,
    pub spring: Spring,
    pub springs: Springs,
    pub order: &'a Order,
    pub bundles: Shared<'a, Bundle>,
    pub points: Shared<'a, Points>,
    /// How the last pass over each bundle went, where islands converge.
    pub judged: Shared<'a, Outcome>,
    pub lines: SharedLines<'a>,
    pub inv_mass: &'a [Padded],
    pub places: &'a [Place],
    /// Contacts of the pile among all, and bodies of the pile among all.
    pub contacts: &'a [Touch],
    pub all_contacts: &'a Shared<'a, Contact>,
    pub body_at: &'a [u32],
    pub all_bodies: &'a Shared<'a, BodyState>,
    pub joints: SharedJoints<'a>,
    /// How contacts bounce, by bundles; empty where nothing does.
    pub rebounds: Shared<'a, Rebound>,
    /// The last round of impacts, counted from 1 over all substeps, in which anything bounced.
    pub struck_in: AtomicU32,
    /// Bits of the largest change that the last passes asked for, m/s.
    pub met: AtomicU32,
}

impl Work<'_> {
    /// The contacts of a group, or of none, to be asked for early: they lie far apart.
    fn addresses(&self, group: Option<&Group>) -> impl Iterator<Item = *const Contact> {
        let lanes = group.into_iter().flat_map(|group| group.lanes);
        lanes.filter(|&i| i != NONE).map(|i| {
            let at = self.contacts[i as usize].index as usize;
            self.all_contacts.address(at).cast_const()
        })
    }

    /// What a chunk has of bundles and points.
    #[allow(clippy::mut_from_ref)]
    unsafe fn records(&self, chunk: &Chunk) -> (&mut [Bundle], &mut [Points]) {
        let (bundles, points) = (chunk.bundles.clone(), chunk.points.clone());
        // SAFETY: the caller's
        unsafe { (self.bundles.range(bundles), self.points.range(points)) }
    }

    /// Fills bundles from contacts.
    pub unsafe fn pack(&self, chunk: &Chunk) {
        // SAFETY: the caller's
        let (bundles, points) = unsafe { self.records(chunk) };
        let source = Source {
            entries: &self.order.entries,
            places: self.places,
            contacts: self.contacts,
            all: self.all_contacts,
            springs: &self.springs,
        };
        let groups = self.order.groups(chunk);
        let mut start = 0;
        for (i, (bundle, group)) in bundles.iter_mut().zip(groups).enumerate() {
            let mine = start..start + usize::from(group.count);
            self.addresses(groups.get(i + 1)).for_each(prefetch);
            bundle.start = start as u32;
            start = mine.end;
            // SAFETY: the caller's
            unsafe { pack(bundle, &mut points[mine], group, &source) };
        }
        if self.rebounds.len() > 0 {
            // SAFETY: the caller's
            let rebounds = unsafe { self.rebounds.range(chunk.bundles.clone()) };
            for ((out, group), bundle) in rebounds.iter_mut().zip(groups).zip(&*bundles) {
                *out = Rebound::default();
                for (lane, &i) in group.lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
                    let at = self.contacts[i as usize].index as usize;
                    // SAFETY: nobody changes contacts yet
                    let contact = unsafe { self.all_contacts.get(at) };
                    out.restitution.0[lane] = contact.restitution as f32;
                    out.slowest.0[lane] = self.slowest_bounce(contact, bundle.scale.0[lane]);
                }
            }
        }
    }

    /// Approach speed below which a contact does not bounce, m/s.
    fn slowest_bounce(&self, contact: &Contact, scale: f32) -> f32 {
        let (model, _, settings, _) = self.setting;
        let key = contact.key;
        let asked = [(key.a, key.piece_a), (key.b, key.piece_b)].map(|(slot, piece)| {
            model.bodies[slot as usize].material_of(piece).restitution_threshold
        });
        let [on_a, on_b] = asked.map(|speed| speed.unwrap_or(-1.0));
        match on_a.max(on_b) {
            speed if speed >= 0.0 => speed as f32,
            _ => settings.contact.bounce_speed as f32 * scale.sqrt(),
        }
    }

    /// One round of impacts over bundles, in their order; rounds count from 1 over all substeps.
    pub unsafe fn bounce(&self, chunk: &Chunk, round: u32) {
        let bodies = bounce::Bodies {
            struck: &self.lines.struck,
            gained: &self.lines.gained,
            moved: &self.lines.moved,
            inv_mass: self.inv_mass,
        };
        let law = bounce::Law { inv_h: self.spring.inv_h };
        // SAFETY: the caller's
        let bounced = unsafe {
            let (bundles, points) = self.records(chunk);
            let rebounds = self.rebounds.range(chunk.bundles.clone());
            bounce::reflect((bundles, points), rebounds, &bodies, &law)
        };
        if bounced {
            self.struck_in.fetch_max(round, Ordering::Relaxed);
        }
    }

    /// Gives bodies what impacts did.
    pub unsafe fn rebound(&self, bodies: Range<usize>) {
        // SAFETY: the caller's
        unsafe { self.lines.some(bodies) }.rebound();
    }

    /// Hands contacts their impulses.
    pub unsafe fn unpack(&self, chunk: &Chunk) {
        // SAFETY: the caller's
        let (bundles, points) = unsafe { self.records(chunk) };
        let groups = self.order.groups(chunk);
        for (i, (bundle, group)) in bundles.iter().zip(groups).enumerate() {
            let start = bundle.start as usize;
            let mine = start..start + usize::from(group.count);
            let impulses = |contact: *const Contact| {
                contact.cast::<Impulses>().wrapping_byte_add(IMPULSES).cast_mut()
            };
            self.addresses(groups.get(i + 1)).for_each(|contact| prefetch(impulses(contact)));
            let mut counts = Wide::default();
            let mut to = [std::ptr::null_mut(); LANES];
            for (lane, contact) in self.addresses(Some(group)).enumerate() {
                to[lane] = impulses(contact);
                let entry = &self.order.entries[group.lanes[lane] as usize];
                counts.0[lane] = f32::from(entry.count);
            }
            // SAFETY: the caller's
            unsafe { unpack(bundle, &points[mine], &counts, to) };
        }
    }

    /// One pass over bundles, in their order.
    pub unsafe fn sweep(&self, pass: Pass, chunk: &Chunk) {
        let bodies = Bodies {
            velocity: &self.lines.velocity,
            moved: &self.lines.moved,
            inv_mass: self.inv_mass,
        };
        let patient = self.judged.len() > 0 && pass != Pass::Warm;
        // SAFETY: the caller's
        let found = unsafe {
            let part = Part {
                bundles: self.bundles.range(chunk.bundles.clone()),
                points: self.points.range(chunk.points.clone()),
                outcomes: patient.then(|| self.judged.range(chunk.bundles.clone())),
            };
            sweep::sweep(pass, part, &bodies, &self.spring)
        };
        if pass == Pass::Last {
            self.met.fetch_max(found.to_bits(), Ordering::Relaxed);
        }
    }

    /// Adds forces to the velocities of bodies, and what contacts did in the substep before.
    pub unsafe fn begin(&self, bodies: Range<usize>, substep: u32) {
        // SAFETY: the caller's
        unsafe { self.lines.some(bodies) }.begin(self.setting, substep);
    }

    /// Where a side of a joint is at the end of the step, with its velocity.
    pub unsafe fn end_of(&self, node: Node, line: u32) -> ((Vec3, Quat), Twist) {
        let of = |now: &BodyState| ((now.position, now.rotation), now.velocity);
        let (line, first) = (line as usize, self.body_at.len() + 1);
        // SAFETY: the caller's
        match node {
            Node::Body(_) if line < first => unsafe {
                of(self.all_bodies.get(self.body_at[line - 1] as usize))
            },
            Node::Body(_) => unsafe { of(&self.lines.led.get(line - first).1) },
            _ => ((Vec3::ZERO, Quat::IDENTITY), Twist::default()),
        }
    }

    /// Moves bodies on.
    pub unsafe fn advance(&self, bodies: Range<usize>) {
        // SAFETY: the caller's
        unsafe { self.lines.some(bodies) }.advance(self.setting);
    }

    /// Hands bodies back.
    pub unsafe fn finish(&self, bodies: Range<usize>) {
        // SAFETY: the caller's
        let some = unsafe { self.lines.some(bodies.clone()) };
        for (i, &at) in self.body_at[bodies].iter().enumerate() {
            let at = at as usize;
            // SAFETY: the caller's
            some.finish(self.setting, i, unsafe { &mut self.all_bodies.range(at..at + 1)[0] });
        }
    }
}
