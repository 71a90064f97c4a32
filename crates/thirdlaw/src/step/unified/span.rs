//! The substep at hand, and how a step is cut into substeps.

use crate::math::Twist;
use crate::model::Model;
use crate::model::body::model::BodyModel;
use crate::model::settings::Settings;
use crate::shape::Shape;
use crate::state::State;

/// A substep.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Time at its beginning, s.
    pub time: f64,
    /// Its length, s.
    pub dt: f64,
}

impl Span {
    /// Time at its end, s.
    pub fn end(&self) -> f64 {
        self.time + self.dt
    }
}

/// Part of its own thickness that a body may move in a substep, or of an edge that a particle may against
/// what it flies with: what is found near is linear in the motion.
const COURANT: f64 = 0.5;
/// Turn of a body in a substep, rad.
const TURN: f64 = 0.25;
/// Most substeps of a step.
pub const SUBSTEPS_MAX: u32 = 4096;

/// Number of equal substeps of a step of `dt` seconds: as many as the settings ask for at least, and so many
/// that nothing moves farther than contacts look (a CFL condition on undamped velocities, \[§7.2\]).
pub fn substeps(model: &Model, state: &State, settings: &Settings, dt: f64) -> u32 {
    let fall = dt * settings.gravity.length();
    let mut rate: f64 = 0.0;
    let mut fastest: f64 = 0.0;
    for (body, now) in model.bodies.iter().zip(&state.bodies) {
        if !body.alive || body.shape.is_half_space() {
            continue;
        }
        if !touches_anything(body) {
            rate = rate.max(now.velocity.angular.length() / TURN);
            continue;
        }
        let Twist { linear, angular } = now.velocity;
        let speed = linear.length() + if body.is_dynamic() { fall } else { 0.0 };
        let thick = thickness(&body.shape);
        rate = rate.max(speed / (COURANT * thick)).max(angular.length() / TURN);
        fastest = fastest.max(speed);
    }
    let sheet = &model.sheet;
    if !sheet.is_empty() {
        // particles that no edge tells the size of look as far as solids are thick
        let particles = state.particles.v.iter().map(|v| v.length()).fold(0.0, f64::max);
        let solid = |b: &&BodyModel| b.alive && !b.shape.is_half_space() && touches_anything(b);
        let thin = model.bodies.iter().filter(solid);
        let thin = thin.map(|b| thickness(&b.shape)).fold(f64::INFINITY, f64::min);
        let look = if sheet.edge_length > 0.0 { sheet.edge_length.min(thin) } else { thin };
        if look.is_finite() {
            rate = rate.max((particles + fall + fastest) / (2.0 * COURANT * look));
        }
    }
    let wanted = (rate * dt).ceil().min(f64::from(SUBSTEPS_MAX)) as u32;
    wanted.max(settings.substeps).min(SUBSTEPS_MAX)
}

/// Whether any group of others may touch it: bones in flesh often touch nothing.
fn touches_anything(body: &BodyModel) -> bool {
    body.groups.collides != 0 && body.groups.member != 0
}

/// Half of what is thin about a shape, m: of a mesh, which may be thin anywhere, a share of its size.
fn thickness(shape: &Shape) -> f64 {
    const OF_MESH: f64 = 0.02;
    let inner = shape.inner_radius();
    if inner > 0.0 { inner } else { (OF_MESH * shape.outer_radius()).max(1e-6) }
}
