//! FMI 3.0 for co-simulation over a world of thirdlaw: the shared library in FMUs that `thirdlaw-fmu` writes
//! (<https://fmi-standard.org/docs/3.0/>).
//!
//! Functions of the standard that are not for co-simulation, or for types of variables that a world has not, are
//! there and return an error (`absent.rs`).
//!
//! `unsafe`: callers are other programs, through the C interface of the standard. What they pass is trusted as
//! far as the standard obliges them: instances and states are those that were handed out and not yet freed,
//! arrays are as long as is said, strings end with a zero. Null pointers are refused.

// the names are the standard's
#![allow(non_snake_case)]

mod absent;
mod instance;

use instance::{Instance, Taken};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

type Handle = *mut c_void;
type Log = unsafe extern "C" fn(Handle, c_int, *const c_char, *const c_char);

const OK: c_int = 0;
const ERROR: c_int = 3;

/// What an `fmi3Instance` points to.
struct Served {
    instance: Instance,
    log: Option<Log>,
    environment: Handle,
}

impl Served {
    fn say(&self, text: &str) {
        say(self.log, self.environment, text);
    }
}

fn say(log: Option<Log>, environment: Handle, text: &str) {
    let (Some(log), Ok(text)) = (log, CString::new(text.replace('\0', " "))) else { return };
    // SAFETY: the caller gave function and environment for this; both strings end with a zero.
    unsafe { log(environment, ERROR, c"logStatusError".as_ptr(), text.as_ptr()) }
}

/// Runs `f` on an instance; what fails or panics is said and becomes an error.
///
/// # Safety
/// `handle` is null or an instance that is not freed and that nobody else uses now.
unsafe fn with(handle: Handle, f: impl FnOnce(&mut Instance) -> Result<(), String>) -> c_int {
    // SAFETY: by the caller.
    let Some(served) = (unsafe { handle.cast::<Served>().as_mut() }) else { return ERROR };
    let done = catch_unwind(AssertUnwindSafe(|| f(&mut served.instance)));
    match done.unwrap_or_else(|_| Err("it panicked".into())) {
        Ok(()) => OK,
        Err(problem) => {
            served.say(&problem);
            ERROR
        }
    }
}

/// # Safety
/// `text` is null or ends with a zero.
unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: by the caller.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    Some(text.to_str().ok()?.to_string())
}

/// # Safety
/// `data` is null or points to `len` values.
unsafe fn slice<'a, T>(data: *const T, len: usize) -> Option<&'a [T]> {
    match len {
        0 => Some(&[]),
        // SAFETY: by the caller.
        _ => (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts(data, len) }),
    }
}

/// # Safety
/// `data` is null or points to `len` values that nobody else uses now.
unsafe fn slice_mut<'a, T>(data: *mut T, len: usize) -> Option<&'a mut [T]> {
    match len {
        0 => Some(&mut []),
        // SAFETY: by the caller.
        _ => (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(data, len) }),
    }
}

/// The version of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// Errors are always said.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetDebugLogging(
    _: Handle,
    _: bool,
    _: usize,
    _: *const *const c_char,
) -> c_int {
    OK
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    _name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    _logging: bool,
    _events: bool,
    _early: bool,
    _intermediate: *const u32,
    _intermediate_count: usize,
    environment: Handle,
    log: Option<Log>,
    _update: *const c_void,
) -> Handle {
    // SAFETY: strings of the standard end with a zero.
    let (token, resources) = unsafe { (text(token), text(resources)) };
    let opened = catch_unwind(|| match (token, resources) {
        (Some(token), Some(resources)) => Instance::open(&PathBuf::from(resources), &token),
        _ => Err("token and path of the resources are needed".into()),
    });
    match opened.unwrap_or_else(|_| Err("it panicked".into())) {
        Ok(instance) => Box::into_raw(Box::new(Served { instance, log, environment })).cast(),
        Err(problem) => {
            say(log, environment, &problem);
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(handle: Handle) {
    if !handle.is_null() {
        // SAFETY: made by `Box::into_raw` in `fmi3InstantiateCoSimulation` and freed once.
        drop(unsafe { Box::from_raw(handle.cast::<Served>()) });
    }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    handle: Handle,
    _tolerance_defined: bool,
    _tolerance: f64,
    start: f64,
    _stop_defined: bool,
    _stop: f64,
) -> c_int {
    let begin = |instance: &mut Instance| {
        instance.begin(start);
        Ok(())
    };
    // SAFETY: by the caller.
    unsafe { with(handle, begin) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(handle: Handle) -> c_int {
    // SAFETY: by the caller.
    unsafe { with(handle, |_| Ok(())) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(handle: Handle) -> c_int {
    // SAFETY: by the caller.
    unsafe { with(handle, |_| Ok(())) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(handle: Handle) -> c_int {
    // SAFETY: by the caller.
    unsafe { with(handle, Instance::reset) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFloat64(
    handle: Handle,
    references: *const u32,
    count: usize,
    values: *mut f64,
    value_count: usize,
) -> c_int {
    // SAFETY: lengths are as the caller says.
    let (references, values) =
        unsafe { (slice(references, count), slice_mut(values, value_count)) };
    let get = |instance: &mut Instance| {
        let (Some(references), Some(values)) = (references, values) else {
            return Err("no place for the values".into());
        };
        let mut left = values;
        for reference in references {
            let numbers = instance.get(*reference)?;
            let (own, rest) =
                left.split_at_mut_checked(numbers.len()).ok_or("fewer values than numbers")?;
            own.copy_from_slice(&numbers);
            left = rest;
        }
        Ok(())
    };
    // SAFETY: by the caller.
    unsafe { with(handle, get) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(
    handle: Handle,
    references: *const u32,
    count: usize,
    values: *const f64,
    value_count: usize,
) -> c_int {
    // SAFETY: lengths are as the caller says.
    let (references, values) = unsafe { (slice(references, count), slice(values, value_count)) };
    let set = |instance: &mut Instance| {
        let (Some(references), Some(mut values)) = (references, values) else {
            return Err("no values".into());
        };
        for reference in references {
            let taken = instance.set(*reference, values)?;
            values = &values[taken..];
        }
        Ok(())
    };
    // SAFETY: by the caller.
    unsafe { with(handle, set) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    handle: Handle,
    time: f64,
    dt: f64,
    _no_going_back: bool,
    event: *mut bool,
    end: *mut bool,
    early: *mut bool,
    reached: *mut f64,
) -> c_int {
    for flag in [event, end, early] {
        if !flag.is_null() {
            // SAFETY: the caller gave a place for it.
            unsafe { *flag = false };
        }
    }
    let step = |instance: &mut Instance| {
        let stepped = instance.advance(time, dt);
        if !reached.is_null() {
            // SAFETY: as above.
            unsafe { *reached = instance.time() };
        }
        stepped
    };
    // SAFETY: by the caller.
    unsafe { with(handle, step) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(handle: Handle, state: *mut Handle) -> c_int {
    let take = |instance: &mut Instance| {
        let taken = instance.take();
        // SAFETY: `state` is null or a place that holds null or a state of ours, which is written over then.
        let Some(place) = (unsafe { state.as_mut() }) else { return Err("no place".into()) };
        match unsafe { place.cast::<Taken>().as_mut() } {
            Some(old) => *old = taken,
            None => *place = Box::into_raw(Box::new(taken)).cast(),
        }
        Ok(())
    };
    // SAFETY: by the caller.
    unsafe { with(handle, take) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(handle: Handle, state: Handle) -> c_int {
    // SAFETY: the state is one of ours that is not freed.
    let give = |instance: &mut Instance| match unsafe { state.cast::<Taken>().as_ref() } {
        Some(state) => instance.give(state),
        None => Err("no state".into()),
    };
    // SAFETY: by the caller.
    unsafe { with(handle, give) }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(_: Handle, state: *mut Handle) -> c_int {
    // SAFETY: `state` is null or a place that holds null or a state of ours, freed once.
    unsafe {
        if let Some(place) = state.as_mut().filter(|place| !place.is_null()) {
            drop(Box::from_raw(place.cast::<Taken>()));
            *place = std::ptr::null_mut();
        }
    }
    OK
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    _: Handle,
    state: Handle,
    size: *mut usize,
) -> c_int {
    // SAFETY: the state is one of ours that is not freed.
    match unsafe { (state.cast::<Taken>().as_ref(), size.as_mut()) } {
        (Some(state), Some(size)) => {
            *size = state.size();
            OK
        }
        _ => ERROR,
    }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
    _: Handle,
    state: Handle,
    bytes: *mut u8,
    size: usize,
) -> c_int {
    // SAFETY: the state is one of ours that is not freed; the buffer is as long as is said.
    match unsafe { (state.cast::<Taken>().as_ref(), slice_mut(bytes, size)) } {
        (Some(state), Some(bytes)) if state.size() == bytes.len() => {
            bytes.copy_from_slice(&state.to_bytes());
            OK
        }
        _ => ERROR,
    }
}

/// # Safety
/// As the standard has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    handle: Handle,
    bytes: *const u8,
    size: usize,
    state: *mut Handle,
) -> c_int {
    // SAFETY: the buffer is as long as is said.
    let bytes = unsafe { slice(bytes, size) };
    let read = |_: &mut Instance| {
        let taken = bytes.and_then(Taken::from_bytes).ok_or("these bytes are no state")?;
        // SAFETY: as in `fmi3GetFMUState`.
        let Some(place) = (unsafe { state.as_mut() }) else { return Err("no place".into()) };
        match unsafe { place.cast::<Taken>().as_mut() } {
            Some(old) => *old = taken,
            None => *place = Box::into_raw(Box::new(taken)).cast(),
        }
        Ok(())
    };
    // SAFETY: by the caller.
    unsafe { with(handle, read) }
}
