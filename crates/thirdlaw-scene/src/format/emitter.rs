//! Streams of particles: `[emitters.NAME]`.

use super::body::{GROUPS, MATERIAL_OF, ROTATION_OF};
use super::shape::SHAPE;
use super::*;

const SHARE: Kind = Kind::Number(range(0.0, 1.0));

/// An emitter.
pub static EMITTER: TableFormat = TableFormat {
    what: "an emitter",
    keys: &[
        key(
            "source",
            Kind::Table(&SOURCE),
            "From where particles start: { disc = { radius = 0.1 } }; default a point.",
        ),
        key("position", VECTOR, "Where the source is, m; default the origin."),
        key("direction", VECTOR, "Along which its axis points; default up, [0, 1, 0]."),
        key("rotation", ROTATION_OF, "Orientation of the source, whose axis is y."),
        key("body", Kind::Text, "A body that carries it; place and direction are then the body's."),
        required("rate", Kind::Number(range(0.0, 1e9)), "Particles per second."),
        key("speed", Kind::Number(range(0.0, 1e6)), "At which particles leave, m/s; default 1."),
        key("speed_spread", SHARE, "How far speeds differ from it, as a share; default 0."),
        key(
            "spread",
            Kind::Number(range(0.0, 180.0)),
            "Largest angle from the axis, degrees; default 0.",
        ),
        key("life", LENGTH, "How long a particle lives, s; default 5."),
        key("life_spread", SHARE, "How far lives differ from it, as a share; default 0."),
        key("from", NUMBER, "When emission begins, s; default 0."),
        key("until", NUMBER, "When emission ends, s; default never."),
        key("seed", Kind::Integer(range(0.0, 9e15)), "Another seed, another stream; default 0."),
        key("mass", LENGTH, "Of a particle, kg; default 0.001."),
        key(
            "radius",
            Kind::Number(range(0.0, 1e6)),
            "Distance a particle keeps from surfaces, and its size in pictures, m; default 0.005.",
        ),
        key("drag", Kind::Number(from(0.0)), "Decay of the velocity in the air, 1/s; default 0."),
        key(
            "drag_quadratic",
            Kind::Number(from(0.0)),
            "What grows of that decay with the speed in the air, 1/m; default 0.",
        ),
        key("wind", VECTOR, "Velocity of the air, m/s; default that of settings.cloth."),
        key("gravity_scale", NUMBER, "Factor on gravity; default 1."),
        key(
            "material",
            MATERIAL_OF,
            "How particles rub and bounce; default friction 0.5, restitution 0.5.",
        ),
        key("groups", Kind::Table(&GROUPS), "Which bodies and cloths it may strike."),
        key(
            "capacity",
            Kind::Integer(range(1.0, 1e8)),
            "Most particles at a time; default enough for rate and life.",
        ),
        key("color", Kind::Color, "\"#rrggbb\", or red, green and blue from 0 to 1."),
    ],
    rules: &[Rule::AtMostOne(&["direction", "rotation"])],
};

static SOURCE: TableFormat = TableFormat {
    what: "a source",
    keys: &[
        key("point", Kind::Table(&POINT_SOURCE), "The origin."),
        key("disc", Kind::Table(&DISC), "A disc about the origin, square to the axis."),
        key("surface", Kind::Table(&SHAPE), "Anywhere on a shape, along its normals."),
    ],
    rules: &[Rule::One(&["point", "disc", "surface"])],
};

static POINT_SOURCE: TableFormat = TableFormat { what: "a point source", keys: &[], rules: &[] };

static DISC: TableFormat =
    TableFormat { what: "a disc", keys: &[required("radius", LENGTH, "m.")], rules: &[] };
