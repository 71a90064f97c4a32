//! Makes a failing scene smaller while the same law still fails: fewer frames, bodies and joints, plainer
//! shapes, rounder numbers. What is left is what the failure needs.

use super::draw::rounded;
use super::judge::breaks;
use super::laws::Law;
use super::sketch::{Body, Motion, Promise, Shape, Sketch};
use std::time::{Duration, Instant};
use thirdlaw::math::{Quat, Vec3};

/// Longest that a scene is worked on.
const PATIENCE: Duration = Duration::from_secs(30);

/// The smaller scene and how it breaks the law.
pub fn shrink(sketch: &Sketch, law: &Law) -> Option<(Sketch, String)> {
    let begun = Instant::now();
    let mut best = (sketch.clone(), breaks(sketch, law)?);
    loop {
        let mut better = false;
        let mut number = 0;
        // candidates are made anew after every success, since numbers of bodies have changed
        loop {
            let candidate = candidates(&best.0).nth(number);
            let Some(candidate) = candidate else { break };
            if begun.elapsed() > PATIENCE {
                return Some(best);
            }
            number += 1;
            if let Some(how) = breaks(&candidate, law) {
                (best, better) = ((candidate, how), true);
                number = number.saturating_sub(1);
            }
        }
        if !better {
            return Some(best);
        }
    }
}

/// Smaller scenes, the boldest first.
fn candidates(sketch: &Sketch) -> impl Iterator<Item = Sketch> + '_ {
    let shorter = [4, 2].into_iter().map(|n| (sketch.frames / n).max(3));
    let shorter = shorter.chain([sketch.frames * 3 / 4]).filter(|&frames| frames < sketch.frames);
    let shorter = shorter.map(|frames| Sketch { frames, ..sketch.clone() });
    let moved = |i: &usize| sketch.bodies[*i].motion != Motion::Fixed;
    let bodies: Vec<usize> = (0..sketch.bodies.len()).collect();
    let (mobile, fixed): (Vec<_>, Vec<_>) = bodies.iter().copied().partition(moved);
    let half = mobile.len() / 2;
    let chunks = [mobile[..half].to_vec(), mobile[half..].to_vec(), fixed.clone()];
    let chunks = chunks.into_iter().filter(|chunk| chunk.len() > 1);
    let singles = mobile.into_iter().chain(fixed).rev().map(|i| vec![i]);
    let fewer = chunks.chain(singles).map(|gone| without(sketch, &gone));
    let joints = (0..sketch.joints.len()).map(|i| edited(sketch, |s| drop(s.joints.remove(i))));
    let cloths = (0..sketch.cloths.len()).map(|i| edited(sketch, |s| drop(s.cloths.remove(i))));
    let softs = (0..sketch.softs.len()).map(|i| edited(sketch, |s| drop(s.softs.remove(i))));
    let ties = (0..sketch.partition.ties.len())
        .map(|i| edited(sketch, |s| _ = s.partition.ties.remove(i)));
    let touches = (0..sketch.partition.touches.len()).map(|i| {
        edited(sketch, |s| {
            s.partition.touches.remove(i);
        })
    });
    let links = (0..sketch.robots.len()).map(|i| {
        edited(sketch, |s| {
            let links = &mut s.robots[i].links;
            links.truncate((links.len() - 1).max(2));
        })
    });
    let plainer = (0..sketch.bodies.len()).flat_map(|i| plainer(sketch, i));
    let simpler = (0..sketch.joints.len()).flat_map(|i| simpler(sketch, i));
    let settings = [
        edited(sketch, |s| (s.fps, s.substeps) = (60.0, 8)),
        edited(sketch, |s| s.continuous = true),
        edited(sketch, |s| s.partition.steps.iter_mut().for_each(|n| *n = 1)),
        edited(sketch, round_all),
    ];
    let all = shorter.chain(fewer).chain(joints).chain(cloths).chain(softs);
    let all = all.chain(ties).chain(touches).chain(links);
    let text = sketch.text();
    all.chain(settings).chain(plainer).chain(simpler).filter(move |new| new.text() != text)
}

fn edited(sketch: &Sketch, edit: impl FnOnce(&mut Sketch)) -> Sketch {
    let mut new = sketch.clone();
    edit(&mut new);
    new
}

/// A scene without these bodies, their joints and promises.
fn without(sketch: &Sketch, gone: &[usize]) -> Sketch {
    let mut new = sketch.clone();
    let kept = |i: usize| !gone.contains(&i);
    let place = |i: usize| (0..i).filter(|&k| kept(k)).count();
    let mut number = 0;
    new.bodies.retain(|_| {
        number += 1;
        kept(number - 1)
    });
    new.joints.retain(|j| kept(j.b) && j.a.is_none_or(kept));
    for joint in &mut new.joints {
        (joint.a, joint.b) = (joint.a.map(place), place(joint.b));
    }
    new.partition.leave_out(kept, place);
    let walls: Vec<Vec3> = gone.iter().map(|&i| sketch.bodies[i].position).collect();
    let promises = sketch.promises.iter().filter_map(|promise| match *promise {
        // a wall that is gone holds nothing; rooms of boxes and triangles promise more than one each
        Promise::Before(point, normal) => {
            let is_gone =
                walls.contains(&point) || gone.iter().any(|&i| is_wall(&sketch.bodies[i]));
            (!is_gone).then_some(Promise::Before(point, normal))
        }
        Promise::Order(a, b, axis) => {
            (kept(a) && kept(b)).then(|| Promise::Order(place(a), place(b), axis))
        }
        Promise::Above(field) => kept(field).then(|| Promise::Above(place(field))),
    });
    new.promises = promises.collect();
    new
}

fn is_wall(body: &Body) -> bool {
    body.motion == Motion::Fixed && !matches!(body.shape, Shape::HalfSpace)
}

/// A body with one feature less, or another shape.
fn plainer(sketch: &Sketch, i: usize) -> Vec<Sketch> {
    let body = &sketch.bodies[i];
    let change = |edit: &dyn Fn(&mut Body)| edited(sketch, |s| edit(&mut s.bodies[i]));
    let mut all = Vec::new();
    if body.motion == Motion::Dynamic {
        all.push(change(&|b| b.spin = Vec3::ZERO));
        all.push(change(&|b| b.velocity = Vec3::ZERO));
        all.push(change(&|b| b.rotation = Quat::IDENTITY));
        let simple = matches!(body.shape, Shape::Box(_) | Shape::Sphere(_));
        if !simple && body.shape.radius().is_finite() {
            all.push(change(&|b| b.shape = Shape::Sphere(rounded(b.shape.radius(), 2))));
            all.push(change(&|b| b.shape = Shape::Box(bounds(&b.shape))));
        }
    }
    all.push(change(&|b| b.restitution = 0.0));
    all.push(change(&|b| b.friction = 0.5));
    all
}

/// Sides of a box about a shape.
fn bounds(shape: &Shape) -> Vec3 {
    match shape {
        Shape::Capsule(r, l) => Vec3::new(2.0 * r, l + 2.0 * r, 2.0 * r),
        Shape::Cylinder(r, h) | Shape::Cone(r, h) => Vec3::new(2.0 * r, *h, 2.0 * r),
        Shape::Hull(p) | Shape::Mesh(p, _) | Shape::Decompose(p, _) => {
            2.0 * p.iter().fold(Vec3::splat(1e-6), |a, b| a.max(b.abs()))
        }
        other => Vec3::splat(other.radius()),
    }
}

/// A joint with one feature less.
fn simpler(sketch: &Sketch, i: usize) -> Vec<Sketch> {
    let change =
        |edit: &dyn Fn(&mut super::sketch::Joint)| edited(sketch, |s| edit(&mut s.joints[i]));
    vec![
        change(&|j| j.drive = None),
        change(&|j| j.limits = None),
        change(&|j| j.spring = None),
        change(&|j| j.friction = 0.0),
    ]
}

/// All numbers of bodies with two digits, unless joints tie them together.
fn round_all(sketch: &mut Sketch) {
    let round = |v: Vec3| Vec3::new(rounded(v.x, 2), rounded(v.y, 2), rounded(v.z, 2));
    let jointed = !sketch.joints.is_empty();
    for body in sketch.bodies.iter_mut().filter(|b| b.motion == Motion::Dynamic) {
        body.mass = rounded(body.mass, 1);
        (body.velocity, body.spin) = (round(body.velocity), round(body.spin));
        if jointed {
            continue;
        }
        body.position = round(body.position);
        body.shape = match &body.shape {
            Shape::Box(size) => Shape::Box(round(*size)),
            Shape::Sphere(r) => Shape::Sphere(rounded(*r, 2)),
            Shape::Capsule(r, l) => Shape::Capsule(rounded(*r, 2), rounded(*l, 2)),
            Shape::Cylinder(r, h) => Shape::Cylinder(rounded(*r, 2), rounded(*h, 2)),
            Shape::Cone(r, h) => Shape::Cone(rounded(*r, 2), rounded(*h, 2)),
            other => other.clone(),
        };
    }
}
