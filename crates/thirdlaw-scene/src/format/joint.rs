//! Joints and point masses: `[joints.NAME]`, `[points.NAME]` and `[settings.joints]`.

use super::body::{GRID, ROTATION_OF};
use super::*;

/// Kinds that need no numbers of their own.
pub static PLAIN_KINDS: [&str; 9] =
    ["fixed", "ball", "hinge", "slider", "universal", "cylindrical", "planar", "rope", "rod"];

/// Coordinates of a joint by their names in scene files, in the engine's order.
pub static AXIS_NAMES: [&str; 6] = ["x", "y", "z", "turn_x", "turn_y", "turn_z"];

const JOINT_KIND: Kind = Kind::Either(&[Kind::Choice(&PLAIN_KINDS), Kind::Table(&KINDS)]);
const POINTS: Kind = Kind::List(&VECTOR, at_least(2));
const PAIR: Kind = Kind::List(&NUMBER, exactly(2));
/// Gains and resistances.
pub const ACTING: Kind = Kind::Number(from(0.0));
const GAIN: Kind = ACTING;
/// Limits of a coordinate.
pub const LIMITS_OF: Kind = Kind::Either(&[PAIR, Kind::Table(&LIMITS)]);
const ENFORCEMENT: Kind = Kind::Either(&[
    Kind::Choice(&["stabilized", "reduced", "pseudo-time", "projection"]),
    Kind::Table(&ENFORCEMENTS),
]);

/// A joint, or the joints of a chain or of copies.
pub static JOINT: TableFormat = TableFormat {
    what: "a joint",
    keys: &[
        required("kind", JOINT_KIND, "\"hinge\", or with numbers: { rope = { length = 2 } }."),
        key(
            "between",
            Kind::List(&Kind::Text, exactly(2)),
            "Its two sides: names of bodies or points, or \"world\"; \"NAME.*\" makes a joint for each copy.",
        ),
        key(
            "chain",
            Kind::List(&Kind::Text, at_least(1)),
            "Joints from each to the next; the name of copies stands for all of them.",
        ),
        key("at", VECTOR, "Where both anchors are in the world, m."),
        key("step", VECTOR, "From `at` of one joint of a chain or of copies to the next, m."),
        key("anchor", VECTOR, "Where both anchors are, in the frame of the second side, m."),
        key(
            "anchors",
            Kind::List(&VECTOR, exactly(2)),
            "Where the anchors are, each in the frame of its own side, m.",
        ),
        key(
            "frames",
            Kind::List(&Kind::Table(&FRAME), exactly(2)),
            "Where the anchors are and how they are turned, each in the frame of its own side.",
        ),
        key("axis", VECTOR, "Direction in the world of what it turns about or slides along."),
        key("rotation", ROTATION_OF, "Orientation of both frames in the world; x is the axis."),
        key("limits", LIMITS_OF, "Least and greatest value of its coordinate, m or rad."),
        key("friction", GAIN, "Force (N) or torque (N·m) it takes to move its coordinate."),
        key("spring", Kind::Table(&SPRING), "A spring on its coordinate."),
        key("drive", Kind::Table(&DRIVE), "A drive on its coordinate."),
        key("axes", Kind::Table(&AXES), "The same for each coordinate of a joint with several."),
        key("breaking", Kind::Table(&BREAKING), "Beyond what it breaks; default never."),
        key(
            "collide",
            Kind::Flag,
            "Whether its two bodies may touch; default false, true for springs.",
        ),
        key("enforcement", ENFORCEMENT, "How it is held; default as in [settings.joints]."),
        key(
            "assemble",
            Kind::Flag,
            "Pull together sides that are apart at the start; default false.",
        ),
        key("color", Kind::Color, "Of ropes, rods, springs and wires in pictures."),
    ],
    rules: &[
        Rule::AtMostOne(&["between", "chain"]),
        Rule::AtMostOne(&["at", "anchor", "anchors", "frames"]),
        Rule::AtMostOne(&["axis", "rotation", "frames"]),
        Rule::Needs("step", "at"),
    ],
};

static KINDS: TableFormat = TableFormat {
    what: "a kind of joint",
    keys: &[
        key("rope", Kind::Table(&LINE), "Anchors no farther apart than a length."),
        key("rod", Kind::Table(&LINE), "Anchors a length apart."),
        key("distance", Kind::Table(&DISTANCE), "Anchors between two distances apart."),
        key("curve", Kind::Table(&CURVE), "The second side on a wire: a bead."),
        key("gear", Kind::Table(&GEAR), "One joint turns with another."),
        key("rack", Kind::Table(&RACK), "A slider moves with a hinge."),
        key("six_axis", Kind::Table(&SIX_AXIS), "Free along and about what is named."),
        key("spring", Kind::Table(&LINE_SPRING), "A spring–damper between the anchors."),
        key("angular_spring", Kind::Table(&TURN_SPRING), "A spring–damper between orientations."),
    ],
    rules: &[Rule::One(&[
        "rope",
        "rod",
        "distance",
        "curve",
        "gear",
        "rack",
        "six_axis",
        "spring",
        "angular_spring",
    ])],
};

static LINE: TableFormat = TableFormat {
    what: "a rope or rod",
    keys: &[key("length", LENGTH, "m; default the distance at the start.")],
    rules: &[],
};

static DISTANCE: TableFormat = TableFormat {
    what: "a distance",
    keys: &[
        key("min", Kind::Number(from(0.0)), "Least, m; default 0."),
        key("max", Kind::Number(from(0.0)), "Greatest, m; default unlimited."),
    ],
    rules: &[],
};

static CURVE: TableFormat = TableFormat {
    what: "a curve",
    keys: &[
        required("points", POINTS, "Points on it, from `at` or the first side's origin, m."),
        key(
            "closed",
            Kind::Flag,
            "Whether the last point is followed by the first; default false.",
        ),
    ],
    rules: &[],
};

static GEAR: TableFormat = TableFormat {
    what: "a gear",
    keys: &[
        required("first", Kind::Text, "Name of the driving joint."),
        required("second", Kind::Text, "Name of the joint that follows."),
        required(
            "ratio",
            NUMBER,
            "Turn of the second per turn of the first; negative: against it.",
        ),
    ],
    rules: &[],
};

static RACK: TableFormat = TableFormat {
    what: "a rack",
    keys: &[
        required("hinge", Kind::Text, "Name of the pinion's joint."),
        required("slider", Kind::Text, "Name of the rack's joint."),
        required("radius", NUMBER, "m of the slider per rad of the hinge."),
    ],
    rules: &[],
};

static SIX_AXIS: TableFormat = TableFormat {
    what: "a six-axis joint",
    keys: &[required(
        "free",
        Kind::List(&Kind::Choice(&AXIS_NAMES), LengthRange { least: 0, most: 6 }),
        "Coordinates that may change; the others are held at zero.",
    )],
    rules: &[],
};

static LINE_SPRING: TableFormat = TableFormat {
    what: "a spring between anchors",
    keys: &[
        required("stiffness", GAIN, "N/m."),
        key("damping", GAIN, "N·s/m; default 0."),
        key("length", GAIN, "At which it rests, m; default the distance at the start."),
    ],
    rules: &[],
};

static TURN_SPRING: TableFormat = TableFormat {
    what: "an angular spring",
    keys: &[required("stiffness", GAIN, "N·m/rad."), key("damping", GAIN, "N·m·s/rad; default 0.")],
    rules: &[],
};

static FRAME: TableFormat = TableFormat {
    what: "a frame",
    keys: &[
        key("position", VECTOR, "The anchor, m; default the side's origin."),
        key("axis", VECTOR, "Direction of what the joint turns about or slides along."),
        key("rotation", ROTATION_OF, "Orientation; x is the axis."),
    ],
    rules: &[Rule::AtMostOne(&["axis", "rotation"])],
};

static LIMITS: TableFormat = TableFormat {
    what: "limits",
    keys: &[
        key("lower", NUMBER, "Least value, m or rad; default none."),
        key("upper", NUMBER, "Greatest value, m or rad; default none."),
        key("restitution", Kind::Number(range(0.0, 1.0)), "Newton's e against them; default 0."),
    ],
    rules: &[],
};

/// A spring on a coordinate.
pub static SPRING: TableFormat = TableFormat {
    what: "a spring",
    keys: &[
        key("stiffness", GAIN, "N/m or N·m/rad; default 0."),
        key("damping", GAIN, "N·s/m or N·m·s/rad; default 0."),
        key("rest", NUMBER, "Value of the coordinate at which it rests, m or rad; default 0."),
    ],
    rules: &[],
};

/// A drive.
pub static DRIVE: TableFormat = TableFormat {
    what: "a drive",
    keys: &[
        key("stiffness", GAIN, "Towards the target, N/m or N·m/rad; default 0."),
        key("damping", GAIN, "Towards the target's velocity, N·s/m or N·m·s/rad; default 0."),
        key(
            "target",
            Kind::Either(&[NUMBER, Kind::Table(&TARGET)]),
            "Where to, m or rad; default 0.",
        ),
        key("velocity", NUMBER, "How fast at a constant target, m/s or rad/s; default 0."),
        key("motor", NUMBER, "Instead: the velocity it holds as long as its limit allows."),
        key("effort", NUMBER, "Force (N) or torque (N·m) added to the rest; default 0."),
        key("limit", GAIN, "Largest force (N) or torque (N·m); default none."),
    ],
    rules: &[
        Rule::AtMostOne(&["motor", "stiffness"]),
        Rule::AtMostOne(&["motor", "damping"]),
        Rule::AtMostOne(&["motor", "target"]),
        Rule::AtMostOne(&["motor", "velocity"]),
    ],
};

static TARGET: TableFormat = TableFormat {
    what: "a target",
    keys: &[
        key("keyframes", Kind::List(&PAIR, at_least(1)), "[time, value], s and m or rad."),
        key("repeat", Kind::Flag, "Start again after the last keyframe; default false."),
        key("sine", Kind::Table(&SINE), "A swing."),
    ],
    rules: &[Rule::One(&["keyframes", "sine"]), Rule::Needs("repeat", "keyframes")],
};

static SINE: TableFormat = TableFormat {
    what: "a sine",
    keys: &[
        required("amplitude", NUMBER, "m or rad."),
        required("frequency", NUMBER, "Hz."),
        key("center", NUMBER, "m or rad; default 0."),
        key("phase", NUMBER, "rad; default 0."),
    ],
    rules: &[],
};

const AXIS_OF: Kind = Kind::Table(&AXIS);

/// What acts on each coordinate.
pub static AXES: TableFormat = TableFormat {
    what: "the coordinates of a joint",
    keys: &[
        key("x", AXIS_OF, "Along the axis, m."),
        key("y", AXIS_OF, "Along the second axis, m."),
        key("z", AXIS_OF, "Along the third axis, m."),
        key("turn_x", AXIS_OF, "About the axis, rad."),
        key("turn_y", AXIS_OF, "About the second axis, rad."),
        key("turn_z", AXIS_OF, "About the third axis, rad."),
    ],
    rules: &[],
};

static AXIS: TableFormat = TableFormat {
    what: "a coordinate of a joint",
    keys: &[
        key("limits", LIMITS_OF, "Least and greatest value, m or rad."),
        key("friction", GAIN, "Force (N) or torque (N·m) it takes to move it."),
        key("spring", Kind::Table(&SPRING), "A spring."),
        key("drive", Kind::Table(&DRIVE), "A drive."),
    ],
    rules: &[],
};

static BREAKING: TableFormat = TableFormat {
    what: "breaking",
    keys: &[
        key("force", Kind::Number(POSITIVE), "N."),
        key("torque", Kind::Number(POSITIVE), "N·m."),
    ],
    rules: &[],
};

static ENFORCEMENTS: TableFormat = TableFormat {
    what: "an enforcement",
    keys: &[
        key("soft", Kind::Table(&SOFT), "A spring that stretches under load."),
        key("multipliers", Kind::Table(&MULTIPLIERS), "Forces, with a spring against drift."),
    ],
    rules: &[Rule::One(&["soft", "multipliers"])],
};

static SOFT: TableFormat = TableFormat {
    what: "a soft enforcement",
    keys: &[
        required("stiffness", GAIN, "N/m and N·m/rad."),
        key("damping", GAIN, "N·s/m and N·m·s/rad; default 0."),
    ],
    rules: &[],
};

static MULTIPLIERS: TableFormat = TableFormat {
    what: "enforcement by multipliers",
    keys: &[required("rate", GAIN, "At which drift decays, 1/s.")],
    rules: &[],
};

/// `[settings.joints]`.
pub static JOINT_SETTINGS: TableFormat = TableFormat {
    what: "settings of joints",
    keys: &[
        key(
            "enforcement",
            ENFORCEMENT,
            "How joints are held; default \"reduced\": in coordinates, else \"stabilized\".",
        ),
        key(
            "solve",
            Kind::Choice(&["exact", "soft", "rows", "interleaved"]),
            "By factorization (in heaps as \"soft\"), by few iterations in every substep beside the \
             contacts, by iteration among the contacts, or by factorization after every iteration on \
             the contacts (for the splitting solvers); default \"exact\".",
        ),
        key(
            "iterations",
            Kind::Integer(range(1.0, 1000.0)),
            "Most corrections of positions in a substep.",
        ),
        key("tolerance", GAIN, "Error of positions at which they stop, m and rad."),
        key("closing", GAIN, "Widest gap that is closed at the start, m and rad; default 0.01."),
    ],
    rules: &[],
};

/// A point mass.
pub static POINT: TableFormat = TableFormat {
    what: "a point",
    keys: &[
        required("mass", Kind::Number(POSITIVE), "kg."),
        key("position", VECTOR, "m; default the world's origin."),
        key("velocity", VECTOR, "m/s."),
        key("gravity_scale", NUMBER, "Factor on gravity; default 1."),
        key("copies", Kind::Table(&POINT_COPIES), "More of the same, named NAME.0, NAME.1, …"),
        key("radius", LENGTH, "Of the ball that stands for it in pictures, m; default 0.05."),
        key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
    ],
    rules: &[],
};

static POINT_COPIES: TableFormat = TableFormat {
    what: "copies of a point",
    keys: &[required("grid", Kind::Table(&GRID), "In rows, columns and layers.")],
    rules: &[],
};
