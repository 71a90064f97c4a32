//! Transforms and velocities over time.

use super::super::stage::RigidSample;
use std::fmt::Write;
use thirdlaw::{Quat, Vec3};

const ORDER: &str =
    "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n";

/// The attributes of a body that stands still.
pub fn fixed(sample: &RigidSample) -> String {
    let text = attribute("double3 xformOp:translate", &[0], &[vector(sample.pose.translation)]);
    text + &attribute("quatd xformOp:orient", &[0], &[turn(sample.pose.rotation)]) + ORDER
}

/// The attributes of a body that may move, one sample a frame.
pub fn moving(frames: &[u32], samples: &[RigidSample]) -> String {
    let each = |f: &dyn Fn(&RigidSample) -> String| samples.iter().map(f).collect::<Vec<String>>();
    let translations = each(&|s| vector(s.pose.translation));
    let mut text = attribute("double3 xformOp:translate", frames, &translations);
    text += &attribute("quatd xformOp:orient", frames, &turns(samples));
    text += ORDER;
    let velocities = each(&|s| short_vector(s.velocity));
    text += &attribute("custom vector3f thirdlaw:velocity", frames, &velocities);
    let spins = each(&|s| short_vector(s.angular_velocity));
    text + &attribute("custom vector3f thirdlaw:angularVelocity", frames, &spins)
}

/// Of two quaternions for one orientation the one nearer to the last, so that between samples a
/// body turns the short way.
fn turns(samples: &[RigidSample]) -> Vec<String> {
    let mut last = Quat::IDENTITY;
    let text = |sample: &RigidSample| {
        let rotation = sample.pose.rotation;
        last = if rotation.dot(last) < 0.0 { -rotation } else { rotation };
        turn(last)
    };
    samples.iter().map(text).collect()
}

/// One value where it never changes; otherwise samples, without those that equal both neighbours,
/// between which USD would put the same value.
fn attribute(head: &str, frames: &[u32], values: &[String]) -> String {
    let Some(first) = values.first() else { return String::new() };
    if values.iter().all(|value| value == first) {
        return format!("        {head} = {first}\n");
    }
    let mut text = format!("        {head}.timeSamples = {{\n");
    for (k, value) in values.iter().enumerate() {
        let same = |j: Option<usize>| j.and_then(|j| values.get(j)) == Some(value);
        if !(same(k.checked_sub(1)) && same(Some(k + 1))) {
            let _ = writeln!(text, "            {}: {value},", frames[k]);
        }
    }
    text + "        }\n"
}

/// Every digit: positions are read back as they were.
fn vector(v: Vec3) -> String {
    let [x, y, z] = v.to_array().map(|x| x + 0.0);
    format!("({x}, {y}, {z})")
}

/// As USD keeps points and velocities.
pub fn short_vector(v: Vec3) -> String {
    let [x, y, z] = v.to_array().map(|x| x as f32 + 0.0);
    format!("({x}, {y}, {z})")
}

/// In double precision: USD takes the angle from acos(w), where a small turn loses half its digits.
fn turn(q: Quat) -> String {
    let [w, x, y, z] = [q.w, q.x, q.y, q.z].map(|x| x + 0.0);
    format!("({w}, {x}, {y}, {z})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use thirdlaw::Pose;

    #[test]
    fn samples_between_equal_ones_are_left_out() {
        let values = ["a", "a", "a", "b", "b", "b"].map(String::from);
        let text = attribute("t", &[0, 1, 2, 3, 4, 5], &values);
        let kept: Vec<&str> = text.lines().filter(|l| l.ends_with(',')).map(str::trim).collect();
        assert_eq!(kept, ["0: a,", "2: a,", "3: b,", "5: b,"]);
        assert_eq!(attribute("t", &[0, 1], &["a", "a"].map(String::from)), "        t = a\n");
    }

    #[test]
    fn orientations_do_not_change_sign_between_samples() {
        let sample = |q: Quat| RigidSample {
            pose: Pose::from_parts(Vec3::ZERO, q),
            ..RigidSample::default()
        };
        let q = Quat::from_rotation_x(3.0);
        let text = turns(&[sample(q), sample(-Quat::from_rotation_x(3.1)), sample(-q)]);
        assert_eq!(text[0], text[2]);
        assert!(text[1].starts_with("(0.02"), "{text:?}");
    }
}
