//! Joints that cannot be: typed errors that name the field, and nothing changed.

use crate::{cuboid, earth, run, sphere, world};
use std::sync::Arc;
use thirdlaw::model::joint::constraint;
use thirdlaw::{
    Axis, AxisSettings, Body, BodyId, Constraint, Drive, Enforcement, Joint, JointError, JointKind,
    Limits, Member, MemberState, Point, Pose, Quat, Side, Spring, Target, Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn two() -> (World, BodyId, BodyId) {
    let mut world = earth();
    let a = world.add_body(Body::dynamic(sphere(0.2))).unwrap();
    let b = world.add_body(Body::dynamic(sphere(0.2)).at(1.0, 0.0, 0.0)).unwrap();
    (world, a, b)
}

fn refused(world: &mut World, joint: Joint) -> JointError {
    let hash = world.hash();
    let error = world.add_joint(joint).unwrap_err();
    assert_eq!(world.hash(), hash);
    error
}

#[test]
fn impossible_joints_are_refused_by_field() {
    let (mut world, a, b) = two();
    let hinge = || Joint::hinge(a, b).axis(Vec3::Z).at(0.5, 0.0, 0.0);
    let nan = f64::NAN;
    let with = |f: &dyn Fn(&mut Joint)| {
        let mut joint = hinge();
        f(&mut joint);
        joint
    };
    let limits = |lower, upper, restitution| Some(Limits { lower, upper, restitution });
    let key = |time| thirdlaw::DriveKey { time, position: 0.0 };
    let cases: Vec<(&str, Joint)> = vec![
        ("axes.limits", hinge().limit(Axis::TurnX, 1.0, -1.0)),
        ("axes.limits", hinge().limit(Axis::TurnX, nan, 1.0)),
        ("axes.limits.restitution", with(&|j| j.axes[3].limits = limits(0.0, 1.0, 1.5))),
        ("axes.friction", hinge().friction(Axis::TurnX, -1.0)),
        ("axes.friction", hinge().friction(Axis::TurnX, nan)),
        (
            "axes.spring.stiffness",
            hinge().sprung(Axis::TurnX, Spring { stiffness: nan, damping: 0.0, rest: 0.0 }),
        ),
        ("drive.stiffness", hinge().driven(Axis::TurnX, Drive::pd(nan, 1.0))),
        ("drive.damping", hinge().driven(Axis::TurnX, Drive::pd(1.0, -1.0))),
        ("drive.limit", hinge().driven(Axis::TurnX, Drive::pd(1.0, 1.0).limited(nan))),
        ("drive.target", hinge().driven(Axis::TurnX, Drive::pd(1.0, 1.0).at(f64::INFINITY))),
        (
            "drive.target.keys",
            hinge().driven(
                Axis::TurnX,
                Drive::pd(1.0, 1.0)
                    .toward(Target::Keyframes { keys: vec![key(1.0), key(1.0)], repeat: false }),
            ),
        ),
        ("axes", hinge().driven(Axis::TurnY, Drive::pd(1.0, 1.0))),
        ("axes", hinge().limit(Axis::X, 0.0, 1.0)),
        ("frame_a", Joint::hinge(a, b).axis(Vec3::ZERO)),
        ("frame_a", hinge().at(nan, 0.0, 0.0)),
        ("b", Joint::ball(a, a)),
        ("b", Joint::ball(Side::World, Side::World)),
        ("break_force", hinge().breaking(0.0, 1.0)),
        ("break_torque", hinge().breaking(1.0, nan)),
        ("kind.min", Joint::rod(a, b, -1.0)),
        ("kind.max", Joint::new(JointKind::Distance { min: 2.0, max: 1.0 }, a, b)),
        ("kind.points", Joint::curve(a, b, vec![Vec3::ZERO], false)),
        ("kind.points", Joint::curve(a, b, vec![Vec3::ZERO, Vec3::ZERO, Vec3::X], false)),
        ("kind.stiffness", Joint::spring(a, b, nan, 0.0)),
        ("enforcement", hinge().enforced(Enforcement::Soft { stiffness: nan, damping: 0.0 })),
        ("frame_b", Joint::ball(a, b).anchors(Vec3::ZERO, Vec3::ZERO)),
        ("frame_b", Joint::rod(a, b, 3.0)),
        (
            "frame_b",
            Joint::fixed(a, b).frames(
                Pose::from_translation(Vec3::X),
                Pose::from_parts(Vec3::ZERO, Quat::from_rotation_z(1.0)),
            ),
        ),
    ];
    for (field, joint) in cases {
        let error = refused(&mut world, joint.clone());
        assert_eq!(error.field, field, "{error} for {joint:?}");
        assert!(!error.problem.is_empty());
    }
    run(&mut world, 0.5, FRAME);
}

#[test]
fn a_loop_that_cannot_close_is_refused_or_pulled_together() {
    let (mut world, a, b) = two();
    world.add_joint(Joint::ball(a, b).at(0.5, 0.0, 0.0)).unwrap();
    world.add_joint(Joint::ball(Side::World, a)).unwrap();
    // b would have to be in two places
    let closing = Joint::ball(Side::World, b).anchors(Vec3::new(5.0, 0.0, 0.0), Vec3::ZERO);
    let error = refused(&mut world, closing.clone());
    assert!(error.problem.contains("does not close"), "{error}");
    let id = world.add_joint(closing.assembling()).unwrap();
    run(&mut world, 3.0, FRAME);
    assert!(world.joint_reading(id).unwrap().error > 1.0, "it cannot close, and says so");
    assert!(world.center(b).unwrap().length() < 10.0);
}

#[test]
fn gaps_that_can_close_do_so_without_a_bang() {
    let mut world = world(0.0);
    let a = world.add_body(Body::dynamic(sphere(0.2)).mass(1.0)).unwrap();
    let b = world.add_body(Body::dynamic(sphere(0.2)).at(2.0, 0.0, 0.0).mass(1.0)).unwrap();
    let joint = Joint::ball(a, b).anchors(Vec3::X * 0.5, Vec3::X * -0.5).assembling();
    let id = world.add_joint(joint).unwrap();
    run(&mut world, 1.0, FRAME);
    assert!(world.joint_reading(id).unwrap().error < 1e-9);
    assert!(world.velocity(a).unwrap().linear.length() < 1e-6, "position correction adds no speed");
}

#[test]
fn stale_ids_and_misplaced_points_are_refused() {
    let (mut world, a, b) = two();
    let point = world.add_point(Point::new(1.0, Vec3::Y)).unwrap();
    assert_eq!(refused(&mut world, Joint::hinge(a, point)).field, "kind");
    assert_eq!(refused(&mut world, Joint::ball(a, point).at(0.0, 2.0, 0.0)).field, "frame_b");
    assert!(world.add_point(Point::new(0.0, Vec3::Y)).is_err());
    assert!(world.add_point(Point::new(1.0, Vec3::NAN)).is_err());
    let ball = world.add_joint(Joint::ball(a, b).at(0.5, 0.0, 0.0)).unwrap();
    let error = refused(&mut world, Joint::gear(ball, ball, 1.0));
    assert_eq!(error.field, "kind.second");
    assert!(world.set_drive_target(ball, Axis::TurnX, 0.0, 0.0).is_err());
    world.set_drive(ball, Axis::TurnX, Some(Drive::pd(1.0, 1.0))).unwrap();
    assert!(world.set_drive(ball, Axis::X, Some(Drive::pd(1.0, 1.0))).is_err());
    assert!(world.set_drive(ball, Axis::TurnX, Some(Drive::pd(f64::NAN, 1.0))).is_err());
    assert!(world.set_drive_target(ball, Axis::TurnX, f64::NAN, 0.0).is_err());
    world.set_drive_target(ball, Axis::TurnX, 1.0, 0.0).unwrap();
    run(&mut world, 0.5, FRAME);
    world.remove_body(b).unwrap();
    let error = world.joint_reading(ball).unwrap_err();
    assert_eq!(error, thirdlaw::StaleId::of(ball));
    assert_eq!(refused(&mut world, Joint::ball(a, b)).field, "b");
    assert_eq!(world.joints().count(), 0);
    world.remove_point(point).unwrap();
    assert!(world.point(point).is_err());
    run(&mut world, 0.5, FRAME);
}

#[test]
fn joined_bodies_touch_only_if_asked_to() {
    for collide in [false, true] {
        let mut world = world(0.0);
        let a = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5))).unwrap();
        let b = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.9, 0.0, 0.0)).unwrap();
        let mut joint = Joint::slider(a, b).at(0.45, 0.0, 0.0);
        joint.collide = collide;
        world.add_joint(joint).unwrap();
        run(&mut world, 1.0, FRAME);
        let distance = world.center(b).unwrap().x - world.center(a).unwrap().x;
        assert_eq!(distance > 0.95, collide, "{distance}");
    }
}

#[test]
fn a_six_axis_joint_holds_and_bounds_what_it_says() {
    let mut world = earth();
    let body = world.add_body(Body::dynamic(sphere(0.2)).mass(1.0)).unwrap();
    let axes = [
        AxisSettings::locked(),
        AxisSettings::limited(-0.5, 0.5),
        AxisSettings::locked(),
        AxisSettings::locked(),
        AxisSettings::free(),
        AxisSettings::locked(),
    ];
    let joint = world.add_joint(Joint::six_axis(Side::World, body, axes)).unwrap();
    world.apply_impulse(body, Vec3::X, Vec3::Z * 0.1).unwrap();
    run(&mut world, 2.0, FRAME);
    let reading = world.joint_reading(joint).unwrap();
    assert!((reading.coordinates[1] + 0.5).abs() < 1e-9, "{reading:?}");
    assert!((reading.force.y - 9.81).abs() < 1e-6, "{reading:?}");
    assert!(reading.rates[4].abs() > 0.1 && reading.rates[3].abs() < 1e-9, "{reading:?}");
}

/// A user's own: the centre of a body stays on a sphere about the origin, or rolls at a rate.
#[derive(Debug)]
struct OnSphere {
    members: [Member; 1],
    radius: f64,
    wrong: bool,
}

impl Constraint for OnSphere {
    fn members(&self) -> &[Member] {
        &self.members
    }
    fn rows(&self) -> usize {
        1
    }
    fn evaluate(&self, states: &[MemberState], out: &mut [f64]) {
        out[0] = states[0].position.length() - self.radius;
    }
    fn position_derivative(&self, states: &[MemberState], out: &mut [f64]) {
        let n = states[0].position.normalize();
        out[..3].copy_from_slice(&n.to_array());
        if self.wrong {
            out[0] += 0.5;
        }
    }
}

#[test]
fn a_users_constraint_is_held_like_a_rod() {
    let mut world = earth();
    let bob = world.add_point(Point::new(1.0, Vec3::NEG_X)).unwrap();
    let members = [Member::Point(bob)];
    if cfg!(debug_assertions) {
        let wrong = Arc::new(OnSphere { members, radius: 1.0, wrong: true });
        assert_eq!(world.add_constraint(wrong).unwrap_err().field, "derivatives");
    }
    let right = OnSphere { members, radius: 1.0, wrong: false };
    let state = MemberState { position: Vec3::new(0.3, 0.4, -0.5), ..MemberState::default() };
    assert!(constraint::derivative_error(&right, &[state]) < 1e-8);
    let id = world.add_constraint(Arc::new(right)).unwrap();
    run(&mut world, 1.0, FRAME);
    let place = world.point(bob).unwrap().position;
    assert!(place.distance(Vec3::new(0.9862917511, -0.1650108531, 0.0)) < 1e-3, "{place}");
    world.remove_constraint(id).unwrap();
    assert!(world.remove_constraint(id).is_err());
    run(&mut world, 1.0, FRAME);
    assert!(world.point(bob).unwrap().position.y < -1.0);
}

/// C(x, v) = v·x − c: a body that climbs along x at a rate that grows with its height.
#[derive(Debug)]
struct Climb([Member; 1]);

impl Constraint for Climb {
    fn members(&self) -> &[Member] {
        &self.0
    }
    fn rows(&self) -> usize {
        1
    }
    fn evaluate(&self, states: &[MemberState], out: &mut [f64]) {
        out[0] = states[0].velocity.linear.x - 1.0 - states[0].position.y;
    }
    fn position_derivative(&self, _: &[MemberState], out: &mut [f64]) {
        out[1] = -1.0;
    }
    fn velocity_derivative(&self, _: &[MemberState], out: &mut [f64]) {
        out[0] = 1.0;
    }
}

#[test]
fn a_constraint_on_velocities_holds() {
    let mut world = world(0.0);
    let body = Body::dynamic(sphere(0.2)).moving(Vec3::new(1.0, 0.5, 0.0));
    let body = world.add_body(body).unwrap();
    world.add_constraint(Arc::new(Climb([Member::Body(body)]))).unwrap();
    run(&mut world, 2.0, FRAME);
    let (v, y) = (world.velocity(body).unwrap().linear, world.center(body).unwrap().y);
    assert!((v.x - 1.0 - y).abs() < 1e-9, "{v} {y}");
}
