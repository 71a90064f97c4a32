//! Generators: one key names it, its table gives the numbers.

use super::*;

const COUNT: Kind = Kind::Integer(range(1.0, 1e6));

/// A generator of bodies.
pub static GENERATORS: TableFormat = TableFormat {
    what: "a generator",
    keys: &[
        key("rain", Kind::Table(&RAIN), "Layers of cubes, shifted at random."),
        key("pyramid", Kind::Table(&PYRAMID), "A wall of cubes, one fewer in each row."),
        key(
            "card_house",
            Kind::Table(&CARD_HOUSE),
            "Leaning cards with flat ones between the levels.",
        ),
        key("chain", Kind::Table(&CHAIN), "Interlocking links along x, turned by 90° in turn."),
        key("chess", Kind::Table(&CHESS), "Pieces in layers, in the numbers of a set."),
        key(
            "voronoi",
            Kind::Table(&VORONOI),
            "A box cut into convex cells, small near the impacts.",
        ),
        key("stack", Kind::Table(&STACK), "Cubes on each other, each heavier than the one below."),
        key(
            "figure",
            Kind::Table(&FIGURE),
            "A person of capsules, moved by keyframes: NAME.hips, NAME.chest, NAME.left_arm, …",
        ),
        key("ragdolls", Kind::Table(&RAGDOLLS), "Ragdolls of eleven parts, in layers of 25."),
        key(
            "joint_grid",
            Kind::Table(&JOINT_GRID),
            "Balls in a square, joined to their neighbours, hung by the middle of the upper row.",
        ),
        key("loops", Kind::Table(&LOOPS), "Closed loops of rods joined by balls."),
    ],
    rules: &[Rule::One(&[
        "rain",
        "pyramid",
        "card_house",
        "chain",
        "chess",
        "voronoi",
        "stack",
        "figure",
        "ragdolls",
        "joint_grid",
        "loops",
    ])],
};

static RAIN: TableFormat = TableFormat {
    what: "a rain",
    keys: &[
        required("count", COUNT, "How many cubes."),
        key("row", Kind::Integer(range(1.0, 1e3)), "Cubes along a side of a layer; default 30."),
        key("size", LENGTH, "Side of a cube, m; default 0.5."),
        key("spacing", LENGTH, "From cube to cube, m; default 0.75."),
        key("rise", LENGTH, "From layer to layer, m; default the spacing."),
        key("shift", Kind::Number(from(0.0)), "Largest random shift times two, m; default 0.1."),
        key("seed", Kind::Integer(range(0.0, 1e6)), "Another seed, other shifts; default 0."),
    ],
    rules: &[],
};

static RAGDOLLS: TableFormat = TableFormat {
    what: "ragdolls",
    keys: &[required("count", Kind::Integer(range(1.0, 1e4)), "How many.")],
    rules: &[],
};

static JOINT_GRID: TableFormat = TableFormat {
    what: "a grid of joints",
    keys: &[required("count", Kind::Integer(range(1.0, 1e3)), "Balls along a side.")],
    rules: &[],
};

static LOOPS: TableFormat = TableFormat {
    what: "closed loops",
    keys: &[
        key("links", Kind::Integer(range(3.0, 1e3)), "Rods of each; default 6."),
        key("radius", LENGTH, "From its middle to its joints, m; default 0.12."),
        key("wire", LENGTH, "Radius of the rods, m; default 0.025."),
        key("grid", Kind::Table(&super::body::GRID), "More of the same, flat in the xz plane."),
    ],
    rules: &[],
};

static PYRAMID: TableFormat = TableFormat {
    what: "a pyramid",
    keys: &[
        required("base", Kind::Integer(range(1.0, 1e3)), "Cubes in the lowest row."),
        key("size", LENGTH, "Side of a cube, m; default 1."),
        key("spacing", LENGTH, "From cube to cube in a row, m; default 1.05 times the size."),
    ],
    rules: &[],
};

static CARD_HOUSE: TableFormat = TableFormat {
    what: "a card house",
    keys: &[
        required("levels", Kind::Integer(range(1.0, 100.0)), "How many."),
        key(
            "ledge",
            Kind::Integer(range(0.0, 100.0)),
            "Above this level the house steps in by two pairs; default 0, nowhere.",
        ),
        key(
            "base",
            Kind::Integer(range(1.0, 100.0)),
            "Pairs of leaning cards on the ground; default as many as levels.",
        ),
        key(
            "card",
            Kind::List(&LENGTH, exactly(3)),
            "Length, width and thickness, m; default [1, 0.6, 0.02].",
        ),
        key(
            "lean",
            Kind::Number(range(30.0, 89.0)),
            "Angle of leaning cards from the ground, degrees; default 72.",
        ),
        key("gap", Kind::Number(from(0.0)), "Between the ends of flat cards, m; default 0.001."),
    ],
    rules: &[],
};

/// A link's numbers; also those of the `chain_link` shape.
pub static LINK_KEYS: &[Key] = &[
    key("length", LENGTH, "Outer length, m; default 0.4."),
    key("width", LENGTH, "Outer width, m; default 0.28."),
    key("wire", LENGTH, "Radius of the wire, m; default 0.035."),
    key(
        "segments",
        Kind::Integer(range(2.0, 32.0)),
        "Straight pieces in each round end, an even number; default 4.",
    ),
];

static CHAIN: TableFormat = TableFormat {
    what: "a chain",
    keys: &[
        required("count", COUNT, "How many links."),
        key("length", LENGTH, "Outer length of a link, m; default 0.4."),
        key("width", LENGTH, "Outer width, m; default 0.28."),
        key("wire", LENGTH, "Radius of the wire, m; default 0.035."),
        key(
            "segments",
            Kind::Integer(range(2.0, 32.0)),
            "Straight pieces in each round end, an even number; default 4.",
        ),
        key("slack", Kind::Number(from(0.0)), "Play between links, m; default 0.001."),
        key("hang", Kind::Flag, "Whether the first link is fixed; default true."),
    ],
    rules: &[],
};

static CHESS: TableFormat = TableFormat {
    what: "a chess set",
    keys: &[
        required("count", COUNT, "How many pieces."),
        key("row", Kind::Integer(range(1.0, 1e3)), "Pieces along a side of a layer; default 10."),
        key("king_height", LENGTH, "Height of the king, m; default 0.95."),
        key("spacing", LENGTH, "From piece to piece, m; default 1.1 times the king's height."),
        key(
            "seed",
            Kind::Integer(range(0.0, 1e6)),
            "Another seed, other order and turns; default 0.",
        ),
    ],
    rules: &[],
};

static VORONOI: TableFormat = TableFormat {
    what: "Voronoi cells",
    keys: &[
        required(
            "size",
            Kind::List(&LENGTH, exactly(3)),
            "Of the box that is cut, standing on the origin, m.",
        ),
        required("cells", Kind::Integer(range(1.0, 2000.0)), "How many."),
        key(
            "impacts",
            Kind::List(&VECTOR, at_least(1)),
            "Points around which cells are small, m; default the middle.",
        ),
        key(
            "spread",
            LENGTH,
            "Distance from an impact within which most cells lie, m; default half the height.",
        ),
        key("seed", Kind::Integer(range(0.0, 1e6)), "Another seed, other cells; default 0."),
    ],
    rules: &[],
};

static STACK: TableFormat = TableFormat {
    what: "a stack",
    keys: &[
        required("count", Kind::Integer(range(1.0, 1e3)), "How many cubes."),
        key("size", LENGTH, "Side of a cube, m; default 1."),
        key("ratio", LENGTH, "Mass of each cube over that of the one below; default 1."),
    ],
    rules: &[],
};

static FIGURE: TableFormat = TableFormat {
    what: "a figure",
    keys: &[
        key(
            "motion",
            Kind::Choice(&["stand", "twist", "walk", "dance"]),
            "What it does, from arms spread; default \"stand\".",
        ),
        key("duration", Kind::Number(range(0.0, 600.0)), "For how long, s; default 10."),
        key("begin", Kind::Number(from(0.0)), "When it begins to move, s; default 0.5."),
        key(
            "speed",
            Kind::Number(range(0.01, 100.0)),
            "How many times as fast as usual; default 1.",
        ),
    ],
    rules: &[],
};
