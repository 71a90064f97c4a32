//! A net under the engine: scenes that between them take every path of a step, each with two recorded
//! numbers that hold in debug and release builds and for any number of threads.
//!
//!   state    every bit of the state, frame after frame: changes when anything is stored otherwise
//!   motion   time, poses, velocities, vertices and particles by id: changes when something *moves* otherwise
//!
//! A change that only moves code keeps both; one that only stores things otherwise keeps the second.
//! `RECORD_HASHES=1 cargo test -p thirdlaw --test it net` writes `hashes.txt` anew, to be committed with the
//! change that explains it.

mod cloth;
mod couple;
mod joints;
mod rigid;
mod streams;

use crate::with_threads;
use std::fmt::Write;
use std::sync::Mutex;
use thirdlaw::couple::Coupling;
use thirdlaw::{PathCounts, SolvePath, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;
const RECORDED: &str = include_str!("hashes.txt");

/// A scene of the net.
struct Case {
    name: &'static str,
    frames: usize,
    build: fn() -> Subject,
}

/// What is stepped.
enum Subject {
    World(Box<World>),
    Coupling(Box<Coupling>),
}

impl From<World> for Subject {
    fn from(world: World) -> Subject {
        Subject::World(Box::new(world))
    }
}

impl From<Coupling> for Subject {
    fn from(coupling: Coupling) -> Subject {
        Subject::Coupling(Box::new(coupling))
    }
}

impl Subject {
    /// Steps, and tells which paths islands took where one world is stepped.
    fn step(&mut self) -> PathCounts {
        match self {
            Subject::World(world) => world.step(FRAME).expect("a step").paths,
            Subject::Coupling(coupling) => {
                coupling.step(FRAME).expect("a step");
                PathCounts::default()
            }
        }
    }

    fn worlds(&self) -> Vec<&World> {
        match self {
            Subject::World(world) => vec![world],
            Subject::Coupling(all) => {
                (0..all.simulator_count()).filter_map(|i| all.get::<World>(i)).collect()
            }
        }
    }
}

/// A sum in which every bit and the order count.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x2545_F491_4F6C_DD1D);
        self.0 = mixed ^ (mixed >> 31);
    }

    fn number(&mut self, x: f64) {
        self.word(x.to_bits());
    }

    fn vector(&mut self, v: Vec3) {
        v.to_array().into_iter().for_each(|x| self.number(x));
    }

    /// All that moves, by id, however it is stored.
    fn motion(&mut self, world: &World) {
        self.number(world.time());
        for id in world.bodies() {
            let (pose, twist) = (world.pose(id).unwrap(), world.velocity(id).unwrap());
            self.vector(pose.translation);
            pose.rotation.to_array().into_iter().for_each(|x| self.number(x));
            self.vector(twist.linear);
            self.vector(twist.angular);
        }
        for id in world.points() {
            let point = world.point(id).unwrap();
            self.vector(point.position);
            self.vector(point.velocity);
        }
        for id in world.cloths() {
            let (x, v) = (world.vertices(id).unwrap(), world.vertex_velocities(id).unwrap());
            x.iter().chain(v).for_each(|v| self.vector(*v));
        }
        for id in world.emitters() {
            let stream = world.stream(id).unwrap();
            let mut order: Vec<usize> = (0..stream.len()).collect();
            order.sort_by_key(|&i| stream.particles.id[i]);
            for i in order {
                self.word(stream.particles.id[i]);
                self.vector(stream.particles.x[i]);
                self.vector(stream.particles.v[i]);
            }
        }
    }
}

/// State and motion over all frames.
fn hashes(case: &Case) -> [u64; 2] {
    let mut subject = (case.build)();
    let [mut state, mut motion] = [Digest(1); 2];
    for _ in 0..case.frames {
        subject.step();
        for world in subject.worlds() {
            state.word(world.hash());
            motion.motion(world);
        }
    }
    [state.0, motion.0]
}

/// The line of a case in the record.
fn line(case: &Case, [state, motion]: [u64; 2]) -> String {
    format!("{:<40} state {state:016x}  motion {motion:016x}", case.name)
}

fn recorded(name: &str) -> Option<&'static str> {
    RECORDED.lines().find(|line| line.split_whitespace().next() == Some(name))
}

/// Writes one line of the record, in the order of names.
fn record(line: &str) {
    static FILE: Mutex<()> = Mutex::new(());
    let _turn = FILE.lock();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/net/hashes.txt");
    let text = std::fs::read_to_string(path).expect("the record");
    let name = line.split_whitespace().next();
    let (comments, mut lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    lines.retain(|old| old.split_whitespace().next() != name);
    lines.push(line);
    lines.sort_unstable();
    let whole = [comments, lines].concat().join("\n") + "\n";
    std::fs::write(path, whole).expect("a record that can be written");
}

/// Holds every case to the record, with one thread and with four.
fn hold(cases: &[Case]) {
    let recording = std::env::var_os("RECORD_HASHES").is_some();
    let mut wrong = String::new();
    for case in cases {
        let alone = line(case, with_threads(1, || hashes(case)));
        let four = line(case, with_threads(4, || hashes(case)));
        if alone != four {
            let _ = writeln!(wrong, "threads differ:\n  1 {alone}\n  4 {four}");
        } else if recording {
            record(&alone);
        } else if recorded(case.name) != Some(&alone) {
            let was = recorded(case.name).unwrap_or("(no record)");
            let _ = writeln!(wrong, "was  {was}\nis   {alone}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A path that no scene of the net takes could change unseen.
#[test]
fn every_path_is_taken_by_a_scene() {
    let mut all = PathCounts::default();
    for case in rigid::CASES.iter().chain(joints::CASES) {
        let mut subject = (case.build)();
        let mut paths = PathCounts::default();
        (0..case.frames).for_each(|_| paths.add(&subject.step()));
        let taken = paths.iter().filter(|(_, count)| *count > 0);
        let names: Vec<_> = taken.map(|(path, n)| format!("{} {n}", path.name())).collect();
        println!("{:<36} {}", case.name, names.join(", "));
        all.add(&paths);
    }
    let untouched: Vec<SolvePath> =
        all.iter().filter(|(_, count)| *count == 0).map(|(path, _)| path).collect();
    assert!(untouched.is_empty(), "no scene takes {untouched:?}");
}
