//! What of a run is shown in pictures.

/// A drawn frame.
pub struct Drawn {
    /// Its number.
    pub frame: u32,
    /// s.
    pub time: f64,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// A PNG in base64.
    pub png: String,
}

/// The poster and the strip of a run; nobody makes one where this library was built without pictures.
pub struct Gallery {
    /// The frame in which most happens.
    pub poster: Drawn,
    /// From the first frame to the last.
    pub strip: Vec<Drawn>,
}
