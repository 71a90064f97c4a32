//! Links of several kinds in one coupling: each pair of kinds is solved together, or refused by name.

use crate::{sphere, world};
use thirdlaw::couple::{
    Anchor, CoupleError, Coupling, CouplingSettings, LinkKind, Method, Tie, TieKind,
};
use thirdlaw::{Body, Point, Shape, Vec3, World, measure};

const DT: f64 = 1.0 / 60.0;
const RADIUS: f64 = 0.1;
/// Between the centres of two balls.
const APART: f64 = 0.3;
const KINDS: [LinkKind; 4] = [LinkKind::Tie, LinkKind::Touch, LinkKind::Watch, LinkKind::Lead];

fn by(method: Method) -> Coupling {
    Coupling::new(CouplingSettings { method, ..CouplingSettings::default() }).unwrap()
}

/// A ball alone in its world.
fn ball(at: f64, speed: f64) -> World {
    let mut world = world(0.0);
    let ball = Body::dynamic(sphere(RADIUS)).mass(1.0 + at).at(at, 0.0, 0.0);
    world.add_body(ball.moving(Vec3::new(speed, 0.0, 0.0))).unwrap();
    world
}

/// Balls in a row, the first of which flies at the others. What is led is where its leader is.
fn row(coupling: &mut Coupling, names: &[&str], kind: LinkKind) {
    let apart = if kind == LinkKind::Lead { 0.0 } else { APART };
    for (i, name) in names.iter().enumerate() {
        let speed = if i == 0 { 1.0 } else { 0.0 };
        coupling.add(*name, ball(apart * i as f64, speed)).unwrap();
    }
}

/// Links the balls of two simulators.
fn link(coupling: &mut Coupling, kind: LinkKind, a: usize, b: usize) -> Result<(), CoupleError> {
    let half = Vec3::new(0.5 * APART, 0.0, 0.0);
    match kind {
        LinkKind::Tie => {
            let tie = Tie::point(Anchor::new(a, 0).at(half), Anchor::new(b, 0).at(-half));
            coupling.tie(tie).map(drop)
        }
        LinkKind::Touch => coupling.touch(a, b).map(drop),
        LinkKind::Watch => coupling.watch(a, b),
        LinkKind::Lead => coupling.lead((a, 0), (b, 0)),
    }
}

fn hashes(coupling: &Coupling) -> Vec<u64> {
    let all = 0..coupling.simulator_count();
    all.map(|i| coupling.get::<World>(i).unwrap().hash()).collect()
}

/// What is led is not free for anything else.
fn solved_together(a: LinkKind, b: LinkKind) -> bool {
    a == b || (a != LinkKind::Lead && b != LinkKind::Lead)
}

/// Every simulator has made its steps, nothing is torn, nothing passed, and no momentum was made.
fn check_motion(coupling: &mut Coupling, kinds: [LinkKind; 2], what: &str) {
    let momentum = |c: &Coupling| -> Vec3 {
        let all = 0..c.simulator_count();
        all.map(|i| measure::momentum(c.get::<World>(i).unwrap()).0).sum()
    };
    let before = momentum(coupling);
    for _ in 0..60 {
        let report = coupling.step(DT).unwrap();
        assert!(report.converged, "{what}: {report:?}");
    }
    let x = |i: usize| coupling.simulator(i).unwrap().read(0).position.x;
    for i in 0..coupling.simulator_count() {
        let time = coupling.get::<World>(i).unwrap().time();
        assert!((time - 1.0).abs() < 1e-9, "{what}: simulator {i} is at {time} s");
    }
    if kinds.contains(&LinkKind::Lead) {
        assert!((x(0) - 1.0).abs() < 1e-9 && (x(1) - 1.0).abs() < 1e-9, "{what}: {}", x(1));
        return;
    }
    let made = (momentum(coupling) - before).length();
    assert!(made < 1e-9, "{what}: {made:e} N·s from nowhere");
    let gap = |i: usize| x(i + 1) - x(i);
    for i in 0..coupling.simulator_count() - 1 {
        assert!(gap(i) > 2.0 * RADIUS - 2e-3, "{what}: {} m apart", gap(i));
    }
    if kinds[0] == LinkKind::Tie {
        assert!((gap(0) - APART).abs() < 1e-6, "{what}: torn by {:e}", gap(0) - APART);
    }
}

/// Whether the error says all that a user needs: both kinds, every simulator, and what to do.
fn is_named(error: &CoupleError, kinds: [LinkKind; 2], simulators: &[&str]) -> bool {
    let CoupleError::Mixture { kinds: found, simulators: names } = error else { return false };
    let text = error.to_string();
    (*found == kinds || *found == [kinds[1], kinds[0]])
        && names == simulators
        && simulators.iter().all(|name| text.contains(&format!("`{name}`")))
        && kinds.iter().all(|kind| text.contains(&kind.to_string()))
        && text.contains("; ")
}

/// The second link is between the same two simulators, or between one of them and a third one.
#[test]
fn every_pair_of_kinds_is_solved_together_or_refused_by_name() {
    for (first, second) in KINDS.into_iter().flat_map(|a| KINDS.map(|b| (a, b))) {
        for (names, next) in [(&["a", "b"][..], [0, 1]), (&["a", "b", "c"], [1, 2])] {
            let what = format!("{first} and then {second} between {next:?}");
            let mut coupling = by(Method::Iterated);
            row(&mut coupling, names, first);
            link(&mut coupling, first, 0, 1).unwrap();
            let before = hashes(&coupling);
            let linked = link(&mut coupling, second, next[0], next[1]);
            if first == second && first != LinkKind::Tie && next == [0, 1] {
                let error = linked.unwrap_err().to_string();
                assert!(error.contains("already"), "{what}: {error}");
                assert_eq!(hashes(&coupling), before, "{what}");
                continue;
            }
            if (first, second) == (LinkKind::Tie, LinkKind::Touch) {
                // obstacles renumber handles: the other way round it is allowed
                let error = linked.unwrap_err().to_string();
                assert!(error.contains("touch first"), "{what}: {error}");
                continue;
            }
            if solved_together(first, second) {
                linked.unwrap_or_else(|error| panic!("{what}: {error}"));
                check_motion(&mut coupling, [first, second], &what);
                continue;
            }
            let error = linked.unwrap_err();
            assert!(is_named(&error, [first, second], names), "{what}: {error}");
            assert_eq!(hashes(&coupling), before, "{what}: a refusal moves nothing");
            // and it goes on as if nobody had asked
            let mut plain = by(Method::Iterated);
            row(&mut plain, names, first);
            link(&mut plain, first, 0, 1).unwrap();
            for _ in 0..30 {
                coupling.step(DT).unwrap();
                plain.step(DT).unwrap();
            }
            assert_eq!(hashes(&coupling), hashes(&plain), "{what}");
        }
    }
}

#[test]
fn links_that_have_no_simulator_in_common_are_solved_alone() {
    for method in [Method::Iterated, Method::Interleaved] {
        for (first, second) in KINDS.into_iter().flat_map(|a| KINDS.map(|b| (a, b))) {
            let what = format!("{method:?}, {first} and {second}");
            let mut both = by(method);
            let mut alone = Vec::new();
            for (kind, names) in [(first, ["a", "b"]), (second, ["c", "d"])] {
                row(&mut both, &names, kind);
                let mut coupling = by(method);
                row(&mut coupling, &names, kind);
                link(&mut coupling, kind, 0, 1).unwrap();
                alone.push(coupling);
            }
            link(&mut both, first, 0, 1).unwrap();
            link(&mut both, second, 2, 3).unwrap();
            for _ in 0..40 {
                both.step(DT).unwrap();
                for coupling in &mut alone {
                    coupling.step(DT).unwrap();
                }
            }
            let separate: Vec<u64> = alone.iter().flat_map(hashes).collect();
            assert_eq!(hashes(&both), separate, "{what}");
            let impulses = |c: &Coupling| c.ledger().iter().map(|e| e.impulse).collect::<Vec<_>>();
            let mut expected: Vec<_> =
                alone.iter().map(|c| (c.ledger().len(), impulses(c))).collect();
            // ties come first, then touching, then watched pairs
            if second < first {
                expected.reverse();
            }
            let expected: Vec<_> = expected.into_iter().flat_map(|(_, list)| list).collect();
            assert_eq!(impulses(&both), expected, "{what}");
        }
    }
}

/// A point mass on a spring to one of another world, while bodies of both worlds touch. Where sides take turns
/// contacts would be left out, and the mixture is refused.
#[test]
fn ties_are_solved_with_contacts_by_iterating_alone() {
    for contact in [LinkKind::Touch, LinkKind::Watch] {
        for method in [Method::Iterated, Method::Interleaved, Method::FixedPoint, Method::Repaired]
        {
            let mut coupling = by(method);
            for (name, at, speed) in [("a", 0.0, 1.0), ("b", APART, 0.0)] {
                let mut world = ball(at, speed);
                world.add_point(Point::new(1.0, Vec3::new(at, 5.0, 0.0))).unwrap();
                coupling.add(name, world).unwrap();
            }
            link(&mut coupling, contact, 0, 1).unwrap();
            // bodies come first among the handles, obstacles included, then points
            let handle = |c: &Coupling, i: usize| {
                let world = c.get::<World>(i).unwrap();
                world.point_handle(world.points().next().unwrap()).unwrap()
            };
            let ends = [0, 1].map(|i| Anchor::new(i, handle(&coupling, i)));
            let tied = coupling.tie(Tie::spring(ends[0], ends[1], 50.0));
            if method != Method::Iterated {
                let error = tied.unwrap_err();
                assert!(is_named(&error, [LinkKind::Tie, contact], &["a", "b"]), "{error}");
                assert!(error.to_string().contains("`iterated`"), "{error}");
                continue;
            }
            tied.unwrap();
            check_motion(&mut coupling, [contact; 2], "points on a spring");
            let settings = CouplingSettings { method: Method::Repaired, ..*coupling.settings() };
            let error = coupling.set_settings(settings).unwrap_err();
            assert!(is_named(&error, [LinkKind::Tie, contact], &["a", "b"]), "{error}");
            assert_eq!(coupling.settings().method, Method::Iterated);
        }
    }
}

/// A ball dropped on the floor of another world, without bouncing, while it is tied to a weight in a third:
/// both come to rest where the ball does alone.
#[test]
fn what_is_struck_stops_what_is_tied_to_it() {
    for contact in [LinkKind::Touch, LinkKind::Watch] {
        for weight in [0.1, 1.0, 10.0] {
            let mut ground = world(9.81);
            ground.add_body(Body::fixed(Shape::half_space(Vec3::Y).unwrap())).unwrap();
            let mut coupling = by(Method::Iterated);
            let above = |mass: f64| {
                let mut world = world(9.81);
                world.add_body(Body::dynamic(sphere(0.5)).mass(mass).at(0.0, 1.0, 0.0)).unwrap();
                world
            };
            coupling.add("one", above(1.0)).unwrap();
            coupling.add("ground", ground).unwrap();
            coupling.add("two", above(weight)).unwrap();
            link(&mut coupling, contact, 0, 1).unwrap();
            coupling.tie(Tie::point(Anchor::new(0, 0), Anchor::new(2, 0))).unwrap();
            let mut highest: f64 = 0.0;
            for step in 0..120 {
                let report = coupling.step(DT).unwrap();
                assert!(report.converged);
                let y = coupling.simulator(0).unwrap().read(0).position.y;
                // it falls for a third of a second
                highest = if step > 24 { highest.max(y) } else { highest };
            }
            assert!(highest < 0.505, "{contact}, {weight} kg: bounces to {highest}");
            for i in [0, 2] {
                let y = coupling.simulator(i).unwrap().read(0).position.y;
                assert!((y - 0.5).abs() < 2e-3, "{contact}, {weight} kg: {i} rests at {y}");
            }
        }
    }
}

/// A tie that joins two components may bring together what each of them held alone.
#[test]
fn components_that_a_link_joins_are_refused_where_their_kinds_do_not_go_together() {
    let mut coupling = by(Method::Iterated);
    row(&mut coupling, &["a", "b", "c", "d"], LinkKind::Touch);
    link(&mut coupling, LinkKind::Touch, 0, 1).unwrap();
    link(&mut coupling, LinkKind::Lead, 2, 3).unwrap();
    let error = link(&mut coupling, LinkKind::Tie, 1, 2).unwrap_err();
    let kinds = [LinkKind::Tie, LinkKind::Lead];
    assert!(is_named(&error, kinds, &["a", "b", "c", "d"]), "{error}");
}

/// Ties added in any order, springs among them, are one problem once they are connected.
#[test]
fn ties_of_every_kind_are_held_together_however_they_are_joined() {
    let mut coupling = by(Method::Iterated);
    row(&mut coupling, &["a", "b", "c", "d"], LinkKind::Tie);
    link(&mut coupling, LinkKind::Tie, 2, 3).unwrap();
    link(&mut coupling, LinkKind::Tie, 0, 1).unwrap();
    coupling.step(DT).unwrap();
    let half = Vec3::new(0.5 * APART, 0.0, 0.0);
    let kind = TieKind::Spring { stiffness: 40.0, damping: 0.0, rest: 0.0 };
    let anchors = [Anchor::new(1, 0).at(half), Anchor::new(2, 0).at(-half)];
    let number = coupling.tie(Tie { kind, anchors, roles: Default::default() }).unwrap();
    assert_eq!(number, 2);
    for _ in 0..60 {
        let report = coupling.step(DT).unwrap();
        assert!(report.converged, "{report:?}");
        let entries = coupling.ledger();
        assert_eq!(entries.iter().map(|e| e.between).collect::<Vec<_>>(), [[2, 3], [0, 1], [1, 2]]);
        assert!(entries.iter().all(|entry| entry.crossing_imbalance() < 1e-12));
    }
    let x = |i: usize| coupling.simulator(i).unwrap().read(0).position.x;
    assert!((x(1) - x(0) - APART).abs() < 1e-6 && (x(3) - x(2) - APART).abs() < 1e-6);
    assert!(x(2) > 2.0 * APART + 0.01, "the spring pulls the second pair along: {}", x(2));
    assert!(coupling.tie_force(2).is_some_and(|force| force[0].abs() > 0.0));
}
