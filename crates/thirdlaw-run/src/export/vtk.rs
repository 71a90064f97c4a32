//! VTK: a VTU file a frame and a PVD file that gives each its time.
//!
//! All objects of a frame are one unstructured grid of triangles, of tetrahedra where an object is filled
//! with them, and, for particles, vertices.
//! Point data: `velocity` (m/s). Cell data: `object` (its number, in the order of `objects.csv`) and
//! `contact_force` (sum of the contact forces on the whole body, N). Fields of cloth and particles
//! keep their names and are 0 on other objects. Where things touch is a second grid, one vertex a
//! point, with `force` (on the second object, N), `separation` (m) and the two `objects`.
//!
//! Numbers stand as raw bytes behind the XML, which VTK calls appended.

use super::output::NewFolder;
use super::reader::Reader;
use super::stage::{FieldInfo, FieldPlace, Form, Frame, PointsSample, RigidSample, Sample, Stage};
use crate::error::RunError;
use std::fmt::Write;
use thirdlaw::Vec3;

const INDEX: &str = "scene.pvd";
const OBJECTS: &str = "objects.csv";
const TRIANGLE: u8 = 5;
const TETRAHEDRON: u8 = 10;
const VERTEX: u8 = 1;

/// Whether a file of this name may be one of ours.
pub fn is_ours(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(".vtu"))
            .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    };
    name == INDEX || name == OBJECTS || numbered("frame-") || numbered("contacts-")
}

/// Writes the stage.
pub fn write(
    stage: &Stage<'_>,
    reader: &mut Reader<'_>,
    folder: &NewFolder,
) -> Result<(), RunError> {
    let fields = all_fields(stage);
    let mut index = String::new();
    reader.each(|number, frame| {
        folder.write(&format!("frame-{number:06}.vtu"), &objects(stage, frame, &fields).bytes())?;
        folder.write(&format!("contacts-{number:06}.vtu"), &contacts(frame).bytes())?;
        for (part, name) in ["frame", "contacts"].iter().enumerate() {
            let _ = writeln!(
                index,
                "    <DataSet timestep=\"{}\" group=\"\" part=\"{part}\" name=\"{name}\" \
                 file=\"{name}-{number:06}.vtu\"/>",
                stage.time(number)
            );
        }
        Ok(())
    })?;
    let mut names = String::from("object,name\n");
    for (i, object) in stage.objects.iter().enumerate() {
        let _ = writeln!(names, "{i},\"{}\"", object.name.replace('"', "\"\""));
    }
    folder.write(OBJECTS, names.as_bytes())?;
    let index = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" \
         byte_order=\"LittleEndian\">\n  <Collection>\n{index}  </Collection>\n</VTKFile>\n"
    );
    folder.write(INDEX, index.as_bytes())
}

/// The fields of all objects; of those with the same name and place the first says how wide.
fn all_fields(stage: &Stage<'_>) -> Vec<FieldInfo> {
    let mut all: Vec<FieldInfo> = Vec::new();
    for object in &stage.objects {
        for field in object_fields(&object.form) {
            if !all.iter().any(|f| f.name == field.name && f.place == field.place) {
                all.push(field.clone());
            }
        }
    }
    all
}

fn object_fields(form: &Form) -> &[FieldInfo] {
    match form {
        Form::Rigid { .. } => &[],
        Form::Deforming { fields, .. } | Form::Points { fields, .. } => fields,
    }
}

/// A grid in the making.
#[derive(Default)]
struct Grid {
    points: Vec<f32>,
    connectivity: Vec<i64>,
    offsets: Vec<i64>,
    types: Vec<u8>,
    point_data: Vec<Array>,
    cell_data: Vec<Array>,
}

struct Array {
    name: String,
    width: usize,
    values: Values,
}

enum Values {
    Real(Vec<f32>),
    Whole(Vec<i32>),
}

fn objects(stage: &Stage<'_>, frame: &Frame, fields: &[FieldInfo]) -> Grid {
    let mut grid = Grid::default();
    let (mut velocity, mut force, mut number) = (Vec::new(), Vec::new(), Vec::new());
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); fields.len()];
    for (i, (object, sample)) in stage.objects.iter().zip(&frame.samples).enumerate() {
        let mesh = object.form.mesh().map(|m| &stage.meshes[m]);
        let base = (grid.points.len() / 3) as i64;
        let count = match (sample, &object.form, mesh) {
            (Sample::Rigid(s), Form::Rigid { center, .. }, Some(mesh)) => {
                for &vertex in &mesh.vertices {
                    push(&mut grid.points, s.pose.rotation * vertex + s.pose.translation);
                    push(&mut velocity, point_velocity(s, vertex - *center));
                }
                mesh.vertices.len()
            }
            (Sample::Points(s), _, _) => {
                s.points.iter().for_each(|&p| push(&mut grid.points, p));
                s.velocities.iter().for_each(|&v| push(&mut velocity, v));
                s.points.len()
            }
            _ => 0,
        };
        let cells = match mesh {
            Some(mesh) if !mesh.tetrahedra.is_empty() => {
                for corners in &mesh.tetrahedra {
                    grid.cell(corners.iter().map(|&corner| base + i64::from(corner)), TETRAHEDRON);
                }
                mesh.tetrahedra.len()
            }
            Some(mesh) => {
                for triangle in &mesh.triangles {
                    grid.cell(triangle.iter().map(|&corner| base + i64::from(corner)), TRIANGLE);
                }
                mesh.triangles.len()
            }
            None => {
                (0..count as i64).for_each(|k| grid.cell([base + k].into_iter(), VERTEX));
                count
            }
        };
        let on_object = match sample {
            Sample::Rigid(s) => s.contact_force,
            Sample::Points(_) => Vec3::ZERO,
        };
        for _ in 0..cells {
            number.push(i as i32);
            push(&mut force, on_object);
        }
        for (field, list) in fields.iter().zip(&mut values) {
            let length = if field.place == FieldPlace::Vertex { count } else { cells };
            let filled = mesh.is_some_and(|m| !m.tetrahedra.is_empty());
            // of what is filled, cells are not its triangles
            let shown = match field.place {
                FieldPlace::Vertex => true,
                FieldPlace::Triangle => !filled,
                FieldPlace::Tetrahedron => filled,
            };
            let own = field_of(object_fields(&object.form), field, sample).filter(|_| shown);
            list.extend(own.unwrap_or(&[]).iter().map(|&x| x as f32));
            let missing = if own.is_some() { 0 } else { field.width * length };
            list.extend(std::iter::repeat_n(0.0, missing));
        }
    }
    grid.point_data.push(Array::real("velocity", 3, velocity));
    grid.cell_data.push(Array { name: "object".into(), width: 1, values: Values::Whole(number) });
    grid.cell_data.push(Array::real("contact_force", 3, force));
    for (field, list) in fields.iter().zip(values) {
        let data = match field.place {
            FieldPlace::Vertex => &mut grid.point_data,
            FieldPlace::Triangle | FieldPlace::Tetrahedron => &mut grid.cell_data,
        };
        data.push(Array::real(&field.name, field.width, list));
    }
    grid
}

/// The values of `wanted` on an object that has it.
fn field_of<'a>(own: &[FieldInfo], wanted: &FieldInfo, sample: &'a Sample) -> Option<&'a [f64]> {
    let Sample::Points(PointsSample { fields, .. }) = sample else { return None };
    let at = own.iter().position(|field| field == wanted)?;
    fields.get(at).map(Vec::as_slice)
}

/// v + ω × r, with r given in the body's own axes.
fn point_velocity(s: &RigidSample, arm: Vec3) -> Vec3 {
    s.velocity + s.angular_velocity.cross(s.pose.rotation * arm)
}

fn contacts(frame: &Frame) -> Grid {
    let mut grid = Grid::default();
    let (mut force, mut separation, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    for (k, contact) in frame.contacts.iter().enumerate() {
        push(&mut grid.points, contact.point);
        grid.cell([k as i64].into_iter(), VERTEX);
        push(&mut force, contact.force);
        separation.push(contact.separation as f32);
        objects.extend(contact.objects.map(|object| object as i32));
    }
    grid.point_data.push(Array::real("force", 3, force));
    grid.point_data.push(Array::real("separation", 1, separation));
    let objects = Array { name: "objects".into(), width: 2, values: Values::Whole(objects) };
    grid.point_data.push(objects);
    grid
}

fn push(list: &mut Vec<f32>, v: Vec3) {
    list.extend(v.to_array().map(|x| x as f32));
}

impl Array {
    fn real(name: &str, width: usize, values: Vec<f32>) -> Array {
        Array { name: name.into(), width, values: Values::Real(values) }
    }
}

impl Grid {
    fn cell(&mut self, corners: impl Iterator<Item = i64>, kind: u8) {
        self.connectivity.extend(corners);
        self.offsets.push(self.connectivity.len() as i64);
        self.types.push(kind);
    }

    /// The file.
    fn bytes(&self) -> Vec<u8> {
        let mut file = Appended::default();
        let mut xml = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <UnstructuredGrid>\n    \
             <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
            self.points.len() / 3,
            self.types.len()
        );
        for (name, data) in [("PointData", &self.point_data), ("CellData", &self.cell_data)] {
            let _ = writeln!(xml, "      <{name}>");
            for array in data {
                xml += &match &array.values {
                    Values::Real(list) => file.reals(&array.name, array.width, list),
                    Values::Whole(list) => {
                        let bytes = list.iter().flat_map(|x| x.to_le_bytes());
                        file.array("Int32", &array.name, array.width, bytes)
                    }
                };
            }
            let _ = writeln!(xml, "      </{name}>");
        }
        let wide = |list: &[i64]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        xml += "      <Points>\n";
        xml += &file.reals("Points", 3, &self.points);
        xml += "      </Points>\n      <Cells>\n";
        xml += &file.array("Int64", "connectivity", 1, wide(&self.connectivity).into_iter());
        xml += &file.array("Int64", "offsets", 1, wide(&self.offsets).into_iter());
        xml += &file.array("UInt8", "types", 1, self.types.iter().copied());
        xml += "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  \
                <AppendedData encoding=\"raw\">\n   _";
        let mut bytes = xml.into_bytes();
        bytes.append(&mut file.bytes);
        bytes.extend_from_slice(b"\n  </AppendedData>\n</VTKFile>\n");
        bytes
    }
}

/// The numbers behind the XML.
#[derive(Default)]
struct Appended {
    bytes: Vec<u8>,
}

impl Appended {
    fn reals(&mut self, name: &str, width: usize, list: &[f32]) -> String {
        self.array("Float32", name, width, list.iter().flat_map(|x| x.to_le_bytes()))
    }

    /// Appends an array with its length and returns the element that names it.
    fn array(
        &mut self,
        kind: &str,
        name: &str,
        width: usize,
        bytes: impl Iterator<Item = u8>,
    ) -> String {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.extend(bytes);
        let length = (self.bytes.len() - offset - 8) as u64;
        self.bytes[offset..offset + 8].copy_from_slice(&length.to_le_bytes());
        format!(
            "        <DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{width}\" \
             format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::examples;
    use super::*;

    #[test]
    fn a_grid_holds_all_objects_with_their_fields() {
        let stage = examples::stage();
        let frame = stage.frame(2).unwrap();
        let fields = all_fields(&stage);
        let grid = objects(&stage, &frame, &fields);
        let (points, cells) = (3 * 8 + 4 + 3, 3 * 12 + 2 + 3);
        assert_eq!((grid.points.len(), grid.types.len()), (3 * points, cells));
        assert_eq!(grid.types.iter().filter(|&&t| t == VERTEX).count(), 3);
        for array in grid.point_data.iter().chain(&grid.cell_data) {
            let length = match &array.values {
                Values::Real(list) => list.len(),
                Values::Whole(list) => list.len(),
            };
            let is_point = grid.point_data.iter().any(|a| a.name == array.name);
            assert_eq!(
                length,
                array.width * if is_point { points } else { cells },
                "{}",
                array.name
            );
        }
        let strain = grid.cell_data.iter().find(|a| a.name == "strain").unwrap();
        let Values::Real(strain) = &strain.values else { panic!() };
        assert_eq!(strain[36..38], [0.5, 2.0]);
        assert_eq!(strain[..36], [0.0; 36]);
        assert_eq!(*grid.connectivity.iter().max().unwrap(), points as i64 - 1);
    }

    #[test]
    fn a_vertex_moves_with_the_turn_of_its_body() {
        let s = RigidSample { angular_velocity: Vec3::Z, velocity: Vec3::Z, ..Default::default() };
        assert_eq!(point_velocity(&s, Vec3::X), Vec3::new(0.0, 1.0, 1.0));
    }

    #[test]
    fn only_our_names_are_ours() {
        for (name, ours) in [
            ("scene.pvd", true),
            ("frame-000001.vtu", true),
            ("contacts-1000001.vtu", true),
            ("frame-x.vtu", false),
            ("notes.txt", false),
        ] {
            assert_eq!(is_ours(name), ours, "{name}");
        }
    }
}
