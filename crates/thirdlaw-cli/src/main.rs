//! The command `thirdlaw`.

fn main() {}
