//! Meshes and points.

use super::super::output::NewFile;
use super::super::reader::Reader;
use super::super::stage::{
    ExportMesh, FieldInfo, FieldPlace, Form, Object, PointsSample, Sample, Stage,
};
use super::Layout;
use super::samples::short_vector;
use crate::error::RunError;
use std::fmt::Write;
use thirdlaw::Vec3;

/// A mesh that does not change, as the child `surface` of a prim that may move.
pub fn still_mesh(mesh: &ExportMesh, depth: usize) -> String {
    let pad = "    ".repeat(depth);
    let mut text = format!("{pad}def Mesh \"surface\"\n{pad}{{\n");
    let inner = "    ".repeat(depth + 1);
    let _ = writeln!(text, "{inner}point3f[] points = {}", points(&mesh.vertices));
    let _ = writeln!(text, "{inner}float3[] extent = {}", extent(mesh.vertices.iter(), 0.0));
    text += &topology(mesh, &inner);
    text + &pad + "}\n"
}

/// All of a mesh but its points.
fn topology(mesh: &ExportMesh, pad: &str) -> String {
    let counts = vec!["3"; mesh.triangles.len()].join(", ");
    let corners: Vec<String> =
        mesh.triangles.iter().map(|[a, b, c]| format!("{a}, {b}, {c}")).collect();
    let mut text = format!(
        "{pad}int[] faceVertexCounts = [{counts}]\n{pad}int[] faceVertexIndices = [{}]\n{pad}\
         uniform token subdivisionScheme = \"none\"\n",
        corners.join(", ")
    );
    if mesh.two_sided {
        let _ = writeln!(text, "{pad}uniform bool doubleSided = 1");
    }
    let per_corner = "(\n{pad}    interpolation = \"faceVarying\"\n{pad})\n".replace("{pad}", pad);
    if !mesh.normals.is_empty() {
        let normals = mesh.normals.iter().flatten();
        let list: Vec<String> = normals.map(|[x, y, z]| format!("({x}, {y}, {z})")).collect();
        let _ = write!(text, "{pad}normal3f[] normals = [{}] {per_corner}", list.join(", "));
    }
    if !mesh.uv.is_empty() {
        let list: Vec<String> =
            mesh.uv.iter().flatten().map(|[u, v]| format!("({u}, {v})")).collect();
        let _ = write!(text, "{pad}texCoord2f[] primvars:st = [{}] {per_corner}", list.join(", "));
    }
    text
}

/// Writes a deforming object or particles: one pass over the frames for each attribute, so that no
/// more than a frame is held.
pub fn write_soft(
    scene: &Layout<'_>,
    index: usize,
    reader: &mut Reader<'_>,
    file: &mut NewFile,
) -> Result<(), RunError> {
    let object = &scene.stage.objects[index];
    let (kind, radius, fields) = match &object.form {
        Form::Deforming { fields, .. } => ("Mesh", 0.0, fields),
        Form::Points { radius, fields, .. } => ("Points", *radius, fields),
        Form::Rigid { .. } => return Ok(()),
    };
    file.write(scene.open(index, kind, ""))?;
    file.write(constant_part(scene.stage, object))?;
    let mut samples = |head: &str, value: &mut dyn FnMut(u32, &PointsSample) -> String| {
        file.write(format!("        {head}.timeSamples = {{\n"))?;
        reader.each(|number, frame| match &frame.samples[index] {
            Sample::Points(s) => {
                file.write(format!("            {number}: {},\n", value(number, s)))
            }
            Sample::Rigid(_) => Ok(()),
        })?;
        file.write("        }\n")
    };
    let mut extents = String::new();
    samples("point3f[] points", &mut |number, sample| {
        let _ =
            writeln!(extents, "            {number}: {},", extent(sample.points.iter(), radius));
        points(&sample.points)
    })?;
    samples("vector3f[] velocities", &mut |_, sample| points(&sample.velocities))?;
    if matches!(object.form, Form::Points { .. }) {
        samples("int64[] ids", &mut |_, sample| {
            let list: Vec<String> = sample.ids.iter().map(u64::to_string).collect();
            format!("[{}]", list.join(", "))
        })?;
    }
    for (k, field) in fields.iter().enumerate().filter(|(_, field)| shown(field)) {
        samples(&field_head(field), &mut |_, sample| field_values(field, &sample.fields[k]))?;
    }
    file.write(format!("        float3[] extent.timeSamples = {{\n{extents}        }}\n"))?;
    file.write("    }\n")
}

/// How often [`write_soft`] goes through the frames.
pub fn soft_passes(object: &Object) -> usize {
    match &object.form {
        Form::Rigid { .. } => 0,
        Form::Deforming { fields, .. } => 2 + fields.iter().filter(|f| shown(f)).count(),
        Form::Points { fields, .. } => 3 + fields.len(),
    }
}

/// Whether a mesh, which has no inside, can hold the field.
fn shown(field: &FieldInfo) -> bool {
    field.place != FieldPlace::Tetrahedron
}

/// The declaration of a field and the name of its samples.
fn field_head(field: &FieldInfo) -> String {
    let kind = if field.width == 3 { "vector3f[]" } else { "float[]" };
    let place = match field.place {
        FieldPlace::Vertex => "vertex",
        FieldPlace::Triangle | FieldPlace::Tetrahedron => "uniform",
    };
    let name = &field.name;
    format!(
        "{kind} primvars:{name} (\n            interpolation = \"{place}\"\n        )\n        \
         {kind} primvars:{name}"
    )
}

fn constant_part(stage: &Stage<'_>, object: &Object) -> String {
    match &object.form {
        Form::Points { radius, .. } => format!(
            "        float[] widths = [{}] (\n            interpolation = \"constant\"\n        )\n",
            (2.0 * radius) as f32
        ),
        form => form.mesh().map_or_else(String::new, |m| topology(&stage.meshes[m], "        ")),
    }
}

fn points(list: &[Vec3]) -> String {
    let list: Vec<String> = list.iter().map(|&v| short_vector(v)).collect();
    format!("[{}]", list.join(", "))
}

fn field_values(field: &FieldInfo, values: &[f64]) -> String {
    let list: Vec<String> = match field.width {
        3 => values.chunks_exact(3).map(|v| short_vector(Vec3::new(v[0], v[1], v[2]))).collect(),
        _ => values.iter().map(|&x| format!("{}", x as f32)).collect(),
    };
    format!("[{}]", list.join(", "))
}

/// The box around points, `radius` wider on every side.
fn extent<'a>(list: impl Iterator<Item = &'a Vec3>, radius: f64) -> String {
    let (low, high) = list
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    if low.x > high.x {
        return "[(0, 0, 0), (0, 0, 0)]".into();
    }
    format!("[{}, {}]", short_vector(low - radius), short_vector(high + radius))
}
