//! The variables of a world that is an FMU. Every dynamic body has these, with its name before them:
//!
//!   NAME.force, NAME.torque              N, N·m, inputs: steady over a step, about the centre of mass
//!   NAME.position, NAME.rotation         m, quaternion x y z w
//!   NAME.velocity, NAME.angular_velocity m/s, rad/s, in world axes
//!   NAME.mass, NAME.inertia              kg, kg·m² in world axes, column by column
//!
//! and the world has `time` and `reach`, the share of step × change of velocity by which a steady force moves
//! a body.

/// Value reference of the time, s.
pub const TIME: u32 = 0;
/// Value reference of `reach`.
pub const REACH: u32 = 1;
/// Value reference of the first variable of the first handle.
const FIRST: u32 = 16;

/// A variable of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyVariable {
    /// N.
    Force,
    /// N·m.
    Torque,
    /// m.
    Position,
    /// x, y, z, w.
    Rotation,
    /// m/s.
    Velocity,
    /// rad/s.
    AngularVelocity,
    /// kg.
    Mass,
    /// kg·m².
    Inertia,
}

impl BodyVariable {
    /// All of them, in the order of their value references.
    pub const ALL: [BodyVariable; 8] = [
        BodyVariable::Force,
        BodyVariable::Torque,
        BodyVariable::Position,
        BodyVariable::Rotation,
        BodyVariable::Velocity,
        BodyVariable::AngularVelocity,
        BodyVariable::Mass,
        BodyVariable::Inertia,
    ];

    /// What stands behind the name of the body.
    pub fn name(self) -> &'static str {
        match self {
            BodyVariable::Force => "force",
            BodyVariable::Torque => "torque",
            BodyVariable::Position => "position",
            BodyVariable::Rotation => "rotation",
            BodyVariable::Velocity => "velocity",
            BodyVariable::AngularVelocity => "angular_velocity",
            BodyVariable::Mass => "mass",
            BodyVariable::Inertia => "inertia",
        }
    }

    /// How many numbers it has.
    pub fn size(self) -> usize {
        match self {
            BodyVariable::Rotation => 4,
            BodyVariable::Mass => 1,
            BodyVariable::Inertia => 9,
            _ => 3,
        }
    }

    /// Whether it is set from outside.
    pub fn is_input(self) -> bool {
        matches!(self, BodyVariable::Force | BodyVariable::Torque)
    }

    /// Its value reference for a handle of the world.
    pub fn reference(self, handle: usize) -> u32 {
        FIRST + BodyVariable::ALL.len() as u32 * handle as u32 + self as u32
    }

    /// What a value reference names: a handle of the world and a variable of it.
    pub fn named(reference: u32) -> Option<(usize, BodyVariable)> {
        let count = BodyVariable::ALL.len() as u32;
        let at = reference.checked_sub(FIRST)?;
        Some(((at / count) as usize, BodyVariable::ALL[(at % count) as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_what_they_were_made_of() {
        for handle in [0, 1, 7, 1000] {
            for variable in BodyVariable::ALL {
                let reference = variable.reference(handle);
                assert!(reference > REACH);
                assert_eq!(BodyVariable::named(reference), Some((handle, variable)));
            }
        }
        assert_eq!(BodyVariable::named(TIME), None);
        assert_eq!(BodyVariable::named(REACH), None);
    }
}
