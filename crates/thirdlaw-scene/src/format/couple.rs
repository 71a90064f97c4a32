//! Several simulators in one scene: `[simulators.NAME]`, `[couplings.NAME]`, `settings.coupling`.

use super::*;

/// Kinds of simulators by their names in scene files.
pub static SIMULATORS: [&str; 3] = ["thirdlaw", "rapier", "fmu"];

/// Ways of coupling by their names in scene files.
pub static METHODS: [&str; 4] = ["interleaved", "fixed-point", "iterated", "repaired"];

/// A simulator.
pub static SIMULATOR: TableFormat = TableFormat {
    what: "a simulator",
    keys: &[
        key(
            "kind",
            Kind::Choice(&SIMULATORS),
            "\"thirdlaw\" (default), \"rapier\" for rigid bodies in Rapier, or \"fmu\" for an FMU (FMI 3.0, \
             co-simulation) of another tool.",
        ),
        key(
            "objects",
            Kind::List(&Kind::Text, at_least(0)),
            "Names of what belongs to it; joints go with what they join. One simulator may leave \
             this out: it holds the rest.",
        ),
        key(
            "steps",
            Kind::Integer(range(1.0, 1e3)),
            "Steps of its own in each step of the scene; default 1.",
        ),
        key("file", Kind::Text, "The FMU, beside the scene. Its native code is run."),
        key(
            "handles",
            Kind::List(&Kind::Table(&FMU_HANDLE), at_least(0)),
            "What of the FMU its bodies are; default NAME.position, NAME.force and so on, as in FMUs that \
             thirdlaw-fmu writes.",
        ),
    ],
    rules: &[Rule::Needs("handles", "file")],
};

static FMU_HANDLE: TableFormat = TableFormat {
    what: "variables of a body in an FMU",
    keys: &[
        required(
            "body",
            Kind::Text,
            "Name of a body of the simulator, shown where the FMU has it.",
        ),
        key(
            "position",
            NAMES,
            "Where its centre is, m: one variable of 3 numbers, or 3; \"\" stays 0.",
        ),
        key("velocity", NAMES, "Its velocity, m/s."),
        key(
            "rotation",
            NAMES,
            "Quaternion x, y, z, w: one variable, or 4; default: it does not turn.",
        ),
        key("angular_velocity", NAMES, "In world axes, rad/s."),
        key("force", NAMES, "Input: force on its centre, N."),
        key("torque", NAMES, "Input: torque about its centre, N·m."),
        key("mass", NAMES, "kg; default: measured by trying, or unknown."),
        key("inertia", NAMES, "In world axes, column by column, kg·m²; together with `mass`."),
    ],
    rules: &[Rule::Needs("mass", "inertia")],
};

const NAMES: Kind = Kind::List(&Kind::Text, at_least(1));

/// What couples two simulators.
pub static COUPLING: TableFormat = TableFormat {
    what: "a coupling",
    keys: &[
        required(
            "between",
            Kind::List(&Kind::Text, exactly(2)),
            "The names of two simulators. Where they touch, the first follows the surfaces of the \
             second if it can: put the one first whose own contacts hold the other up.",
        ),
        key(
            "contact",
            Kind::Choice(&["follow", "watch", "none"]),
            "\"follow\": one takes the surfaces of the other for obstacles that answer (default \
             without ties); \"watch\": collisions are found from outside; \"none\" (default with ties).",
        ),
        key("ties", Kind::List(&Kind::Table(&TIE), at_least(0)), "What holds the two together."),
        key("limits", Kind::Table(&LIMITS), "Where a line is printed when a step crosses them."),
    ],
    rules: &[],
};

static TIE: TableFormat = TableFormat {
    what: "a tie",
    keys: &[
        required(
            "between",
            Kind::List(&Kind::Text, exactly(2)),
            "Names of two bodies, points or vertices (\"cloth.12\"), one of each simulator.",
        ),
        key(
            "kind",
            Kind::Choice(&["point", "frame", "spring"]),
            "\"point\" (default) holds two points together, \"frame\" their orientation, too.",
        ),
        key(
            "at",
            VECTOR,
            "Where both are held, in the world at the start, m; default each at its centre.",
        ),
        key("stiffness", Kind::Number(from(0.0)), "Of a spring, N/m; default 0."),
        key("damping", Kind::Number(from(0.0)), "Of a spring, N·s/m; default 0."),
        key(
            "rest",
            Kind::Number(from(0.0)),
            "Length at which a spring pulls nothing, m; default 0: it pulls along all axes.",
        ),
    ],
    rules: &[],
};

static LIMITS: TableFormat = TableFormat {
    what: "limits of a coupling",
    keys: &[
        key("imbalance", Kind::Number(from(0.0)), "Momentum that appears from nowhere, N·s."),
        key(
            "angular_imbalance",
            Kind::Number(from(0.0)),
            "Angular momentum that appears from nowhere, N·m·s.",
        ),
        key("passivity", Kind::Number(from(0.0)), "Energy that appears from nowhere, J."),
        key("residual", Kind::Number(from(0.0)), "Error of a tie, m/s."),
        key(
            "mismatch",
            Kind::Number(from(0.0)),
            "Difference of a body's speed on both sides of a contact, m/s.",
        ),
        key("evaluations", Kind::Integer(range(1.0, 1e6)), "Steps of all simulators in a step."),
    ],
    rules: &[],
};

/// How all couplings of a scene go about their work.
pub static COUPLING_SETTINGS: TableFormat = TableFormat {
    what: "settings of couplings",
    keys: &[
        key(
            "method",
            Kind::Choice(&METHODS),
            "How forces between simulators are found; default \"iterated\".",
        ),
        key("tolerance", LENGTH, "Error of ties, relative to the speeds at hand; default 1e-9."),
        key(
            "contact_tolerance",
            LENGTH,
            "Mismatch of touched bodies, relative to the change of their speed; default 0.02.",
        ),
        key("evaluations", Kind::Integer(range(1.0, 1e6)), "Most evaluations a step; default 60."),
        key(
            "exchanges",
            Kind::Integer(range(1.0, 1e6)),
            "Most exchanges over contacts; default 6.",
        ),
        key("spread", Kind::Flag, "One iteration a step instead of iterating in place."),
        key(
            "acceleration",
            Kind::Choice(&["none", "aitken", "quasi-newton"]),
            "How fixed points are sped up; default \"quasi-newton\".",
        ),
        key(
            "switch",
            Kind::Flag,
            "Whether a lagged exchange that diverges is iterated instead; default true.",
        ),
        key(
            "keep_unconverged",
            Kind::Flag,
            "Whether a step that did not reach its tolerance is kept and counted, instead of ending \
             the run with an error that names the link; default false.",
        ),
    ],
    rules: &[],
};
