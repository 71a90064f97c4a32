//! Forces of contacts: their table, and as readings.

use super::*;

/// Ten kilograms on three, after a short fall.
const STACK: &str = r#"version = 1
settings = { frames = 60, sleeping = false }

[bodies.ground]
kind = "fixed"
shape = { half_space = {} }

[bodies.low]
shape = { box = { size = [1, 1, 1] } }
position = [0, 0.52, 0]
mass = 3

[bodies.high]
shape = { box = { size = [1, 1, 1] } }
position = [0, 1.55, 0]
mass = 10

[expect]
"high.contact_y" = { near = 98.1, within = 1e-3, at = 1 }
"low.contact_y" = { near = 29.43, within = 1e-3, at = 1 }
"ground.contact" = { near = 127.53, within = 1e-3, at = 1 }
"#;

#[test]
fn points_of_contact_have_forces_that_add_up_to_weights() {
    let workplace = Workplace::new();
    workplace.write("stack.toml", STACK);
    let done = workplace.thirdlaw("run stack.toml --contacts --out here").expect_code(0);
    assert!(done.stdout.contains("contacts.csv"), "{}", done.stdout);
    let table = std::fs::read_to_string(workplace.path("here/contacts.csv")).unwrap();
    let mut lines = table.lines();
    let columns = "frame,time,left,a,b,x,y,z,nx,ny,nz,separation,normal_force,fx,fy,fz";
    assert_eq!(lines.next(), Some(columns));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let force = |a: &str, b: &str| -> f64 {
        let last = rows.iter().filter(|row| row[0] == "60" && row[3] == a && row[4] == b);
        last.map(|row| row[14].parse::<f64>().unwrap()).sum()
    };
    assert!((force("low", "high") - 98.1).abs() < 0.1, "{}", force("low", "high"));
    assert!((force("ground", "low") - 127.53).abs() < 0.1, "{}", force("ground", "low"));
    let left: Vec<&str> = rows.iter().filter(|row| row[0] == "60").map(|row| row[2]).collect();
    assert_eq!(left, ["7", "6", "5", "4", "3", "2", "1", "0"]);
}

#[test]
fn a_killed_run_of_contacts_ends_in_the_same_bits() {
    let workplace = Workplace::new();
    workplace.write("stack.toml", STACK);
    workplace.thirdlaw("run stack.toml --contacts --out whole").expect_code(0);
    let read = |folder: &str| std::fs::read(workplace.path(folder).join("contacts.csv")).unwrap();
    let whole = String::from_utf8(read("whole")).unwrap();
    // as kills in frame 40 leave it: in the middle of a row, between two rows, ahead of the first
    let first = whole.lines().position(|line| line.starts_with("40,")).unwrap();
    for (kept, rest) in [(first + 3, "40,0.66"), (first + 3, ""), (first, "")] {
        workplace.thirdlaw("run stack.toml --contacts --out cut --force").expect_code(0);
        let text: String = whole.lines().take(kept).map(|line| format!("{line}\n")).collect();
        std::fs::write(workplace.path("cut/contacts.csv"), text + rest).unwrap();
        for frame in 40..=60 {
            let file = workplace.path(&format!("cut/frames/frame-{frame:06}.3l"));
            std::fs::remove_file(file).unwrap();
        }
        let record = std::fs::read_to_string(workplace.path("cut/run.json")).unwrap();
        let record = record.replace("\"outcome\": \"done\"", "\"outcome\": \"running\"");
        std::fs::write(workplace.path("cut/run.json"), record).unwrap();
        workplace.thirdlaw("resume cut").expect_code(0);
        assert!(read("cut") == read("whole"), "contacts differ");
    }
}
