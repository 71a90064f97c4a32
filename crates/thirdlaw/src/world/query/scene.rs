//! Everything that can be hit, in a tree, where it is now.
//!
//! The tree of the broad phase holds boxes of the beginning of the last step, loosened by what bodies
//! may still move; questions want the boxes of now. So they have a tree of their own, kept between
//! questions: the first one after a step or an edit moves its boxes, and only what came or went, or
//! wandered so far that the tree became bad, builds it anew.

use crate::math::{Pose, Vec3};
use crate::model::Model;
use crate::model::deformable::elements::Elements;
use crate::shape::tree::BoxTree;
use crate::shape::{Aabb, Shape};
use crate::state::State;
use std::sync::Arc;

/// Bodies and deformable objects as questions see them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// Bodies by slot.
    pub bodies: Vec<Option<Placed>>,
    /// Deformable objects by slot.
    pub soft: Vec<Option<Soft>>,
    /// Boxes of bodies, then of deformable objects.
    pub boxes: Vec<Aabb>,
    pub tree: BoxTree,
    /// Slots of half-spaces.
    pub endless: Vec<u32>,
}

/// A body where it is.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub shape: Shape,
    pub pose: Pose,
}

/// The surface of a deformable object where it is.
#[derive(Clone, Debug)]
pub(crate) struct Soft {
    elements: Arc<Elements>,
    pub x: Vec<Vec3>,
    boxes: Vec<Aabb>,
    pub tree: BoxTree,
}

/// The box of what is not there.
const ABSENT: Aabb = Aabb { mins: Vec3::INFINITY, maxs: Vec3::NEG_INFINITY };

impl Scene {
    /// Brings everything to where it is now; `edited`: the model may be another.
    pub fn update(&mut self, model: &Model, state: &State, edited: bool) {
        let before = (self.boxes.len(), self.bodies.len());
        if edited {
            self.bodies.resize(model.bodies.len(), None);
            self.soft.resize(model.cloths.len(), None);
        }
        let mut same =
            !edited || before == (model.bodies.len() + model.cloths.len(), model.bodies.len());
        self.boxes.resize(model.bodies.len() + model.cloths.len(), ABSENT);
        for (slot, (body, now)) in model.bodies.iter().zip(&state.bodies).enumerate() {
            let placed = &mut self.bodies[slot];
            let there = body.alive && body.enabled && now.is_finite();
            if !there {
                same &= placed.is_none();
                (*placed, self.boxes[slot]) = (None, ABSENT);
                continue;
            }
            let origin = now.position - now.rotation * body.center;
            let pose = Pose::from_parts(origin, now.rotation);
            match placed {
                Some(placed) if !edited || placed.shape.is_same(&body.shape) => {
                    if placed.pose == pose {
                        continue;
                    }
                    placed.pose = pose;
                }
                _ => {
                    same = false;
                    *placed = Some(Placed { shape: body.shape.clone(), pose });
                }
            }
            self.boxes[slot] = body.shape.aabb(&pose);
            // sensors among its parts do not collide, and may be asked for
            for part in body.parts.iter().filter(|part| !part.is_solid()) {
                let (all, own) = (self.boxes[slot], part.shape.aabb(&pose));
                let (mins, maxs) = (all.mins.min(own.mins), all.maxs.max(own.maxs));
                self.boxes[slot] = Aabb { mins, maxs };
            }
        }
        for (slot, object) in model.cloths.iter().enumerate() {
            let place = model.bodies.len() + slot;
            let soft = &mut self.soft[slot];
            let there = object.alive && !object.elements.triangles.is_empty();
            let x = if there { state.particles.x.get(object.range()) } else { None };
            let Some(x) = x else {
                same &= soft.is_none();
                (*soft, self.boxes[place]) = (None, ABSENT);
                continue;
            };
            match soft {
                Some(soft) if Arc::ptr_eq(&soft.elements, &object.elements) => soft.follow(x),
                _ => {
                    same = false;
                    *soft = Some(Soft::new(object.elements.clone(), x));
                }
            }
            let all = soft.as_ref().map_or(&[][..], |soft| &soft.boxes);
            self.boxes[place] = all.iter().fold(ABSENT, |sum, b| Aabb {
                mins: sum.mins.min(b.mins),
                maxs: sum.maxs.max(b.maxs),
            });
        }
        if !same || self.tree.refit(&self.boxes) {
            self.build();
        }
    }

    fn build(&mut self) {
        self.endless.clear();
        let endless =
            |placed: &Option<Placed>| placed.as_ref().is_some_and(|p| p.shape.is_half_space());
        let slots = 0..self.bodies.len() as u32;
        self.endless.extend(slots.filter(|&i| endless(&self.bodies[i as usize])));
        let bounded = |&i: &u32| {
            let b = &self.boxes[i as usize];
            b.mins.is_finite() && b.maxs.is_finite() && self.endless.binary_search(&i).is_err()
        };
        let members: Vec<u32> = (0..self.boxes.len() as u32).filter(bounded).collect();
        self.tree = BoxTree::build(&self.boxes, members.into_iter(), 1);
    }
}

impl Soft {
    fn new(elements: Arc<Elements>, x: &[Vec3]) -> Soft {
        let mut soft =
            Soft { elements, x: x.to_vec(), boxes: Vec::new(), tree: BoxTree::default() };
        soft.place();
        soft.tree = BoxTree::build(&soft.boxes, 0..soft.boxes.len() as u32, 2);
        soft
    }

    fn place(&mut self) {
        self.boxes.clear();
        let corners = (0..self.elements.triangles.len() as u32).map(|i| self.corners(i));
        let boxes: Vec<Aabb> = corners
            .map(|[a, b, c]| Aabb { mins: a.min(b).min(c), maxs: a.max(b).max(c) })
            .collect();
        self.boxes = boxes;
    }

    fn follow(&mut self, x: &[Vec3]) {
        if self.x == x {
            return;
        }
        self.x.clear();
        self.x.extend_from_slice(x);
        self.place();
        if self.tree.refit(&self.boxes) {
            self.tree = BoxTree::build(&self.boxes, 0..self.boxes.len() as u32, 2);
        }
    }

    /// Corners of a triangle.
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.elements.triangles[triangle as usize].map(|i| self.x[i as usize])
    }
}
