//! What a user reads when a scene is wrong.

use thirdlaw_scene::{SceneErrors, load};

const GOOD: &str = r#"version = 1

[materials.rubber]
friction = 0.9

[bodies.ball]
shape = { sphere = { radius = 0.5 } }
position = [0, 1, 0]
material = "rubber"
"#;

fn errors(text: &str, overrides: &[(&str, &str)]) -> SceneErrors {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    match load("ball.toml", text, None, &overrides) {
        Ok(_) => panic!("this should be refused:\n{text}"),
        Err(errors) => errors,
    }
}

/// The message for a scene in which one part of the good one is replaced.
fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from));
    errors(&GOOD.replace(from, to), &[]).to_string()
}

#[test]
fn the_good_scene_is_good() {
    load("ball.toml", GOOD, None, &[]).unwrap();
}

#[test]
fn unknown_keys_name_the_nearest() {
    assert_eq!(
        broken("position", "postion"),
        r#"ball.toml:8:1: a body has no key `postion`
 8 | postion = [0, 1, 0]
   | ^^^^^^^
   = did you mean `position`?
"#
    );
}

#[test]
fn wrong_types_say_what_was_expected() {
    assert_eq!(
        broken("[0, 1, 0]", "true"),
        r#"ball.toml:8:12: `position` must be a list of 3 numbers, not true or false
 8 | position = true
   |            ^^^^
"#
    );
    assert_eq!(
        broken("[0, 1, 0]", "[0, 1]"),
        r#"ball.toml:8:12: `position` must be a list of 3 numbers, but has 2
 8 | position = [0, 1]
   |            ^^^^^^
"#
    );
}

#[test]
fn impossible_values_say_what_is_possible() {
    assert_eq!(
        broken("0.5", "-0.5"),
        r#"ball.toml:7:31: `radius` must be greater than 0, not -0.5
 7 | shape = { sphere = { radius = -0.5 } }
   |                               ^^^^
"#
    );
    assert!(broken("0.5", "nan").contains("`radius` must be greater than 0, not NaN"));
}

#[test]
fn dangling_names_are_found() {
    assert_eq!(
        broken("\"rubber\"", "\"ruber\""),
        r#"ball.toml:9:12: there is no material "ruber"
 9 | material = "ruber"
   |            ^^^^^^^
   = did you mean "rubber"?
"#
    );
}

#[test]
fn missing_keys_say_what_they_mean() {
    assert_eq!(
        broken("{ radius = 0.5 }", "{}"),
        r#"ball.toml:7:20: a sphere needs `radius`
 7 | shape = { sphere = {} }
   |                    ^^
   = m.
"#
    );
    assert!(broken("version = 1\n", "").starts_with("ball.toml:1:1: a scene needs `version`"));
    assert!(broken("version = 1", "version = 2").contains("`version` must be 1, not 2"));
}

#[test]
fn one_slip_is_one_error() {
    let count = |from: &str, to: &str| errors(&GOOD.replace(from, to), &[]).errors.len();
    assert_eq!(count("radius", "raduis"), 1, "the radius is not missing, it is misspelled");
    assert_eq!(count("sphere", "spere"), 1, "nor is the kind of shape");
    assert_eq!(count("shape", "shap"), 1);
    assert_eq!(count("radius", "colour_of_the_sky"), 2, "this is no slip");
}

#[test]
fn long_lines_are_shortened_around_the_place() {
    let name = "x".repeat(3000);
    let told = broken("[0, 1, 0]", &format!("[0, \"{name}\", {name}true]"));
    assert!(told.lines().all(|line| line.chars().count() < 400), "{told}");
    let long = (0..2000).map(|k| format!("[{k}, 0, 1]")).collect::<Vec<_>>().join(", ");
    let told = broken(
        "sphere = { radius = 0.5 }",
        &format!("hull = {{ points = [{long}, [0, true, 0], {long}] }}"),
    );
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[1].chars().count() < 140 && lines[1].contains("[0, true, 0]"), "{told}");
    let under: String = lines[1]
        .chars()
        .zip(lines[2].chars())
        .filter(|(_, mark)| *mark == '^')
        .map(|(c, _)| c)
        .collect();
    assert_eq!(under, "true");
}

#[test]
fn one_of_several_keys_is_wanted() {
    assert!(
        broken("{ sphere = { radius = 0.5 } }", "{}")
            .contains("a shape needs one of `box`, `sphere`")
    );
    let two = "{ sphere = { radius = 0.5 }, box = { size = [1, 1, 1] } }";
    assert!(
        broken("{ sphere = { radius = 0.5 } }", two)
            .contains("a shape takes only one of `box` and `sphere`")
    );
}

#[test]
fn expressions_point_at_their_part() {
    assert_eq!(
        broken(
            "[materials",
            "[parameters]\nheight = 3\n[bodies.x]\nposition = [0, \"2*hieght\", 0]\nshape = { sphere = { radius = 1 } }\n[materials"
        ),
        r#"ball.toml:6:19: `position` must be a number or an expression: there is no parameter `hieght`
 6 | position = [0, "2*hieght", 0]
   |                   ^^^^^^
   = did you mean `height`?
"#
    );
}

#[test]
fn unused_parameters_are_errors() {
    assert_eq!(
        errors(&format!("{GOOD}[parameters]\nn = 3\n"), &[]).to_string(),
        r#"ball.toml:11:1: nothing uses the parameter `n`
 11 | n = 3
    | ^
    = use it in an expression like "2*n", or remove it
"#
    );
}

#[test]
fn several_errors_are_told_at_once() {
    let text = GOOD.replace("0.9", "-1").replace("0.5", "\"x\"").replace("\"rubber\"", "7");
    assert_eq!(errors(&text, &[]).errors.len(), 3);
}

#[test]
fn text_that_is_not_toml_is_located() {
    let message = broken("[0, 1, 0]", "[0, 1");
    assert!(message.starts_with("ball.toml:"), "{message}");
    assert!(message.contains("this is not TOML"), "{message}");
}

#[test]
fn overrides_are_checked_like_the_file() {
    assert_eq!(
        errors(GOOD, &[("bodies.ball.shape.sphere.radius", "-2")]).to_string(),
        r#"in --set bodies.ball.shape.sphere.radius=-2: `radius` must be greater than 0, not -2
  | bodies.ball.shape.sphere.radius=-2
  |                                 ^^
"#
    );
    let typo = errors(GOOD, &[("solver.iteratons", "30")]).to_string();
    assert!(
        typo.contains("in --set solver.iteratons=30: a solver has no key `iteratons`"),
        "{typo}"
    );
    assert!(typo.contains("did you mean `iterations`?"), "{typo}");
    let word = errors(GOOD, &[("solver.kind", "jacoby")]).to_string();
    assert!(word.contains("did you mean \"jacobi\"?"), "{word}");
}

#[test]
fn the_engine_s_refusals_point_at_their_key() {
    let fixed = broken("position", "kind = \"fixed\"\nvelocity = [1, 0, 0]\nposition");
    assert!(fixed.starts_with("ball.toml:9:12: body `ball`: a fixed body cannot move"), "{fixed}");
    let open = broken("{ sphere = { radius = 0.5 } }", "{ half_space = {} }");
    assert!(open.starts_with("ball.toml:7:9: body `ball`: "), "{open}");
    let flat = "{ hull = { points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] } }";
    assert!(broken("{ sphere = { radius = 0.5 } }", flat).contains("points span no volume"));
}

#[test]
fn expectations_name_bodies_that_exist() {
    let expect = |line: &str| errors(&format!("{GOOD}[expect]\n{line}\n"), &[]).to_string();
    assert!(expect("\"bal.y\" = { below = 1 }").contains("did you mean `ball`?"));
    assert!(expect("\"ball.hight\" = { below = 1 }").contains("a body has no quantity `hight`"));
    assert!(expect("kinetc = { below = 1 }").contains("did you mean `kinetic`?"));
    assert!(
        expect("kinetic = { below = 1, at = 99 }").contains("the scene ends at 5 s, before 99 s")
    );
    assert!(expect("kinetic = { near = 1 }").contains("`near` needs `within` beside it"));
    let copies = GOOD
        .replace("position", "copies.grid = { count = [2, 1, 1], spacing = [2, 0, 0] }\nposition");
    let several =
        errors(&format!("{copies}[expect]\n\"ball.y\" = {{ below = 9 }}\n"), &[]).to_string();
    assert!(several.contains("\"ball.0.…\" is the first of 2"), "{several}");
}

#[test]
fn files_are_looked_for_beside_the_scene() {
    let text = GOOD.replace("sphere = { radius = 0.5 }", "mesh = { file = \"no-such.obj\" }");
    let here = std::path::Path::new(".");
    let missing = load("ball.toml", &text, Some(here), &[]).unwrap_err().to_string();
    assert!(missing.starts_with("ball.toml:7:27: cannot read ./no-such.obj"), "{missing}");
    assert!(errors(&text, &[]).to_string().contains("no folder in which to look for files"));
}
