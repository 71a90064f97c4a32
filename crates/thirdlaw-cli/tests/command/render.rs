//! Pictures of runs.

use super::*;
use std::collections::BTreeMap;
use thirdlaw_render::{Image, read_png};

const QUICK: &str = "--size 48x27 --samples 1";

fn image(path: &Path) -> Image {
    read_png(&std::fs::read(path).unwrap()).unwrap()
}

/// Name and content of every picture of a folder.
fn all_pictures(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in [folder.to_owned(), folder.join("pictures")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "png") {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    files
}

/// A workplace with a run of a box that falls on a floor, and no ffmpeg.
fn box_run() -> Workplace {
    let workplace = Workplace::new();
    let scene = box_on_floor(&workplace);
    workplace.thirdlaw(&format!("run {scene} --frames 8 --quiet --out out/a")).expect_code(0);
    workplace
}

fn render(workplace: &Workplace, args: &str) -> Done {
    let mut command = workplace.command(&format!("render {args}"));
    Done::from(command.env("PATH", workplace.path("bin")).output().unwrap())
}

#[test]
fn a_run_becomes_pictures_a_poster_a_movie_and_a_sheet() {
    let workplace = box_run();
    let done = render(&workplace, &format!("{QUICK} --sheet=2")).expect_code(0);
    assert!(done.stdout.contains("5 pictures"), "{}", done.stdout);
    assert!(done.stderr.contains("no ffmpeg"), "{}", done.stderr);
    let folder = workplace.path("out/a");
    for frame in [0, 2, 4, 6, 8] {
        let image = image(&folder.join(format!("pictures/frame-00000{frame}.png")));
        assert_eq!((image.width, image.height), (48, 27));
    }
    let poster = image(&folder.join("poster.png"));
    assert_eq!((poster.width, poster.height), (48, 27));
    let colors: std::collections::BTreeSet<_> = poster.rgba8.chunks_exact(4).collect();
    assert!(colors.len() > 50, "there is something to see: {} colours", colors.len());
    let sheet = image(&folder.join("sheet.png"));
    assert!(sheet.width > 96 && sheet.height > 54);
    let movie = std::fs::read(folder.join("movie.png")).unwrap();
    assert!(movie.windows(4).any(|word| word == b"acTL"), "it is animated");
    assert_eq!(all_pictures(&folder).len(), 5 + 3);
}

#[test]
fn a_poster_of_few_colors_is_small_and_a_movie_has_them_all() {
    let workplace = box_run();
    let poster = workplace.path("out/a/poster.png");
    render(&workplace, "out/a --size 96x54 --samples 4 --poster-only").expect_code(0);
    let whole = std::fs::read(&poster).unwrap();
    render(&workplace, "out/a --size 96x54 --samples 4 --poster-only --colors 8").expect_code(0);
    let small = std::fs::read(&poster).unwrap();
    assert!(small.len() * 3 < whole.len(), "{} {}", small.len(), whole.len());
    assert!(small.windows(4).any(|word| word == b"PLTE"));
    let refused = render(&workplace, "out/a --colors 8").expect_code(2);
    assert!(refused.stderr.contains("--poster-only"), "{}", refused.stderr);
    render(&workplace, "out/a --poster-only --colors 1").expect_code(2);
}

#[test]
fn pictures_have_the_same_bytes_for_any_number_of_threads() {
    let workplace = box_run();
    render(&workplace, &format!("out/a {QUICK} --threads 1 --out one")).expect_code(0);
    render(&workplace, &format!("out/a {QUICK} --threads 3 --out three")).expect_code(0);
    let one = all_pictures(&workplace.path("one"));
    assert!(one == all_pictures(&workplace.path("three")));
    assert!(!workplace.path("out/a/poster.png").exists());
}

#[test]
fn a_second_rendering_makes_only_what_is_missing() {
    let workplace = box_run();
    let folder = workplace.path("out/a");
    render(&workplace, QUICK).expect_code(0);
    let first = all_pictures(&folder);
    std::fs::remove_file(folder.join("pictures/frame-000004.png")).unwrap();
    let done = render(&workplace, QUICK).expect_code(0);
    assert!(done.stdout.contains("1 picture of"), "{}", done.stdout);
    assert!(first == all_pictures(&folder));
    let done = render(&workplace, &format!("{QUICK} --force")).expect_code(0);
    assert!(done.stdout.contains("5 pictures of"), "{}", done.stdout);
    assert!(first == all_pictures(&folder));
    // other options, other pictures: none of the old ones may stay
    let done = render(&workplace, "--size 32x32 --samples 1 --frames 1..3").expect_code(0);
    assert!(done.stdout.contains("3 pictures of"), "{}", done.stdout);
    let names: Vec<_> = all_pictures(&folder).into_keys().collect();
    let wanted =
        ["frame-000001.png", "frame-000002.png", "frame-000003.png", "movie.png", "poster.png"];
    assert_eq!(names, wanted);
}

#[test]
fn a_poster_alone_can_be_had_of_any_frame() {
    let workplace = box_run();
    let done = render(&workplace, &format!("{QUICK} --poster-only --poster-frame 3"));
    assert!(done.expect_code(0).stdout.contains("frame 3"));
    let names: Vec<_> = std::fs::read_dir(workplace.path("out/a"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("pic") || name.contains("movie") || name.contains("poster"))
        .collect();
    assert_eq!(names, ["poster.png"]);
    render(&workplace, &format!("{QUICK} --poster-only --poster-frame 9")).expect_code(2);
}

#[test]
fn the_latest_run_is_the_one_drawn() {
    let workplace = box_run();
    std::thread::sleep(std::time::Duration::from_millis(20));
    workplace.thirdlaw("run boxes.toml --frames 2 --quiet --out out/group/b").expect_code(0);
    render(&workplace, &format!("{QUICK} --poster-only")).expect_code(0);
    assert!(workplace.path("out/group/b/poster.png").exists());
    assert!(!workplace.path("out/a/poster.png").exists());
}

#[test]
fn a_new_run_takes_the_pictures_of_the_old_one_away() {
    let workplace = box_run();
    render(&workplace, QUICK).expect_code(0);
    workplace.thirdlaw("run boxes.toml --frames 2 --quiet --out out/a --force").expect_code(0);
    for name in ["poster.png", "movie.png", "pictures"] {
        assert!(!workplace.path("out/a").join(name).exists(), "{name}");
    }
}

#[test]
fn nothing_to_draw_is_2_and_says_what_to_do() {
    let workplace = Workplace::new();
    let done = workplace.thirdlaw("render").expect_code(2);
    assert!(done.stderr.contains("thirdlaw run"), "{}", done.stderr);
    let done = workplace.thirdlaw("render .").expect_code(2);
    assert!(done.stderr.contains("run.json"), "{}", done.stderr);
    workplace.thirdlaw("render no/such/folder").expect_code(4);
    workplace.thirdlaw("run boxes.toml --frames 1 --quiet --no-cache").expect_code(0);
    let done = workplace.thirdlaw("render").expect_code(2);
    assert!(done.stderr.contains("--no-cache"), "{}", done.stderr);
    workplace.thirdlaw("run boxes.toml --frames 1 --quiet --force").expect_code(0);
    for bad in ["--frames 5..6", "--frames x", "--size 10", "--samples 0", "--sheet=0"] {
        workplace.thirdlaw(&format!("render {bad}")).expect_code(2);
    }
}

#[test]
fn a_damaged_or_missing_frame_is_4_and_named() {
    let workplace = box_run();
    let frame = workplace.path("out/a/frames/frame-000004.3l");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() / 2]).unwrap();
    let done = render(&workplace, QUICK).expect_code(4);
    for part in ["frame-000004.3l", "damaged", "thirdlaw run"] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    std::fs::remove_file(&frame).unwrap();
    let done = render(&workplace, QUICK).expect_code(4);
    assert!(done.stderr.contains("frame-000004.3l"), "{}", done.stderr);
    assert!(!workplace.path("out/a/poster.png").exists());
}

#[cfg(unix)]
#[test]
fn ffmpeg_gets_every_picture_and_its_failure_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let workplace = box_run();
    let program = workplace.path("bin/ffmpeg");
    std::fs::create_dir(workplace.path("bin")).unwrap();
    let install = |text: &str| {
        std::fs::write(&program, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    // keeps its input as it comes, under the name it was given last
    install("for last; do :; done\nexec cat > \"$last\"");
    render(&workplace, QUICK).expect_code(0);
    let movie = std::fs::read(workplace.path("out/a/movie.mp4")).unwrap();
    let frames = [0, 2, 4, 6, 8].map(|frame| {
        image(&workplace.path(&format!("out/a/pictures/frame-00000{frame}.png"))).rgb()
    });
    assert!(movie == frames.concat());
    assert!(!workplace.path("out/a/movie.png").exists());

    install("cat > /dev/null\necho no such encoder >&2\nexit 1");
    let done = render(&workplace, QUICK).expect_code(0);
    assert!(done.stderr.contains("no such encoder"), "{}", done.stderr);
    assert!(workplace.path("out/a/movie.png").exists());
    assert!(!workplace.path("out/a/movie.mp4").exists());
}

#[test]
fn an_unfinished_run_can_be_looked_at() {
    let workplace = box_run();
    let record = workplace.path("out/a/run.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"outcome\": \"done\"", "\"outcome\": \"running\""))
        .unwrap();
    std::fs::remove_file(workplace.path("out/a/frames/frame-000006.3l")).unwrap();
    let done = render(&workplace, QUICK).expect_code(0);
    assert!(done.stdout.contains("3 pictures of"), "{}", done.stdout);
}
