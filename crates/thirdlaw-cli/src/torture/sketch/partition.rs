//! Who holds what of a scene that several simulators share, and what couples them.

use super::Sketch;
use std::fmt::Write;
use thirdlaw::math::Vec3;

/// Simulators and what couples them.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// Steps of its own that each simulator makes in a step of the scene; empty: one world.
    pub steps: Vec<u32>,
    /// The simulator of each body, in the order of the bodies.
    pub homes: Vec<usize>,
    /// What holds bodies of two simulators together.
    pub ties: Vec<Tie>,
    /// Which simulators touch.
    pub touches: Vec<Touch>,
}

/// What holds bodies of two simulators together.
#[derive(Clone, Debug)]
pub struct Tie {
    /// What it holds.
    pub kind: TieKind,
    /// Numbers of the two bodies.
    pub bodies: [usize; 2],
    /// In the world at the start, m.
    pub at: Vec3,
}

/// What a tie holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TieKind {
    /// Two points.
    Point,
    /// Two frames.
    Frame,
    /// Two points, by stiffness and damping.
    Spring(f64, f64),
}

/// Two simulators that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The follower first.
    pub between: [usize; 2],
    /// Whether collisions are found from outside.
    pub watched: bool,
}

impl Partition {
    /// Whether one world holds everything.
    pub fn is_whole(&self) -> bool {
        self.steps.is_empty()
    }

    /// Leaves out bodies, with the ties that hold them; `place` says which number each of the rest gets.
    pub fn leave_out(&mut self, kept: impl Fn(usize) -> bool, place: impl Fn(usize) -> usize) {
        let mut number = 0;
        self.homes.retain(|_| {
            number += 1;
            kept(number - 1)
        });
        self.ties.retain(|tie| tie.bodies.iter().all(|&body| kept(body)));
        self.ties.iter_mut().for_each(|tie| tie.bodies = tie.bodies.map(&place));
    }

    /// The tables of the scene file.
    pub(super) fn text(&self, sketch: &Sketch, out: &mut String) {
        for (i, steps) in self.steps.iter().enumerate() {
            let own = self.homes.iter().zip(&sketch.bodies).filter(|(home, _)| **home == i);
            let names: Vec<&str> = own.map(|(_, body)| body.name.as_str()).collect();
            let _ = writeln!(out, "\n[simulators.s{i}]\nobjects = {names:?}\nsteps = {steps}");
        }
        let mut pairs: Vec<[usize; 2]> = self.touches.iter().map(|touch| touch.between).collect();
        for tie in &self.ties {
            let pair = tie.bodies.map(|body| self.homes[body]);
            if !pairs.iter().any(|p| *p == pair || *p == [pair[1], pair[0]]) {
                pairs.push(pair);
            }
        }
        for [a, b] in pairs {
            let _ = writeln!(out, "\n[couplings.c{a}-{b}]\nbetween = [\"s{a}\", \"s{b}\"]");
            let contact = match self.touches.iter().find(|touch| touch.between == [a, b]) {
                Some(Touch { watched: true, .. }) => "watch",
                Some(_) => "follow",
                None => "none",
            };
            let _ = writeln!(out, "contact = \"{contact}\"");
            let between = |tie: &&Tie| {
                let homes = tie.bodies.map(|body| self.homes[body]);
                homes == [a, b] || homes == [b, a]
            };
            let ties: Vec<String> =
                self.ties.iter().filter(between).map(|tie| tie.text(self, sketch, a)).collect();
            if !ties.is_empty() {
                let _ = writeln!(out, "ties = [{}]", ties.join(", "));
            }
        }
    }
}

impl Tie {
    fn text(&self, partition: &Partition, sketch: &Sketch, first: usize) -> String {
        let [mut a, mut b] = self.bodies;
        if partition.homes[a] != first {
            (a, b) = (b, a);
        }
        let (a, b) = (&sketch.bodies[a].name, &sketch.bodies[b].name);
        let Vec3 { x, y, z } = self.at;
        let kind = match self.kind {
            TieKind::Point => "kind = \"point\"".into(),
            TieKind::Frame => "kind = \"frame\"".into(),
            TieKind::Spring(k, d) => {
                format!("kind = \"spring\", stiffness = {k:?}, damping = {d:?}")
            }
        };
        format!("{{ between = [\"{a}\", \"{b}\"], at = [{x:?}, {y:?}, {z:?}], {kind} }}")
    }
}
