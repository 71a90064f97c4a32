//! The top of a scene file: settings, solver, materials, camera, expectations.

use super::body::{BODY, GENERATED};
use super::cloth::{CLOTH, CLOTH_SETTINGS};
use super::couple::{COUPLING, COUPLING_SETTINGS, SIMULATOR};
use super::emitter::EMITTER;
use super::joint::{JOINT, JOINT_SETTINGS, POINT};
use super::soft_body::SOFT_BODY;
use super::urdf::URDF;
use super::*;

/// The whole file.
pub static SCENE: TableFormat = TableFormat {
    what: "a scene",
    keys: &[
        required("version", Kind::Integer(range(1.0, 1.0)), "Version of the format: 1."),
        key("title", Kind::Text, "What the scene shows, in a line."),
        key("settings", Kind::Table(&SETTINGS), "How long and how finely it is simulated."),
        key(
            "solver",
            Kind::Table(&SOLVER),
            "How contacts are solved; the defaults need no tuning.",
        ),
        key(
            "parameters",
            Kind::Names(&NUMBER),
            "Numbers to be used in expressions, such as \"2*n + 1\".",
        ),
        key("materials", Kind::Names(&Kind::Table(&MATERIAL)), "Materials by name."),
        key("bodies", Kind::Names(&Kind::Table(&BODY)), "Rigid bodies by name."),
        key(
            "generate",
            Kind::Names(&Kind::Table(&GENERATED)),
            "Generators that add many bodies, by name.",
        ),
        key("cloths", Kind::Names(&Kind::Table(&CLOTH)), "Cloths by name."),
        key("soft_bodies", Kind::Names(&Kind::Table(&SOFT_BODY)), "Soft bodies by name."),
        key("points", Kind::Names(&Kind::Table(&POINT)), "Free point masses by name."),
        key("urdf", Kind::Names(&Kind::Table(&URDF)), "Robots from URDF files, by name."),
        key("joints", Kind::Names(&Kind::Table(&JOINT)), "Joints by name."),
        key("emitters", Kind::Names(&Kind::Table(&EMITTER)), "Streams of particles by name."),
        key(
            "simulators",
            Kind::Names(&Kind::Table(&SIMULATOR)),
            "Simulators that share the scene, by name; without them one world holds everything.",
        ),
        key(
            "couplings",
            Kind::Names(&Kind::Table(&COUPLING)),
            "What couples the simulators, by name.",
        ),
        key("camera", Kind::Table(&CAMERA), "Where pictures are taken from."),
        key(
            "expect",
            Kind::Names(&Kind::Table(&EXPECT)),
            "What must come true, by reading: \"kinetic\", \"ball.y\", \"elbow.angle\", \"touch.imbalance\".",
        ),
    ],
    rules: &[],
};

static SETTINGS: TableFormat = TableFormat {
    what: "settings",
    keys: &[
        key(
            "fps",
            Kind::Number(Range { low: 0.0, high: 1e6, above: true }),
            "Frames per second; default 60.",
        ),
        key(
            "duration",
            Kind::Number(Range { low: 0.0, high: 1e6, above: true }),
            "Simulated time, s; default 5.",
        ),
        key("frames", Kind::Integer(range(1.0, 1e8)), "Number of frames, instead of a duration."),
        key("steps_per_frame", Kind::Integer(range(1.0, 1e4)), "Steps in each frame; default 1."),
        key(
            "substeps",
            Kind::Integer(range(1.0, 1e3)),
            "Parts of a step, with contacts found once; default 8.",
        ),
        key("gravity", VECTOR, "m/s²; default [0, -9.81, 0]."),
        key(
            "scheme",
            Kind::Choice(&["impulses", "unified"]),
            "\"impulses\": bodies, then cloth, then particles; \"unified\": everything together in five \
             steps; default \"impulses\".",
        ),
        key(
            "velocity_rule",
            Kind::Choice(&["trapezoidal", "backward-euler"]),
            "How the unified scheme takes velocities from forces; default \"trapezoidal\".",
        ),
        key("sleeping", Kind::Flag, "Whether islands at rest stop being simulated; default true."),
        key(
            "continuous",
            Kind::Flag,
            "Whether fast bodies are swept along their path; default true.",
        ),
        key("cloth", Kind::Table(&CLOTH_SETTINGS), "How cloth is solved, and the wind."),
        key("joints", Kind::Table(&JOINT_SETTINGS), "How joints are held and solved."),
        key(
            "coupling",
            Kind::Table(&COUPLING_SETTINGS),
            "How simulators are coupled; the defaults need no tuning.",
        ),
    ],
    rules: &[Rule::AtMostOne(&["duration", "frames"])],
};

/// Contact solvers by their names in scene files.
pub static SOLVERS: [&str; 9] = [
    "colored-pgs",
    "pgs",
    "jacobi",
    "jacobi-line-search",
    "jacobi-scaled",
    "jacobi-bridson",
    "mass-splitting",
    "block-mass-splitting",
    "shuffled-pgs",
];

static SOLVER: TableFormat = TableFormat {
    what: "a solver",
    keys: &[
        key("kind", Kind::Choice(&SOLVERS), "The iteration; default \"colored-pgs\"."),
        key("iterations", Kind::Integer(range(1.0, 1e5)), "Most iterations in a substep."),
        key(
            "relax_iterations",
            Kind::Integer(range(0.0, 1e5)),
            "Most iterations after the position update.",
        ),
        key(
            "tolerance",
            Kind::Number(from(0.0)),
            "Error of contact velocities at which iteration stops, m/s; 0 runs all.",
        ),
        key(
            "friction",
            Kind::Choice(&["cone", "pyramid"]),
            "Coulomb's cone, or a pyramid (up to 41 % off between its axes); default \"cone\".",
        ),
        key("staggered", Kind::Flag, "Normals and friction each to convergence in turn."),
        key(
            "direct_rows",
            Kind::Integer(range(0.0, 1e5)),
            "Largest island (rows) of extreme mass ratio solved directly where iteration falls short; 0: none.",
        ),
        key(
            "reference_size",
            Kind::Number(from(0.0)),
            "Thickness of bodies that the lengths and speeds below, and `tolerance`, are for, m; others in proportion (speeds by the root). Default 0.5; 0: as given for all.",
        ),
        key("slop", Kind::Number(from(0.0)), "Overlap left alone, m."),
        key("skin", Kind::Number(from(0.0)), "Gap that counts as closed where nothing bounces, m."),
        key("push_speed", Kind::Number(from(0.0)), "Fastest speed of position correction, m/s."),
        key(
            "stiffness",
            Kind::Number(range(0.0, 1.0)),
            "Frequency of the spring that pushes overlaps apart, in units of the substep rate.",
        ),
        key(
            "damping",
            Kind::Number(range(0.0, 1e6)),
            "Damping ratio of that spring; 1 is critical.",
        ),
        key("sag", Kind::Number(from(0.0)), "Most that spring gives way under a resting load, m."),
        key("bounce_speed", Kind::Number(from(0.0)), "Slower approaches do not bounce, m/s."),
        key(
            "converge",
            Kind::Flag,
            "More iterations for islands that may be about to stand or fall; default true.",
        ),
        key(
            "precision",
            Kind::Choice(&["auto", "single", "double"]),
            "Numbers that contacts are solved in; default \"auto\", `f32` for large piles.",
        ),
        key(
            "paths",
            Kind::Choice(&["auto", "general"]),
            "Paths that islands may take; \"general\" solves each alone in `f64`, to compare with; \
             default \"auto\".",
        ),
    ],
    rules: &[],
};

/// How two materials' numbers become one.
pub static COMBINE: [&str; 5] = ["geometric-mean", "average", "multiply", "minimum", "maximum"];

/// A material, and the overrides of one.
pub static MATERIAL: TableFormat = TableFormat {
    what: "a material",
    keys: &[
        key("friction", Kind::Number(range(0.0, 1e6)), "Coulomb's μ; default 0.5."),
        key("restitution", Kind::Number(range(0.0, 1.0)), "Newton's e; default 0."),
        key(
            "friction_combine",
            Kind::Choice(&COMBINE),
            "Rule for two bodies; default \"geometric-mean\".",
        ),
        key(
            "restitution_combine",
            Kind::Choice(&COMBINE),
            "Rule for two bodies; default \"maximum\".",
        ),
        key(
            "static_friction",
            Kind::Number(range(0.0, 1e6)),
            "μ while surfaces stick, at least `friction`; default that.",
        ),
        key(
            "rolling_friction",
            Kind::Number(range(0.0, 1e6)),
            "Lever of the torque against rolling, m: at most this times the load; of two bodies the larger.",
        ),
        key(
            "torsional_friction",
            Kind::Number(range(0.0, 1e6)),
            "The same about the normal, m, beside friction at the points.",
        ),
        key(
            "surface_velocity",
            VECTOR,
            "Velocity of the surface against the body, in the body's axes, m/s: a conveyor belt.",
        ),
        key(
            "restitution_threshold",
            Kind::Number(range(0.0, 1e6)),
            "Slower approaches do not bounce, m/s; default `solver.bounce_speed`; of two bodies the larger.",
        ),
        key("density", Kind::Number(POSITIVE), "kg/m³; default 1000."),
        key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
        key("base", Kind::Material, "A named material whose other values are taken."),
    ],
    rules: &[],
};

static CAMERA: TableFormat = TableFormat {
    what: "a camera",
    keys: &[
        required("eye", VECTOR, "Where it stands, m."),
        required("target", VECTOR, "What it looks at, m."),
        key(
            "fov",
            Kind::Number(Range { low: 0.0, high: 170.0, above: true }),
            "Vertical field of view, degrees; default 40.",
        ),
        key(
            "keyframes",
            Kind::List(&Kind::Table(&CAMERA_KEY), at_least(0)),
            "Its path, instead of standing still.",
        ),
    ],
    rules: &[],
};

static CAMERA_KEY: TableFormat = TableFormat {
    what: "a camera keyframe",
    keys: &[
        required("time", NUMBER, "s."),
        key("eye", VECTOR, "Where it stands then, m; default: the camera's `eye`."),
        key("target", VECTOR, "What it looks at then, m; default: the camera's `target`."),
    ],
    rules: &[],
};

static EXPECT: TableFormat = TableFormat {
    what: "an expectation",
    keys: &[
        key("below", NUMBER, "The reading stays below this."),
        key("above", NUMBER, "The reading stays above this."),
        key("near", NUMBER, "The reading is within `within` of this."),
        key("within", Kind::Number(from(0.0)), "Largest distance from `near`."),
        key("equals", NUMBER, "The reading is exactly this."),
        key("at", Kind::Number(from(0.0)), "Checked only in the frame at this time, s."),
        key("from", Kind::Number(from(0.0)), "Checked from this time on, s."),
        key("until", Kind::Number(from(0.0)), "Checked up to this time, s."),
        key(
            "of",
            Kind::Choice(&["each", "max", "min", "mean"]),
            "Whether each frame is tested (default), or the largest, smallest or mean reading.",
        ),
    ],
    rules: &[
        Rule::One(&["below", "above", "near", "equals"]),
        Rule::Needs("near", "within"),
        Rule::Needs("within", "near"),
        Rule::AtMostOne(&["at", "from"]),
        Rule::AtMostOne(&["at", "until"]),
        Rule::AtMostOne(&["at", "of"]),
    ],
};
