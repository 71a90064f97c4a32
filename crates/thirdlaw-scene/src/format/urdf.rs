//! Robots from URDF files: `[urdf.NAME]`.

use super::body::{GROUPS, MATERIAL_OF, ROTATION_OF};
use super::joint::DRIVE;
use super::*;

/// A robot.
pub static URDF: TableFormat = TableFormat {
    what: "a robot",
    keys: &[
        key("file", Kind::Text, "Path of the URDF file, from the folder of the scene."),
        key("text", Kind::Text, "The URDF itself."),
        key(
            "base",
            Kind::Choice(&["fixed", "free"]),
            "Whether its root is held; default \"fixed\".",
        ),
        key("position", VECTOR, "Of its root, m; default the world's origin."),
        key("rotation", ROTATION_OF, "Of its root."),
        key("up", Kind::Choice(&["z", "y"]), "Which axis of the file points up; default \"z\"."),
        key(
            "meshes",
            Kind::Choice(&["hull", "decompose"]),
            "Collision meshes as their convex hull (default) or cut into convex parts.",
        ),
        key("packages", Kind::Names(&Kind::Text), "Folders of packages that mesh files name."),
        key("self_collision", Kind::Flag, "Whether its links may touch each other; default false."),
        key(
            "drive",
            Kind::Table(&DRIVE),
            "A drive on every joint; default target: where it starts.",
        ),
        key("joints", Kind::Names(&Kind::Table(&ROBOT_JOINT)), "Start and drive of single joints."),
        key("material", MATERIAL_OF, "A name, or a table of overrides with `base`."),
        key("groups", Kind::Table(&GROUPS), "Which bodies its links may touch."),
        key("color", Kind::Color, "Of all links; default that of the file."),
    ],
    rules: &[Rule::One(&["file", "text"])],
};

static ROBOT_JOINT: TableFormat = TableFormat {
    what: "a joint of a robot",
    keys: &[
        key(
            "position",
            NUMBER,
            "Where it starts, m or rad; default 0, or the nearest its limits allow.",
        ),
        key("drive", Kind::Table(&DRIVE), "Instead of the robot's `drive`."),
    ],
    rules: &[],
};
