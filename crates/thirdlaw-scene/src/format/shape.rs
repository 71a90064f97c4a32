//! Shapes: one key names the kind, its table gives the numbers.

use super::body::ROTATION_OF;
use super::*;

const TRIANGLE: Kind = Kind::List(&Kind::Integer(range(0.0, 4e9)), exactly(3));
pub(super) const TRIANGLES: Kind = Kind::List(&TRIANGLE, at_least(0));
const SIZE: Kind = Kind::List(&LENGTH, exactly(3));
/// Factor on a mesh.
pub const SCALE: Kind = Kind::Either(&[LENGTH, SIZE]);
/// Axis of a file.
pub const UP: Kind = Kind::Choice(&["x", "y", "z"]);
/// What `file` means.
pub const MESH_FILE: &str = "An OBJ, STL, PLY, glTF or GLB file beside the scene.";
/// What `scale` means.
pub const SCALE_DOC: &str = "Factor on the vertices, or one for each axis; default 1.";
/// What `up` means.
pub const UP_DOC: &str = "Axis of the file that points up; default \"y\".";

/// A shape.
pub static SHAPE: TableFormat = TableFormat {
    what: "a shape",
    keys: &[
        key("box", Kind::Table(&BOX), "Six faces."),
        key("sphere", Kind::Table(&SPHERE), "A ball about the origin."),
        key("capsule", Kind::Table(&ROUND_CAPSULE), "A segment along y made thick."),
        key("cylinder", Kind::Table(&ROUND), "Along y."),
        key("cone", Kind::Table(&ROUND), "Along y, the tip up."),
        key(
            "half_space",
            Kind::Table(&HALF_SPACE),
            "Everything behind a plane through the origin.",
        ),
        key("hull", Kind::Table(&HULL), "The smallest convex solid around points."),
        key("mesh", Kind::Table(&MESH), "A surface of triangles."),
        key("decompose", Kind::Table(&DECOMPOSE), "A closed mesh cut into convex parts."),
        key("height_field", Kind::Table(&HEIGHT_FIELD), "Ground from heights."),
        key("compound", Kind::Table(&COMPOUND), "Several convex shapes that move as one."),
        key("terrain", Kind::Table(&TERRAIN), "Rolling hills: waves in a bowl."),
        key("torus", Kind::Table(&TORUS), "A ring about the y axis, of straight round pieces."),
        key("chain_link", Kind::Table(&CHAIN_LINK), "An oval ring of round wire in the xy plane."),
        key("chess_piece", Kind::Table(&CHESS_PIECE), "A piece standing on the origin."),
    ],
    rules: &[Rule::One(&[
        "box",
        "sphere",
        "capsule",
        "cylinder",
        "cone",
        "half_space",
        "hull",
        "mesh",
        "decompose",
        "height_field",
        "compound",
        "terrain",
        "torus",
        "chain_link",
        "chess_piece",
    ])],
};

static BOX: TableFormat =
    TableFormat { what: "a box", keys: &[required("size", SIZE, "Side lengths, m.")], rules: &[] };

static SPHERE: TableFormat =
    TableFormat { what: "a sphere", keys: &[required("radius", LENGTH, "m.")], rules: &[] };

static ROUND: TableFormat = TableFormat {
    what: "a cylinder or cone",
    keys: &[
        required("radius", LENGTH, "m."),
        required("height", LENGTH, "From end to end along y, m."),
    ],
    rules: &[],
};

static ROUND_CAPSULE: TableFormat = TableFormat {
    what: "a capsule",
    keys: &[
        required("radius", LENGTH, "m."),
        required("length", LENGTH, "Of the segment along y, without the round ends, m."),
    ],
    rules: &[],
};

static HALF_SPACE: TableFormat = TableFormat {
    what: "a half-space",
    keys: &[key("normal", VECTOR, "Out of the solid, any length; default [0, 1, 0].")],
    rules: &[],
};

static HULL: TableFormat = TableFormat {
    what: "a hull",
    keys: &[required("points", Kind::List(&VECTOR, at_least(4)), "m.")],
    rules: &[],
};

static MESH: TableFormat = TableFormat {
    what: "a mesh",
    keys: &[
        key("file", Kind::Text, MESH_FILE),
        key("up", UP, UP_DOC),
        key("vertices", VECTORS, "m."),
        key("triangles", TRIANGLES, "Corners counted from 0, counter-clockwise seen from outside."),
        key("scale", SCALE, SCALE_DOC),
    ],
    rules: &[
        Rule::One(&["file", "vertices"]),
        Rule::Needs("up", "file"),
        Rule::Needs("vertices", "triangles"),
        Rule::Needs("triangles", "vertices"),
    ],
};

static DECOMPOSE: TableFormat = TableFormat {
    what: "a decomposed mesh",
    keys: &[
        key("file", Kind::Text, MESH_FILE),
        key("up", UP, UP_DOC),
        key("vertices", VECTORS, "m."),
        key("triangles", TRIANGLES, "Corners counted from 0, counter-clockwise seen from outside."),
        key("scale", SCALE, SCALE_DOC),
        key(
            "concavity",
            Kind::Number(Range { low: 0.0, high: 1.0, above: true }),
            "Depth of dents that may be filled, as a share of the size; default 0.01.",
        ),
        key(
            "resolution",
            Kind::Integer(range(8.0, 512.0)),
            "Cells along the longest side; default 64.",
        ),
        key("parts_max", Kind::Integer(range(1.0, 1024.0)), "Most parts; default 64."),
    ],
    rules: &[
        Rule::One(&["file", "vertices"]),
        Rule::Needs("up", "file"),
        Rule::Needs("vertices", "triangles"),
        Rule::Needs("triangles", "vertices"),
    ],
};

static HEIGHT_FIELD: TableFormat = TableFormat {
    what: "a height field",
    keys: &[
        required(
            "heights",
            Kind::List(&Kind::List(&NUMBER, at_least(2)), at_least(2)),
            "Rows along z of heights along x, m.",
        ),
        required("size", Kind::List(&LENGTH, exactly(2)), "Extent in x and z, m."),
    ],
    rules: &[],
};

static COMPOUND: TableFormat = TableFormat {
    what: "a compound",
    keys: &[required("parts", Kind::List(&Kind::Table(&PART), at_least(1)), "Its parts.")],
    rules: &[],
};

static PART: TableFormat = TableFormat {
    what: "a part",
    keys: &[
        required("shape", Kind::Table(&SHAPE), "A bounded convex shape."),
        key("position", VECTOR, "In the body's frame, m."),
        key("rotation", ROTATION_OF, "In the body's frame."),
    ],
    rules: &[],
};

static TERRAIN: TableFormat = TableFormat {
    what: "a terrain",
    keys: &[
        key("size", LENGTH, "Side length of the square, m; default 48."),
        key(
            "cells",
            Kind::Integer(range(1.0, 1024.0)),
            "Cells along a side, two triangles each; default 64.",
        ),
        key("height", Kind::Number(from(0.0)), "Of the waves, m; default 0.4."),
        key("bowl", NUMBER, "Factor of x² + z², 1/m; default 0.01."),
    ],
    rules: &[],
};

static TORUS: TableFormat = TableFormat {
    what: "a torus",
    keys: &[
        required("radius", LENGTH, "Of the circle in its middle, m."),
        required("tube", LENGTH, "Radius of the tube around that circle, m."),
        key("segments", Kind::Integer(range(3.0, 256.0)), "Pieces of the circle; default 24."),
    ],
    rules: &[],
};

static CHAIN_LINK: TableFormat =
    TableFormat { what: "a chain link", keys: super::generate::LINK_KEYS, rules: &[] };

static CHESS_PIECE: TableFormat = TableFormat {
    what: "a chess piece",
    keys: &[
        required(
            "piece",
            Kind::Choice(&["pawn", "rook", "knight", "bishop", "queen", "king"]),
            "Which.",
        ),
        key("king_height", LENGTH, "Size of the set: height of its king, m; default 0.95."),
    ],
    rules: &[],
};
