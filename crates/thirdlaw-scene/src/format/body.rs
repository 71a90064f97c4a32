//! Rigid bodies: `[bodies.NAME]` and what `[generate.NAME]` shares with it.

use super::generate::GENERATORS;
use super::scene::MATERIAL;
use super::shape::SHAPE;
use super::*;

const KINDS: Kind = Kind::Choice(&["dynamic", "kinematic", "fixed"]);
/// A material by name or by its numbers.
pub const MATERIAL_OF: Kind = Kind::Either(&[Kind::Material, Kind::Table(&MATERIAL)]);
const FORCES: Kind = Kind::List(&Kind::Table(&FORCE), at_least(0));
const GROUP: Kind = Kind::Integer(range(0.0, 31.0));
const GROUP_LIST: Kind = Kind::List(&GROUP, LengthRange { least: 0, most: 32 });
const AXES: Kind = Kind::List(&Kind::Choice(&["x", "y", "z"]), LengthRange { least: 0, most: 3 });

/// Keys that bodies and generated bodies share.
macro_rules! body_keys {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            key("kind", KINDS, "Moved by forces (\"dynamic\", default), keyframes (\"kinematic\") or nothing (\"fixed\")."),
            key("position", VECTOR, "Where its own origin is placed, m; default the world's origin."),
            key("rotation", ROTATION_OF, "Orientation: { axis = [0, 1, 0], degrees = 30 }."),
            key("velocity", VECTOR, "Of the centre of mass, m/s."),
            key("angular_velocity", VECTOR, "In world axes, rad/s."),
            key("mass", Kind::Number(POSITIVE), "kg, spread evenly over the shape."),
            key("density", Kind::Number(POSITIVE), "kg/m³; default the material's, else 1000."),
            key("material", MATERIAL_OF, "A name, or a table of overrides with `base`."),
            key("groups", Kind::Table(&GROUPS), "Which bodies it may touch."),
            key("damping", Kind::Table(&DAMPING), "Decay of its velocity."),
            key("gravity_scale", NUMBER, "Factor on gravity; default 1."),
            key("locks", Kind::Table(&LOCKS), "World axes along and about which it cannot move."),
            key("forces", FORCES, "Constant and timed forces."),
            key("can_sleep", Kind::Flag, "Whether it may fall asleep; default true."),
            key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
        ]
    };
}

/// A body.
pub static BODY: TableFormat = TableFormat {
    what: "a body",
    keys: body_keys![
        required("shape", Kind::Table(&SHAPE), "Its surface: { box = { size = [1, 1, 1] } }."),
        key("inertia", Kind::Table(&INERTIA), "Centre and moments of the mass by hand."),
        key("keyframes", Kind::Table(&KEYFRAMES), "Path of a kinematic body."),
        key("copies", Kind::Table(&COPIES), "More of the same, named NAME.0, NAME.1, …"),
    ],
    rules: &[Rule::AtMostOne(&["mass", "density"]), Rule::Needs("inertia", "mass")],
};

/// Bodies made by a generator.
pub static GENERATED: TableFormat = TableFormat {
    what: "generated bodies",
    keys: body_keys![required(
        "make",
        Kind::Table(&GENERATORS),
        "The generator and its numbers: { pyramid = { base = 10 } }."
    )],
    rules: &[Rule::AtMostOne(&["mass", "density"])],
};

/// Orientation.
pub const ROTATION_OF: Kind = Kind::Table(&ROTATION);

static ROTATION: TableFormat = TableFormat {
    what: "a rotation",
    keys: &[
        key("axis", VECTOR, "Axis of the turn, any length."),
        key("degrees", NUMBER, "Angle about `axis`, counter-clockwise seen against it."),
        key("quaternion", Kind::List(&NUMBER, exactly(4)), "w, x, y, z; any length."),
        key("euler", VECTOR, "Degrees about the world's x, then y, then z axis."),
    ],
    rules: &[
        Rule::One(&["axis", "quaternion", "euler"]),
        Rule::Needs("axis", "degrees"),
        Rule::Needs("degrees", "axis"),
    ],
};

static INERTIA: TableFormat = TableFormat {
    what: "an inertia",
    keys: &[
        key("center", VECTOR, "Centre of mass in the body's frame, m; default its origin."),
        required(
            "moments",
            VECTOR,
            "Ixx, Iyy, Izz about the centre of mass in the body's axes, kg·m².",
        ),
        key("products", VECTOR, "Off the diagonal: Ixy, Ixz, Iyz, kg·m²; default 0."),
    ],
    rules: &[],
};

/// Who touches whom.
pub static GROUPS: TableFormat = TableFormat {
    what: "groups",
    keys: &[
        key("member", GROUP_LIST, "Groups it belongs to, 0 to 31; default [0]."),
        key("collides", GROUP_LIST, "Groups it collides with, 0 to 31; default all."),
    ],
    rules: &[],
};

static DAMPING: TableFormat = TableFormat {
    what: "damping",
    keys: &[
        key("linear", Kind::Number(from(0.0)), "Decay of the velocity, 1/s; default 0."),
        key("angular", Kind::Number(from(0.0)), "Decay of the angular velocity, 1/s; default 0."),
    ],
    rules: &[],
};

static LOCKS: TableFormat = TableFormat {
    what: "locks",
    keys: &[
        key("translation", AXES, "World axes it cannot move along."),
        key("rotation", AXES, "World axes it cannot turn about."),
    ],
    rules: &[],
};

static FORCE: TableFormat = TableFormat {
    what: "a force",
    keys: &[
        key("force", VECTOR, "N."),
        key("torque", VECTOR, "N·m."),
        key(
            "point",
            VECTOR,
            "Where the force acts, in the body's frame, m; default the centre of mass.",
        ),
        key("local", Kind::Flag, "Whether it turns with the body; default false."),
        key("from", NUMBER, "When it begins, s; default 0."),
        key("until", NUMBER, "When it ends, s; default never."),
    ],
    rules: &[],
};

static KEYFRAMES: TableFormat = TableFormat {
    what: "keyframes",
    keys: &[
        required(
            "keys",
            Kind::List(&Kind::Table(&KEYFRAME), at_least(1)),
            "Poses in the order of time.",
        ),
        key("repeat", Kind::Flag, "Start again after the last; default false."),
        key("smooth", Kind::Flag, "Ease in and out of every key; default false."),
    ],
    rules: &[],
};

pub(super) static KEYFRAME: TableFormat = TableFormat {
    what: "a keyframe",
    keys: &[
        required("time", NUMBER, "s."),
        key("position", VECTOR, "m; default the body's."),
        key("rotation", ROTATION_OF, "Default the body's."),
        key("turn", Kind::Table(&TURN), "Instead: turned so far since the key before."),
    ],
    rules: &[Rule::AtMostOne(&["rotation", "turn"])],
};

static TURN: TableFormat = TableFormat {
    what: "a turn",
    keys: &[
        required("axis", VECTOR, "In world axes, any length."),
        required("degrees", NUMBER, "Any number; 720 is twice around."),
    ],
    rules: &[],
};

pub(super) static COPIES: TableFormat = TableFormat {
    what: "copies",
    keys: &[
        key("grid", Kind::Table(&GRID), "In rows, columns and layers."),
        key("scatter", Kind::Table(&SCATTER), "At random places in a box; the seed fixes them."),
        key("list", Kind::List(&Kind::Table(&COPY), at_least(1)), "Each by hand."),
    ],
    rules: &[Rule::One(&["grid", "scatter", "list"])],
};

/// Rows, columns and layers.
pub static GRID: TableFormat = TableFormat {
    what: "a grid",
    keys: &[
        required(
            "count",
            Kind::List(&Kind::Integer(range(1.0, 1e6)), exactly(3)),
            "How many along x, y, z.",
        ),
        required("spacing", VECTOR, "From one to the next along x, y, z, m."),
        key(
            "center",
            Kind::Flag,
            "Whether `position` is the middle of the grid in x and z instead of its corner; default false.",
        ),
    ],
    rules: &[],
};

static SCATTER: TableFormat = TableFormat {
    what: "a scatter",
    keys: &[
        required("count", Kind::Integer(range(1.0, 1e6)), "How many."),
        required(
            "size",
            Kind::List(&Kind::Number(from(0.0)), exactly(3)),
            "Extent of the box about `position`, m.",
        ),
        key("seed", Kind::Integer(range(0.0, 9e15)), "Another seed, other places; default 0."),
        key("turn", Kind::Flag, "Whether each is turned at random; default false."),
    ],
    rules: &[],
};

static COPY: TableFormat = TableFormat {
    what: "a copy",
    keys: &[
        key("position", VECTOR, "From the body's `position`, in world axes, m."),
        key("rotation", ROTATION_OF, "On top of the body's, in world axes."),
        key("velocity", VECTOR, "Instead of the body's, m/s."),
        key("angular_velocity", VECTOR, "Instead of the body's, rad/s."),
    ],
    rules: &[],
};
