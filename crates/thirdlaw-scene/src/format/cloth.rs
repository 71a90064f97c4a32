//! Cloth: `[cloths.NAME]`, and `[settings.cloth]`.

use super::body::{COPIES, GROUPS, KEYFRAME, ROTATION_OF};
use super::*;

/// Names of fabrics.
pub static FABRICS: [&str; 5] = ["silk", "cotton", "denim", "canvas", "rubber"];
/// Ways to measure bending.
pub static BENDINGS: [&str; 2] = ["curvature", "hinge"];

const AROUND: Kind = Kind::Integer(range(3.0, 1e5));
const ALONG: Kind = Kind::Integer(range(2.0, 1e5));
const NOT_NEGATIVE: Kind = Kind::Number(from(0.0));
const EASE: Kind = Kind::Number(range(0.0, 10.0));

/// A number for warp and weft alike, or one for each.
const PAIR: Kind = Kind::Either(&[NOT_NEGATIVE, Kind::List(&NOT_NEGATIVE, exactly(2))]);
const TRIPLE: Kind = Kind::Either(&[NOT_NEGATIVE, Kind::List(&NOT_NEGATIVE, exactly(3))]);
pub const PINS: Kind =
    Kind::Either(&[Kind::Text, Kind::List(&Kind::Table(&PIN), at_least(0)), Kind::Table(&PIN)]);

/// A cloth.
pub static CLOTH: TableFormat = TableFormat {
    what: "a cloth",
    keys: &[
        required(
            "mesh",
            Kind::Table(&MESH),
            "Its triangles: { grid = { columns = 20, rows = 20, size = [1, 1] } }.",
        ),
        key(
            "fabric",
            Kind::Either(&[Kind::Choice(&FABRICS), Kind::Table(&FABRIC)]),
            "A name, or a table of overrides with `preset`; default \"cotton\".",
        ),
        key(
            "position",
            VECTOR,
            "Where the mesh's origin is placed, m; default the world's origin.",
        ),
        key("rotation", ROTATION_OF, "Orientation: { axis = [1, 0, 0], degrees = 90 }."),
        key("velocity", VECTOR, "Of all vertices at the start, m/s."),
        key(
            "pins",
            PINS,
            "What is held: a group of vertices such as \"corners\", or a list of pins.",
        ),
        key("groups", Kind::Table(&GROUPS), "Which bodies and cloths it may touch."),
        key(
            "self_collision",
            Kind::Flag,
            "Whether it collides with itself and other cloths; default true.",
        ),
        key("gravity_scale", NUMBER, "Factor on gravity; default 1."),
        key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
        key("copies", Kind::Table(&COPIES), "More of the same, named NAME.0, NAME.1, …"),
    ],
    rules: &[],
};

static MESH: TableFormat = TableFormat {
    what: "a cloth mesh",
    keys: &[
        key("grid", Kind::Table(&GRID), "A sheet in the xz plane, warp along x."),
        key("sheet", Kind::Table(&SHEET), "A rectangle in the xz plane of so many triangles."),
        key("disc", Kind::Table(&DISC), "A disc in the xz plane."),
        key("tube", Kind::Table(&TUBE), "A tube about the y axis, warp along y."),
        key("skirt", Kind::Table(&SKIRT), "Part of a cone about the y axis, from y = 0 down."),
        key("shirt", Kind::Table(&SHIRT), "Torso and two sleeves for a figure with arms spread."),
        key("pants", Kind::Table(&PANTS), "Two legs for a figure that stands."),
        key("surface", Kind::Table(&SURFACE), "Triangles from a file or by hand."),
    ],
    rules: &[Rule::One(&["grid", "sheet", "disc", "tube", "skirt", "shirt", "pants", "surface"])],
};

static GRID: TableFormat = TableFormat {
    what: "a grid of cloth",
    keys: &[
        required("columns", ALONG, "Vertices along x."),
        required("rows", ALONG, "Vertices along z; the first row, at the lowest z, is the top."),
        required("size", Kind::List(&LENGTH, exactly(2)), "Extent along x and z, m."),
    ],
    rules: &[],
};

static SHEET: TableFormat = TableFormat {
    what: "a sheet of cloth",
    keys: &[
        required("triangles", Kind::Integer(range(2.0, 1e7)), "Exactly so many."),
        required("size", Kind::List(&LENGTH, exactly(2)), "Extent along x and z, m."),
    ],
    rules: &[],
};

static DISC: TableFormat = TableFormat {
    what: "a disc of cloth",
    keys: &[
        required("rings", Kind::Integer(range(1.0, 1e4)), "Rings of vertices around the middle."),
        required("radius", LENGTH, "m."),
    ],
    rules: &[],
};

static TUBE: TableFormat = TableFormat {
    what: "a tube of cloth",
    keys: &[
        required("around", AROUND, "Vertices around."),
        required("along", ALONG, "Vertices from end to end."),
        required("radius", LENGTH, "m."),
        required("height", LENGTH, "m."),
    ],
    rules: &[],
};

static SKIRT: TableFormat = TableFormat {
    what: "a skirt",
    keys: &[
        required("around", AROUND, "Vertices around."),
        required("along", ALONG, "Vertices from waist to hem."),
        required("waist", LENGTH, "Radius at the top, m."),
        required("hem", LENGTH, "Radius at the bottom, m."),
        required("length", LENGTH, "From waist to hem along the cloth, m."),
    ],
    rules: &[],
};

static SHIRT: TableFormat = TableFormat {
    what: "a shirt",
    keys: &[
        key("spacing", LENGTH, "From vertex to vertex, about, m; default 0.02."),
        key("ease", EASE, "Room between body and cloth, m; default 0.02."),
        key("length", LENGTH, "From the shoulder line to the hem, m; default 0.62."),
        key("sleeve", LENGTH, "From the armpit to the cuff, m; default 0.4."),
        key(
            "flare",
            Kind::Number(range(0.5, 3.0)),
            "Width of the hem over that of the chest; default 1.",
        ),
        key(
            "puff",
            Kind::Number(range(0.5, 3.0)),
            "Width of the cuff over that of the armhole; default 0.8.",
        ),
    ],
    rules: &[],
};

static PANTS: TableFormat = TableFormat {
    what: "pants",
    keys: &[
        key("spacing", LENGTH, "From vertex to vertex, about, m; default 0.02."),
        key("ease", EASE, "Room between body and cloth, m; default 0.02."),
        key("inseam", LENGTH, "From the crotch to the cuff, m; default 0.72."),
        key(
            "flare",
            Kind::Number(range(0.5, 3.0)),
            "Width of the cuff over that of the thigh; default 0.8.",
        ),
    ],
    rules: &[],
};

static SURFACE: TableFormat = TableFormat {
    what: "a cloth surface",
    keys: &[
        key("file", Kind::Text, "A mesh file beside the scene: OBJ, STL, PLY or glTF."),
        key("up", super::shape::UP, super::shape::UP_DOC),
        key(
            "texture_size",
            Kind::Either(&[LENGTH, Kind::List(&LENGTH, exactly(2))]),
            "Take the rest coordinates from the file's texture coordinates, of which one unit is so \
             long along u and v, m.",
        ),
        key("vertices", VECTORS, "m."),
        key("triangles", super::shape::TRIANGLES, "Corners counted from 0."),
        key(
            "coordinates",
            Kind::List(&Kind::List(&NUMBER, exactly(2)), at_least(0)),
            "Rest coordinates u, v of each vertex, m; default: every triangle laid flat.",
        ),
        key(
            "warp",
            VECTOR,
            "Where coordinates are not given: direction of the warp; default [0, 1, 0].",
        ),
        key(
            "keep_angles",
            Kind::Flag,
            "Where coordinates are not given: folds rest at the angles of the shape; default false, flat.",
        ),
        key("scale", super::shape::SCALE, super::shape::SCALE_DOC),
    ],
    rules: &[
        Rule::One(&["file", "vertices"]),
        Rule::Needs("vertices", "triangles"),
        Rule::Needs("triangles", "vertices"),
        Rule::Needs("coordinates", "vertices"),
        Rule::Needs("up", "file"),
        Rule::Needs("texture_size", "file"),
    ],
};

static FABRIC: TableFormat = TableFormat {
    what: "a fabric",
    keys: &[
        key(
            "preset",
            Kind::Choice(&FABRICS),
            "Where the other values come from; default \"cotton\".",
        ),
        key("density", Kind::Number(POSITIVE), "kg/m²."),
        key("stretch", PAIR, "Membrane stiffness along warp and weft, N/m."),
        key(
            "rest_scale",
            PAIR,
            "Length at rest along warp and weft over that of the mesh; less shrinks it; default 1.",
        ),
        key(
            "shear",
            NOT_NEGATIVE,
            "Resistance to a change of the angle between warp and weft, N/m.",
        ),
        key("bend", PAIR, "Bending stiffness along warp and weft, N·m."),
        key(
            "bending",
            Kind::Choice(&BENDINGS),
            "Measured by the curvature of each triangle (default) or by each hinge alone.",
        ),
        key("damping", TRIPLE, "Of stretch, shear and bend, s."),
        key("friction", Kind::Number(range(0.0, 1e6)), "Coulomb's μ."),
        key("thickness", Kind::Number(POSITIVE), "Where it touches something, m."),
        key("drag", NOT_NEGATIVE, "Air drag coefficient; 0: the air does not slow it."),
        key("lift", NOT_NEGATIVE, "Lift coefficient."),
    ],
    rules: &[],
};

static PIN: TableFormat = TableFormat {
    what: "a pin",
    keys: &[
        key(
            "group",
            Kind::Text,
            "Vertices by name. Any mesh: \"all\", \"border\". Grid: \"corners\", \"corner.top-left\", …, \
             \"edge.top\", \"edge.bottom\", \"edge.left\", \"edge.right\". Tube and skirt: \"edge.top\", \
             \"edge.bottom\". Shirt: \"neck\", \"hem\", \"cuffs\". Pants: \"waist\", \"cuffs\". Soft body: \
             \"left\", \"right\", \"bottom\", \"top\", \"back\", \"front\", the vertices farthest that way.",
        ),
        key(
            "vertices",
            Kind::List(&Kind::Integer(range(0.0, 4e9)), at_least(1)),
            "Vertices by number, counted from 0.",
        ),
        key("box", Kind::Table(&REGION), "Vertices in a box in the mesh's own frame."),
        key(
            "nearest",
            Kind::List(&VECTOR, at_least(1)),
            "The vertices nearest to these points in the mesh's own frame, m.",
        ),
        key("keyframes", Kind::Table(&PATH), "Held by a moving frame instead of where they start."),
        key("body", Kind::Text, "Held by this body, at which they pull."),
        key(
            "inside",
            Kind::Text,
            "Bound to the tetrahedra of this soft body where they lie, and pull at it.",
        ),
        key("surface", Kind::Text, "Bound to the nearest places on this cloth or soft body."),
        key(
            "stiffness",
            Kind::Number(POSITIVE),
            "Bound by a spring of each vertex instead of fast, N/m.",
        ),
        key(
            "damping",
            Kind::Number(from(0.0)),
            "Time in which that spring acts on the rate of the gap, s; default 0.",
        ),
        key(
            "directions",
            Kind::List(&VECTOR, LengthRange { least: 1, most: 3 }),
            "Held along these directions only, free along the others.",
        ),
    ],
    rules: &[
        Rule::One(&["group", "vertices", "box", "nearest"]),
        Rule::AtMostOne(&["keyframes", "body", "inside", "surface", "directions"]),
        Rule::Needs("damping", "stiffness"),
    ],
};

static PATH: TableFormat = TableFormat {
    what: "a path",
    keys: &[
        required(
            "keys",
            Kind::List(&Kind::Table(&KEYFRAME), at_least(1)),
            "Poses of the frame in the order of time; default those of the cloth.",
        ),
        key("smooth", Kind::Flag, "Ease in and out of every key; default false."),
    ],
    rules: &[],
};

static REGION: TableFormat = TableFormat {
    what: "a region",
    keys: &[
        required("min", VECTOR, "Lowest corner, m."),
        required("max", VECTOR, "Highest corner, m."),
    ],
    rules: &[],
};

/// Cloth solvers by their names in scene files.
pub static CLOTH_SOLVERS: [&str; 3] = ["filtered", "direct", "penalty"];

/// `[settings.cloth]`.
pub static CLOTH_SETTINGS: TableFormat = TableFormat {
    what: "cloth settings",
    keys: &[
        key(
            "solver",
            Kind::Choice(&CLOTH_SOLVERS),
            "Conjugate gradients with a filter (default), the dense W-form, or stiff springs.",
        ),
        key(
            "tolerance",
            Kind::Number(range(1e-15, 1.0)),
            "Residual at which conjugate gradients stop, relative to the start.",
        ),
        key("iterations", Kind::Integer(range(1.0, 1e5)), "Most iterations in a round."),
        key(
            "rounds",
            Kind::Integer(range(1.0, 100.0)),
            "Most rounds in which contacts are judged and the system is solved again.",
        ),
        key(
            "strain_step",
            Kind::Number(from(1e-6)),
            "Rise of the largest strain at which a step is made again with half the length.",
        ),
        key("wind", VECTOR, "Velocity of the air, m/s; default [0, 0, 0]."),
        key("air", Kind::Flag, "Whether there is air; default true."),
        key(
            "forces",
            Kind::Choice(&["followed", "linear", "solved"]),
            "Whether forces follow the motion within a step (default), are linearized once, as in the paper, or steps are solved by Newton's method to an error of velocities: slower, and nothing that slides as a whole is held back.",
        ),
        key(
            "precision",
            Kind::Choice(&["auto", "single", "double"]),
            "Numbers that search directions are multiplied in; default \"auto\", single where tolerance and stiffness allow it.",
        ),
        key(
            "preconditioner",
            Kind::Choice(&["auto", "jacobi", "levels", "factor"]),
            "What speeds up conjugate gradients: each particle's own block, coarser levels, or, with forces \"solved\", a sparse factor; default \"auto\", what is likely to be fastest.",
        ),
        key(
            "self_collision",
            Kind::Choice(&["springs", "robust"]),
            "What keeps surfaces from passing each other: springs and shorter steps (default), or springs, impulses and rigid zones, so that nothing passes.",
        ),
    ],
    rules: &[],
};
