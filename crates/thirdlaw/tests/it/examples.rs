//! The programs in `examples/` that show how to use the engine, run as they stand. They check themselves.

#[path = "../../examples/character.rs"]
mod character;
#[path = "../../examples/compare_solvers.rs"]
mod compare_solvers;
#[path = "../../examples/custom_force.rs"]
mod custom_force;
#[path = "../../examples/flag.rs"]
mod flag;
#[path = "../../examples/frames.rs"]
mod frames;
#[path = "../../examples/hello_world.rs"]
mod hello_world;
#[path = "../../examples/own_simulator.rs"]
mod own_simulator;
#[path = "../../examples/ragdoll.rs"]
mod ragdoll;
#[path = "../../examples/rollback.rs"]
mod rollback;
#[path = "../../examples/sensor_door.rs"]
mod sensor_door;
#[path = "../../examples/soft_cube.rs"]
mod soft_cube;
#[path = "../../examples/stack_and_ray.rs"]
mod stack_and_ray;
#[path = "../../examples/thousand_runs.rs"]
mod thousand_runs;
#[path = "../../examples/vehicle.rs"]
mod vehicle;

#[test]
fn the_example_hello_world_runs() {
    hello_world::main().expect("it ends well");
}

#[test]
fn the_example_stack_and_ray_runs() {
    stack_and_ray::main().expect("it ends well");
}

#[test]
fn the_example_flag_runs() {
    flag::main().expect("it ends well");
}

#[test]
fn the_example_soft_cube_runs() {
    soft_cube::main().expect("it ends well");
}

#[test]
fn the_example_sensor_door_runs() {
    sensor_door::main().expect("it ends well");
}

#[test]
fn the_example_rollback_runs() {
    rollback::main().expect("it ends well");
}

#[test]
fn the_example_ragdoll_runs() {
    ragdoll::main().expect("it ends well");
}

#[test]
fn the_example_custom_force_runs() {
    custom_force::main().expect("it ends well");
}

#[test]
fn the_example_thousand_runs_runs() {
    thousand_runs::main().expect("it ends well");
}

#[test]
fn the_example_frames_runs() {
    frames::main().expect("it ends well");
}

#[test]
fn the_example_character_runs() {
    character::main().expect("it ends well");
}

#[test]
fn the_example_vehicle_runs() {
    vehicle::main().expect("it ends well");
}

#[test]
fn the_example_compare_solvers_runs() {
    compare_solvers::main().expect("it ends well");
}

#[test]
fn the_example_own_simulator_runs() {
    own_simulator::main().expect("it ends well");
}
