//! Kinds of ordinary scenes, one file each: a function from random numbers to a sketch.
//!
//! Adding a kind: a file with `make`, and a line in [`KINDS`].

mod bounce;
mod bridge;
mod chain;
mod cloth;
mod coupling;
mod fast;
mod flight;
mod heap;
mod machine;
mod overlapping;
mod pieces;
mod pushed;
mod robot;
mod slide;
mod soft;
mod tower;

use super::draw::Draw;
use super::sketch::Sketch;

/// A kind of scene.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// How often it is drawn, relative to the others.
    pub weight: u32,
    /// Makes one.
    pub make: fn(&mut Draw) -> Sketch,
}

/// All kinds.
pub const KINDS: [Kind; 15] = [
    Kind { name: "heap", weight: 4, make: heap::make },
    Kind { name: "tower", weight: 3, make: tower::make },
    Kind { name: "bridge", weight: 2, make: bridge::make },
    Kind { name: "chain", weight: 2, make: chain::make },
    Kind { name: "machine", weight: 3, make: machine::make },
    Kind { name: "robot", weight: 2, make: robot::make },
    Kind { name: "bounce", weight: 3, make: bounce::make },
    Kind { name: "slide", weight: 3, make: slide::make },
    Kind { name: "fast", weight: 3, make: fast::make },
    Kind { name: "flight", weight: 2, make: flight::make },
    Kind { name: "pushed", weight: 2, make: pushed::make },
    Kind { name: "overlapping", weight: 1, make: overlapping::make },
    Kind { name: "cloth", weight: 1, make: cloth::make },
    Kind { name: "soft", weight: 1, make: soft::make },
    // long and hard: only where asked for
    Kind { name: "coupling", weight: 0, make: coupling::make },
];

/// The kind of this name.
pub fn find(name: &str) -> Option<Kind> {
    KINDS.into_iter().find(|kind| kind.name == name)
}

/// The kind of a scene of a run: every kind as often as its weight says.
pub fn of(scene: u64) -> Kind {
    let total: u64 = KINDS.iter().map(|kind| u64::from(kind.weight)).sum();
    // a stride without a common divisor goes round through all of them
    let mut place = scene.wrapping_mul(17) % total;
    for kind in KINDS {
        if place < u64::from(kind.weight) {
            return kind;
        }
        place -= u64::from(kind.weight);
    }
    KINDS[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind makes scenes that can be read and built; few are refused.
    #[test]
    fn scenes_of_every_kind_can_be_built() {
        for kind in KINDS {
            for scene in 0..20 {
                let text = (kind.make)(&mut Draw::new(1, scene)).text();
                let built = thirdlaw_scene::load("torture", &text, None, &[]);
                assert!(built.is_ok(), "{} {scene}: {}\n{text}", kind.name, built.unwrap_err());
            }
        }
    }

    #[test]
    fn kinds_come_as_often_as_their_weights_say() {
        let total: u32 = KINDS.iter().map(|kind| kind.weight).sum();
        for kind in KINDS {
            let count = (0..u64::from(total)).filter(|&i| of(i).name == kind.name).count();
            assert_eq!(count, kind.weight as usize, "{}", kind.name);
        }
    }
}
