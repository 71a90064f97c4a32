//! What a second of ten worlds ends in, bit by bit: to be held against another machine's.
//!
//!     cargo run --release -p thirdlaw --example ten_worlds

mod worlds;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (number, name) in worlds::NAMES.iter().enumerate() {
        println!("{name:8} {:016x}", worlds::run(number)?);
    }
    Ok(())
}
