//! USD as text: one `.usda` with time samples.
//!
//! A time code is the number of a frame, so that frames left out leave no trace in the speed.
//! Bodies of equal shape are instances of one prototype; colours are inherited, as `displayColor`
//! and as a material. USD has no velocity of a transform: that of a rigid body stands in attributes
//! of our own, `thirdlaw:velocity` (of its centre of mass, m/s) and `thirdlaw:angularVelocity`
//! (rad/s). Vertices and particles have USD's own `velocities`.

mod geometry;
mod samples;

use super::names::Names;
use super::output::NewFile;
use super::reader::Reader;
use super::stage::{Form, Object, Sample, Stage, linear};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Samples of rigid bodies that are held in memory at once: about 128 MB.
const SAMPLES_HELD: usize = 1_000_000;

/// How often the frames are gone through.
pub fn passes(stage: &Stage<'_>) -> usize {
    let rigid = stage.objects.iter().filter(|object| is_moving(object)).count();
    let soft: usize = stage.objects.iter().map(geometry::soft_passes).sum();
    rigid.div_ceil(batch_length(stage)) + soft
}

/// Writes the stage.
pub fn write(
    stage: &Stage<'_>,
    reader: &mut Reader<'_>,
    file: &mut NewFile,
) -> Result<(), RunError> {
    let scene = Layout::new(stage);
    file.write(header(stage))?;
    file.write("def Xform \"World\"\n{\n")?;
    file.write(scene.looks())?;
    file.write(scene.prototypes())?;
    let (moving, standing): (Vec<usize>, Vec<usize>) = (0..stage.objects.len())
        .filter(|&i| matches!(stage.objects[i].form, Form::Rigid { .. }))
        .partition(|&i| is_moving(&stage.objects[i]));
    if !standing.is_empty() {
        let first = stage.frame(stage.first())?;
        for i in standing {
            let Sample::Rigid(sample) = &first.samples[i] else { continue };
            file.write(scene.rigid(i, &samples::fixed(sample)))?;
        }
    }
    for batch in moving.chunks(batch_length(stage)) {
        let mut held = vec![Vec::with_capacity(stage.frames.len()); batch.len()];
        reader.each(|_, frame| {
            for (list, &i) in held.iter_mut().zip(batch) {
                if let Sample::Rigid(sample) = &frame.samples[i] {
                    list.push(*sample);
                }
            }
            Ok(())
        })?;
        for (list, &i) in held.iter().zip(batch) {
            file.write(scene.rigid(i, &samples::moving(&stage.frames, list)))?;
        }
    }
    for (i, object) in stage.objects.iter().enumerate() {
        if !matches!(object.form, Form::Rigid { .. }) {
            geometry::write_soft(&scene, i, reader, file)?;
        }
    }
    file.write("}\n")
}

fn batch_length(stage: &Stage<'_>) -> usize {
    (SAMPLES_HELD / stage.frames.len().max(1)).max(1)
}

fn is_moving(object: &Object) -> bool {
    matches!(object.form, Form::Rigid { moves: true, .. })
}

fn header(stage: &Stage<'_>) -> String {
    format!(
        "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = {}\n    endTimeCode = {}\n    \
         framesPerSecond = {fps}\n    metersPerUnit = 1\n    startTimeCode = {}\n    \
         timeCodesPerSecond = {fps}\n    upAxis = \"Y\"\n)\n\n",
        quoted(&stage.title),
        stage.last(),
        stage.first(),
        fps = stage.fps
    )
}

/// What goes where: the names of prims.
pub struct Layout<'a> {
    /// What is written.
    pub stage: &'a Stage<'a>,
    /// Identifier of each object.
    names: Vec<String>,
    /// Identifier of each mesh that several rigid bodies share.
    prototypes: BTreeMap<usize, String>,
    /// Linear colours of the materials, by their bits.
    looks: BTreeMap<[u32; 3], usize>,
}

impl<'a> Layout<'a> {
    fn new(stage: &'a Stage<'a>) -> Layout<'a> {
        let mut names = Names::default();
        // taken by what is beside the objects
        names.unique("Looks");
        names.unique("Prototypes");
        let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
        let mut looks = BTreeMap::new();
        for object in &stage.objects {
            if let Form::Rigid { mesh, .. } = object.form {
                *uses.entry(mesh).or_default() += 1;
            }
            let next = looks.len();
            looks.entry(linear(object.color).map(f32::to_bits)).or_insert(next);
        }
        let shared = uses.into_iter().filter(|(_, count)| *count > 1);
        Layout {
            stage,
            names: stage.objects.iter().map(|object| names.unique(&object.name)).collect(),
            prototypes: shared.map(|(mesh, _)| (mesh, format!("shape_{mesh}"))).collect(),
            looks,
        }
    }

    fn looks(&self) -> String {
        let mut text = "    def Scope \"Looks\"\n    {\n".to_owned();
        for (bits, index) in &self.looks {
            let [r, g, b] = bits.map(f32::from_bits);
            let _ = write!(
                text,
                "        def Material \"color_{index}\"\n        {{\n            \
                 token outputs:surface.connect = \
                 </World/Looks/color_{index}/surface.outputs:surface>\n\n            \
                 def Shader \"surface\"\n            {{\n                \
                 uniform token info:id = \"UsdPreviewSurface\"\n                \
                 color3f inputs:diffuseColor = ({r}, {g}, {b})\n                \
                 float inputs:roughness = 0.6\n                \
                 token outputs:surface\n            }}\n        }}\n"
            );
        }
        text + "    }\n"
    }

    fn prototypes(&self) -> String {
        if self.prototypes.is_empty() {
            return String::new();
        }
        let mut text = "    class Scope \"Prototypes\"\n    {\n".to_owned();
        for (&mesh, name) in &self.prototypes {
            let _ = writeln!(text, "        def Xform \"{name}\"\n        {{");
            text += &geometry::still_mesh(&self.stage.meshes[mesh], 3);
            text += "        }\n";
        }
        text + "    }\n"
    }

    /// The prim of a rigid body with its `motion`, attributes as text.
    fn rigid(&self, index: usize, motion: &str) -> String {
        let object = &self.stage.objects[index];
        let Some(mesh) = object.form.mesh() else { return String::new() };
        let prototype = self.prototypes.get(&mesh);
        let reference = prototype.map(|name| {
            format!(
                "        instanceable = true\n        \
                 prepend references = </World/Prototypes/{name}>\n"
            )
        });
        let mut text = self.open(index, "Xform", &reference.unwrap_or_default());
        text += motion;
        if prototype.is_none() {
            text += &geometry::still_mesh(&self.stage.meshes[mesh], 2);
        }
        text + "    }\n"
    }

    /// The head of an object's prim, with its colour, up to the open brace and the first attributes.
    pub fn open(&self, index: usize, kind: &str, metadata: &str) -> String {
        let object = &self.stage.objects[index];
        let name = &self.names[index];
        let color = linear(object.color);
        let look = self.looks.get(&color.map(f32::to_bits)).copied().unwrap_or(0);
        let [r, g, b] = color;
        format!(
            "    def {kind} \"{name}\" (\n        \
             prepend apiSchemas = [\"MaterialBindingAPI\"]\n        \
             displayName = {}\n{metadata}    )\n    {{\n        \
             rel material:binding = </World/Looks/color_{look}>\n        \
             color3f[] primvars:displayColor = [({r}, {g}, {b})] (\n            \
             interpolation = \"constant\"\n        )\n",
            quoted(&object.name)
        )
    }
}

/// Text as USD writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::super::reader::Reader;
    use super::super::stage::examples;
    use super::*;
    use crate::progress::unwatched;

    fn text() -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.usda");
        let stage = examples::stage();
        let mut file = NewFile::create(&path, false).unwrap();
        write(&stage, &mut Reader::new(&stage, 1, &mut unwatched), &mut file).unwrap();
        file.keep().unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_stage_says_its_units_speed_and_length() {
        let text = text();
        for line in [
            "doc = \"made up \\\"for\\\" tests\"",
            "upAxis = \"Y\"",
            "metersPerUnit = 1",
            "startTimeCode = 0",
            "endTimeCode = 4",
            "timeCodesPerSecond = 10",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn equal_bodies_are_instances_and_colours_are_shared() {
        let text = text();
        assert_eq!(text.matches("</World/Prototypes/shape_0>").count(), 3);
        assert_eq!(text.matches("instanceable = true").count(), 3);
        assert_eq!(text.matches("def Material").count(), 4, "of five objects two look alike");
        assert!(text.contains("def Xform \"cube_0\""));
        assert!(text.contains("displayName = \"cube.0\""));
    }

    #[test]
    fn motion_becomes_samples_and_rest_does_not() {
        let text = text();
        assert!(text.contains("2: (2, 0.25, 0),"), "{text}");
        let block = text.split("def Xform \"block\"").nth(1).unwrap();
        let block = block.split("def ").next().unwrap();
        assert!(block.contains("double3 xformOp:translate = (0, 0, -3)"), "{block}");
        assert!(!block.contains("timeSamples"), "{block}");
    }

    #[test]
    fn cloth_and_particles_have_points_and_velocities_in_every_frame() {
        let text = text();
        let cloth = text.split("def Mesh \"cloth\"").nth(1).unwrap();
        let cloth = cloth.split("def Points").next().unwrap();
        assert!(
            cloth.contains("4: [(0, -4, 0), (1, -4, 0), (1, -4, -1), (0, -4, -1)],"),
            "{cloth}"
        );
        assert_eq!(cloth.matches(": [(0, -10, 0), (0, -10, 0)").count(), 3, "{cloth}");
        assert!(cloth.contains("texCoord2f[] primvars:st"));
        assert!(cloth.contains("uniform bool doubleSided = 1"));
        assert!(cloth.contains("float[] primvars:strain.timeSamples"), "{cloth}");
        let spray = text.split("def Points \"spray\"").nth(1).unwrap();
        assert!(spray.contains("0: [(0, 0, 0)],"), "{spray}");
        assert!(spray.contains("2: [(0, 2, 0), (1, 2, 0), (2, 2, 0)],"), "{spray}");
        assert!(spray.contains("float[] widths = [0.2] ("), "{spray}");
    }
}
