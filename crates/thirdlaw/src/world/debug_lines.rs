//! A world as lines, for whoever has a way to draw lines.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::dynamic(Shape::cuboid(Vec3::ONE)?))?;
//! let mut count = 0;
//! world.debug_lines(DebugParts::all(), |line| count += usize::from(line.from != line.to));
//! assert_eq!(count, 18); // twelve triangles share their edges
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::World;
use crate::ids::AnyId;
use crate::joint::geometry::side_pose;
use crate::math::Vec3;
use std::collections::BTreeSet;

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "DebugRenderMode")]
pub struct DebugParts {
    /// Edges of the shapes of bodies. Of half-spaces a square of ten metres.
    pub shapes: bool,
    /// Edges of cloth and soft bodies.
    pub deformables: bool,
    /// Normals of contacts, as long as the force's share of a kilogram's weight, 10 cm for each.
    pub contacts: bool,
    /// Lines between the anchors of joints and the middles of their bodies.
    pub joints: bool,
}

impl DebugParts {
    /// Everything.
    pub fn all() -> DebugParts {
        DebugParts { shapes: true, deformables: true, contacts: true, joints: true }
    }
}

/// A line to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DebugLine {
    /// m.
    pub from: Vec3,
    /// m.
    pub to: Vec3,
    /// Of whom; of a contact the body that is pushed.
    pub of: AnyId,
    /// 0 to 1: red, green, blue. Fixed bodies are grey, sleeping ones blue, sensors yellow, awake ones
    /// green; deformables white, contacts red, joints violet.
    pub color: [f32; 3],
}

const GREY: [f32; 3] = [0.5, 0.5, 0.5];
const BLUE: [f32; 3] = [0.3, 0.4, 0.9];
const GREEN: [f32; 3] = [0.2, 0.8, 0.3];
const YELLOW: [f32; 3] = [0.9, 0.8, 0.1];
const WHITE: [f32; 3] = [0.9, 0.9, 0.9];
const RED: [f32; 3] = [0.9, 0.2, 0.1];
const VIOLET: [f32; 3] = [0.7, 0.3, 0.9];

/// Segments around round shapes.
const SEGMENTS: usize = 16;
/// Metres of line for a newton: 10 cm for the weight of a kilogram.
const PER_NEWTON: f64 = 0.1 / 9.81;

impl World {
    /// Calls `draw` with every line, in a fixed order.
    #[doc(alias = "DebugRenderPipeline")]
    pub fn debug_lines(&self, parts: DebugParts, mut draw: impl FnMut(DebugLine)) {
        if parts.shapes {
            self.bodies().for_each(|id| self.draw_body(id.index as usize, &mut draw));
        }
        if parts.deformables {
            for id in self.deformables() {
                let object = &self.model.cloths[id.index as usize];
                let Some(x) = self.state.particles.x.get(object.range()) else { continue };
                for [i, j] in &object.elements.edges {
                    let (from, to) = (x[*i as usize], x[*j as usize]);
                    draw(DebugLine { from, to, of: id.into(), color: WHITE });
                }
            }
        }
        if parts.contacts {
            for contact in self.contacts() {
                for point in contact.points().iter().filter(|point| point.normal_force > 0.0) {
                    let force = point.normal_force * contact.normal + point.friction_force;
                    let to = point.position + PER_NEWTON * force;
                    draw(DebugLine { from: point.position, to, of: contact.b.into(), color: RED });
                }
            }
        }
        if parts.joints {
            for id in self.joints() {
                let joint = &self.model.joints[id.index as usize];
                for (node, anchor) in [(joint.a, joint.anchor_a), (joint.b, joint.anchor_b)] {
                    let (from, rotation) = side_pose(&self.state, node);
                    let to = from + rotation * anchor;
                    if joint.coupling().is_none() && node != crate::model::joint::model::Node::World
                    {
                        draw(DebugLine { from, to, of: id.into(), color: VIOLET });
                    }
                }
            }
        }
    }

    fn draw_body(&self, slot: usize, draw: &mut impl FnMut(DebugLine)) {
        let (body, now) = (&self.model.bodies[slot], &self.state.bodies[slot]);
        let color = match () {
            () if body.sensor => YELLOW,
            () if !body.is_dynamic() => GREY,
            () if now.asleep => BLUE,
            () => GREEN,
        };
        let pose = self.slot_pose(slot);
        let of = self.model.id(slot).into();
        if let crate::shape::Geometry::Convex(crate::shape::Convex::HalfSpace { normal }) =
            body.shape.geometry()
        {
            let (x, z) = crate::math::tangents(*normal);
            let corners = [x + z, x - z, -x - z, z - x].map(|corner| pose * (5.0 * corner));
            for k in 0..4 {
                draw(DebugLine { from: corners[k], to: corners[(k + 1) % 4], of, color });
            }
            return;
        }
        let sensors = body.parts.iter().filter(|part| part.part.sensor && !body.sensor);
        let sensors = sensors.map(|part| (&part.shape, YELLOW));
        for (shape, color) in std::iter::once((&body.shape, color)).chain(sensors) {
            draw_edges(shape, |from, to| {
                draw(DebugLine { from: pose * from, to: pose * to, of, color });
            });
        }
    }
}

/// Calls `draw` with the edges of the triangles of a shape.
fn draw_edges(shape: &crate::shape::Shape, mut draw: impl FnMut(Vec3, Vec3)) {
    let (vertices, triangles) = shape.surface(SEGMENTS);
    let edges: BTreeSet<(u32, u32)> = triangles
        .iter()
        .flat_map(|t| (0..3).map(|k| (t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]))))
        .collect();
    for (i, j) in edges {
        draw(vertices[i as usize], vertices[j as usize]);
    }
}
