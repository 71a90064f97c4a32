//! What a contact point wants beyond not closing: to push an overlap apart, or to bounce.

use crate::model::settings::ContactSettings;

/// Highest frequency of the push at bodies of the reference size, Hz: very short steps need no stiffer spring, and a stiffer one would
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
/// b = ω/(2ζ + hω)·overlap and Γ = N/(hω(2ζ + hω)). This is that of one contact.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    /// ω/(2ζ + hω), 1/s.
    pub rate: f64,
    /// Γ/N.
    pub softness: f64,
    /// Overlap that is left alone, m.
    pub slop: f64,
    /// Most of a gap that counts as closed, m.
    pub skin: f64,
    /// Most that it gives way under a resting load, m.
    pub sag: f64,
    /// Fastest push, m/s.
    pub speed: f64,
    /// These lengths over those of the settings.
    pub scale: f64,
}

/// The springs of all contacts in substeps of `h` seconds.
#[derive(Clone, Copy, Debug)]
pub struct Springs {
    settings: ContactSettings,
    h: f64,
    /// Whether none gives way.
    rigid: bool,
}

impl Springs {
    /// Those of the settings.
    pub fn new(settings: &ContactSettings, h: f64) -> Springs {
        Springs { settings: *settings, h, rigid: false }
    }

    /// The same, but rigid if so said.
    pub fn rigid(self, rigid: bool) -> Springs {
        Springs { rigid, ..self }
    }

    /// That of a contact whose thinner body has half this thickness, m.
    pub fn of(&self, half_thickness: f64) -> Spring {
        let (settings, h) = (&self.settings, self.h);
        let scale = settings.scale(half_thickness);
        let root = scale.sqrt();
        let h_omega = std::f64::consts::TAU * settings.stiffness.min(FASTEST * h / root);
        let sum = 2.0 * settings.damping + h_omega;
        let (rate, softness) = match h_omega > 0.0 {
            true => (h_omega / sum / h, 1.0 / (h_omega * sum)),
            false => (0.0, 0.0),
        };
        Spring {
            rate,
            softness: if self.rigid { 0.0 } else { softness },
            slop: settings.slop * scale,
            skin: settings.skin * scale,
            sag: settings.sag * scale,
            speed: settings.push_speed * root,
            scale,
        }
    }
}

impl Spring {
    /// Bias and compliance of a closed point with response N that carried `load` before.
    ///
    /// A point is closed from a small gap on, its skin. Between there and the slop nothing pushes, but the
    /// row is as soft as below: what lands is held, and sinks at the speed Γ z that its load gives it. A
    /// body that rocks by less than its skin thus comes to rest on all its points, instead of changing
    /// from edge to edge for seconds.
    ///
    /// A spring under load gives way by Γ z/rate; under a thousandfold load that would be seen. What
    /// would press it farther than the sag allowed is carried by the bias instead.
    pub fn push(&self, gap: f64, response: f64, load: f64) -> (f64, f64) {
        let overlap = (gap + self.slop).min(0.0);
        let compliance = self.softness * response;
        let excess = (compliance * load - self.rate * self.sag).max(0.0);
        ((self.rate * overlap).max(-self.speed) - excess, compliance)
    }
}
