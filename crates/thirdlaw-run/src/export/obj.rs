//! Wavefront OBJ: a file a frame, and one of materials for all.
//!
//! Particles are points (`p`). OBJ knows no velocities; VTK and USD have them.

use super::names::Names;
use super::output::NewFolder;
use super::reader::Reader;
use super::stage::{Frame, Sample, Stage};
use crate::error::RunError;
use std::fmt::Write;

const MATERIALS: &str = "scene.mtl";

/// Whether a file of this name may be one of ours.
pub fn is_ours(name: &str) -> bool {
    let digits = name.strip_prefix("frame-").and_then(|rest| rest.strip_suffix(".obj"));
    name == MATERIALS || digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Writes the stage.
pub fn write(
    stage: &Stage<'_>,
    reader: &mut Reader<'_>,
    folder: &NewFolder,
) -> Result<(), RunError> {
    let mut names = Names::default();
    let names: Vec<String> = stage.objects.iter().map(|o| names.unique(&o.name)).collect();
    let mut materials = String::new();
    for (object, name) in stage.objects.iter().zip(&names) {
        let [r, g, b] = object.color;
        let _ = writeln!(materials, "newmtl {name}\nKd {r} {g} {b}\nKs 0 0 0\nillum 1");
    }
    folder.write(MATERIALS, materials.as_bytes())?;
    reader.each(|number, frame| {
        folder.write(&format!("frame-{number:06}.obj"), text(stage, frame, &names).as_bytes())
    })
}

fn text(stage: &Stage<'_>, frame: &Frame, names: &[String]) -> String {
    let mut text = format!("# {} s\nmtllib {MATERIALS}\n", frame.time);
    let (mut base, mut base_uv) = (1, 1);
    for ((object, sample), name) in stage.objects.iter().zip(&frame.samples).zip(names) {
        let mesh = object.form.mesh().map(|m| &stage.meshes[m]);
        let placed;
        let points = match (sample, mesh) {
            (Sample::Rigid(s), Some(mesh)) => {
                let place = |&v: &thirdlaw::Vec3| s.pose.rotation * v + s.pose.translation;
                placed = mesh.vertices.iter().map(place).collect();
                &placed
            }
            (Sample::Points(s), _) => &s.points,
            (Sample::Rigid(_), None) => continue,
        };
        let _ = writeln!(text, "o {name}\nusemtl {name}");
        for p in points {
            let _ = writeln!(text, "v {} {} {}", p.x as f32, p.y as f32, p.z as f32);
        }
        match mesh {
            None => {
                for k in 0..points.len() {
                    let _ = writeln!(text, "p {}", base + k);
                }
            }
            Some(mesh) => {
                for [u, v] in mesh.uv.iter().flatten() {
                    let _ = writeln!(text, "vt {u} {v}");
                }
                for (k, triangle) in mesh.triangles.iter().enumerate() {
                    let [a, b, c] = triangle.map(|corner| base + corner as usize);
                    let uv = base_uv + 3 * k;
                    let _ = match mesh.uv.is_empty() {
                        true => writeln!(text, "f {a} {b} {c}"),
                        false => writeln!(text, "f {a}/{uv} {b}/{} {c}/{}", uv + 1, uv + 2),
                    };
                }
                base_uv += 3 * mesh.uv.len();
            }
        }
        base += points.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::stage::examples;
    use super::*;

    #[test]
    fn every_object_is_named_and_indices_go_on_through_the_file() {
        let stage = examples::stage();
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
        let text = text(&stage, &stage.frame(2).unwrap(), &names);
        assert_eq!(text.matches("\no ").count(), 5);
        assert_eq!(text.lines().filter(|l| l.starts_with("v ")).count(), 3 * 8 + 4 + 3);
        assert!(text.contains("f 25/1 26/2 27/3\nf 25/4 27/5 28/6\n"), "{text}");
        assert!(text.ends_with("p 29\np 30\np 31\n"), "{text}");
    }
}
