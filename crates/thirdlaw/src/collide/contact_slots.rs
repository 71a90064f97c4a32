//! Where contacts are kept: in order of their keys, with free places among them.
//!
//! A contact is a large record, and in a pile at rest a few of ten thousand come and go in a step. One
//! that ends therefore leaves its place free, marked by having no points, and one that comes takes the
//! nearest free place, moving only those in between. Where many come, or no place is near, all are
//! brought together anew. What is done follows from the contacts alone, not from chunks or threads.

use super::pairs::{Ordered, Pair};
use crate::state::contact::{Contact, ContactKey};
use std::slice::Chunks;

/// One in so many contacts may be passed over in putting in new ones one by one; then the rest goes in
/// together.
const WAY: usize = 4;
/// Free places that need not go.
const SPARE: usize = 64;
/// Of so many places one may be free, else half of the free ones go when all are brought together.
const FREE: usize = 8;

/// Memory for bringing contacts together.
#[derive(Debug, Default)]
pub(super) struct Places {
    together: Vec<Contact>,
}

impl Places {
    /// Adds contacts, in order, run after run, to those of which so many places are `free`. None of
    /// their keys is among these, not even at a free place.
    pub fn insert<'a>(
        &mut self,
        contacts: &mut Vec<Contact>,
        added: impl Iterator<Item = &'a [Contact]> + Clone,
        free: usize,
    ) {
        let count: usize = added.clone().map(<[Contact]>::len).sum();
        let mut added = added.flatten().peekable();
        let crowded = free * FREE / 2 > contacts.len() && free > SPARE;
        if !crowded && count <= free {
            let (mut at, mut left) = (0, contacts.len() / WAY);
            while let Some(contact) = added.peek() {
                at = first_from(contacts, at, |c| c.key < contact.key);
                let Some(way) = insert_one(contacts, at, contact, left) else { break };
                left -= way;
                added.next();
            }
        }
        if crowded || added.peek().is_some() {
            let thin = free * FREE > contacts.len();
            self.bring_together(contacts, added, thin);
            std::mem::swap(contacts, &mut self.together);
        }
    }

    /// Fills `together` with both; every other free place goes where they are to be `thin`.
    fn bring_together<'a>(
        &mut self,
        contacts: &Vec<Contact>,
        added: impl Iterator<Item = &'a Contact>,
        thin: bool,
    ) {
        let together = &mut self.together;
        together.clear();
        // as much room as the list has that it takes turns with
        together.reserve(contacts.capacity());
        let mut seen = 0;
        let mut append = |together: &mut Vec<Contact>, run: &[Contact]| {
            if !thin {
                together.extend_from_slice(run);
                return;
            }
            for contact in run {
                seen += usize::from(contact.count == 0);
                if contact.count > 0 || seen % 2 == 0 {
                    together.push(*contact);
                }
            }
        };
        let mut rest = &contacts[..];
        for contact in added {
            let (before, after) = rest.split_at(rest.partition_point(|c| c.key < contact.key));
            append(together, before);
            together.push(*contact);
            rest = after;
        }
        append(together, rest);
    }
}

/// Puts a contact where it belongs, before the one `at` this place, and moves those between there and the
/// nearest free place, if one is nearer than `limit`; returns how far it was.
fn insert_one(contacts: &mut [Contact], at: usize, new: &Contact, limit: usize) -> Option<usize> {
    let is_free = |i: usize| contacts.get(i).is_some_and(|c| c.count == 0);
    let (way, free) = (0..limit).find_map(|way| {
        let (after, before) = (at + way, at.checked_sub(way + 1));
        let free = if is_free(after) { Some(after) } else { before.filter(|&i| is_free(i)) };
        free.map(|free| (way, free))
    })?;
    if free >= at {
        contacts.copy_within(at..free, at + 1);
        contacts[at] = *new;
    } else {
        contacts.copy_within(free + 1..at, free);
        contacts[at - 1] = *new;
    }
    Some(way)
}

/// Index of the first contact that is not before something, of those from `from` on: what is before it is
/// before all that follow.
fn first_from(contacts: &[Contact], from: usize, is_before: impl Fn(&Contact) -> bool) -> usize {
    let (mut low, mut way) = (from.min(contacts.len()), 1);
    let mut high = low;
    while high < contacts.len() && is_before(&contacts[high]) {
        low = high + 1;
        high = contacts.len().min(high + way);
        way *= 2;
    }
    low + contacts[low..high].partition_point(is_before)
}

/// The places of a pair's contacts while they are found anew, in order of their keys.
pub(super) struct Renewed<'a> {
    old: &'a mut [Contact],
    next: usize,
    added: &'a mut Vec<Contact>,
    /// Those of other pairs among the added.
    before: usize,
    any: bool,
}

impl<'a> Renewed<'a> {
    /// The old contacts of a pair, and where those go that have no place among them.
    pub fn new(old: &'a mut [Contact], added: &'a mut Vec<Contact>) -> Renewed<'a> {
        let before = added.len();
        Renewed { old, next: 0, added, before, any: false }
    }

    /// The place of a contact, with what it was before: no points if there was none. Those passed over
    /// have ended.
    pub fn place(&mut self, key: ContactKey) -> &mut Contact {
        self.any = true;
        while self.old.get(self.next).is_some_and(|old| old.key < key) {
            self.old[self.next].end();
            self.next += 1;
        }
        if self.old.get(self.next).is_some_and(|old| old.key == key) {
            self.next += 1;
            return &mut self.old[self.next - 1];
        }
        self.added.push(Contact { key, ..Contact::default() });
        let last = self.added.len() - 1;
        &mut self.added[last]
    }

    /// Those found so far.
    pub fn found(&self) -> impl Iterator<Item = &Contact> {
        let kept = self.old[..self.next].iter().filter(|contact| contact.count > 0);
        kept.chain(&self.added[self.before..])
    }

    /// Ends those found so far of which `stays` says so, asked in the order of [`Renewed::found`].
    pub fn retain(&mut self, mut stays: impl FnMut(&Contact) -> bool) {
        let kept = self.old[..self.next].iter_mut().filter(|contact| contact.count > 0);
        for contact in kept {
            if !stays(contact) {
                contact.end();
            }
        }
        let mut i = 0;
        let before = self.before;
        self.added.retain(|contact| {
            i += 1;
            i <= before || stays(contact)
        });
    }

    /// Whether any was found so far.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Ends those that were not found again; says whether any was found.
    pub fn finish(self) -> bool {
        self.old[self.next..].iter_mut().for_each(Contact::end);
        self.any
    }
}

/// Fills `starts` with where the contacts of each chunk of pairs begin, one chunk at least; what it held
/// for the last step is a good guess.
pub(super) fn find_starts(contacts: &[Contact], chunks: Chunks<Pair>, starts: &mut Vec<usize>) {
    starts.resize(chunks.len().max(1), contacts.len());
    starts[0] = 0;
    for (start, pairs) in starts.iter_mut().zip(chunks).skip(1) {
        *start = first_of(contacts, pairs[0].order(), *start);
    }
}

/// Index of the first contact of a pair, or of the place where it would be, from a guess on.
fn first_of(contacts: &[Contact], pair: (u32, u32), guess: usize) -> usize {
    let is_before = |c: &Contact| (c.key.a, c.key.b) < pair;
    let guess = guess.min(contacts.len());
    let (mut from, mut way) = (guess, 1);
    while from > 0 && !is_before(&contacts[from - 1]) {
        from = from.saturating_sub(way);
        way *= 2;
    }
    first_from(contacts, from, is_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(a: u32) -> Contact {
        let key = ContactKey { a, ..ContactKey::default() };
        Contact { key, count: 1, ..Contact::default() }
    }

    fn live(contacts: &[Contact]) -> Vec<u32> {
        contacts.iter().filter(|c| c.count > 0).map(|c| c.key.a).collect()
    }

    /// Contacts that come and go at random are, after every step, those there should be, in order, with
    /// few free places among them; and those that stay are hardly ever moved all together.
    #[test]
    fn contacts_that_come_and_go_are_kept_in_order() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        let mut contacts: Vec<Contact> = Vec::new();
        let mut places = Places::default();
        let mut together = 0;
        for step in 0..400 {
            // a burst now and then, a few otherwise
            let (coming, chance) = if step % 100 < 5 { (500, 4) } else { (6, 200) };
            let mut expected = live(&contacts);
            let gone: Vec<bool> = expected.iter().map(|_| next(chance) == 0).collect();
            let mut is_gone = gone.iter();
            expected.retain(|_| !is_gone.next().unwrap());
            let mut is_gone = gone.iter();
            for contact in contacts.iter_mut().filter(|c| c.count > 0) {
                contact.count = u32::from(!is_gone.next().unwrap());
            }
            let mut keys: Vec<u32> = (0..coming).map(|_| next(1 << 20) as u32).collect();
            keys.retain(|key| contacts.iter().all(|c| c.key.a != *key));
            keys.sort_unstable();
            keys.dedup();
            let added: Vec<Contact> = keys.iter().map(|&key| contact(key)).collect();
            expected.extend(&keys);
            expected.sort_unstable();
            let before: Vec<u32> = contacts.iter().map(|c| c.key.a).collect();
            let free = contacts.iter().filter(|c| c.count == 0).count();
            places.insert(&mut contacts, added.chunks(3), free);
            assert!(contacts.is_sorted_by(|a, b| a.key < b.key), "step {step}");
            assert_eq!(live(&contacts), expected, "step {step}");
            let free = contacts.len() - expected.len();
            assert!(free <= SPARE.max(contacts.len() / (FREE / 2)), "step {step}: {free}");
            let moved = contacts.iter().zip(&before).filter(|(c, k)| c.key.a != **k).count();
            together += usize::from(step % 100 > 5 && moved * 4 > contacts.len());
        }
        assert!(together < 8, "brought together in {together} of 376 quiet steps");
        assert!(contacts.len() > 500, "{}", contacts.len());
    }

    #[test]
    fn the_place_of_a_pair_is_found_from_any_guess() {
        let contact = |a: u32, b: u32, piece_b: u32| Contact {
            key: ContactKey { a, b, piece_a: 0, piece_b },
            ..Contact::default()
        };
        let contacts: Vec<Contact> =
            (0..60).map(|i| contact(i / 20, 2 * (i % 20 / 2), i % 2)).collect();
        for pair in [(0, 0), (0, 7), (0, 8), (1, 0), (1, 39), (2, 18), (2, 19), (3, 0)] {
            let expected = contacts.partition_point(|c| (c.key.a, c.key.b) < pair);
            for guess in 0..65 {
                assert_eq!(first_of(&contacts, pair, guess), expected, "{pair:?} from {guess}");
            }
        }
        assert_eq!(first_of(&[], (1, 2), 3), 0);
    }
}
