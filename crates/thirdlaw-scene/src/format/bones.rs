//! Skeletons of soft bodies: `[soft_bodies.NAME.bones]`.

use super::body::{GROUPS, MATERIAL_OF};
use super::joint::{ACTING, AXES, DRIVE, LIMITS_OF, SPRING};
use super::*;

/// A row of bones with joints between them.
pub static BONES: TableFormat = TableFormat {
    what: "bones",
    keys: &[
        required(
            "points",
            Kind::List(&VECTOR, at_least(2)),
            "Ends of the bones NAME-bones.0, … in the mesh's own frame, m: from each to the next.",
        ),
        key("radius", LENGTH, "Of the bones, capsules, m; default 0.01."),
        key(
            "hold",
            LENGTH,
            "Vertices so near to the middle of a bone move with the nearest one, m; default twice the radius.",
        ),
        key("density", Kind::Number(POSITIVE), "kg/m³; default 1000."),
        key("material", MATERIAL_OF, "A name, or a table of overrides with `base`."),
        key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
        key("groups", Kind::Table(&GROUPS), "Which bodies they may touch; default none."),
        key(
            "kind",
            Kind::Choice(&["ball", "hinge"]),
            "Of the joints, NAME-joints.0, …: with x along the axis; default \"ball\".",
        ),
        key("axis", VECTOR, "Of the joints, in the mesh's own frame; default [1, 0, 0]."),
        key("limits", LIMITS_OF, "Of a hinge, rad."),
        key("friction", ACTING, "Of a hinge, N·m."),
        key("spring", Kind::Table(&SPRING), "On a hinge."),
        key("drive", Kind::Table(&DRIVE), "On a hinge."),
        key("axes", Kind::Table(&AXES), "The same for each coordinate of a ball."),
        key(
            "wave",
            NUMBER,
            "Phase by which sines of drives lag behind from joint to joint, rad; default 0.",
        ),
    ],
    rules: &[],
};
