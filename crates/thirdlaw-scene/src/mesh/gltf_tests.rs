use super::*;
use serde_json::json;

/// A triangle in the xy plane, as two nodes: one moved up and turned, the other its mirrored child.
fn tree() -> Value {
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [
            { "mesh": 0, "translation": [0, 5, 0], "rotation": [0, 1, 0, 1], "children": [1] },
            { "mesh": 0, "matrix": [-2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 1, 0, 1] },
        ],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_0": 2 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR" },
            { "bufferView": 2, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC2" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 6 },
            { "buffer": 0, "byteOffset": 44, "byteLength": 12, "byteStride": 4 },
        ],
        "buffers": [{ "byteLength": 56 }],
    })
}

fn bytes() -> Vec<u8> {
    let positions = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let mut bytes: Vec<u8> = positions.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([0u16, 1, 2].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0, 0]);
    bytes.extend([0, 255, 9, 9, 255, 255, 9, 9, 0, 0, 9, 9]);
    bytes
}

fn glb(tree: &Value, bytes: &[u8]) -> Vec<u8> {
    let mut text = tree.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = (28 + text.len() + bytes.len()) as u32;
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(total.to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(text);
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(bytes);
    out
}

fn refusal(edit: impl FnOnce(&mut Value)) -> Refusal {
    let mut tree = tree();
    edit(&mut tree);
    read(&glb(&tree, &bytes()), None).unwrap_err()
}

#[test]
fn nodes_put_their_meshes_where_they_say() {
    let mesh = read(&glb(&tree(), &bytes()), None).unwrap();
    let near = |a: Vec3, b: Vec3| assert!((a - b).length() < 1e-9, "{a} is not {b}");
    // a quarter turn about y takes x to −z
    let parent = mesh.triangles[0].map(|v| mesh.vertices[v as usize]);
    near(parent[0], Vec3::new(0.0, 5.0, 0.0));
    near(parent[1], Vec3::new(0.0, 5.0, -1.0));
    near(parent[2], Vec3::new(0.0, 6.0, 0.0));
    let child = mesh.triangles[1].map(|v| mesh.vertices[v as usize]);
    near(child[0], Vec3::new(0.0, 6.0, 0.0));
    let normal = |t: [Vec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]).normalize();
    near(normal(parent), normal(child));
    assert_eq!(mesh.vertices.len(), 5, "the tip of one is the foot of the other");
    assert_eq!(mesh.corner_uv.unwrap()[0], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn bytes_may_be_inside_or_beside() {
    let wanted = read(&glb(&tree(), &bytes()), None).unwrap();
    let mut inside = tree();
    // "AAAA" is three zero bytes: enough to show that they are read
    inside["buffers"][0]["uri"] =
        json!(format!("data:application/octet-stream;base64,{}", "AAAA".repeat(19)));
    assert_eq!(read(inside.to_string().as_bytes(), None).unwrap().vertices.len(), 2);
    let folder = std::env::temp_dir().join(format!("thirdlaw-gltf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a b.bin"), bytes()).unwrap();
    let mut beside = tree();
    beside["buffers"][0]["uri"] = json!("a%20b.bin");
    let read_beside = read(beside.to_string().as_bytes(), Some(&folder));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(read_beside.unwrap(), wanted);
    let missing = read(beside.to_string().as_bytes(), Some(&folder)).unwrap_err();
    assert_eq!(missing.0, MeshPlace::Element("/buffers/0".into()));
}

#[test]
fn strips_and_fans_face_the_same_way_throughout() {
    for mode in [5, 6] {
        let mut tree = tree();
        // four corners of a square, as a strip or as a fan
        let corners: [[f32; 2]; 4] = match mode {
            5 => [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
            _ => [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        };
        let bytes: Vec<u8> =
            corners.iter().flat_map(|[x, y]| [*x, *y, 0.0]).flat_map(f32::to_le_bytes).collect();
        tree["nodes"] = json!([{ "mesh": 0 }]);
        tree["meshes"][0]["primitives"][0] =
            json!({ "attributes": { "POSITION": 0 }, "mode": mode });
        tree["accessors"][0]["count"] = json!(4);
        tree["bufferViews"][0]["byteLength"] = json!(48);
        tree["buffers"][0]["byteLength"] = json!(48);
        let mesh = read(&glb(&tree, &bytes), None).unwrap();
        assert_eq!(mesh.triangles.len(), 2);
        for t in mesh.triangles {
            let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
            assert!((b - a).cross(c - a).z > 0.0, "mode {mode}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    type Edit = fn(&mut Value);
    let cases: [(&str, Edit); 11] = [
        ("/accessors/0", |t| t["accessors"][0]["count"] = json!(4_000_000_000u64)),
        ("/meshes/0", |t| t["accessors"][1]["count"] = json!(4_000_000_000u64)),
        ("/accessors/0", |t| t["accessors"][0]["byteOffset"] = json!(u64::MAX)),
        ("/accessors/1", |t| t["bufferViews"][1]["byteLength"] = json!(2)),
        ("/accessors/1", |t| t["bufferViews"][1]["byteOffset"] = json!(u64::MAX)),
        ("/accessors/7", |t| t["meshes"][0]["primitives"][0]["indices"] = json!(7)),
        ("/nodes/0", |t| t["nodes"][1]["children"] = json!([0])),
        ("/nodes/9", |t| t["scenes"][0]["nodes"] = json!([9])),
        ("/nodes/0", |t| t["nodes"][0]["rotation"] = json!([0, 0, 0, 0])),
        ("/meshes/3", |t| t["nodes"][0]["mesh"] = json!(3)),
        ("/buffers/0", |t| t["buffers"][0]["byteLength"] = json!(57)),
    ];
    for (place, edit) in cases {
        assert_eq!(refusal(edit).0, MeshPlace::Element(place.into()));
    }
    let draco = refusal(|t| t["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]));
    assert!(draco.1.contains("draco"), "{draco:?}");
}

#[test]
fn every_cut_is_noticed() {
    let whole = glb(&tree(), &bytes());
    for length in 0..whole.len() {
        assert!(read(&whole[..length], None).is_err(), "{length}");
    }
}

#[test]
fn a_mesh_named_again_and_again_is_refused_in_time() {
    let mut tree = tree();
    let nodes = 200_000;
    tree["nodes"] = (0..nodes).map(|_| json!({ "mesh": 0 })).collect();
    tree["scenes"][0]["nodes"] = (0..nodes).collect();
    let primitive = tree["meshes"][0]["primitives"][0].clone();
    tree["meshes"][0]["primitives"] = (0..100).map(|_| primitive.clone()).collect();
    let refused = read(&glb(&tree, &bytes()), None).unwrap_err();
    assert!(refused.1.contains("more than"), "{refused:?}");
}
