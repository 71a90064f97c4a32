//! The user's own force field.

use crate::math::Vec3;

/// Accelerates particles by a law of the user's own: a vortex, a magnet, a fan.
///
/// It is called for every particle of every stream in every step, from several threads at once and
/// in any order. Whoever implements it owes the engine its promise of the same bits: the answer must
/// follow from the arguments and from what the field is made of, never from a clock, a counter, the
/// order of calls or the platform's sine (use `libm`). A world restored from a snapshot has to be
/// given the same field again.
pub trait ForceField: std::fmt::Debug + Send + Sync {
    /// Acceleration (m/s²) of a particle of `emitter`'s slot at `position` (m) with `velocity`
    /// (m/s) at `time` (s).
    fn acceleration(&self, emitter: u32, position: Vec3, velocity: Vec3, time: f64) -> Vec3;

    /// Under what name it is written with a world and attached again.
    fn name(&self) -> String {
        std::any::type_name::<Self>().into()
    }

    /// A number that differs between fields with different content, for snapshots.
    fn fingerprint(&self) -> u64 {
        0
    }
}
