//! What a contact point wants beyond not closing: to push an overlap apart, or to bounce.

use crate::model::settings::ContactSettings;

/// Highest frequency of the push, Hz: very short steps need no stiffer spring, and a stiffer one would
/// fling apart what rests with the sag of longer steps.
const FASTEST: f64 = 120.0;

/// Share of a skin at which what lands is aimed, so that rounding does not leave it outside.
pub const INSIDE: f64 = 0.99;

/// Normal velocity after a bounce off a gap that closes in this substep, m/s; 0 for no bounce.
///
/// Semi-implicit Euler keeps velocities half a substep behind positions, like a leapfrog. With the
/// acceleration a of this substep's forces, the velocity at the start is v + a h/2, the impact speed
/// follows from the gap, and what leaves the surface is set back by a h/2 again: bounces then lose
/// exactly what restitution takes, to second order. A body at rest arrives with no more than a h.
///
/// `lag` is ½ there; 0 where velocities and positions are of the same moment.
pub fn bounce(
    e: f64,
    gap: f64,
    (before, after): (f64, f64),
    (h, lag): (f64, f64),
    threshold: f64,
) -> f64 {
    let gained = after - before;
    if before > -threshold.max(gained.abs()) {
        return 0.0;
    }
    let start = before + lag * gained;
    let square = start * start - 2.0 * gained / h * gap.max(0.0);
    (e * square.max(0.0).sqrt() - lag * gained).max(0.0)
}

/// The overdamped spring that pushes overlaps apart, in the form of a soft row: with ω the spring's
/// frequency and ζ its damping ratio, an implicit step of it is J v + b + Γ z = 0 with
/// b = ω/(2ζ + hω)·overlap and Γ = N/(hω(2ζ + hω)).
pub struct Spring {
    /// ω/(2ζ + hω), 1/s.
    pub rate: f64,
    /// Γ/N.
    pub softness: f64,
}

impl Spring {
    /// The spring of the settings for substeps of `h` seconds.
    pub fn new(settings: &ContactSettings, h: f64) -> Spring {
        let h_omega = std::f64::consts::TAU * settings.stiffness.min(FASTEST * h);
        let sum = 2.0 * settings.damping + h_omega;
        if h_omega == 0.0 {
            return Spring { rate: 0.0, softness: 0.0 };
        }
        Spring { rate: h_omega / sum / h, softness: 1.0 / (h_omega * sum) }
    }

    /// Bias and compliance of a closed point with response N.
    ///
    /// A point is closed from a small gap on, its skin. Between there and the slop nothing pushes, but the
    /// row is as soft as below: what lands is held, and sinks at the speed Γ z that its load gives it. A
    /// body that rocks by less than its skin thus comes to rest on all its points, instead of changing
    /// from edge to edge for seconds.
    pub fn push(&self, settings: &ContactSettings, gap: f64, response: f64) -> (f64, f64) {
        let overlap = (gap + settings.slop).min(0.0);
        ((self.rate * overlap).max(-settings.push_speed), self.softness * response)
    }

    /// A spring under load gives way by Γ z/rate; under a thousandfold load that would be seen. It gives way
    /// by no more than the sag allowed: J v + b + min(Γ z, rate·sag) = 0. This is the part of Γ z that is too
    /// much, for the impulse z. The kernels work it out in every iteration; rows have it in their bias, from
    /// the impulse before, and take it back where that was an impact.
    pub fn excess(&self, settings: &ContactSettings, compliance: f64, load: f64) -> f64 {
        (compliance * load - self.rate * settings.sag).max(0.0)
    }
}
