//! A step in steady state allocates nothing. A test binary of its own, since it counts every
//! allocation of the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use thirdlaw::{Body, Settings, Shape, Vec3, World};

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
    });
    let bytes = (BYTES.load(Relaxed) - before) / 200;
    println!("{bytes} bytes per body, four contact points each, scratch memory included");
    assert!(bytes < 20_000, "{bytes} bytes per body");
}
