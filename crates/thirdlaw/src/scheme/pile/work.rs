//! The parts that the stages of a pile are made of, each for some bundles or some bodies.

use super::bodies::SharedLines;
use super::bundle::{Bundle, Padded, Points};
use super::order::{Chunk, NONE, Order};
use super::pack::{self, Place};
use super::patience::Outcome;
use super::share::{Shared, prefetch};
use super::sweep::{self, Bodies, Part, Pass, Spring};
use crate::collide::contacts::{Contact, Impulses};
use crate::scheme::substep::Setting;
use crate::state::BodyState;
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
    pub order: &'a Order,
    pub bundles: Shared<'a, Bundle>,
    pub points: Shared<'a, Points>,
    /// How the last pass over each bundle went, where there is patience.
    pub judged: Shared<'a, Outcome>,
    pub lines: SharedLines<'a>,
    pub inv_mass: &'a [Padded],
    pub places: &'a [Place],
    /// Contacts of the pile among all, and bodies of the pile among all.
    pub contacts: &'a [u32],
    pub all_contacts: &'a Shared<'a, Contact>,
    pub body_at: &'a [u32],
    pub all_bodies: &'a Shared<'a, BodyState>,
    /// Bits of the largest change that the last passes asked for, m/s.
    pub met: AtomicU32,
}

impl Work<'_> {
    #[allow(clippy::mut_from_ref)]
    unsafe fn contact(&self, i: u32) -> &mut Contact {
        let at = self.contacts[i as usize] as usize;
        // SAFETY: the caller's
        unsafe { &mut self.all_contacts.range(at..at + 1)[0] }
    }

    /// The contacts of a bundle, or of none, to be asked for early: they lie far apart.
    fn addresses(&self, bundle: usize) -> impl Iterator<Item = *const Contact> + '_ {
        let lanes = self.order.groups.get(bundle).into_iter().flat_map(|group| &group.lanes);
        lanes.filter(|&&i| i != NONE).map(|&i| {
            let at = self.contacts[i as usize] as usize;
            self.all_contacts.start().wrapping_add(at).cast_const()
        })
    }

    /// Fills bundles from contacts.
    pub unsafe fn pack(&self, chunk: &Chunk) {
        // SAFETY: the caller's
        let (bundles, points) = unsafe {
            (self.bundles.range(chunk.bundles.clone()), self.points.range(chunk.points.clone()))
        };
        for (bundle, i) in bundles.iter_mut().zip(chunk.bundles.clone()) {
            let group = &self.order.groups[i];
            let start = group.start as usize - chunk.points.start;
            let points = &mut points[start..start + usize::from(group.count)];
            self.addresses(i + 1).for_each(prefetch);
            // SAFETY: the caller's
            let contact = |i: u32| unsafe { self.contact(i) };
            pack::pack(bundle, points, group, &self.order.entries, self.places, contact);
        }
    }

    /// Hands contacts their impulses.
    pub unsafe fn unpack(&self, chunk: &Chunk) {
        // SAFETY: the caller's
        let (bundles, points) = unsafe {
            (self.bundles.range(chunk.bundles.clone()), self.points.range(chunk.points.clone()))
        };
        for (bundle, i) in bundles.iter().zip(chunk.bundles.clone()) {
            let group = &self.order.groups[i];
            let start = group.start as usize - chunk.points.start;
            let points = &points[start..start + usize::from(group.count)];
            let next = self.addresses(i + 1);
            next.for_each(|contact| {
                prefetch(contact.cast::<Impulses>().wrapping_byte_add(IMPULSES))
            });
            for (lane, &i) in group.lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
                let entry = &self.order.entries[i as usize];
                let place = entry.body.map(|b| &self.places[b as usize]);
                let points = &points[..usize::from(entry.count)];
                // SAFETY: the caller's
                let contact = unsafe { self.contact(i) };
                pack::unpack(bundle, points, lane, place, &mut contact.impulses);
            }
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
                base: chunk.points.start,
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
