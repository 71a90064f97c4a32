//! What a user's own hook says about pairs and contacts.

use crate::collide::broad::BroadPhase;
use crate::math::{Mat3, Pose, Vec3};
use crate::model::Model;
use crate::model::contact_hook::{ContactHook, HookedBody, HookedContact};
use crate::state::State;
use crate::state::contact::{Contact, RunningSurface};

/// Adds the pairs that may not touch to those kept `apart`, in order.
pub fn leave_out(
    hook: &dyn ContactHook,
    (model, state): (&Model, &State),
    broad: &BroadPhase,
    apart: &mut Vec<(u32, u32)>,
) {
    let refused = |&(a, b): &(u32, u32)| !hook.may_touch(&[a, b].map(|s| body(model, state, s)));
    apart.extend(broad.pairs().filter(refused));
}

/// Shows the hook every contact of bodies that are awake; those that do not stay end, and their bodies are
/// kept `apart` for this step if no other contact is left between them.
pub fn judge(
    hook: &dyn ContactHook,
    model: &Model,
    state: &mut State,
    apart: &mut Vec<(u32, u32)>,
) {
    let mut contacts = std::mem::take(&mut state.contacts);
    let mut runs = std::mem::take(&mut state.runs);
    runs.clear();
    let rests = |slot: u32| {
        let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
        !body.is_dynamic() || now.asleep
    };
    let before = apart.len();
    for contact in contacts.iter_mut().filter(|contact| contact.count > 0) {
        let slots = [contact.key.a, contact.key.b];
        if slots.map(rests) == [true, true] {
            continue;
        }
        let was = shown(model, state, contact);
        let mut seen = was;
        if !hook.keeps(&mut seen) {
            contact.end();
            apart.push((slots[0], slots[1]));
            continue;
        }
        // what is no number changes nothing
        if seen.friction.is_finite() {
            contact.friction = seen.friction.max(0.0);
        }
        if seen.restitution.is_finite() {
            contact.restitution = seen.restitution.clamp(0.0, 1.0);
        }
        if contact.restitution > 0.0 && !contact.is_deep() {
            contact.skin = 0.0;
        }
        let velocity = seen.surface_velocity;
        if velocity.is_finite() && velocity != was.surface_velocity {
            runs.push(RunningSurface { key: contact.key, velocity });
        }
    }
    let kept = |pair: &(u32, u32)| {
        let start = contacts.partition_point(|c| (c.key.a, c.key.b) < *pair);
        let of_pair = contacts[start..].iter().take_while(|c| (c.key.a, c.key.b) == *pair);
        of_pair.into_iter().any(|c| c.count > 0)
    };
    let mut i = before;
    while i < apart.len() {
        if kept(&apart[i]) {
            apart.swap_remove(i);
        } else {
            i += 1;
        }
    }
    if apart.len() > before {
        apart.sort_unstable();
        apart.dedup();
    }
    (state.contacts, state.runs) = (contacts, runs);
}

fn body(model: &Model, state: &State, slot: u32) -> HookedBody {
    let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
    let origin = now.position - now.rotation * body.center;
    HookedBody {
        id: model.id(slot as usize),
        pose: Pose::from_parts(origin, now.rotation),
        center: now.position,
        velocity: now.velocity,
    }
}

fn shown(model: &Model, state: &State, contact: &Contact) -> HookedContact {
    let bodies = [contact.key.a, contact.key.b].map(|slot| body(model, state, slot));
    let axes = bodies.map(|body| Mat3::from_quat(body.pose.rotation));
    let between = bodies[1].center - bodies[0].center;
    let count = contact.count.max(1) as usize;
    let arm = |i| contact.on_surface_of_a(i, [&axes[0], &axes[1]], between);
    let point = bodies[0].center + (0..count).map(arm).sum::<Vec3>() / count as f64;
    let at =
        |body: &HookedBody| body.velocity.linear + body.velocity.angular.cross(point - body.center);
    let ends = [(contact.key.a, contact.key.piece_a), (contact.key.b, contact.key.piece_b)];
    let [a, b] = ends.map(|(slot, piece)| *model.bodies[slot as usize].material_of(piece));
    HookedContact {
        pieces: [contact.key.piece_a, contact.key.piece_b],
        normal: contact.normal,
        point,
        separation: contact.separations[..count].iter().copied().fold(f64::INFINITY, f64::min),
        approach: contact.normal.dot(at(&bodies[0]) - at(&bodies[1])),
        friction: a.combined_friction(&b),
        restitution: a.combined_restitution(&b),
        surface_velocity: axes[1] * b.surface_velocity - axes[0] * a.surface_velocity,
        bodies,
    }
}
