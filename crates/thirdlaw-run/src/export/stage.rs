//! What is exported, in a form that knows neither recordings nor file formats.
//!
//! A [`Stage`] says what there is: objects with names, colours and meshes. Its frames come one at a
//! time from [`Stage::frame`], so that no format needs the whole run in memory; formats that want
//! one object over all frames go through the frames several times. Lengths are in metres, y is up.

use crate::error::RunError;
use thirdlaw::{Pose, Vec3};

/// Everything that a file format needs to know before the first frame.
pub struct Stage<'a> {
    /// Name of the scene, for people.
    pub title: String,
    /// Frames per second of simulated time.
    pub fps: f64,
    /// Numbers of the frames to be written, rising; at least one.
    pub frames: Vec<u32>,
    /// Surfaces, shared by objects that look alike.
    pub meshes: Vec<ExportMesh>,
    /// What moves and what stands.
    pub objects: Vec<Object>,
    /// Makes a frame, by its number.
    pub source: Box<dyn Fn(u32) -> Result<Frame, RunError> + 'a>,
}

/// Triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportMesh {
    /// Corners, m; for a deforming object those of its rest shape.
    pub vertices: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// What fills it, for formats that hold solids; empty without.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Texture coordinates of the corners of each triangle; empty without.
    pub uv: Vec<[[f32; 2]; 3]>,
    /// Unit normals of the corners of each triangle, creases kept; empty where faces are flat.
    pub normals: Vec<[[f32; 3]; 3]>,
    /// Seen from both sides, as cloth is.
    pub two_sided: bool,
}

/// One thing of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// As in the scene; unique there, but not yet fit for any file format.
    pub name: String,
    /// sRGB, 0 to 1.
    pub color: [f32; 3],
    /// What it is and how it moves.
    pub form: Form,
}

/// How an object moves. Its samples are of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// As a whole.
    Rigid {
        /// Index into the stage's meshes.
        mesh: usize,
        /// Centre of mass in the mesh's frame, m.
        center: Vec3,
        /// Whether it can move at all.
        moves: bool,
    },
    /// Every vertex by itself: cloth, soft bodies.
    Deforming {
        /// Index into the stage's meshes: which vertices the triangles join.
        mesh: usize,
        /// What is known of it beside its motion.
        fields: Vec<FieldInfo>,
    },
    /// Particles; how many may change from frame to frame.
    Points {
        /// Of each, m.
        radius: f64,
        /// Where they come from, m: where formats that cannot do without put those not there.
        home: Vec3,
        /// What is known of them beside their motion.
        fields: Vec<FieldInfo>,
    },
}

/// A quantity known at vertices, triangles or tetrahedra of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// In lower case with underscores, such as `strain`.
    pub name: String,
    /// Where it lives.
    pub place: FieldPlace,
    /// Numbers per vertex or triangle: 1 or 3.
    pub width: usize,
}

/// Where a quantity lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPlace {
    /// One value for each vertex or particle.
    Vertex,
    /// One value for each triangle; not for particles.
    Triangle,
    /// One value for each tetrahedron; only formats that hold solids have it.
    Tetrahedron,
}

/// All objects at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Simulated time, s.
    pub time: f64,
    /// One for each object, in their order.
    pub samples: Vec<Sample>,
    /// Where things touch.
    pub contacts: Vec<ContactSample>,
}

/// An object at one moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Sample {
    /// Of [`Form::Rigid`].
    Rigid(RigidSample),
    /// Of [`Form::Deforming`] and [`Form::Points`].
    Points(PointsSample),
}

/// A rigid object at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidSample {
    /// From the mesh's frame to the world.
    pub pose: Pose,
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vec3,
    /// rad/s, in world axes.
    pub angular_velocity: Vec3,
    /// Sum of the contact forces on it, N.
    pub contact_force: Vec3,
}

/// The points of an object at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointsSample {
    /// m.
    pub points: Vec<Vec3>,
    /// m/s; as many as points.
    pub velocities: Vec<Vec3>,
    /// Who is who from frame to frame; as many as points, or empty where points stay in order.
    pub ids: Vec<u64>,
    /// Values of the form's fields, in their order; each `width` numbers per vertex or triangle.
    pub fields: Vec<Vec<f64>>,
}

/// A point where two things touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactSample {
    /// m.
    pub point: Vec3,
    /// On the second of the two, N.
    pub force: Vec3,
    /// Gap, negative where they overlap, m.
    pub separation: f64,
    /// Indices of the objects, the first and the second.
    pub objects: [u32; 2],
}

impl Stage<'_> {
    /// Makes a frame and checks that it is one of this stage.
    pub fn frame(&self, number: u32) -> Result<Frame, RunError> {
        let frame = (self.source)(number)?;
        let fits = |(object, sample): (&Object, &Sample)| match (&object.form, sample) {
            (Form::Rigid { .. }, Sample::Rigid(_)) => true,
            (Form::Deforming { mesh, fields }, Sample::Points(s)) => {
                let mesh = &self.meshes[*mesh];
                let counts = [mesh.vertices.len(), mesh.triangles.len(), mesh.tetrahedra.len()];
                s.points.len() == counts[0] && s.fits(fields, counts)
            }
            (Form::Points { fields, .. }, Sample::Points(s)) => {
                s.fits(fields, [s.points.len(), 0, 0])
            }
            _ => false,
        };
        let fit = frame.samples.len() == self.objects.len()
            && self.objects.iter().zip(&frame.samples).all(fits);
        match fit {
            true => Ok(frame),
            false => {
                let why = "it does not fit the scene's objects".into();
                Err(RunError::ForeignFrame { frame: format!("frame {number}"), why })
            }
        }
    }

    /// Number of the first frame.
    pub fn first(&self) -> u32 {
        self.frames.first().copied().unwrap_or(0)
    }

    /// Number of the last frame.
    pub fn last(&self) -> u32 {
        self.frames.last().copied().unwrap_or(0)
    }

    /// Simulated time of a frame as a player should show it, s.
    pub fn time(&self, frame: u32) -> f64 {
        f64::from(frame) / self.fps
    }
}

impl PointsSample {
    fn fits(&self, fields: &[FieldInfo], counts: [usize; 3]) -> bool {
        let length = |field: &FieldInfo| field.width * counts[field.place as usize];
        self.velocities.len() == self.points.len()
            && (self.ids.is_empty() || self.ids.len() == self.points.len())
            && self.fields.len() == fields.len()
            && fields.iter().zip(&self.fields).all(|(field, values)| values.len() == length(field))
    }
}

impl Form {
    /// Index of its mesh, where it has one.
    pub fn mesh(&self) -> Option<usize> {
        match self {
            Form::Rigid { mesh, .. } | Form::Deforming { mesh, .. } => Some(*mesh),
            Form::Points { .. } => None,
        }
    }
}

/// A colour of an image editor as a share of light, 0 to 1.
pub fn linear(color: [f32; 3]) -> [f32; 3] {
    color.map(|part| {
        let part = f64::from(part.clamp(0.0, 1.0));
        let light =
            if part <= 0.04045 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) };
        // four digits are more than an eye tells apart, and keep files short
        ((light * 1e4).round() / 1e4) as f32
    })
}

#[cfg(test)]
pub mod examples {
    //! A made-up stage with one object of each kind, for the tests of the formats.

    use super::*;
    use thirdlaw::Quat;

    /// Frames 0, 2 and 4 at 10 frames per second: two cubes that share a mesh and one more that
    /// stands still, a square of cloth that falls 1 m a frame, and particles of which one joins in
    /// every frame.
    pub fn stage() -> Stage<'static> {
        let cube = thirdlaw::Shape::cuboid(Vec3::splat(0.5)).unwrap().surface(4);
        let cube = ExportMesh { vertices: cube.0, triangles: cube.1, ..ExportMesh::default() };
        let square = ExportMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 0.0, -1.0), Vec3::NEG_Z],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            uv: vec![[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]],
            normals: Vec::new(),
            tetrahedra: Vec::new(),
            two_sided: true,
        };
        let rigid = |moves| Form::Rigid { mesh: 0, center: Vec3::ZERO, moves };
        let object = |name: &str, color, form| Object { name: name.into(), color, form };
        let strain = FieldInfo { name: "strain".into(), place: FieldPlace::Triangle, width: 1 };
        let force = FieldInfo { name: "force".into(), place: FieldPlace::Vertex, width: 3 };
        Stage {
            title: "made up \"for\" tests".into(),
            fps: 10.0,
            frames: vec![0, 2, 4],
            meshes: vec![cube, square],
            objects: vec![
                object("cube.0", [1.0, 0.0, 0.0], rigid(true)),
                object("cube.1", [0.0, 1.0, 0.0], rigid(true)),
                object("block", [0.0, 1.0, 0.0], rigid(false)),
                object(
                    "cloth",
                    [0.5, 0.5, 1.0],
                    Form::Deforming { mesh: 1, fields: vec![strain, force] },
                ),
                object(
                    "spray",
                    [1.0, 1.0, 1.0],
                    Form::Points { radius: 0.1, home: Vec3::Y, fields: Vec::new() },
                ),
            ],
            source: Box::new(|number| Ok(frame(f64::from(number)))),
        }
    }

    fn frame(n: f64) -> Frame {
        let rigid = |x: Vec3, turn: f64| {
            Sample::Rigid(RigidSample {
                pose: Pose::from_parts(x, Quat::from_rotation_y(turn)),
                velocity: Vec3::new(0.0, n, 0.0),
                angular_velocity: Vec3::Y,
                contact_force: Vec3::new(0.0, 2.0, 0.0),
            })
        };
        let fall = Vec3::new(0.0, -n, 0.0);
        let corners = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 0.0, -1.0), Vec3::NEG_Z];
        let spray = (0..=n as usize).map(|k| Vec3::new(k as f64, n, 0.0));
        Frame {
            time: n / 10.0,
            samples: vec![
                rigid(Vec3::new(n, 0.25, 0.0), 0.1 * n),
                rigid(Vec3::new(0.0, n, 0.0), 0.0),
                rigid(Vec3::new(0.0, 0.0, -3.0), 0.0),
                Sample::Points(PointsSample {
                    points: corners.map(|p| p + fall).to_vec(),
                    velocities: vec![Vec3::new(0.0, -10.0, 0.0); 4],
                    fields: vec![vec![0.5, n], vec![0.0; 12]],
                    ids: Vec::new(),
                }),
                Sample::Points(PointsSample {
                    velocities: spray.clone().map(|_| Vec3::Z).collect(),
                    // the first one of a frame is the last one of the frame before
                    ids: (0..=n as u64).rev().collect(),
                    points: spray.collect(),
                    fields: Vec::new(),
                }),
            ],
            contacts: vec![ContactSample {
                point: Vec3::new(0.0, 0.5, 0.0),
                force: Vec3::new(0.0, 3.0, 0.0),
                separation: -0.001,
                objects: [0, 2],
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let whole = examples::stage();
        assert!(whole.frame(2).is_ok());
        let mut short = examples::stage();
        short.source = Box::new(|_| Ok(Frame::default()));
        assert!(short.frame(0).is_err());
        let mut swapped = examples::stage();
        swapped.source = Box::new(|n| {
            let mut frame = (examples::stage().source)(n)?;
            frame.samples.swap(0, 3);
            Ok(frame)
        });
        assert!(swapped.frame(0).is_err());
    }

    #[test]
    fn colours_become_light() {
        assert_eq!(linear([0.0, 1.0, 0.5]), [0.0, 1.0, 0.214]);
    }
}
