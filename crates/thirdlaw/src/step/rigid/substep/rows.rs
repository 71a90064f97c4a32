//! The contacts of an island as rows: what follows from where its bodies are.

use super::resist::{Resistance, Surfaces};
use super::{IslandScratch, LocalBody, LocalContact, LocalPoint};
use crate::contact::impact::{self, Strike};
use crate::contact::{Block, Bound, ContactSide, Row};
use crate::math::{Mat3, Twist, Vec3, tangents};
use crate::model::Model;
use crate::model::body::BodyKind;
use crate::model::settings::ContactSettings;
use crate::state::State;
use crate::state::contact::Contact;
use crate::step::island::Touch;
use crate::step::rigid::restitution::{INSIDE, Springs};

impl IslandScratch {
    /// Adds a contact of the island.
    pub(super) fn add_contact(
        &mut self,
        (model, state): (&Model, &State),
        touch: &Touch,
        own: (&[u32], usize),
    ) {
        let (index, contact) = (touch.index, &state.contacts[touch.index as usize]);
        let key = contact.key;
        let (a, b) = (self.side(own, key.a, touch.moves[0]), self.side(own, key.b, touch.moves[1]));
        let tangents = tangents(contact.normal);
        let half = |slot: u32| model.bodies[slot as usize].half_thickness;
        let half_thickness = half(key.a).min(half(key.b));
        let side = |slot: u32, local: u32| match model.bodies[slot as usize].kind {
            BodyKind::Fixed => ContactSide::World,
            _ => ContactSide::Body(local),
        };
        // one block per pair of bodies, whatever number of pieces they touch with
        let block_key = u64::from(key.a) << 32 | u64::from(key.b);
        if self.problem.blocks.last().is_none_or(|last| last.key != block_key) {
            self.problem.blocks.push(Block {
                a: side(key.a, a),
                b: side(key.b, b),
                row_start: self.problem.rows.len() as u32,
                row_count: 0,
                key: block_key,
            });
        }
        let run = state.run_of(&key);
        let (surfaces, threshold) = self.add_surfaces(model, (contact, run), [a, b], tangents);
        self.contacts.push(LocalContact {
            index,
            a,
            b,
            point_start: self.points.len() as u32,
            tangents,
            surfaces,
            with_b: model.bodies[key.b as usize].reach <= model.bodies[key.a as usize].reach,
        });
        let [on_a, on_b] = [a, b].map(|local| &self.bodies[local as usize]);
        let axes = [on_a, on_b].map(|body| Mat3::from_quat(body.rotation));
        let between = on_b.position - on_a.position;
        for (i, point) in contact.points().enumerate() {
            let cores = contact.cores(i, [&axes[0], &axes[1]], between);
            let anchors = [0, 1].map(|k| axes[k].transpose() * cores.arms[k]);
            let normal = self.problem.rows.len() as u32;
            let friction = Bound::Friction { normal, coefficient: contact.friction };
            for (direction, bound) in [
                (contact.normal, Bound::Interval { lower: 0.0, upper: f64::INFINITY }),
                (tangents.0, friction),
                (tangents.1, friction),
            ] {
                self.problem.rows.push(Row {
                    direction,
                    arm_a: Vec3::ZERO,
                    arm_b: Vec3::ZERO,
                    bias: 0.0,
                    compliance: 0.0,
                    bound,
                });
            }
            self.impulses.extend([
                point.normal_impulse,
                point.friction_impulse.dot(tangents.0),
                point.friction_impulse.dot(tangents.1),
            ]);
            let (radii, skin) = (cores.radii, f64::from(contact.skin));
            let restitution = contact.restitution;
            let point = LocalPoint {
                anchors,
                radii,
                skin,
                restitution,
                half_thickness,
                threshold,
                ..LocalPoint::default()
            };
            self.points.push(point);
        }
        if let Some(block) = self.problem.blocks.last_mut() {
            block.row_count += 3 * contact.count;
        }
    }

    /// What both materials ask for: their entry among the surfaces, if they ask for more than friction and
    /// restitution, and the approach speed below which they do not bounce, m/s, negative if they say nothing.
    fn add_surfaces(
        &mut self,
        model: &Model,
        (contact, run): (&Contact, Option<Vec3>),
        bodies: [u32; 2],
        (t, u): (Vec3, Vec3),
    ) -> (Option<u32>, f64) {
        let key = contact.key;
        let materials = [(key.a, key.piece_a), (key.b, key.piece_b)]
            .map(|(slot, piece)| model.bodies[slot as usize].material_of(piece));
        let asked = Surfaces::of(materials, contact.friction, run);
        let surfaces = asked.map(|asked| {
            let first = self.points.len();
            let points = [first, first + contact.count as usize];
            let axes = [t, u, contact.normal];
            self.resistances.extend(Resistance::of(materials, bodies, points, axes));
            self.surfaces.push(asked);
            self.surfaces.len() as u32 - 1
        });
        let [on_a, on_b] = materials.map(|material| material.restitution_threshold.unwrap_or(-1.0));
        (surfaces, on_a.max(on_b))
    }

    /// Arms, gaps and wanted velocities at the current poses.
    pub(in crate::step) fn place_rows(
        &mut self,
        state: &State,
        settings: &ContactSettings,
        h: f64,
    ) {
        self.place_rows_on(state, &Springs::new(settings, h), h);
    }

    /// The same, with overlaps on springs of their own.
    pub(super) fn place_rows_on(&mut self, state: &State, springs: &Springs, h: f64) {
        let mut row = 0;
        for local in &self.contacts {
            let contact = &state.contacts[local.index as usize];
            let (a, b) = (&self.bodies[local.a as usize], &self.bodies[local.b as usize]);
            let n = contact.normal;
            let first = self.points.get(local.point_start as usize);
            let spring = springs.of(first.map_or(f64::INFINITY, |point| point.half_thickness));
            for i in 0..contact.count as usize {
                let place = &mut self.points[local.point_start as usize + i];
                let (gap, r_a, r_b) = meet(local, place, n, a, b);
                let rows = &mut self.problem.rows[row..row + 3];
                for (row, d) in rows.iter_mut().zip([n, local.tangents.0, local.tangents.1]) {
                    row.arm_a = r_a.cross(d);
                    row.arm_b = r_b.cross(d);
                }
                if let Some(surfaces) = local.surfaces.and_then(|i| self.surfaces.get(i as usize)) {
                    let before = [local.a, local.b].map(|i| &self.before[i as usize]);
                    surfaces.place(&mut rows[1..], [a.rotation, b.rotation], before, spring.scale);
                }
                let skin = place.skin.min(spring.skin);
                place.gap = gap;
                place.room = if gap > skin { gap - INSIDE * skin } else { 0.0 };
                (rows[0].bias, rows[0].compliance) = if gap > skin {
                    (place.room / h, 0.0)
                } else {
                    let response = self.problem.bodies[local.a as usize].response(n, rows[0].arm_a)
                        + self.problem.bodies[local.b as usize].response(n, rows[0].arm_b);
                    spring.push(gap, response, self.impulses[row])
                };
                row += 3;
            }
        }
    }

    /// Largest speed at which an overlap is to be pushed apart, m/s.
    pub(super) fn push_speed(&self) -> f64 {
        let normals = self.problem.rows.iter().step_by(3);
        normals.fold(0.0, |most, row| most.max(-row.bias))
    }

    /// Whether no contact point touches, with bodies as they are.
    pub(in crate::step) fn are_open(&self, state: &State) -> bool {
        self.contacts.iter().all(|local| {
            let contact = &state.contacts[local.index as usize];
            let (a, b) = (&self.bodies[local.a as usize], &self.bodies[local.b as usize]);
            let mut points =
                self.points[local.point_start as usize..][..contact.count as usize].iter();
            points.all(|point| meet(local, point, contact.normal, a, b).0 > 0.0)
        })
    }

    /// Arms alone, after bodies have moved.
    pub(in crate::step) fn move_rows(&mut self, state: &State) {
        let mut row = 0;
        for local in &self.contacts {
            let contact = &state.contacts[local.index as usize];
            let (a, b) = (&self.bodies[local.a as usize], &self.bodies[local.b as usize]);
            let points = &self.points[local.point_start as usize..][..contact.count as usize];
            for point in points {
                let (_, r_a, r_b) = meet(local, point, contact.normal, a, b);
                for row in &mut self.problem.rows[row..row + 3] {
                    row.arm_a = r_a.cross(row.direction);
                    row.arm_b = r_b.cross(row.direction);
                }
                row += 3;
            }
        }
    }

    /// Impacts of what closes in this substep with restitution, by generalized reflections. Says whether there
    /// were any.
    ///
    /// Bodies bounce where they are, up to a substep's way before they meet. What a semi-implicit step keeps
    /// in free flight is the kinetic energy of u = v + ½h·a, a being the acceleration of its forces, beside
    /// the potential one: u is what is reflected, so that an elastic impact keeps it too. A body at rest
    /// approaches with no more than h·a, which does not count.
    pub(in crate::step) fn bounce(&mut self, settings: &ContactSettings, h: f64, lag: f64) -> bool {
        self.strikes.clear();
        for (block, at) in (0_u32..).zip(&self.problem.blocks) {
            for row in at.rows().step_by(3) {
                // rows of joints lie behind those of contacts
                let Some(point) = self.points.get(row / 3) else { break };
                if point.restitution == 0.0 {
                    continue;
                }
                let [before, after] = [&self.before, &self.velocities.bodies]
                    .map(|v| approach_speed(&self.problem.rows[row], (&at.a, &at.b), v));
                let (gained, gap) = (after - before, point.gap.max(0.0));
                self.strikes.push(Strike {
                    block,
                    row: row as u32,
                    restitution: point.restitution,
                    faster_than: point
                        .bounce_speed(settings)
                        .max(gained.abs())
                        .max(gap / h + (1.0 - lag) * gained),
                    gain: -2.0 * gained / h * gap,
                });
            }
        }
        if self.strikes.is_empty() {
            return false;
        }
        let middle = |v: &Twist, before: &Twist| Twist {
            linear: before.linear + lag * (v.linear - before.linear),
            angular: before.angular + lag * (v.angular - before.angular),
        };
        self.struck.bodies.clear();
        let both = self.velocities.bodies.iter().zip(&self.before);
        self.struck.bodies.extend(both.map(|(v, before)| middle(v, before)));
        let bounced =
            impact::impact(&self.problem, &self.strikes, &mut self.struck, &mut self.impact);
        if bounced {
            let both = self.velocities.bodies.iter_mut().zip(&self.before);
            for ((v, before), struck) in both.zip(&self.struck.bodies) {
                let u = middle(v, before);
                v.linear += struck.linear - u.linear;
                v.angular += struck.angular - u.angular;
            }
        }
        bounced
    }

    /// Normal velocities of a point before and after forces, m/s.
    pub(in crate::step) fn approach_speeds(&self, point: usize) -> (f64, f64) {
        let row = 3 * point;
        let block = self.problem.blocks.partition_point(|block| block.row_start as usize <= row);
        let Some(block) = block.checked_sub(1).map(|i| &self.problem.blocks[i]) else {
            return (0.0, 0.0);
        };
        let at = |v| approach_speed(&self.problem.rows[row], (&block.a, &block.b), v);
        (at(&self.before), at(&self.velocities.bodies))
    }

    /// Wanted velocities of the second solve: without the push.
    pub(in crate::step) fn relax_rows(&mut self, h: f64) {
        for (rows, point) in self.problem.rows.chunks_exact_mut(3).zip(&self.points) {
            (rows[0].compliance, rows[0].bias) = (0.0, point.room / h);
        }
    }
}

impl LocalPoint {
    /// Approach speed below which it does not bounce, m/s.
    pub(in crate::step) fn bounce_speed(&self, settings: &ContactSettings) -> f64 {
        match self.threshold >= 0.0 {
            true => self.threshold,
            false => settings.bounce_speed * settings.scale(self.half_thickness).sqrt(),
        }
    }
}

impl LocalContact {
    /// Whether a point travels with b: with the round side if one is, else with the smaller body.
    pub(in crate::step) fn travels_with_b(&self, point: &LocalPoint) -> bool {
        match point.radii.map(|radius| radius > 0.0) {
            [false, true] => true,
            [true, false] => false,
            _ => self.with_b,
        }
    }
}

/// Gap of a contact point, and its place from the centres of both bodies.
fn meet(
    local: &LocalContact,
    point: &LocalPoint,
    n: Vec3,
    a: &LocalBody,
    b: &LocalBody,
) -> (f64, Vec3, Vec3) {
    let [radius_a, radius_b] = point.radii;
    let core_a = a.position + a.rotation * point.anchors[0];
    let core_b = b.position + b.rotation * point.anchors[1];
    let gap = n.dot(core_b - core_a) - radius_a - radius_b;
    let meeting = if local.travels_with_b(point) {
        core_b - (radius_b + 0.5 * gap) * n
    } else {
        core_a + (radius_a + 0.5 * gap) * n
    };
    (gap, meeting - a.position, meeting - b.position)
}

/// J v of a normal row between two sides.
fn approach_speed(row: &Row, (a, b): (&ContactSide, &ContactSide), v: &[Twist]) -> f64 {
    let of = |side: &ContactSide, arm: Vec3| match side {
        ContactSide::Body(i) => {
            let v = &v[*i as usize];
            row.direction.dot(v.linear) + arm.dot(v.angular)
        }
        _ => 0.0,
    };
    of(b, row.arm_b) - of(a, row.arm_a)
}
