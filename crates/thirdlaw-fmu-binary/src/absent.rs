//! Functions of the standard that a world has no use for: a library has all of them, and these return an error.
//!
//! They look at none of their arguments. The calling conventions of all platforms that are served leave
//! arguments to the caller, so that they need not be listed.

use super::{ERROR, Handle};
use std::ffi::c_int;

macro_rules! absent {
    ($($name:ident)*) => {
        $(
            /// Not there for a world.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(_: Handle) -> c_int {
                ERROR
            }
        )*
    };
}

macro_rules! never_made {
    ($($name:ident)*) => {
        $(
            /// A world is for co-simulation only.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(_: Handle) -> Handle {
                std::ptr::null_mut()
            }
        )*
    };
}

never_made! { fmi3InstantiateModelExchange fmi3InstantiateScheduledExecution }

absent! {
    fmi3EnterEventMode fmi3EnterConfigurationMode fmi3ExitConfigurationMode fmi3EnterContinuousTimeMode
    fmi3EnterStepMode fmi3EvaluateDiscreteStates fmi3UpdateDiscreteStates fmi3CompletedIntegratorStep
    fmi3GetFloat32 fmi3GetInt8 fmi3GetUInt8 fmi3GetInt16 fmi3GetUInt16 fmi3GetInt32 fmi3GetUInt32
    fmi3GetInt64 fmi3GetUInt64 fmi3GetBoolean fmi3GetString fmi3GetBinary fmi3GetClock
    fmi3SetFloat32 fmi3SetInt8 fmi3SetUInt8 fmi3SetInt16 fmi3SetUInt16 fmi3SetInt32 fmi3SetUInt32
    fmi3SetInt64 fmi3SetUInt64 fmi3SetBoolean fmi3SetString fmi3SetBinary fmi3SetClock
    fmi3GetNumberOfVariableDependencies fmi3GetVariableDependencies
    fmi3GetDirectionalDerivative fmi3GetAdjointDerivative
    fmi3GetIntervalDecimal fmi3GetIntervalFraction fmi3GetShiftDecimal fmi3GetShiftFraction
    fmi3SetIntervalDecimal fmi3SetIntervalFraction fmi3SetShiftDecimal fmi3SetShiftFraction
    fmi3SetTime fmi3SetContinuousStates fmi3GetContinuousStateDerivatives fmi3GetEventIndicators
    fmi3GetContinuousStates fmi3GetNominalsOfContinuousStates fmi3GetNumberOfEventIndicators
    fmi3GetNumberOfContinuousStates fmi3GetOutputDerivatives fmi3ActivateModelPartition
}
