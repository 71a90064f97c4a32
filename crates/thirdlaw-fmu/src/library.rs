//! The shared library of an FMU and an instance of it. All `unsafe` of this crate is here.
//!
//! What is called is native code that the user chose to run: nothing can check that it does what the standard
//! says. What can be checked is: every function that is called is looked up when the library is loaded, lengths
//! of arrays are those that `modelDescription.xml` gives, and an instance is freed before its library is closed.

use crate::archive::platform;
use crate::description::FmuDescription;
use crate::error::FmuError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

type Handle = *mut c_void;
type Log = unsafe extern "C" fn(Handle, c_int, *const c_char, *const c_char);

/// `fmi3Status`: this and what is below it is success.
const WARNING: c_int = 1;

/// The functions that are called [FMI 3.0, fmi3FunctionTypes.h].
struct Functions {
    instantiate: unsafe extern "C" fn(
        *const c_char,
        *const c_char,
        *const c_char,
        bool,
        bool,
        bool,
        bool,
        *const u32,
        usize,
        Handle,
        Option<Log>,
        Option<unsafe extern "C" fn()>,
    ) -> Handle,
    free: unsafe extern "C" fn(Handle),
    enter: unsafe extern "C" fn(Handle, bool, f64, f64, bool, f64) -> c_int,
    exit: unsafe extern "C" fn(Handle) -> c_int,
    get: unsafe extern "C" fn(Handle, *const u32, usize, *mut f64, usize) -> c_int,
    set: unsafe extern "C" fn(Handle, *const u32, usize, *const f64, usize) -> c_int,
    step: unsafe extern "C" fn(
        Handle,
        f64,
        f64,
        bool,
        *mut bool,
        *mut bool,
        *mut bool,
        *mut f64,
    ) -> c_int,
    get_state: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    set_state: unsafe extern "C" fn(Handle, Handle) -> c_int,
    free_state: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    size: unsafe extern "C" fn(Handle, Handle, *mut usize) -> c_int,
    serialize: unsafe extern "C" fn(Handle, Handle, *mut u8, usize) -> c_int,
    deserialize: unsafe extern "C" fn(Handle, *const u8, usize, *mut Handle) -> c_int,
}

impl Functions {
    fn of(library: &Library) -> Result<Functions, libloading::Error> {
        // SAFETY: the types are those of the standard's header; the pointers are used while `Instance` keeps
        // the library open.
        unsafe {
            Ok(Functions {
                instantiate: *library.get(b"fmi3InstantiateCoSimulation")?,
                free: *library.get(b"fmi3FreeInstance")?,
                enter: *library.get(b"fmi3EnterInitializationMode")?,
                exit: *library.get(b"fmi3ExitInitializationMode")?,
                get: *library.get(b"fmi3GetFloat64")?,
                set: *library.get(b"fmi3SetFloat64")?,
                step: *library.get(b"fmi3DoStep")?,
                get_state: *library.get(b"fmi3GetFMUState")?,
                set_state: *library.get(b"fmi3SetFMUState")?,
                free_state: *library.get(b"fmi3FreeFMUState")?,
                size: *library.get(b"fmi3SerializedFMUStateSize")?,
                serialize: *library.get(b"fmi3SerializeFMUState")?,
                deserialize: *library.get(b"fmi3DeserializeFMUState")?,
            })
        }
    }
}

/// What an instance said last, for errors. It is in a box, whose address the instance keeps.
type Said = std::sync::Mutex<String>;

/// An instance of an FMU.
pub struct Instance {
    handle: Handle,
    state: Handle,
    functions: Functions,
    said: Box<Said>,
    // closed after everything above is gone
    _library: Library,
}

// SAFETY: the standard allows calls from any thread as long as those of one instance do not overlap, and an
// instance is not `Sync`.
unsafe impl Send for Instance {}

unsafe extern "C" fn log(
    environment: Handle,
    _: c_int,
    _category: *const c_char,
    text: *const c_char,
) {
    if environment.is_null() || text.is_null() {
        return;
    }
    // SAFETY: the environment is the box of `Instance::said`, which lives as long as the instance; the text is
    // a string that ends with a zero, as the standard demands.
    let (said, text) = unsafe { (&*environment.cast::<Said>(), CStr::from_ptr(text)) };
    if let Ok(mut said) = said.lock() {
        *said = text.to_string_lossy().into_owned();
    }
}

impl Instance {
    /// Loads the library of an unpacked FMU for this platform and starts an instance of it at time zero.
    pub fn start(
        folder: &Path,
        description: &FmuDescription,
        path: &Path,
    ) -> Result<Instance, FmuError> {
        let name = format!("{}{}", description.identifier, std::env::consts::DLL_SUFFIX);
        let file = folder.join("binaries").join(platform()).join(name);
        if !file.is_file() {
            let problem = format!("it has no library for {}", platform());
            return Err(FmuError::unusable(path, problem));
        }
        let refuse = |error: libloading::Error| {
            FmuError::unusable(path, format!("its library cannot be loaded: {error}"))
        };
        // SAFETY: loading runs the library's initializers: code that the user chose to run by naming the file.
        let library = unsafe { Library::new(&file) }.map_err(refuse)?;
        let functions = Functions::of(&library).map_err(refuse)?;
        let said = Box::new(Said::default());
        let text = |text: &str| {
            CString::new(text).map_err(|_| FmuError::unusable(path, "a name of it holds a zero"))
        };
        let mut resources = folder.join("resources").display().to_string();
        resources.push(std::path::MAIN_SEPARATOR);
        let (name, token) = (text(&description.model)?, text(&description.token)?);
        let resources = text(&resources)?;
        let environment = std::ptr::from_ref::<Said>(&said).cast_mut().cast();
        // SAFETY: strings end with a zero and outlive the call; there are no intermediate variables; the
        // environment lives in the instance.
        let handle = unsafe {
            (functions.instantiate)(
                name.as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                false,
                false,
                false,
                false,
                std::ptr::null(),
                0,
                environment,
                Some(log),
                None,
            )
        };
        let state = std::ptr::null_mut();
        let instance = Instance { handle, state, functions, said, _library: library };
        if handle.is_null() {
            return Err(instance.refused("fmi3InstantiateCoSimulation"));
        }
        // SAFETY: the handle is that of a fresh instance, in the state in which this may be called.
        let entered = unsafe { (instance.functions.enter)(handle, false, 0.0, 0.0, false, 0.0) };
        instance.check("fmi3EnterInitializationMode", entered)?;
        // SAFETY: as above.
        let left = unsafe { (instance.functions.exit)(handle) };
        instance.check("fmi3ExitInitializationMode", left)?;
        Ok(instance)
    }

    fn refused(&self, function: &'static str) -> FmuError {
        let message = self.said.lock().map(|mut said| std::mem::take(&mut *said));
        FmuError::Refused { function, message: message.unwrap_or_default() }
    }

    fn check(&self, function: &'static str, status: c_int) -> Result<(), FmuError> {
        if (0..=WARNING).contains(&status) { Ok(()) } else { Err(self.refused(function)) }
    }

    /// Values of variables, one after the other.
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), FmuError> {
        // SAFETY: both slices are as long as is said; sizes of variables are those of the description.
        let status = unsafe {
            let (count, size) = (references.len(), values.len());
            (self.functions.get)(self.handle, references.as_ptr(), count, values.as_mut_ptr(), size)
        };
        self.check("fmi3GetFloat64", status)
    }

    /// Sets variables.
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> Result<(), FmuError> {
        // SAFETY: as in `get`.
        let status = unsafe {
            let (count, size) = (references.len(), values.len());
            (self.functions.set)(self.handle, references.as_ptr(), count, values.as_ptr(), size)
        };
        self.check("fmi3SetFloat64", status)
    }

    /// Goes on from `time` by `dt`, both s.
    pub fn step(&mut self, time: f64, dt: f64, keeps_past: bool) -> Result<(), FmuError> {
        let (mut event, mut end, mut early, mut reached) = (false, false, false, time);
        // SAFETY: the four places live through the call.
        let status = unsafe {
            (self.functions.step)(
                self.handle,
                time,
                dt,
                !keeps_past,
                &mut event,
                &mut end,
                &mut early,
                &mut reached,
            )
        };
        self.check("fmi3DoStep", status)?;
        let says = |message: String| FmuError::Refused { function: "fmi3DoStep", message };
        if end {
            return Err(says("it wants to end the simulation".into()));
        }
        if early {
            return Err(says(format!("it stopped early, at {reached} s")));
        }
        Ok(())
    }

    /// Remembers its state, instead of what it remembered before.
    pub fn take_state(&mut self) -> Result<(), FmuError> {
        // SAFETY: the state is null, or one of this instance; the standard has it written over then.
        let status = unsafe { (self.functions.get_state)(self.handle, &mut self.state) };
        self.check("fmi3GetFMUState", status)
    }

    /// Goes back to the state that it remembers.
    pub fn give_state(&mut self) -> Result<(), FmuError> {
        if self.state.is_null() {
            let message = "no state was taken".into();
            return Err(FmuError::Refused { function: "fmi3SetFMUState", message });
        }
        // SAFETY: the state is one of this instance.
        let status = unsafe { (self.functions.set_state)(self.handle, self.state) };
        self.check("fmi3SetFMUState", status)
    }

    /// Its state now, as bytes.
    pub fn bytes(&self) -> Result<Vec<u8>, FmuError> {
        let (mut state, mut size) = (std::ptr::null_mut(), 0_usize);
        // SAFETY: a null state asks for a new one.
        let taken = unsafe { (self.functions.get_state)(self.handle, &mut state) };
        self.check("fmi3GetFMUState", taken)?;
        let mut bytes = Vec::new();
        // SAFETY: the state is one of this instance; the buffer has the length that it named.
        let written = unsafe {
            let status = (self.functions.size)(self.handle, state, &mut size);
            if (0..=WARNING).contains(&status) {
                bytes.resize(size, 0);
                (self.functions.serialize)(self.handle, state, bytes.as_mut_ptr(), size)
            } else {
                status
            }
        };
        // SAFETY: as above; nobody else has this state.
        let freed = unsafe { (self.functions.free_state)(self.handle, &mut state) };
        self.check("fmi3SerializeFMUState", written)?;
        self.check("fmi3FreeFMUState", freed)?;
        Ok(bytes)
    }

    /// Goes to a state from bytes.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), FmuError> {
        let mut state = std::ptr::null_mut();
        // SAFETY: the bytes are as many as is said, and a null state asks for a new one.
        let read = unsafe {
            (self.functions.deserialize)(self.handle, bytes.as_ptr(), bytes.len(), &mut state)
        };
        self.check("fmi3DeserializeFMUState", read)?;
        // SAFETY: the state is one of this instance, and freed once.
        let (set, freed) = unsafe {
            let set = (self.functions.set_state)(self.handle, state);
            (set, (self.functions.free_state)(self.handle, &mut state))
        };
        self.check("fmi3SetFMUState", set)?;
        self.check("fmi3FreeFMUState", freed)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.handle.is_null() {
            return;
        }
        // SAFETY: state and instance are freed once, and nothing uses them afterwards.
        unsafe {
            if !self.state.is_null() {
                (self.functions.free_state)(self.handle, &mut self.state);
            }
            (self.functions.free)(self.handle);
        }
    }
}
