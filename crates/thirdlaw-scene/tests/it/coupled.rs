//! Scenes that several simulators share.

use thirdlaw::World;
use thirdlaw_scene::coupled::plain;
use thirdlaw_scene::{Scene, load};

const GOOD: &str = r#"version = 1

[settings]
frames = 30

[bodies.floor]
kind = "fixed"
shape = { half_space = {} }

[bodies.box]
shape = { box = { size = [0.4, 0.4, 0.4] } }
position = [0, 0.2, 0]

[bodies.ball]
shape = { sphere = { radius = 0.1 } }
position = [0, 0.6, 0]

[points.weight]
mass = 1
position = [3, 2, 0]

[points.hook]
mass = 4
position = [3, 3, 0]

[joints.rope]
kind = { rope = { length = 1 } }
between = ["world", "hook"]
anchors = [[3, 4, 0], [0, 0, 0]]

[simulators.lower]

[simulators.upper]
objects = ["ball", "weight"]
steps = 2

[couplings.touch]
between = ["lower", "upper"]

[couplings.hang]
between = ["upper", "lower"]
ties = [{ between = ["weight", "hook"], kind = "spring", stiffness = 500, rest = 0.98 }]
limits = { imbalance = 1e-9 }
"#;

fn scene(text: &str) -> Scene {
    load("couple.toml", text, None, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// What a user reads when one part of the good scene is replaced.
fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    match load("couple.toml", &GOOD.replace(from, to), None, &[]) {
        Ok(scene) => scene.couple(&mut plain).err().expect("it is refused").to_string(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn everything_belongs_to_one_simulator_and_is_shown_where_it_is() {
    let mut scene = scene(GOOD);
    let partition = scene.partition.clone().unwrap();
    let [lower, upper] = &partition.simulators[..] else { panic!("two simulators") };
    assert_eq!((lower.world.bodies().count(), upper.world.bodies().count()), (2, 1));
    assert_eq!((lower.world.joints().count(), upper.world.joints().count()), (1, 0));
    assert_eq!((lower.steps, upper.steps), (1, 2));
    let mut coupled = scene.couple(&mut plain).unwrap().unwrap();
    for _ in 0..60 {
        let report = coupled.step(scene.dt()).unwrap();
        assert!(report.converged, "{report:?}");
    }
    coupled.show(&mut scene.world);
    assert!((scene.world.time() - 1.0).abs() < 1e-9);
    let ball = scene.bodies.iter().find(|b| b.name == "ball").unwrap().id;
    let y = scene.world.center(ball).unwrap().y;
    assert!((y - 0.5).abs() < 2e-3, "the ball lies on the box: {y}");
    let crossed = coupled.crossed();
    assert_eq!(crossed.len(), 2);
    assert_eq!(crossed[1].between, [1, 0]);
    assert!(crossed[1].impulse[0].y > 0.0, "the weight hangs on the hook");
    assert!(crossed.iter().all(|entry| entry.crossing_imbalance() < 1e-12));
    let [a, b] = [0, 1].map(|i| coupled.coupling.get::<World>(i).unwrap().time());
    assert!((a - b).abs() < 1e-12, "half steps add up: {a} {b}");
}

#[test]
fn one_world_holds_the_same_with_ties_as_joints() {
    let mut whole = scene(GOOD).monolithic().unwrap();
    assert!(whole.partition.is_none());
    assert_eq!(whole.world.joints().count(), 2);
    for _ in 0..60 {
        whole.world.step(1.0 / 60.0).unwrap();
    }
    let weight = whole.points.iter().find(|p| p.name == "weight").unwrap().id;
    let y = whole.world.point(weight).unwrap().position.y;
    assert!((1.9..2.1).contains(&y), "{y}");
}

#[test]
fn what_cannot_be_shared_is_refused_in_its_place() {
    let cases = [
        (
            "\"ball\", \"weight\"",
            "\"bal\", \"weight\"",
            "couple.toml:34:12",
            "did you mean \"ball\"?",
        ),
        ("\"ball\", \"weight\"", "\"rope\"", "34:12", "joints go with what they join"),
        ("\"ball\", \"weight\"", "\"ball\", \"ball\"", "34:20", "belongs to `upper` already"),
        (
            "[simulators.lower]",
            "[simulators.lower]\nobjects = []",
            "[bodies.floor]",
            "belongs to no simulator",
        ),
        ("steps = 2", "[simulators.third]", "35:13", "holds the rest already"),
        ("steps = 2", "[simulators.third]\nobjects = []", "35:13", "`third` holds nothing"),
        ("\"lower\", \"upper\"", "\"lower\", \"uper\"", "38:21", "did you mean \"upper\"?"),
        ("\"lower\", \"upper\"", "\"lower\", \"lower\"", "38:11", "between two simulators"),
        ("\"weight\", \"hook\"", "\"weight\", \"hock\"", "42:", "did you mean \"hook\"?"),
        (
            "\"weight\", \"hook\"",
            "\"weight\", \"ball\"",
            "42:",
            "within one simulator a joint does",
        ),
        ("kind = \"spring\"", "kind = \"frame\"", "42:", "has no place or frame of its own"),
        ("steps = 2", "kind = \"rapier\"", "35:8", "cannot be made"),
        (
            "limits = { imbalance = 1e-9 }",
            "[expect]\n\"hang.imbalanse\" = { below = 1 }",
            "44:1",
            "did you mean `hang.imbalance`?",
        ),
        (
            "limits = { imbalance = 1e-9 }",
            "[expect]\n\"hung.imbalance\" = { below = 1 }",
            "44:1",
            "did you mean `hang`?",
        ),
        ("stiffness = 500, ", "", "[couplings.hang]", "one of the first two positive"),
        (
            "frames = 30",
            "frames = 30\ncoupling = { method = \"repaired\" }",
            "41:12",
            "choose the method `iterated`",
        ),
        (
            "limits = { imbalance = 1e-9 }",
            "[couplings.again]\nbetween = [\"upper\", \"lower\"]",
            "43:12",
            "touch already",
        ),
        (
            "between = [\"world\", \"hook\"]\nanchors = [[3, 4, 0], [0, 0, 0]]",
            "between = [\"weight\", \"hook\"]\nanchors = [[0, 0, 0], [0, 0, 0]]",
            "[joints.rope]",
            "hold them together by ties",
        ),
    ];
    for (from, to, place, hint) in cases {
        let text = broken(from, to);
        assert!(text.contains(hint), "{from} → {to}: {text}");
        assert!(text.contains(place), "{from} → {to}: {text}");
    }
    let alone =
        GOOD.replace("[simulators.lower]", "").replace("[simulators.upper]", "[materials.x]");
    let alone = alone.replace("objects = [\"ball\", \"weight\"]\nsteps = 2\n", "");
    let text = load("couple.toml", &alone, None, &[]).unwrap_err().to_string();
    assert!(text.contains("there is nothing to couple"), "{text}");
}
