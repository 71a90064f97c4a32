//! Mechanisms: loops, redundancy, internal drives, contacts, and random graphs of joints.

use crate::{cuboid, earth, floor, hashes, run, sphere, with_threads, world};
use thirdlaw::{
    Axis, Body, BodyId, Drive, Enforcement, Groups, Joint, JointId, JointKind, Limits, Mass, Mat3,
    Pose, Quat, Settings, Side, Snapshot, Target, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;
const NOTHING: Groups = Groups { member: 0, collides: 0 };

/// A trunk with four limbs of two parts each; every joint is driven to and fro.
fn creature(world: &mut World, height: f64) -> Vec<BodyId> {
    let trunk = Body::dynamic(cuboid(0.3, 0.4, 0.2)).at(0.0, height, 0.0).mass(10.0);
    let trunk = world.add_body(trunk).unwrap();
    let mut bodies = vec![trunk];
    for (i, (x, y)) in [(0.3, 0.4), (-0.3, 0.4), (0.3, -0.4), (-0.3, -0.4)].into_iter().enumerate()
    {
        let mut before = trunk;
        for part in 0..2 {
            let out = x + f64::signum(x) * (0.2 + 0.4 * part as f64);
            let limb = Body::dynamic(Shape::capsule(0.12, 0.08).unwrap())
                .at(out, height + y, 0.0)
                .rotated(Vec3::Z * std::f64::consts::FRAC_PI_2)
                .mass(2.0);
            let limb = world.add_body(limb).unwrap();
            let at = out - f64::signum(x) * 0.2;
            let phase = i as f64 + 2.0 * part as f64;
            let target = Target::Sine { center: 0.0, amplitude: 0.5, frequency: 1.0, phase };
            let drive = Drive::pd(40.0, 2.0).toward(target);
            let joint = if part == 0 {
                Joint::ball(before, limb)
                    .driven(Axis::TurnY, drive.clone())
                    .driven(Axis::TurnZ, drive)
                    .limit(Axis::TurnX, -0.5, 0.5)
            } else {
                Joint::hinge(before, limb).axis(Vec3::Z).driven(Axis::TurnX, drive)
            };
            world.add_joint(joint.at(at, height + y, 0.0)).unwrap();
            bodies.push(limb);
            before = limb;
        }
    }
    bodies
}

use thirdlaw::Shape;

#[test]
fn internal_drives_change_no_momentum() {
    let mut world = world(0.0);
    let bodies = creature(&mut world, 0.0);
    let twist =
        thirdlaw::Twist { linear: Vec3::new(1.0, 2.0, -0.5), angular: Vec3::new(0.3, 0.2, 1.0) };
    world.set_velocity(bodies[0], twist).unwrap();
    let (p0, l0) = measure::momentum(&world);
    for _ in 0..1000 {
        world.step(FRAME).unwrap();
    }
    let (p1, l1) = measure::momentum(&world);
    println!(
        "{:e} {:e} gap {:e}",
        (p1 - p0).length() / p0.length(),
        (l1 - l0).length() / l0.length(),
        measure::joint_error(&world)
    );
    assert!((p1 - p0).length() < 1e-12 * p0.length(), "{p0} {p1}");
    assert!((l1 - l0).length() < 1e-10 * l0.length(), "{l0} {l1}");
    assert!(measure::joint_error(&world) < 1e-8);
}

/// Andrews' squeezer: seven bodies in a plane, three loops, a spring and a constant torque.
#[test]
fn andrews_mechanism_is_where_the_test_set_says() {
    let settings = Settings { gravity: Vec3::ZERO, substeps: 1, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let (beta, gamma, phi, delta) = (
        -0.0617138900142764_f64,
        0.455279819163070_f64,
        0.222668390165886_f64,
        0.487364979543843_f64,
    );
    let (omega, epsilon) = (-0.222668390165886_f64, 1.230547444549821_f64);
    let (d, da, e, ea, rr, ra) = (0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092);
    let (sa, sb, sc, sd, ta, tb) = (0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916);
    let (u, ua, ub, zf, zt, fa) = (0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421);
    let a = Vec3::new(-0.06934, -0.00227, 0.0);
    let b = Vec3::new(-0.03635, 0.03273, 0.0);
    let c = Vec3::new(0.014, 0.072, 0.0);
    let v = |x: f64, y: f64| Vec3::new(x, y, 0.0);
    let (pd, ed) = (phi + delta, omega + epsilon);
    let centers = [
        v(ra * beta.cos(), ra * beta.sin()),
        v((rr - da) * beta.cos(), (rr - da) * beta.sin()),
        b + v(sa * gamma.sin() + sb * gamma.cos(), -sa * gamma.cos() + sb * gamma.sin()),
        a + v(zt * delta.cos() + (e - ea) * pd.sin(), zt * delta.sin() - (e - ea) * pd.cos()),
        a + v(ta * delta.cos() - tb * delta.sin(), ta * delta.sin() + tb * delta.cos()),
        a + v(u * epsilon.sin() + (zf - fa) * ed.cos(), -u * epsilon.cos() + (zf - fa) * ed.sin()),
        a + v(ua * epsilon.sin() - ub * epsilon.cos(), -ua * epsilon.cos() - ub * epsilon.sin()),
    ];
    let masses = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498];
    let inertias = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5];
    let bodies: Vec<BodyId> = (0..7)
        .map(|i| {
            let mut body = Body::dynamic(sphere(0.001));
            body.pose.translation = centers[i];
            body.groups = NOTHING;
            let inertia = Mat3::from_diagonal(Vec3::splat(inertias[i]));
            body.mass = Mass::Explicit { mass: masses[i], center: Vec3::ZERO, inertia };
            world.add_body(body).unwrap()
        })
        .collect();
    let mut hinge = |one: Side, two: BodyId, at: Vec3, drive: Option<Drive>| -> JointId {
        let mut joint = Joint::hinge(one, two).axis(Vec3::Z).at(at.x, at.y, 0.0);
        joint.axes[3].drive = drive;
        world.add_joint(joint).unwrap()
    };
    let meet = v((rr - d) * beta.cos(), (rr - d) * beta.sin());
    let crank = hinge(Side::World, bodies[0], Vec3::ZERO, Some(Drive::effort(0.033)));
    let theta = hinge(bodies[0].into(), bodies[1], v(rr * beta.cos(), rr * beta.sin()), None);
    let rocker = hinge(Side::World, bodies[2], b, None);
    for other in [2, 3, 5] {
        hinge(bodies[1].into(), bodies[other], meet, None);
    }
    hinge(bodies[3].into(), bodies[4], a + v(zt * delta.cos(), zt * delta.sin()), None);
    hinge(Side::World, bodies[4], a, None);
    hinge(bodies[5].into(), bodies[6], a + v(u * epsilon.sin(), -u * epsilon.cos()), None);
    hinge(Side::World, bodies[6], a, None);
    let hook = b + v(sd * gamma.cos() + sc * gamma.sin(), sd * gamma.sin() - sc * gamma.cos());
    let mut spring = Joint::new(
        JointKind::Spring { stiffness: 4530.0, damping: 0.0, length: Some(0.07785) },
        Side::World,
        bodies[2],
    );
    let place = |p: Vec3| thirdlaw::Frame::World(Pose::from_parts(p, Quat::IDENTITY));
    (spring.frame_a, spring.frame_b) = (place(c), place(hook));
    world.add_joint(spring).unwrap();
    for _ in 0..3000 {
        world.step(1e-5).unwrap();
    }
    let angle = |id| world.joint_reading(id).unwrap().coordinate(Axis::TurnX);
    let found = [beta + angle(crank), angle(theta), gamma + angle(rocker)];
    println!("{found:?}, gap {:e}", measure::joint_error(&world));
    for (found, exact) in found.iter().zip([15.81077119629904, -15.75637105984298, 0.0408222401307])
    {
        assert!((found / exact - 1.0).abs() < 0.01, "{found} for {exact}");
    }
    assert!(measure::joint_error(&world) < 1e-9);
}

#[test]
fn a_door_on_two_hinges_hangs_from_both() {
    let mut world = earth();
    let door = Body::dynamic(cuboid(0.4, 1.0, 0.02)).at(0.4, 0.0, 0.0).mass(20.0);
    let door = world.add_body(door).unwrap();
    let hinges = [0.8, -0.8].map(|y| {
        let hinge = Joint::hinge(Side::World, door).axis(Vec3::Y).at(0.0, y, 0.0);
        world.add_joint(hinge).unwrap()
    });
    world.apply_impulse(door, Vec3::Z * 10.0, Vec3::new(0.8, 0.0, 0.0)).unwrap();
    let mut gap = 0.0_f64;
    for _ in 0..600 {
        world.step(FRAME).unwrap();
        gap = gap.max(measure::joint_error(&world));
    }
    let [upper, lower] = hinges.map(|h| world.joint_reading(h).unwrap());
    let weight = 20.0 * 9.81;
    assert!(((upper.force + lower.force).y / weight - 1.0).abs() < 1e-6, "{upper:?} {lower:?}");
    // each bears half the weight, and the overhang as a couple: two equal hinges give way alike
    for force in [upper.force.y, lower.force.y] {
        assert!((force / (0.5 * weight) - 1.0).abs() < 0.05, "{upper:?} {lower:?}");
    }
    let pull = 0.5 * (lower.force - upper.force).dot(world.center(door).unwrap() / 0.4);
    assert!((pull / (0.4 * weight / 1.6) - 1.0).abs() < 0.05, "{pull}");
    // torque about the hinge line: the couple of the two hinges bears the overhang
    let overhang = 0.4 * weight;
    let r = world.center(door).unwrap() / 0.4;
    let side = |y: f64, f: Vec3| Vec3::Y.cross(f) * y;
    let couple = side(0.8, upper.force) + side(-0.8, lower.force) + upper.torque + lower.torque;
    let about = Vec3::Y.cross(r).normalize();
    assert!((couple.dot(about).abs() / overhang - 1.0).abs() < 0.02, "{couple} {overhang}");
    assert!(gap < 1e-8, "{gap}");
    assert!(world.joint_reading(hinges[0]).unwrap().rates[3].abs() > 0.1, "it turns freely");
}

/// Four bars in a square with parallel hinges: three rows more than a loop needs.
#[test]
fn an_overconstrained_loop_runs_and_its_reactions_balance_the_weight() {
    let mut world = earth();
    let corner = [Vec3::ZERO, Vec3::Y, Vec3::new(1.0, 1.0, 0.0), Vec3::X];
    let mut bars = Vec::new();
    for i in 0..3 {
        let (p, q) = (corner[i], corner[i + 1]);
        let mut bar = Body::dynamic(cuboid(0.5, 0.05, 0.05)).mass(1.0);
        bar.pose.translation = 0.5 * (p + q);
        bar.pose.rotation = Quat::from_rotation_arc(Vec3::X, q - p);
        bar.angular_damping = 0.5;
        bars.push(world.add_body(bar).unwrap());
    }
    let sides = [Side::World, bars[0].into(), bars[1].into(), bars[2].into(), Side::World];
    let joints: Vec<_> = (0..4)
        .map(|i| {
            let (one, two) = (sides[i], sides[i + 1]);
            let p = corner[i];
            world.add_joint(Joint::hinge(one, two).axis(Vec3::Z).at(p.x, p.y, 0.0)).unwrap()
        })
        .collect();
    world.apply_impulse(bars[0], Vec3::X, Vec3::Y).unwrap();
    let mut gap = 0.0_f64;
    for _ in 0..3000 {
        world.step(FRAME).unwrap();
        gap = gap.max(measure::joint_error(&world));
    }
    assert!(gap < 1e-8, "{gap}");
    // hanging below its two pivots by now
    let lift = world.joint_reading(joints[0]).unwrap().force.y
        - world.joint_reading(joints[3]).unwrap().force.y;
    assert!((lift / (3.0 * 9.81) - 1.0).abs() < 0.01, "{lift}");
}

#[test]
fn a_creature_falls_on_the_floor_and_stays_above_it() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let bodies = creature(&mut world, 1.5);
    let (mut deep, mut gap) = (0.0_f64, 0.0_f64);
    for _ in 0..240 {
        world.step(FRAME).unwrap();
        deep = deep.max(measure::penetration(&world));
        gap = gap.max(measure::joint_error(&world));
    }
    println!("overlap {deep:e} gap {gap:e}");
    assert!(deep < 5e-3, "{deep}");
    assert!(gap < 1e-4, "{gap}");
    for id in bodies {
        assert!(world.center(id).unwrap().y > 0.0);
    }
}

/// A table of planks on ball joints between two posts, with boxes on it.
#[test]
fn boxes_rest_on_a_bridge() {
    let mut world = earth();
    let mut before = Side::World;
    // an arc that sags a little
    let mut end = Vec3::new(-2.9, 0.0, 0.0);
    for i in 0..12 {
        let angle = 0.08 * (i as f64 - 5.5);
        let along = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let mut plank = Body::dynamic(cuboid(0.24, 0.04, 0.5)).mass(4.0);
        plank.pose.translation = end + 0.25 * along;
        plank.pose.rotation = Quat::from_rotation_z(angle);
        let plank = world.add_body(plank).unwrap();
        for z in [-0.4, 0.4] {
            world.add_joint(Joint::ball(before, plank).at(end.x, end.y, z)).unwrap();
        }
        end += 0.5 * along;
        before = plank.into();
    }
    let Side::Body(last) = before else { unreachable!() };
    for z in [-0.4, 0.4] {
        world.add_joint(Joint::ball(last, Side::World).at(end.x, end.y, z)).unwrap();
    }
    let load: Vec<_> = (0..3)
        .map(|i| {
            let cube = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.6 * i as f64 - 0.6, 0.0, 0.0);
            world.add_body(cube.mass(50.0)).unwrap()
        })
        .collect();
    let mut gap = 0.0_f64;
    for _ in 0..300 {
        world.step(FRAME).unwrap();
        gap = gap.max(measure::joint_error(&world));
    }
    println!(
        "bridge gap {gap:e} overlap {:e} jitter {:e}",
        measure::penetration(&world),
        measure::jitter(&world)
    );
    assert!(gap < 1e-4 && measure::penetration(&world) < 5e-3);
    for id in load {
        assert!(world.center(id).unwrap().y > -1.0, "{}", world.center(id).unwrap());
    }
}

/// Any graph of joints keeps momentum, and nothing becomes NaN.
#[test]
fn random_graphs_of_joints_keep_momentum() {
    let mut seed = 12345_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1_u64 << 31) as f64
    };
    for round in 0..40 {
        let mut world = world(0.0);
        let bodies: Vec<_> = (0..6)
            .map(|_| {
                let place = Vec3::new(random(), random(), random()) * 2.0;
                let mut body = Body::dynamic(cuboid(0.1 + 0.2 * random(), 0.15, 0.2))
                    .rotated(Vec3::new(random(), random(), random()))
                    .moving(Vec3::new(random(), random(), random()))
                    .spinning(Vec3::new(random(), random(), random()))
                    .mass(0.5 + 5.0 * random());
                body.pose.translation = place;
                body.groups = NOTHING;
                world.add_body(body).unwrap()
            })
            .collect();
        for _ in 0..8 {
            let (a, b) = ((random() * 6.0) as usize, (random() * 6.0) as usize);
            if a == b {
                continue;
            }
            let kinds: [fn(Side, Side) -> Joint; 7] = [
                Joint::ball,
                Joint::hinge,
                Joint::slider,
                Joint::universal,
                Joint::cylindrical,
                Joint::planar,
                Joint::fixed,
            ];
            let joint = kinds[(random() * 7.0) as usize](bodies[a].into(), bodies[b].into())
                .axis(Vec3::new(random() - 0.5, random(), random()))
                .at(2.0 * random(), 2.0 * random(), 2.0 * random());
            world.add_joint(joint).unwrap();
        }
        let (p0, l0) = measure::momentum(&world);
        for _ in 0..60 {
            world.step(FRAME).unwrap();
        }
        let (p1, l1) = measure::momentum(&world);
        assert!((p1 - p0).length() < 1e-11 * (1.0 + p0.length()), "{round}: {p0} {p1}");
        assert!((l1 - l0).length() < 1e-9 * (1.0 + l0.length()), "{round}: {l0} {l1}");
        assert!(measure::joint_error(&world) < 1e-5, "{round}: {}", measure::joint_error(&world));
    }
}

fn chain(count: usize) -> World {
    let mut world = earth();
    let mut before = Side::World;
    for i in 0..count {
        let mut body = Body::dynamic(cuboid(0.2, 0.05, 0.05)).at(0.2 + 0.4 * i as f64, 0.0, 0.0);
        body.groups = NOTHING;
        let id = world.add_body(body.mass(1.0)).unwrap();
        world.add_joint(Joint::ball(before, id).at(0.4 * i as f64, 0.0, 0.0)).unwrap();
        before = id.into();
    }
    world
}

#[test]
fn the_cost_of_a_chain_is_linear_in_its_links() {
    for way in [Enforcement::Reduced, Enforcement::Stabilized] {
        let work = [10, 100, 1000, 10_000].map(|n| {
            let mut world = chain(n);
            let mut settings = *world.settings();
            settings.joints.enforcement = way;
            world.set_settings(settings).unwrap();
            world.step(FRAME).unwrap().joint_work as f64
        });
        println!("{work:?}");
        for pair in work.windows(2) {
            assert!((pair[1] / pair[0]).log10() < 1.1, "{way:?}: {work:?}");
        }
    }
}

#[test]
fn a_hub_with_many_spokes_costs_no_more_than_a_chain() {
    let star = |count: usize| {
        let mut world = world(0.0);
        let body = |x: f64, y: f64| {
            let mut body = Body::dynamic(sphere(0.1)).at(x, y, 0.0).mass(1.0);
            body.groups = NOTHING;
            body
        };
        let hub = world.add_body(body(0.0, 0.0)).unwrap();
        for i in 0..count {
            let angle = i as f64;
            let spoke = world.add_body(body(angle.cos(), angle.sin())).unwrap();
            world.add_joint(Joint::ball(hub, spoke)).unwrap_err();
            world
                .add_joint(Joint::ball(hub, spoke).at(0.5 * angle.cos(), 0.5 * angle.sin(), 0.0))
                .unwrap();
        }
        world.step(FRAME).unwrap().joint_work as f64
    };
    assert!((star(1000) / star(100)).log10() < 1.05);
}

/// Driven, touching, breaking: everything a step may do with joints.
fn busy() -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..3 {
        creature(&mut world, 1.2 + 1.5 * i as f64);
    }
    let mut other = chain(8);
    std::mem::swap(&mut world, &mut other);
    let mut world = other;
    let ball = world.add_body(Body::dynamic(sphere(0.3)).at(3.0, 2.0, 0.0)).unwrap();
    world
        .add_joint(
            Joint::hinge(Side::World, ball).axis(Vec3::Z).at(3.0, 4.0, 0.0).breaking(900.0, 900.0),
        )
        .unwrap();
    let rope = Joint::rope(Side::World, ball, 2.5).anchors(Vec3::new(2.0, 4.0, 0.0), Vec3::ZERO);
    world.add_joint(rope).unwrap();
    world
}

#[test]
fn joints_give_the_same_bits_for_any_threads_after_restoring_and_without_scratch() {
    let with = |threads: usize| with_threads(threads, || hashes(&mut busy(), 90));
    let reference = with(1);
    assert!(with(3) == reference && with(7) == reference);
    let mut first = busy();
    hashes(&mut first, 40);
    let mut second = busy();
    second.restore(&Snapshot::from_bytes(&first.save().to_bytes()).unwrap()).unwrap();
    assert!(hashes(&mut second, 50) == reference[40..]);
    let mut dropped = busy();
    for hash in &reference[..60] {
        dropped.step(FRAME).unwrap();
        dropped.drop_scratch();
        assert_eq!(dropped.hash(), *hash);
    }
}

#[test]
fn every_enforcement_and_every_contact_solver_holds_a_chain() {
    use thirdlaw::JointSolve;
    use thirdlaw::Solver;
    let ways = [
        (Enforcement::Stabilized, 1e-8),
        (Enforcement::Soft { stiffness: 1e6, damping: 1e2 }, 1e-3),
        (Enforcement::PseudoTime, 0.05),
        (Enforcement::Multipliers { rate: 30.0 }, 0.02),
        (Enforcement::Projection, 1e-8),
    ];
    for (way, gap) in ways {
        let mut world = chain(6);
        let mut settings = *world.settings();
        settings.joints.enforcement = way;
        world.set_settings(settings).unwrap();
        run(&mut world, 2.0, FRAME);
        println!("{way:?} {:e}", measure::joint_error(&world));
        assert!(measure::joint_error(&world) < gap, "{way:?}: {}", measure::joint_error(&world));
    }
    for solver in Solver::ALL {
        let mut world = chain(4);
        let mut settings = *world.settings();
        settings.joints.solve = JointSolve::Rows;
        settings.contact.solver = solver;
        settings.contact.iterations = 50;
        settings.contact.relax_iterations = 50;
        world.set_settings(settings).unwrap();
        run(&mut world, 1.0, FRAME);
        println!("{solver:?} {:e}", measure::joint_error(&world));
        if !matches!(solver, Solver::Jacobi | Solver::JacobiBridson) {
            assert!(
                measure::joint_error(&world) < 0.02,
                "{solver:?}: {}",
                measure::joint_error(&world)
            );
        }
    }
}

/// A chain of links so light that their drives saturate, in a random pose within limits that are close by:
/// guessing which limits, efforts and frictions act does not end here. The answer has to be in the box.
#[test]
fn limits_efforts_and_friction_of_one_tree_have_an_answer() {
    for seed in 0..8 {
        let mut world = earth();
        let mut before = Side::World;
        let mut joints = Vec::new();
        for k in 0..8 {
            let x = 0.1 * f64::from(k);
            let link = Body::dynamic(cuboid(0.05, 0.01, 0.01)).at(x + 0.05, 0.0, 0.0).mass(0.02);
            let link = world.add_body(link).unwrap();
            let axis = [Vec3::Z, Vec3::Y, Vec3::X][(k as usize + seed) % 3];
            let mut joint = Joint::hinge(before, link).axis(axis).at(x, 0.0, 0.0);
            joint.axes[3].limits = Some(Limits { lower: -0.3, upper: 0.2, restitution: 0.0 });
            joint.axes[3].friction = 0.2;
            let way = if (k as usize + seed).is_multiple_of(2) { 2.0 } else { -2.0 };
            joint.axes[3].drive = Some(Drive {
                stiffness: 300.0,
                damping: 30.0,
                limit: 35.0,
                effort: 0.0,
                target: Target::Constant { position: way, velocity: 0.0 },
            });
            joints.push(world.add_joint(joint).unwrap());
            before = link.into();
        }
        for _ in 0..60 {
            world.step(FRAME).unwrap();
            for &joint in &joints {
                let q = world.joint_reading(joint).unwrap().coordinates[3];
                assert!((-0.301..0.201).contains(&q), "seed {seed}: {q}");
            }
        }
    }
}
