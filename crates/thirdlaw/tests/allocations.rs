//! A step in steady state allocates nothing. A test binary of its own, since it counts every
//! allocation of the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use thirdlaw::{
    Axis, Body, BodyId, Drive, Emitter, Joint, Settings, Shape, Side, Target, Vec3, World,
};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        BYTES.fetch_add(size, Relaxed);
        BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Stacks of boxes on a triangulated floor, awake.
fn stacks(count: usize) -> World {
    let settings = Settings { sleeping: false, ..Settings::default() };
    let mut world = World::new(settings).expect("valid settings");
    let corner = |x: f64, z: f64| Vec3::new(x, 0.0, z);
    let vertices =
        [corner(-50.0, -50.0), corner(50.0, -50.0), corner(50.0, 50.0), corner(-50.0, 50.0)];
    let floor = Shape::mesh(&vertices, &[[0, 2, 1], [0, 3, 2]]).expect("a floor");
    world.add_body(Body::fixed(floor)).expect("a floor");
    let cube = Shape::cuboid(Vec3::splat(0.5)).expect("a cube");
    for i in 0..count {
        let (x, y, z) = ((i / 5) % 10, i % 5, i / 50);
        let place = |k: usize| 1.5 * k as f64 - 7.0;
        let body = Body::dynamic(cube.clone()).at(place(x), 0.5 + y as f64, place(z));
        world.add_body(body).expect("a cube");
    }
    world
}

/// Swinging chains, joined boxes on a floor, a driven arm that pushes a box over a floor, and a closed loop.
fn mechanisms() -> World {
    let settings = Settings { sleeping: false, ..Settings::default() };
    let mut world = World::new(settings).expect("valid settings");
    let floor = Shape::half_space(Vec3::Y).expect("a floor");
    world.add_body(Body::fixed(floor)).expect("a floor");
    let bar = Shape::cuboid(Vec3::new(0.2, 0.05, 0.05)).expect("a bar");
    let mut add = |body: Body| world.add_body(body).expect("a body");
    let mut chain = Vec::new();
    for i in 0..10 {
        chain.push(add(Body::dynamic(bar.clone()).at(0.2 + 0.4 * i as f64, 6.0, 0.0).mass(1.0)));
    }
    let arm = add(Body::dynamic(bar.clone()).at(-2.0, 0.3, 0.0).mass(1.0));
    let cube = Shape::cuboid(Vec3::splat(0.2)).expect("a cube");
    add(Body::dynamic(cube.clone()).at(-2.5, 0.2, 0.0).mass(1.0));
    let foot = |k: i32| Body::dynamic(cube.clone()).at(5.0 + 0.5 * f64::from(k), 0.2, 0.0);
    let feet: Vec<BodyId> = (0..10).map(|k| add(foot(k).mass(1.0))).collect();
    let mut join = |joint: Joint| world.add_joint(joint).expect("a joint");
    for (k, pair) in feet.windows(2).enumerate() {
        let ankle = Joint::ball(pair[0], pair[1]).at(5.25 + 0.5 * k as f64, 0.2, 0.0);
        join(ankle.friction(Axis::TurnX, 0.1).limit(Axis::TurnZ, -1.0, 1.0));
    }
    let mut before = Side::World;
    for (i, &link) in chain.iter().enumerate() {
        let joint = Joint::ball(before, link).at(0.4 * i as f64, 6.0, 0.0);
        join(joint.limit(Axis::TurnX, -1.0, 1.0).friction(Axis::TurnX, 0.01));
        before = link.into();
    }
    join(Joint::ball(Side::World, before_body(before)).at(4.0, 6.0, 0.0));
    let target = Target::Sine { center: 0.0, amplitude: 0.2, frequency: 1.0, phase: 0.0 };
    let drive = Drive::pd(500.0, 50.0).toward(target).limited(100.0);
    join(Joint::slider(Side::World, arm).at(-2.0, 0.3, 0.0).driven(Axis::X, drive));
    world
}

/// A jet against stacked boxes, whose particles die as fast as they are born.
fn jet() -> World {
    let mut world = stacks(20);
    let jet = Emitter::disc(0.3, 20_000.0, 10.0).at(-12.0, 1.0, -6.5).toward(Vec3::X);
    world.add_emitter(jet.spread(0.1).mass(1e-5).life(1.0)).expect("an emitter");
    world
}

fn before_body(side: Side) -> BodyId {
    match side {
        Side::Body(id) => id,
        _ => unreachable!("the chain has links"),
    }
}

#[test]
fn a_step_in_steady_state_allocates_nothing() {
    let before = BYTES.load(Relaxed);
    let mut world = stacks(200);
    // inside the pool, as a program that steps often does
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    pool.install(|| {
        for _ in 0..130 {
            world.step(1.0 / 60.0).expect("a step");
        }
        let warm = COUNT.load(Relaxed);
        for _ in 0..130 {
            world.step(1.0 / 60.0).expect("a step");
        }
        let allocations = COUNT.load(Relaxed) - warm;
        assert_eq!(allocations, 0, "allocations in 130 steps");
        let mut joined = mechanisms();
        for _ in 0..200 {
            joined.step(1.0 / 60.0).expect("a step");
        }
        let warm = COUNT.load(Relaxed);
        for _ in 0..200 {
            joined.step(1.0 / 60.0).expect("a step");
        }
        let allocations = COUNT.load(Relaxed) - warm;
        assert_eq!(allocations, 0, "allocations in 200 steps with joints");
        let mut struck = jet();
        for _ in 0..200 {
            struck.step(1.0 / 60.0).expect("a step");
        }
        let warm = COUNT.load(Relaxed);
        let mut bounces = 0;
        for _ in 0..100 {
            bounces += struck.step(1.0 / 60.0).expect("a step").bounces;
        }
        let allocations = COUNT.load(Relaxed) - warm;
        assert!(bounces > 10_000, "{bounces} bounces");
        assert_eq!(allocations, 0, "allocations in 100 steps with particles");
    });
    let bytes = (BYTES.load(Relaxed) - before) / 200;
    println!("{bytes} bytes per body, four contact points each, scratch memory included");
    assert!(bytes < 20_000, "{bytes} bytes per body");
}
