//! Soft bodies: `[soft_bodies.NAME]`.

use super::body::{COPIES, GROUPS, ROTATION_OF};
use super::bones::BONES;
use super::cloth::PINS;
use super::shape::{MESH_FILE, SCALE, SCALE_DOC, TRIANGLES, UP, UP_DOC};
use super::*;

/// Names of solids.
pub static SOLIDS: [&str; 5] = thirdlaw::energy::solid::SOLIDS;
/// Laws of solids by their names in scene files.
pub static LAWS: [&str; 5] =
    ["neo-hookean", "corotated", "st-venant-kirchhoff", "linear", "springs"];

const CELLS: Kind = Kind::Integer(range(1.0, 1e4));
const SPACING: Key =
    key("spacing", LENGTH, "Size of its tetrahedra, m; default an eighth of its width.");

/// A soft body.
pub static SOFT_BODY: TableFormat = TableFormat {
    what: "a soft body",
    keys: &[
        required(
            "mesh",
            Kind::Table(&MESH),
            "Its tetrahedra: { box = { size = [1, 1, 1], cells = [4, 4, 4] } }.",
        ),
        key(
            "material",
            Kind::Either(&[Kind::Choice(&SOLIDS), Kind::Table(&SOLID)]),
            "A name, or a table of overrides with `preset`; default \"rubber\".",
        ),
        key("friction", Kind::Number(range(0.0, 1e6)), "Coulomb's μ; default 0.5."),
        key(
            "thickness",
            Kind::Number(POSITIVE),
            "Of the skin that keeps surfaces apart where they touch, m; default 0.001.",
        ),
        key(
            "position",
            VECTOR,
            "Where the mesh's origin is placed, m; default the world's origin.",
        ),
        key("rotation", ROTATION_OF, "Orientation: { axis = [1, 0, 0], degrees = 90 }."),
        key("velocity", VECTOR, "Of all vertices at the start, m/s."),
        key("pins", PINS, "What is held: a group of vertices such as \"left\", or a list of pins."),
        key(
            "bones",
            Kind::Table(&BONES),
            "A skeleton in it, jointed and driven; each copy gets its own.",
        ),
        key("groups", Kind::Table(&GROUPS), "Which bodies, cloths and soft bodies it may touch."),
        key(
            "self_collision",
            Kind::Flag,
            "Whether it collides with itself, cloths and other soft bodies; default true.",
        ),
        key("gravity_scale", NUMBER, "Factor on gravity; default 1."),
        key(
            "incompressible",
            Kind::Flag,
            "Whether the volume around every vertex stays what it is at rest; default false.",
        ),
        key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
        key("copies", Kind::Table(&COPIES), "More of the same, named NAME.0, NAME.1, …"),
    ],
    rules: &[],
};

static MESH: TableFormat = TableFormat {
    what: "a mesh of tetrahedra",
    keys: &[
        key("box", Kind::Table(&BOX), "A box of cells of five tetrahedra."),
        key("ball", Kind::Table(&BALL), "A ball."),
        key("cylinder", Kind::Table(&CYLINDER), "A cylinder about the y axis."),
        key("torus", Kind::Table(&TORUS), "A ring about the y axis."),
        key("tube", Kind::Table(&TUBE), "A cylinder about the y axis with a hole along it."),
        key("blob", Kind::Table(&BLOB), "Balls that run into each other, as organic shapes do."),
        key("lathe", Kind::Table(&LATHE), "A solid of revolution along x: the body of an animal."),
        key("tetrahedra", Kind::Table(&TETRAHEDRA), "Tetrahedra from a file."),
        key(
            "surface",
            Kind::Table(&FILLED),
            "A closed surface from a file or by hand, filled with tetrahedra; it is what pictures show.",
        ),
    ],
    rules: &[Rule::One(&[
        "box",
        "ball",
        "cylinder",
        "torus",
        "tube",
        "blob",
        "lathe",
        "tetrahedra",
        "surface",
    ])],
};

static BOX: TableFormat = TableFormat {
    what: "a box of tetrahedra",
    keys: &[
        required("size", Kind::List(&LENGTH, exactly(3)), "Extent along x, y and z, m."),
        required("cells", Kind::List(&CELLS, exactly(3)), "Cells along x, y and z."),
    ],
    rules: &[],
};

static BALL: TableFormat = TableFormat {
    what: "a ball of tetrahedra",
    keys: &[required("radius", LENGTH, "m."), SPACING],
    rules: &[],
};

static CYLINDER: TableFormat = TableFormat {
    what: "a cylinder of tetrahedra",
    keys: &[required("radius", LENGTH, "m."), required("height", LENGTH, "m."), SPACING],
    rules: &[],
};

static TORUS: TableFormat = TableFormat {
    what: "a torus of tetrahedra",
    keys: &[
        required("radius", LENGTH, "Of the circle in its middle, m."),
        required("tube", LENGTH, "Radius of the tube around that circle, m."),
        SPACING,
    ],
    rules: &[],
};

static TUBE: TableFormat = TableFormat {
    what: "a tube of tetrahedra",
    keys: &[
        required("radius", LENGTH, "m."),
        required("inner", LENGTH, "Radius of the hole, m."),
        required("height", LENGTH, "m."),
        SPACING,
    ],
    rules: &[],
};

static BLOB: TableFormat = TableFormat {
    what: "a blob of tetrahedra",
    keys: &[
        required(
            "balls",
            Kind::List(&Kind::List(&NUMBER, exactly(4)), at_least(1)),
            "Centre (x, y, z) and radius of each, m.",
        ),
        required("blend", LENGTH, "How far balls run into each other, m."),
        SPACING,
    ],
    rules: &[],
};

static LATHE: TableFormat = TableFormat {
    what: "a lathed body",
    keys: &[
        required(
            "profile",
            Kind::List(&Kind::List(&NUMBER, exactly(2)), at_least(3)),
            "Places along x with the radius there, rising, from tip to tip, m.",
        ),
        key(
            "flat",
            Kind::List(&Kind::Number(POSITIVE), exactly(2)),
            "Factors on its height (y) and width (z); default [1, 1].",
        ),
        key("around", Kind::Integer(range(3.0, 256.0)), "Corners of its circles; default 24."),
        SPACING,
    ],
    rules: &[],
};

static TETRAHEDRA: TableFormat = TableFormat {
    what: "tetrahedra from a file",
    keys: &[
        required(
            "file",
            Kind::Text,
            "Beside the scene: Gmsh's .msh, VTK's .vtk, or TetGen's .ele with its .node.",
        ),
        key("up", UP, UP_DOC),
        key("scale", SCALE, SCALE_DOC),
    ],
    rules: &[],
};

static FILLED: TableFormat = TableFormat {
    what: "a closed surface to be filled",
    keys: &[
        key("file", Kind::Text, MESH_FILE),
        key("up", UP, UP_DOC),
        key("vertices", VECTORS, "m."),
        key("triangles", TRIANGLES, "Corners counted from 0, counter-clockwise seen from outside."),
        key("scale", SCALE, SCALE_DOC),
        SPACING,
    ],
    rules: &[
        Rule::One(&["file", "vertices"]),
        Rule::Needs("up", "file"),
        Rule::Needs("vertices", "triangles"),
        Rule::Needs("triangles", "vertices"),
    ],
};

static SOLID: TableFormat = TableFormat {
    what: "a solid",
    keys: &[
        key(
            "preset",
            Kind::Choice(&SOLIDS),
            "Where the other values come from; default \"rubber\".",
        ),
        key("law", Kind::Choice(&LAWS), "How stress follows from strain; default \"neo-hookean\"."),
        key("young", Kind::Number(POSITIVE), "Young's modulus, Pa."),
        key(
            "poisson",
            Kind::Number(Range { low: -1.0, high: 0.499_999, above: true }),
            "Poisson's ratio, below 0.5; no matter for springs.",
        ),
        key("density", Kind::Number(POSITIVE), "kg/m³."),
        key(
            "damping",
            Kind::Number(from(0.0)),
            "Time in which the stiffness acts on the rate of strain, s; rigid motion is not damped.",
        ),
    ],
    rules: &[],
};
