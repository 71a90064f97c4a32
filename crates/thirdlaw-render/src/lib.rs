//! Pictures of frames, ray-traced on the CPU.
