//! Meshes from files: in scenes, and whatever a file holds.

use std::path::{Path, PathBuf};
use thirdlaw_scene::load;
use thirdlaw_scene::mesh::{MeshOptions, load_mesh};

/// A tetrahedron with its right angle at the origin, in every format; its volume is 1/6.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nf 1/1 3/1 2/1\nf 1/1 2/1 4/1\nf 1/1 4/1 3/1\nf 2/1 3/1 4/1\n";
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let faces = [[0usize, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mut stl_text = String::from("solid t\n");
    let mut stl = vec![0; 80];
    stl.extend(4u32.to_le_bytes());
    for face in faces {
        stl_text += "facet normal 0 0 0\nouter loop\n";
        stl.extend([0; 12]);
        for [x, y, z] in face.map(|v| corners[v]) {
            stl_text += &format!("vertex {x} {y} {z}\n");
            stl.extend([x, y, z].iter().flat_map(|c| c.to_le_bytes()));
        }
        stl_text += "endloop\nendfacet\n";
        stl.extend([0; 2]);
    }
    let ply_head = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
             property float z\nelement face 4\nproperty list uchar int vertex_index\nend_header\n"
        )
    };
    let mut ply_text = ply_head("ascii");
    let mut ply_little = ply_head("binary_little_endian").into_bytes();
    let mut ply_big = ply_head("binary_big_endian").into_bytes();
    for [x, y, z] in corners {
        ply_text += &format!("{x} {y} {z}\n");
        ply_little.extend([x, y, z].iter().flat_map(|c| c.to_le_bytes()));
        ply_big.extend([x, y, z].iter().flat_map(|c| c.to_be_bytes()));
    }
    for face in faces {
        ply_text += &format!("3 {} {} {}\n", face[0], face[1], face[2]);
        ply_little.push(3);
        ply_little.extend(face.iter().flat_map(|&v| (v as i32).to_le_bytes()));
        ply_big.push(3);
        ply_big.extend(face.iter().flat_map(|&v| (v as i32).to_be_bytes()));
    }
    let mut bytes: Vec<u8> = corners.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
    bytes.extend(faces.as_flattened().iter().map(|&v| v as u8));
    let json = |uri: &str| {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
{{"bufferView":1,"componentType":5121,"count":12,"type":"SCALAR"}}],
"bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],
"buffers":[{{"byteLength":60{uri}}}]}}"#
        )
    };
    let mut text = json("").into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    glb.extend((28 + text.len() as u32 + 60).to_le_bytes());
    glb.extend((text.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(&text);
    glb.extend(60u32.to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(&bytes);
    vec![
        ("a.obj", obj.into()),
        ("text.stl", stl_text.into()),
        ("binary.stl", stl),
        ("text.ply", ply_text.into()),
        ("little.ply", ply_little),
        ("big.ply", ply_big),
        ("inside.glb", glb),
        ("beside.gltf", json(r#","uri":"beside.bin""#).into_bytes()),
        ("beside.bin", bytes),
    ]
}

struct Folder(PathBuf);

impl Folder {
    fn with_files(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("thirdlaw-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in files() {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scene(options: &str, folder: &Path) -> Result<thirdlaw_scene::Scene, String> {
    let text =
        format!("version = 1\n[bodies.a]\nshape = {{ mesh = {{ {options} }} }}\ndensity = 6000\n");
    load("a.toml", &text, Some(folder), &[]).map_err(|errors| errors.to_string())
}

#[test]
fn the_same_body_comes_from_every_format() {
    let folder = Folder::with_files("formats");
    let names = files().into_iter().map(|(name, _)| name).filter(|name| !name.ends_with(".bin"));
    for name in names {
        let scene = scene(&format!("file = \"{name}\""), &folder.0).unwrap();
        let body = scene.world.body(scene.bodies[0].id).unwrap();
        assert!((body.mass - 1000.0).abs() < 1e-6, "{name}: {} kg", body.mass);
        assert!((body.center.x - 0.25).abs() < 1e-9, "{name}: {}", body.center);
    }
}

#[test]
fn scale_and_up_are_taken_from_the_scene() {
    let folder = Folder::with_files("options");
    let options = "file = \"a.obj\", up = \"z\", scale = [2, 3, 1]";
    let scene_z = scene(options, &folder.0).unwrap();
    let body = scene_z.world.body(scene_z.bodies[0].id).unwrap();
    assert!((body.mass - 6000.0).abs() < 1e-6, "{} kg", body.mass);
    // the tip along z, now up and three times as high, and the one along y, now towards −z
    let wanted = thirdlaw::Vec3::new(0.5, 0.75, -0.25);
    assert!((body.center - wanted).length() < 1e-9, "{}", body.center);
    let told =
        scene("vertices = [[0,0,0]], triangles = [[0,0,0]], up = \"z\"", &folder.0).unwrap_err();
    assert!(told.contains("`up` needs `file` beside it"), "{told}");
    let told = scene("file = \"a.obj\", up = \"w\"", &folder.0).unwrap_err();
    assert!(told.contains("`up` cannot be \"w\""), "{told}");
}

#[test]
fn errors_name_the_file_and_the_element_under_the_line_of_the_scene() {
    let folder = Folder::with_files("errors");
    std::fs::write(folder.0.join("cut.stl"), &files()[2].1[..100]).unwrap();
    let told = scene("file = \"cut.stl\"", &folder.0).unwrap_err();
    assert!(told.starts_with("a.toml:3:"), "{told}");
    assert!(
        told.contains("cut.stl, byte 80: 4 triangles are announced, but 0 are there"),
        "{told}"
    );
    let told = scene("file = \"a.fbx\"", &folder.0).unwrap_err();
    assert!(told.contains("cannot read"), "{told}");
}

/// A generator of numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// No file panics or takes for ever, however it is damaged, and what is accepted is whole.
#[test]
fn damaged_files_are_refused_or_sound() {
    let mut random = Random(7);
    let mut refused = 0;
    let rounds = 4000;
    for (name, whole) in files().iter().filter(|(name, _)| !name.ends_with(".bin")) {
        for _ in 0..rounds {
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                match random.below(6) {
                    0 => bytes.truncate(at),
                    1 => bytes[at] = random.below(256) as u8,
                    2 => bytes[at] ^= 1 << random.below(8),
                    3 => {
                        let end = (at + 4).min(bytes.len());
                        bytes[at..end].fill(0xff);
                    }
                    4 => {
                        let digit = b"0123456789-.e nif{}[],:/"[random.below(24)];
                        bytes.insert(at, digit);
                    }
                    _ => {
                        let part = bytes[at..(at + 1 + random.below(40)).min(bytes.len())].to_vec();
                        bytes.splice(at..at, part);
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            match load_mesh(Path::new(name), &bytes, &MeshOptions::default()) {
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with(name), "{error}");
                }
                Ok(mesh) => {
                    let count = mesh.vertices.len() as u32;
                    assert!(mesh.vertices.iter().all(|v| v.is_finite()), "{name}");
                    assert!(mesh.triangles.iter().flatten().all(|&v| v < count), "{name}");
                    let uv = mesh.corner_uv.as_ref().map_or(mesh.triangles.len(), Vec::len);
                    assert_eq!(uv, mesh.triangles.len(), "{name}");
                }
            }
        }
    }
    assert!(refused > rounds, "damage is noticed: {refused}");
}

fn soft(mesh: &str, folder: &Path) -> Result<thirdlaw_scene::Scene, String> {
    let text = format!("version = 1\n[soft_bodies.a]\nmesh = {{ {mesh} }}\n");
    load("a.toml", &text, Some(folder), &[]).map_err(|errors| errors.to_string())
}

#[test]
fn closed_surfaces_are_filled_and_stay_what_is_seen() {
    let folder = Folder::with_files("filled");
    for name in ["a.obj", "text.stl", "big.ply", "inside.glb"] {
        let scene = soft(
            &format!("surface = {{ file = \"{name}\", spacing = 0.08, scale = 2 }}"),
            &folder.0,
        );
        let scene = scene.unwrap();
        let body = &scene.cloths[0];
        let vertices = scene.world.vertices(body.id).unwrap();
        let seen = body.skin.as_ref().unwrap().follow(vertices);
        let corners = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        for corner in corners.map(thirdlaw::Vec3::from_array) {
            let near = seen.iter().any(|p| p.distance(corner) < 1e-9);
            assert!(near, "{name}: {corner} of {seen:?}");
        }
        // corners sharper than the lattice are rounded off
        let tetrahedra = &scene.world.deformable(body.id).unwrap().elements.energies.tetrahedra;
        let count = thirdlaw::energy::Energy::len(tetrahedra);
        let volume: f64 = (0..count).map(|e| tetrahedra.rest_volume(e)).sum();
        assert!((volume / (8.0 / 6.0) - 1.0).abs() < 0.05, "{name}: {volume}");
    }
}

#[test]
fn tetrahedra_come_from_files_and_refusals_name_them() {
    let folder = Folder::with_files("solid");
    let write = |name: &str, text: &str| std::fs::write(folder.0.join(name), text).unwrap();
    write("one.node", "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n");
    write("one.ele", "1 4 0\n1 1 2 3 4\n");
    let scene = soft("tetrahedra = { file = \"one.ele\", scale = 2 }", &folder.0).unwrap();
    assert_eq!(scene.world.vertices(scene.cloths[0].id).unwrap().len(), 4);
    assert!(scene.cloths[0].skin.is_none());
    let told = |mesh: &str| soft(mesh, &folder.0).map(|_| ()).unwrap_err();
    write("two.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 1 1 0\n");
    write("two.ele", "1 4 0\n0 0 1 2 3\n");
    let flat = told("tetrahedra = { file = \"two.ele\" }");
    assert!(flat.contains("a.toml:3") && flat.contains("tetrahedron 0"), "{flat}");
    let alone = told("tetrahedra = { file = \"three.node\" }");
    assert!(alone.contains("three.node"), "{alone}");
    let open = told("surface = { vertices = [[0,0,0],[1,0,0],[0,1,0]], triangles = [[0,1,2]] }");
    assert!(open.contains("only a closed surface can be filled"), "{open}");
    let wrong = told("tetrahedra = { file = \"a.obj\" }");
    assert!(wrong.contains(".msh, .vtk, .ele or .node"), "{wrong}");
}
