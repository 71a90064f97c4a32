//! What a user says about a joint when adding it to a world.
//!
//! A [`Joint`] is a plain description with defaults; `World::add_joint` checks every number of it and
//! refuses what is impossible, naming the field.

use super::axis::{Axis, AxisSettings, Limits, Spring};
use super::drive::Drive;
use crate::ids::{BodyId, JointId, PointId};
use crate::math::{Pose, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A joint to be added to a world.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[must_use = "a joint does nothing until it is added to a world"]
pub struct Joint {
    /// What it lets its sides do.
    pub kind: JointKind,
    /// The side it is fixed to.
    pub a: Side,
    /// The side that moves against a.
    pub b: Side,
    /// Frame on side a: its origin is the anchor, its x axis the joint's axis.
    pub frame_a: Frame,
    /// Frame on side b.
    pub frame_b: Frame,
    /// What acts on each coordinate, in the order of [`Axis::ALL`]. The kind sets the modes; only
    /// [`JointKind::SixAxis`] reads them from here.
    pub axes: [AxisSettings; 6],
    /// Force beyond which it breaks, N.
    pub break_force: f64,
    /// Torque beyond which it breaks, N·m.
    pub break_torque: f64,
    /// Whether the two bodies may touch each other.
    pub collide: bool,
    /// How it is held; `None`: as the world's settings say.
    pub enforcement: Option<Enforcement>,
    /// Pull anchors together that are apart when the joint is added, instead of refusing them.
    pub assemble: bool,
}

/// What a joint lets its sides do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Turn about the anchor.
    Ball,
    /// Turn about x.
    Hinge,
    /// Slide along x.
    Slider,
    /// Turn about x of frame a and y of frame b.
    Universal,
    /// Turn about and slide along x.
    Cylindrical,
    /// Slide in the plane normal to x and turn about x.
    Planar,
    /// Keep the distance of the anchors between two values, m: a rope if `min` is 0, a rod if they
    /// are equal.
    Distance {
        /// Least distance.
        min: f64,
        /// Greatest distance; may be infinite.
        max: f64,
    },
    /// Keep the anchor of b on a smooth curve through points of frame a: a bead on a wire. An open
    /// curve stops it at both ends; limits of [`Axis::X`], the arc length, may stop it earlier, and say how
    /// it bounces there.
    Curve {
        /// Points, m.
        points: Vec<Vec3>,
        /// Whether the last point is followed by the first.
        closed: bool,
    },
    /// Turn the second joint `ratio` times as far as the first: gears, belts. The joint has no
    /// sides or frames of its own.
    Gear {
        /// A joint whose first free coordinate is the driving one.
        first: JointId,
        /// A joint whose first free coordinate follows.
        second: JointId,
        /// Change of the second coordinate per change of the first.
        ratio: f64,
    },
    /// Move a slider by `radius` metres per radian of a hinge.
    Rack {
        /// The pinion.
        hinge: JointId,
        /// The rack.
        slider: JointId,
        /// m/rad.
        radius: f64,
    },
    /// As [`Joint::axes`] say.
    SixAxis,
    /// A spring–damper along the line between the anchors.
    Spring {
        /// N/m.
        stiffness: f64,
        /// N·s/m.
        damping: f64,
        /// Length at which it rests, m; `None`: the length when it is added.
        length: Option<f64>,
    },
    /// A spring–damper that turns the two frames towards each other.
    AngularSpring {
        /// N·m/rad.
        stiffness: f64,
        /// N·m·s/rad.
        damping: f64,
    },
}

/// What a joint holds on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The world.
    World,
    /// A rigid body.
    Body(BodyId),
    /// A free point mass.
    Point(PointId),
}

impl From<BodyId> for Side {
    fn from(id: BodyId) -> Side {
        Side::Body(id)
    }
}

impl From<PointId> for Side {
    fn from(id: PointId) -> Side {
        Side::Point(id)
    }
}

/// Where a joint's frame is on its side.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Frame {
    /// In the side's own frame (for the world and for points: from their place, along world axes).
    Local(Pose),
    /// In the world, at the moment the joint is added.
    World(Pose),
}

/// How a joint is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Enforcement {
    /// Impulses before the move that bring the positions at its end onto the constraint, and
    /// impulses after it that do so for velocities (WTF06, [shinar2008 §5.1]): no drift,
    /// second order.
    Stabilized,
    /// A spring ½K CᵀC with damping along C only; stretches under load.
    Soft {
        /// K, N/m or N·m/rad.
        stiffness: f64,
        /// D, N·s/m or N·m·s/rad.
        damping: f64,
    },
    /// Springs alone, in pseudo-time after the move, until they are at equilibrium.
    PseudoTime,
    /// Forces from J M⁻¹Jᵀ λ = −J M⁻¹F − J̇v, with a spring against drift beside them.
    Multipliers {
        /// Rate at which drift decays, 1/s.
        rate: f64,
    },
    /// Impulses after the move, iterated like Newton on C(x, v).
    Projection,
    /// In the coordinates of the joints, where those of an island are a tree, or several, and nothing
    /// touches: no error at all, fourth order where nothing stiff acts, else second. Substeps with
    /// contact, with a limit that is met, with loops or other kinds of joints are taken as by
    /// [`Enforcement::Stabilized`].
    #[default]
    Reduced,
}

/// How the equations of joints are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointSolve {
    /// By sparse factorization: exact, linear in the size of a tree. Plain joints of bodies of like masses
    /// among many contacts are solved as by [`JointSolve::Soft`].
    #[default]
    Exact,
    /// As rows of the contact problem, by the contact solver's iterations.
    Rows,
    /// By sparse factorization after every iteration of the contact solver. With mass splitting this is
    /// the averaging of [tonge2012, Eq. 37], of which the paper proves that it converges; joints hold
    /// exactly however few the iterations. Not for solvers that diverge by themselves.
    Interleaved,
    /// Where something touches, as rows beside those of contacts, by few iterations in every substep: as
    /// fast as contacts, with gaps of millimetres. Joints with drives or springs, or with an enforcement
    /// of their own, are solved exactly.
    Soft,
}

/// How joints are held and solved where they do not say it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointSettings {
    /// How they are held.
    pub enforcement: Enforcement,
    /// How their equations are solved.
    pub solve: JointSolve,
    /// Most Newton iterations on the positions in each substep.
    pub iterations: u32,
    /// Error of positions at which they stop, m and rad.
    pub tolerance: f64,
    /// Largest gap that is closed when a joint is added; a wider one is refused, m and rad.
    pub closing: f64,
}

impl Default for JointSettings {
    fn default() -> Self {
        JointSettings {
            enforcement: Enforcement::default(),
            solve: JointSolve::Exact,
            iterations: 8,
            tolerance: 1e-10,
            closing: 0.01,
        }
    }
}

impl Joint {
    /// A joint of this kind, anchored at the origins of both sides.
    pub fn new(kind: JointKind, a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        let frame = Frame::Local(Pose::IDENTITY);
        Joint {
            kind,
            a: a.into(),
            b: b.into(),
            frame_a: frame,
            frame_b: frame,
            axes: Default::default(),
            break_force: f64::INFINITY,
            break_torque: f64::INFINITY,
            collide: false,
            enforcement: None,
            assemble: false,
        }
    }

    /// Holds two sides together.
    pub fn fixed(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Fixed, a, b)
    }

    /// Lets b turn about the anchor.
    pub fn ball(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Ball, a, b)
    }

    /// Lets b turn about the x axis.
    pub fn hinge(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Hinge, a, b)
    }

    /// Lets b slide along the x axis.
    pub fn slider(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Slider, a, b)
    }

    /// Lets b turn about x of frame a and y of frame b.
    pub fn universal(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Universal, a, b)
    }

    /// Lets b slide along and turn about the x axis.
    pub fn cylindrical(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Cylindrical, a, b)
    }

    /// Lets b slide in the plane normal to x and turn about x.
    pub fn planar(a: impl Into<Side>, b: impl Into<Side>) -> Joint {
        Joint::new(JointKind::Planar, a, b)
    }

    /// Keeps the anchors no farther apart than `length`, m.
    pub fn rope(a: impl Into<Side>, b: impl Into<Side>, length: f64) -> Joint {
        Joint::new(JointKind::Distance { min: 0.0, max: length }, a, b)
    }

    /// Keeps the anchors `length` apart, m.
    pub fn rod(a: impl Into<Side>, b: impl Into<Side>, length: f64) -> Joint {
        Joint::new(JointKind::Distance { min: length, max: length }, a, b)
    }

    /// Keeps the anchor of b on a smooth curve through points of frame a.
    pub fn curve(a: impl Into<Side>, b: impl Into<Side>, points: Vec<Vec3>, closed: bool) -> Joint {
        Joint::new(JointKind::Curve { points, closed }, a, b)
    }

    /// Turns joint `second` by `ratio` times the turn of joint `first`.
    pub fn gear(first: JointId, second: JointId, ratio: f64) -> Joint {
        Joint::new(JointKind::Gear { first, second, ratio }, Side::World, Side::World)
    }

    /// Moves a slider by `radius` metres per radian of a hinge.
    pub fn rack(hinge: JointId, slider: JointId, radius: f64) -> Joint {
        Joint::new(JointKind::Rack { hinge, slider, radius }, Side::World, Side::World)
    }

    /// Lets b move against a as `axes` say, in the order of [`Axis::ALL`].
    pub fn six_axis(a: impl Into<Side>, b: impl Into<Side>, axes: [AxisSettings; 6]) -> Joint {
        Joint { axes, ..Joint::new(JointKind::SixAxis, a, b) }
    }

    /// A spring–damper between the anchors, N/m and N·s/m, resting at its length when added.
    pub fn spring(a: impl Into<Side>, b: impl Into<Side>, stiffness: f64, damping: f64) -> Joint {
        let kind = JointKind::Spring { stiffness, damping, length: None };
        Joint { collide: true, ..Joint::new(kind, a, b) }
    }

    /// A spring–damper between the two frames, N·m/rad and N·m·s/rad.
    pub fn angular_spring(
        a: impl Into<Side>,
        b: impl Into<Side>,
        stiffness: f64,
        damping: f64,
    ) -> Joint {
        let kind = JointKind::AngularSpring { stiffness, damping };
        Joint { collide: true, ..Joint::new(kind, a, b) }
    }

    /// Places both anchors at a world point, m. Keeps an axis given before.
    pub fn at(mut self, x: f64, y: f64, z: f64) -> Joint {
        let rotation = match self.frame_a {
            Frame::World(pose) => pose.rotation,
            Frame::Local(_) => Quat::IDENTITY,
        };
        let frame = Frame::World(Pose::from_parts(Vec3::new(x, y, z), rotation));
        (self.frame_a, self.frame_b) = (frame, frame);
        self
    }

    /// Turns both frames so that their x axis is this world direction; a zero vector is refused when
    /// the joint is added. Frames given locally become world frames at the anchor (0, 0, 0): call
    /// [`Joint::at`] for another.
    pub fn axis(mut self, direction: Vec3) -> Joint {
        let place = match self.frame_a {
            Frame::World(pose) => pose.translation,
            Frame::Local(_) => Vec3::ZERO,
        };
        let frame = Frame::World(Pose::from_parts(place, axis_frame(direction)));
        (self.frame_a, self.frame_b) = (frame, frame);
        self
    }

    /// Places both frames at one world pose.
    pub fn frame(mut self, pose: Pose) -> Joint {
        (self.frame_a, self.frame_b) = (Frame::World(pose), Frame::World(pose));
        self
    }

    /// Places each frame in its side's own frame.
    pub fn frames(mut self, a: Pose, b: Pose) -> Joint {
        (self.frame_a, self.frame_b) = (Frame::Local(a), Frame::Local(b));
        self
    }

    /// Places each anchor at a point of its side's own frame, m.
    pub fn anchors(self, a: Vec3, b: Vec3) -> Joint {
        let at = |p: Vec3| Pose::from_parts(p, Quat::IDENTITY);
        self.frames(at(a), at(b))
    }

    /// Bounds a coordinate, m or rad.
    pub fn limit(mut self, axis: Axis, lower: f64, upper: f64) -> Joint {
        self.axes[axis.index()].limits = Some(Limits { lower, upper, restitution: 0.0 });
        self
    }

    /// Lets a coordinate bounce off its limits with Newton's e.
    pub fn restitution(mut self, axis: Axis, restitution: f64) -> Joint {
        if let Some(limits) = &mut self.axes[axis.index()].limits {
            limits.restitution = restitution;
        }
        self
    }

    /// Gives a coordinate dry friction, N or N·m.
    pub fn friction(mut self, axis: Axis, friction: f64) -> Joint {
        self.axes[axis.index()].friction = friction;
        self
    }

    /// Puts a spring–damper on a coordinate.
    pub fn sprung(mut self, axis: Axis, spring: Spring) -> Joint {
        self.axes[axis.index()].spring = Some(spring);
        self
    }

    /// Drives a coordinate.
    pub fn driven(mut self, axis: Axis, drive: Drive) -> Joint {
        self.axes[axis.index()].drive = Some(drive);
        self
    }

    /// Lets it break beyond a force (N) or a torque (N·m).
    pub fn breaking(mut self, force: f64, torque: f64) -> Joint {
        (self.break_force, self.break_torque) = (force, torque);
        self
    }

    /// Lets its two bodies touch each other.
    pub fn colliding(mut self) -> Joint {
        self.collide = true;
        self
    }

    /// Chooses how it is held.
    pub fn enforced(mut self, enforcement: Enforcement) -> Joint {
        self.enforcement = Some(enforcement);
        self
    }

    /// Lets anchors that are apart be pulled together.
    pub fn assembling(mut self) -> Joint {
        self.assemble = true;
        self
    }
}

/// A rotation that takes x to `direction`; NaN for a zero vector, which the checks then refuse.
fn axis_frame(direction: Vec3) -> Quat {
    Quat::from_rotation_arc(Vec3::X, direction / direction.length())
}
