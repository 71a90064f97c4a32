//! The implicit system of everything that deforms, at the middle of a substep.
//!
//! With h = ½Δt, A = M + hD + h²K (`energy/assemble.rs`):
//!
//!   step I    A ṽ½ = M vⁿ + h (f(xⁿ) + w)                            f, K at xⁿ; contacts left out
//!   step III  A v½ = M v̂ⁿ + h (f(x_m) + w) + (A − M) u + Jᵀz        f, K at x_m = xⁿ + h u, u the v½ before
//!   step V    v = v̂ⁿ + Δt M⁻¹ (f(x_m) + w)                           f along the motion of step IV
//!
//! Step III is Newton's method on the implicit midpoint rule, with the impulses z of contacts and joints
//! (`coupled.rs`); step V gives velocities the very forces that did work on the way of step IV. Where
//! elements are linear,
//!
//!   ΔE = 2h f·M⁻¹(½j − z) + j·½(v̂ⁿ + vⁿ⁺¹)
//!
//! with j the impulses of step V. j = 2z would leave 2 zᵀJv½ ≤ 0, and the inelastic j that step V takes leaves
//! the least kinetic energy of all impulses that push, so no more than that. (In print contact changes v½
//! by single masses and step V looks for other forces than those of the way; 2h² v½ᵀKM⁻¹Jᵀz is then
//! made from nothing, which is much where h²K is much beside M.)
//!
//! Backward Euler: h = Δt, x_m = xⁿ⁺¹.

use super::coupled::{self, Coupled, Outcome};
use super::half_step::Acceleration;
use super::nodes::Nodes;
use super::rows::Rows;
use super::solve::{Gradients, System};
use super::span::Span;
use super::sweeps::Links;
use crate::energy::{Contributions, Step, air};
use crate::linalg::block::{Block, Lane, block_of, lane, multiply, vector};
use crate::math::{Mat3, Twist, Vec3};
use crate::model::Model;
use crate::model::settings::{Settings, VelocityRule};

/// Most rounds of Newton's method, and the velocity that forces left out may give, relative to that of the
/// fastest.
const NEWTON: u32 = 6;
const NEWTON_TOLERANCE: f64 = 1e-7;
/// Accuracy of contact in a round: a share of what the forces were off in the one before, and in the first of the
/// fastest velocity. The last round has that of `coupled.rs`, or this part of the fastest velocity.
const OF_LEFT: f64 = 1e-2;
const FIRST: f64 = 1e-5;
const CONTACT: f64 = 1e-9;

/// h: half a substep, or all of it by backward Euler.
pub fn middle(settings: &Settings, span: &Span) -> f64 {
    match settings.unified.velocity {
        VelocityRule::Trapezoidal => 0.5 * span.dt,
        VelocityRule::BackwardEuler => span.dt,
    }
}

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
    expected: Vec<Vec3>,
    /// Whether contacts are solved together with what deforms, or with joints.
    pub together: bool,
    /// What forces alone do to bodies in this substep.
    pub pushed_bodies: Vec<Acceleration>,
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
        let h = middle(settings, span);
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

    /// Step III: half-step velocities with contacts and joints, by Newton's method; fills `nodes.half`. `again` goes on
    /// from where the last one ended.
    pub fn couple(
        &mut self,
        model: &Model,
        settings: &Settings,
        span: &Span,
        nodes: &mut Nodes,
        (rows, coupled, again): (&mut Rows, &mut Coupled, bool),
    ) -> Outcome {
        let h = middle(settings, span);
        let first = nodes.bodies;
        self.solution.clear();
        self.solution.extend_from_slice(&nodes.half);
        if again {
            // forces and matrix are those of the last solution, without masses
            self.add_own(model, h);
        } else {
            self.way.clear();
            self.way.resize(self.x0.len(), Lane::default());
        }
        let mut outcome = Outcome::default();
        let fastest = |v: &[Twist]| v.iter().map(|v| v.linear.length()).fold(0.0, f64::max);
        let scale = fastest(&nodes.half) + h * settings.gravity.length();
        let exact = coupled::TOLERANCE.max(CONTACT * scale);
        let plain = model.sheet.is_empty();
        let mut tolerance = if plain { exact } else { exact.max(FIRST * scale) };
        for round in 0..NEWTON {
            self.gather_right(model, nodes, h);
            let system = System {
                bodies: &self.bodies,
                pattern: &model.sheet.layout().pattern,
                blocks: &self.blocks,
            };
            let found = coupled.solve(
                (&system, &nodes.mass),
                &self.right,
                &mut self.solution,
                rows,
                tolerance,
            );
            outcome.rounds = outcome.rounds.max(found.rounds);
            outcome.iterations += found.iterations;
            outcome.residual = found.residual;
            if plain {
                break;
            }
            self.predict_forces(model, h, first);
            self.evaluate(model, settings, nodes, h);
            let left = self.left_out(nodes, h);
            let enough =
                NEWTON_TOLERANCE * (fastest(&self.solution) + h * settings.gravity.length());
            if (left <= enough && tolerance <= exact) || round + 1 == NEWTON {
                break;
            }
            // a round that may be the last is solved to the end
            let near = round + 2 >= NEWTON || left <= enough;
            tolerance = if near { exact } else { exact.max(OF_LEFT * left) };
            self.add_own(model, h);
        }
        nodes.half.copy_from_slice(&self.solution);
        outcome
    }

    /// Right side of step III: momenta, forces of half a substep, and (A − M) u.
    fn gather_right(&mut self, model: &Model, nodes: &Nodes, h: f64) {
        let first = nodes.bodies;
        self.right.clear();
        for slot in 0..first {
            let mut right = Twist::default();
            let (m, inertia) = plain_mass(model, nodes, slot);
            if m > 0.0 {
                let after = self.pushed_bodies[slot].after(&nodes.v[slot], h);
                right = Twist { linear: m * after.linear, angular: inertia * after.angular };
            }
            self.right.push(right);
        }
        self.multiply_way(model);
        for (i, force) in self.forces.iter().enumerate() {
            let (mass, u) = (model.sheet.elements.mass[i], vector(&self.way[i]));
            let own = (mass + h * self.drag[i]) * u;
            let linear =
                mass * nodes.v[first + i].linear + h * *force + vector(&self.image[i]) - own;
            self.right.push(Twist { linear, angular: Vec3::ZERO });
        }
    }

    /// The forces that the solution reckons with, into `expected`.
    fn predict_forces(&mut self, model: &Model, h: f64, first: usize) {
        for (way, v) in self.way.iter_mut().zip(&self.solution[first..]) {
            *way = lane(vector(way) - v.linear);
        }
        self.multiply_way(model);
        self.expected.clear();
        for (i, force) in self.forces.iter().enumerate() {
            let own = vector(&self.way[i]) * (model.sheet.elements.mass[i] + h * self.drag[i]);
            self.expected.push(*force + (vector(&self.image[i]) - own) / h);
        }
    }

    /// Forces and matrix where the solution leads.
    fn evaluate(&mut self, model: &Model, settings: &Settings, nodes: &Nodes, h: f64) {
        let moved = self.x0.iter().zip(&self.solution[nodes.bodies..]);
        self.x1.clear();
        self.x1.extend(moved.map(|(x0, v)| *x0 + h * v.linear));
        for (way, v) in self.way.iter_mut().zip(&self.solution[nodes.bodies..]) {
            *way = lane(v.linear);
        }
        self.assemble(model, h, Some(()));
        self.add_loads(model, settings, nodes);
    }

    /// The most that forces differ from those reckoned with, as a velocity, m/s.
    fn left_out(&self, nodes: &Nodes, h: f64) -> f64 {
        let pairs = self.forces.iter().zip(&self.expected).zip(&nodes.mass[nodes.bodies..]);
        pairs.map(|((f, e), m)| h * (m.inv_mass * (*f - *e)).length()).fold(0.0, f64::max)
    }

    /// Where particles were at the beginning of the substep, m.
    pub fn start(&self) -> &[Vec3] {
        &self.x0
    }

    /// Forces along the ways that were made, after some were changed.
    pub fn follow(&mut self, model: &Model, settings: &Settings, span: &Span, nodes: &Nodes) {
        self.solution.clear();
        self.solution.extend_from_slice(&nodes.half);
        self.way.resize(self.x0.len(), Lane::default());
        self.evaluate(model, settings, nodes, middle(settings, span));
    }

    /// Step V without contacts: v ← v + Δt M⁻¹ f along the way of step IV.
    pub fn finish(&self, model: &Model, span: &Span, nodes: &mut Nodes) {
        let first = nodes.bodies;
        for i in 0..model.sheet.elements.mass.len() {
            let node = first + i;
            let dragged = self.drag[i] * nodes.half[node].linear;
            nodes.v[node].linear +=
                nodes.mass[node].inv_mass * span.dt * (self.forces[i] - dragged);
        }
    }

    fn multiply_way(&mut self, model: &Model) {
        let pattern = &model.sheet.layout().pattern;
        self.image.resize(self.way.len(), Lane::default());
        multiply(pattern, &self.blocks, &self.way, &mut self.image);
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
            let (m, inertia) = plain_mass(model, nodes, slot);
            let Some(body) = model.bodies.get(slot) else {
                self.bodies.push((m, inertia));
                continue;
            };
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
    let Some(body) = model.bodies.get(slot) else {
        let point = &model.points[slot - model.bodies.len()];
        return (if point.alive { point.mass } else { 0.0 }, Mat3::ZERO);
    };
    if !body.is_dynamic() {
        return (0.0, Mat3::ZERO);
    }
    let r = Mat3::from_quat(nodes.rotation[slot]);
    (body.mass, r * body.inertia * r.transpose())
}
