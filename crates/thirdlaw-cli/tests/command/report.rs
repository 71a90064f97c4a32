//! report.html. How it looks is checked by scripts/check-report.

use super::*;

#[test]
fn a_run_ends_in_a_report_that_needs_no_other_file() {
    let workplace = Workplace::new();
    let run = workplace.command_as_typed("run boxes.toml --frames 4 --quiet").output().unwrap();
    let done = Done::from(run).expect_code(0);
    assert!(done.stdout.contains("out/boxes/report.html"), "{}", done.stdout);
    let page = std::fs::read_to_string(workplace.path("out/boxes/report.html")).unwrap();
    let run = Run::read(&workplace.path("out/boxes"));
    for part in [
        "Boxes that fall on a floor",
        "penetration",
        "below 0.05",
        "holds",
        "solve",
        run.final_hash(),
    ] {
        assert!(page.contains(part), "{part}");
    }
    for elsewhere in ["http", "src=\"/", "url(", "<script", "@import"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    assert_eq!(page.matches("<img").count(), page.matches("alt=\"Boxes").count());
    assert!(page.matches("data:image/png;base64,").count() >= 5);
}

#[test]
fn a_report_is_made_again_of_any_run() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 3 --quiet").expect_code(0);
    let report = workplace.path("out/boxes/report.html");
    assert!(!report.exists(), "--no-report");
    workplace.thirdlaw("report").expect_code(0);
    let first = std::fs::read(&report).unwrap();
    workplace.thirdlaw("report out/boxes --threads 3").expect_code(0);
    assert!(first == std::fs::read(&report).unwrap());
    workplace.thirdlaw("run boxes.toml --frames 2 --quiet --force").expect_code(0);
    assert!(!report.exists(), "that of another run must not stay");
    workplace.thirdlaw("report no/such").expect_code(4);
}

#[test]
fn a_run_without_frames_has_a_report_without_pictures() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 3 --quiet --no-cache").expect_code(0);
    workplace.thirdlaw("report").expect_code(0);
    let page = std::fs::read_to_string(workplace.path("out/boxes/report.html")).unwrap();
    assert!(!page.contains("<img") && page.contains("<svg"));
}

#[test]
fn a_failed_expectation_is_on_the_page() {
    let workplace = Workplace::new();
    workplace.write("boxes.toml", &BOXES.replace("below = 0.05", "below = 0"));
    workplace.thirdlaw("run boxes.toml --quiet").expect_code(1);
    workplace.thirdlaw("report").expect_code(0);
    let page = std::fs::read_to_string(workplace.path("out/boxes/report.html")).unwrap();
    assert!(page.contains("an expectation failed") && page.contains("✗ failed"));
}

#[test]
fn a_report_that_cannot_be_written_does_not_spoil_the_run() {
    let workplace = Workplace::new();
    std::fs::create_dir_all(workplace.path("out/boxes/report.html.tmp")).unwrap();
    let run = workplace.command_as_typed("run boxes.toml --frames 2 --quiet").output().unwrap();
    let done = Done::from(run).expect_code(0);
    assert!(done.stderr.contains("report could not be made"), "{}", done.stderr);
}
