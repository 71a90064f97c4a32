//! The command and the library it uses give the same.

use super::*;
use thirdlaw_run::{Recording, SceneSource, Stepper};

#[test]
fn a_stepper_ends_in_the_state_of_the_command() {
    let workplace = Workplace::new();
    for scene in ["boxes.toml", "baraff1997/blocks"] {
        workplace.thirdlaw(&format!("run {scene} --frames 10 --force --out run")).expect_code(0);
        let run = Run::read(&workplace.path("run"));
        let recording = Recording::open(&workplace.path("run")).unwrap();
        let source = SceneSource::of_record(&recording.record);
        let mut stepper = Stepper::new(source.load(&[]).unwrap()).unwrap();
        let mut hashes = vec![format!("{:016x}", stepper.stats().unwrap().hash)];
        hashes.extend((0..10).map(|_| format!("{:016x}", stepper.step().unwrap().hash)));
        assert_eq!(hashes, run.column("hash"), "{scene}");
        assert_eq!(hashes[10], run.final_hash());
    }
}
