//! The implicit system of everything that deforms, at half a substep and at its end.
//!
//! With h = ½Δt, A = M + hD + h²K (`energy/assemble.rs`):
//!
//!   step I    A v½ = M vⁿ + h (f(xⁿ) + w)                                  f, K at xⁿ
//!   step V    A v_m = M v* + h (f(x_m) + w) + (A − M) u                    at x_m = ½(xⁿ + xⁿ⁺¹), u = (x_m − xⁿ)/h
//!   then      v = v* + 2h M⁻¹ (f(x_m) + w + (A − M)(u − v_m)/h)            without the constraints
//!
//! The last two are a step of Newton's method on the implicit midpoint rule, which the print's "variant of
//! trapezoid rule", v = 2v_m − v*, is: stiff elements stay stable although x_m is set by then. Backward
//! Euler: h = Δt at xⁿ⁺¹, and v = v_m where nothing is projected.

use super::half_step::accelerate;
use super::nodes::Nodes;
use super::solve::{Gradients, System};
use super::span::Span;
use super::sweeps::Links;
use crate::energy::{Contributions, Step, air};
use crate::linalg::block::{Block, Lane, block_of, lane, multiply, vector};
use crate::math::{Mat3, Twist, Vec3};
use crate::model::Model;
use crate::model::settings::{Settings, VelocityRule};
use crate::state::State;

/// Memory of the system.
#[derive(Debug, Default)]
pub struct Elastic {
    /// Steady forces on vertices in this step, N.
    pub pushed: Vec<(u32, Vec3)>,
    parts: Contributions,
    blocks: Vec<Block<f64>>,
    forces: Vec<Vec3>,
    drag: Vec<f64>,
    /// Places at the beginning of the substep, where elements are evaluated, and the way there per time.
    x0: Vec<Vec3>,
    x1: Vec<Vec3>,
    way: Vec<Lane<f64>>,
    image: Vec<Lane<f64>>,
    bodies: Vec<(f64, Mat3)>,
    right: Vec<Twist>,
    solution: Vec<Twist>,
    gradients: Gradients,
}

impl Elastic {
    /// Step I for particles and what holds them.
    pub fn half_step(
        &mut self,
        model: &Model,
        settings: &Settings,
        span: &Span,
        nodes: &mut Nodes,
        links: &Links,
    ) -> u32 {
        let h = 0.5 * span.dt;
        let first = nodes.bodies;
        self.x0.clear();
        self.x0.extend_from_slice(&nodes.x[first..]);
        self.assemble(model, h, None);
        self.add_loads(model, settings, nodes);
        self.weigh_bodies(model, nodes, h);
        self.right.clear();
        // bodies have their half-step velocities already; they take part where something binds them
        let bodies = nodes.half[..first].iter().zip(&self.bodies);
        self.right.extend(bodies.map(|(v, (m, inertia))| Twist {
            linear: *m * v.linear,
            angular: *inertia * v.angular,
        }));
        for (i, force) in self.forces.iter().enumerate() {
            let mass = model.sheet.elements.mass[i];
            let linear = mass * nodes.v[first + i].linear + h * *force;
            self.right.push(Twist { linear, angular: Vec3::ZERO });
        }
        self.add_own(model, h);
        self.solution.clear();
        self.solution.extend_from_slice(&nodes.half);
        links.project(&mut self.solution, &nodes.mass);
        let iterations = self.solve(model, settings, nodes, links);
        nodes.half.copy_from_slice(&self.solution);
        iterations
    }

    /// Step V: fills `nodes.v`, with everything but contact done; returns the iterations.
    pub fn final_step(
        &mut self,
        model: &Model,
        (state, settings): (&State, &Settings),
        span: &Span,
        nodes: &mut Nodes,
        links: &Links,
    ) -> u32 {
        let euler = settings.unified.velocity == VelocityRule::BackwardEuler;
        let (h, whole) = if euler { (span.dt, 1.0) } else { (0.5 * span.dt, 2.0) };
        let first = nodes.bodies;
        self.x1.clear();
        let ways = self.x0.iter().zip(&nodes.x[first..]);
        self.x1.extend(ways.map(|(x0, x1)| *x0 + (*x1 - *x0) / whole));
        self.way.clear();
        self.way.extend(self.x0.iter().zip(&self.x1).map(|(x0, x1)| lane((*x1 - *x0) / h)));
        let energies = &model.sheet.elements.energies;
        self.parts.begin(energies, &self.x0, h);
        self.assemble(model, h, Some(()));
        self.add_loads(model, settings, nodes);
        self.weigh_bodies(model, nodes, h);
        self.right.clear();
        for slot in 0..first {
            let (m, inertia) = plain_mass(model, nodes, slot);
            let mut right = Twist::default();
            if model.bodies[slot].is_dynamic() {
                let push =
                    accelerate((model, state, settings), nodes, (slot, nodes.rotation[slot]), span);
                let after = push.after(&nodes.v[slot], h);
                right = Twist { linear: m * after.linear, angular: inertia * after.angular };
            }
            self.right.push(right);
        }
        // (A − M) u
        let pattern = &model.sheet.layout().pattern;
        self.image.resize(self.way.len(), Lane::default());
        multiply(pattern, &self.blocks, &self.way, &mut self.image);
        for (i, force) in self.forces.iter().enumerate() {
            let mass = model.sheet.elements.mass[i];
            let linear = mass * nodes.v[first + i].linear + h * *force + vector(&self.image[i]);
            self.right.push(Twist { linear, angular: Vec3::ZERO });
        }
        self.add_own(model, h);
        self.solution.clear();
        self.solution.extend_from_slice(&nodes.v);
        links.project(&mut self.solution, &nodes.mass);
        let iterations = self.solve(model, settings, nodes, links);
        self.accelerate_particles(model, nodes, h, whole);
        iterations
    }

    /// v = v* + whole·h·a(v_m), unprojected. The blocks hold A: A − M is taken by leaving mass out.
    fn accelerate_particles(&mut self, model: &Model, nodes: &mut Nodes, h: f64, whole: f64) {
        let first = nodes.bodies;
        for (way, v) in self.way.iter_mut().zip(&self.solution[first..]) {
            *way = lane(vector(way) - v.linear);
        }
        let pattern = &model.sheet.layout().pattern;
        multiply(pattern, &self.blocks, &self.way, &mut self.image);
        for (i, force) in self.forces.iter().enumerate() {
            let node = first + i;
            let (mass, drag) = (model.sheet.elements.mass[i], self.drag[i]);
            let own = vector(&self.way[i]) * (mass + h * drag);
            let elastic = *force + (vector(&self.image[i]) - own) / h;
            let dragged = drag * self.solution[node].linear;
            nodes.v[node].linear += nodes.mass[node].inv_mass * (whole * h) * (elastic - dragged);
        }
    }

    /// Forces, and h²K + hD in the blocks; at the beginning of the substep or, later, at x1.
    fn assemble(&mut self, model: &Model, h: f64, later: Option<()>) {
        let sheet = &model.sheet;
        let energies = &sheet.elements.energies;
        let layout = sheet.layout();
        self.blocks.resize(layout.pattern.column.len(), Block::default());
        self.forces.resize(sheet.elements.mass.len(), Vec3::ZERO);
        match later {
            None => self.parts.begin(energies, &self.x0, h),
            Some(()) => self.parts.evaluate(energies, &Step { x0: &self.x0, x1: &self.x1, h }),
        }
        layout.assemble(energies, &self.parts, &mut self.blocks, &mut self.forces);
    }

    /// Weight, air and pushes.
    fn add_loads(&mut self, model: &Model, settings: &Settings, nodes: &Nodes) {
        let sheet = &model.sheet;
        let elements = &sheet.elements;
        let wind = settings.cloth.wind;
        self.drag.clear();
        self.drag.resize(elements.mass.len(), 0.0);
        for (i, force) in self.forces.iter_mut().enumerate() {
            *force += elements.mass[i] * sheet.gravity_scale[i] * settings.gravity;
        }
        if settings.cloth.air {
            for triangle in &elements.triangles {
                let surface = elements.surface(triangle[0]);
                let at = |i: u32| nodes.bodies + i as usize;
                let x = triangle.map(|i| nodes.x[at(i)]);
                let v = triangle.map(|i| nodes.v[at(i)].linear);
                let relative = (v[0] + v[1] + v[2]) / 3.0 - wind;
                let drag = air::drag([surface.drag, surface.lift], x, relative);
                for i in triangle.map(|i| i as usize) {
                    self.drag[i] += drag.coefficient / 3.0;
                    self.forces[i] += drag.lift / 3.0 + (drag.coefficient / 3.0) * wind;
                }
            }
        }
        for &(particle, force) in &self.pushed {
            self.forces[particle as usize] += force;
        }
    }

    /// Mass and drag, into the diagonal.
    fn add_own(&mut self, model: &Model, h: f64) {
        let pattern = &model.sheet.layout().pattern;
        for (i, mass) in model.sheet.elements.mass.iter().enumerate() {
            let own = mass + h * self.drag[i];
            let block = &mut self.blocks[pattern.diagonal[i] as usize];
            let diagonal = block_of::<f64>(&Mat3::from_diagonal(Vec3::splat(own)));
            for (column, own) in block.iter_mut().zip(&diagonal) {
                column.iter_mut().zip(own).for_each(|(x, own)| *x += own);
            }
        }
    }

    fn weigh_bodies(&mut self, model: &Model, nodes: &Nodes, h: f64) {
        self.bodies.clear();
        for slot in 0..nodes.bodies {
            let body = &model.bodies[slot];
            let (m, inertia) = plain_mass(model, nodes, slot);
            let (linear, angular) = (1.0 + h * body.linear_damping, 1.0 + h * body.angular_damping);
            self.bodies.push((m * linear, inertia * angular));
        }
    }

    fn solve(&mut self, model: &Model, settings: &Settings, nodes: &Nodes, links: &Links) -> u32 {
        let Elastic { bodies, blocks, right, solution, gradients, .. } = self;
        let system = System { bodies, pattern: &model.sheet.layout().pattern, blocks };
        let through = (links, &nodes.mass[..]);
        gradients.solve(&system, right, solution, through, settings.cloth.iterations)
    }
}

/// kg, and inertia in world axes; zero for what nothing moves.
fn plain_mass(model: &Model, nodes: &Nodes, slot: usize) -> (f64, Mat3) {
    let body = &model.bodies[slot];
    if !body.is_dynamic() {
        return (0.0, Mat3::ZERO);
    }
    let r = Mat3::from_quat(nodes.rotation[slot]);
    (body.mass, r * body.inertia * r.transpose())
}
