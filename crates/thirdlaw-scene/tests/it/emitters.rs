//! Emitters in scene files: what is written is what the engine gets, and what is wrong is told.

use thirdlaw::math::Vec3;
use thirdlaw::{EmitterError, Source};
use thirdlaw_scene::{ExpectTracker, FrameStats, Scene, load};

const TOP: &str = "version = 1\n[bodies.cart]\nshape = { box = { size = [1, 1, 1] } }\n";

fn scene(text: &str) -> Scene {
    load("t.toml", &format!("{TOP}{text}"), None, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str) -> String {
    match load("t.toml", &format!("{TOP}{text}"), None, &[]) {
        Ok(_) => panic!("this should be refused:\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn numbers_of_emitters_arrive() {
    let scene = scene(
        r##"[emitters.jet]
source = { disc = { radius = 0.2 } }
position = [1, 2, 3]
direction = [2, 0, 0]
body = "cart"
rate = 100
speed = 4
speed_spread = 0.1
spread = 90
life = 2
life_spread = 0.3
from = 0.5
until = 1.5
seed = 42
mass = 0.02
radius = 0.03
drag = 0.4
drag_quadratic = 0.6
wind = [1, 0, 0]
gravity_scale = 0.7
material = { friction = 0.8, restitution = 0.9 }
groups = { member = [1], collides = [2] }
capacity = 77
color = "#ff0000"
[emitters.mist]
source = { surface = { sphere = { radius = 0.5 } } }
rate = 10
"##,
    );
    let jet = &scene.emitters[0];
    assert_eq!((jet.color, jet.radius), (Some([1.0, 0.0, 0.0]), 0.03));
    let model = scene.world.emitter(jet.id).unwrap();
    let e = &model.emitter;
    assert!(matches!(e.source, Source::Disc { radius: 0.2 }));
    assert_eq!(e.pose.translation, Vec3::new(1.0, 2.0, 3.0));
    assert!((e.pose.rotation * Vec3::Y - Vec3::X).length() < 1e-12);
    assert_eq!(e.body, Some(scene.bodies[0].id));
    assert_eq!((e.rate, e.speed, e.speed_spread, e.life, e.life_spread), (100., 4., 0.1, 2., 0.3));
    assert_eq!((e.from, e.until, e.seed, e.mass, e.drag), (0.5, 1.5, 42, 0.02, 0.4));
    assert_eq!((e.drag_quadratic, e.gravity_scale, model.capacity), (0.6, 0.7, 77));
    assert!((e.spread - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    assert_eq!((e.material.friction, e.material.restitution), (0.8, 0.9));
    assert_eq!((e.wind, e.groups.member, e.groups.collides), (Some(Vec3::X), 2, 4));
    let mist = scene.world.emitter(scene.emitters[1].id).unwrap();
    assert!(matches!(mist.emitter.source, Source::Surface(_)));
    assert_eq!(mist.emitter.material.restitution, 0.5);
}

#[test]
fn readings_of_streams_and_struck_bodies_are_expected() {
    let mut scene = scene(
        r#"kind = "fixed"
[emitters.jet]
position = [0, 2, 0]
direction = [0, -1, 0]
rate = 600
speed = 10
life = 0.4
[settings]
gravity = [0, 0, 0]
[expect]
"jet.count" = { near = 240, within = 1, at = 1 }
"jet.born" = { near = 600, within = 1, at = 1 }
"jet.lowest" = { above = 0.5 }
"jet.speed" = { near = 10, within = 1e-9, from = 0.1 }
"cart.struck_y" = { near = -9, within = 0.05, from = 0.5 }
"cart.struck" = { above = 8.9, from = 0.5 }
particles = { near = 240, within = 1, at = 1 }
"#,
    );
    let mut tracker = ExpectTracker::new(&scene);
    for frame in 0..=60 {
        if frame > 0 {
            scene.world.step(scene.dt()).unwrap();
        }
        let particles = scene.world.state().streams.count() as u64;
        let time = scene.world.time();
        let stats = FrameStats { frame, time, particles, ..FrameStats::default() };
        tracker.observe(stats.time, &stats, &scene.world, &scene.bodies);
    }
    for verdict in tracker.verdicts() {
        assert!(verdict.passed, "{verdict:?}");
    }
}

#[test]
fn mistakes_are_told_where_they_stand() {
    let message = refused("[emitters.jet]\nrate = 10\nbody = \"card\"\n");
    assert!(message.contains("t.toml:6:8: there is no body `card`"), "{message}");
    assert!(message.contains("did you mean `cart`?"), "{message}");
    let message = refused("[emitters.jet]\nspeed = 10\n");
    assert!(message.contains("rate"), "{message}");
    let message = refused("[emitters.jet]\nrate = -1\n");
    assert!(message.contains("`rate` must be from 0 to 1000000000, not -1"), "{message}");
    let message = refused("[emitters.jet]\nrate = 1e8\nlife = 1e3\n");
    assert!(message.contains("6:8: emitter `jet`: capacity:"), "{message}");
    let message = refused("[emitters.jet]\nrate = 1\nfrom = 2\nuntil = 1\n");
    assert!(message.contains("7:9: emitter `jet`: until:"), "{message}");
    let message = refused("[emitters.jet]\nrate = 1\ndirection = [0, 0, 0]\n");
    assert!(message.contains("a direction cannot be zero"), "{message}");
    let message = refused("[emitters.jet]\nrate = 1\nsource = { surface = { half_space = {} } }\n");
    assert!(message.contains("a half-space has no surface"), "{message}");
    let message = refused("[emitters.cart]\nrate = 1\n");
    assert!(message.contains("`cart` is a name already (bodies.cart)"), "{message}");
    let message = refused("[emitters.jet]\nrate = 1\n[expect]\n\"jet.cuont\" = { above = 1 }\n");
    assert!(message.contains("did you mean `jet.count`?"), "{message}");
    let world = EmitterError::NoSuchBody(thirdlaw::BodyId { index: 1, generation: 0 });
    assert!(world.to_string().contains("body 1v0"));
}
