//! One mesh, written in every format and encoding, must be read back; damaged files must be refused.

use super::words::Order;
use super::*;

/// A cube of six tetrahedra around its diagonal, with a vertex that nothing uses.
fn cube() -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let corner = |i: u32| [i & 1, i >> 1 & 1, i >> 2].map(f64::from);
    let mut places: Vec<Vec3> = (0..8).map(|i| Vec3::from_array(corner(i))).collect();
    places.push(Vec3::splat(0.1));
    let around = [1, 3, 2, 6, 4, 5];
    let cells = (0..6).map(|k| [0, around[k], around[(k + 1) % 6], 7]).collect();
    (places, cells)
}

/// The cube with all volumes positive.
fn known() -> SolidMesh {
    let (mut places, cells) = cube();
    places.pop();
    let mut mesh = SolidMesh { positions: places, tetrahedra: cells };
    orient(&mut mesh).unwrap();
    assert!((mesh.volume() - 1.0).abs() < 1e-15);
    mesh
}

fn put(out: &mut Vec<u8>, order: Order, bytes: &[u8]) {
    match order {
        Order::Little => out.extend_from_slice(bytes),
        Order::Big => out.extend(bytes.iter().rev()),
    }
}

/// Writes words, or bytes in an order.
struct Writer {
    out: Vec<u8>,
    order: Option<Order>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn int(&mut self, value: i64) {
        match self.order {
            None => self.text(&format!("{value} ")),
            Some(order) => put(&mut self.out, order, &(value as i32).to_le_bytes()),
        }
    }

    fn long(&mut self, value: i64) {
        match self.order {
            None => self.text(&format!("{value} ")),
            Some(order) => put(&mut self.out, order, &value.to_le_bytes()),
        }
    }

    fn place(&mut self, place: Vec3) {
        for x in place.to_array() {
            match self.order {
                None => self.text(&format!("{x} ")),
                Some(order) => put(&mut self.out, order, &x.to_le_bytes()),
            }
        }
        self.line();
    }

    fn line(&mut self) {
        if self.order.is_none() {
            self.text("\n");
        }
    }

    fn format(&mut self, version: &str) {
        let bytes = u32::from(self.order.is_some());
        self.text(&format!("$MeshFormat\n{version} {bytes} 8\n"));
        if self.order.is_some() {
            self.int(1);
            self.text("\n");
        }
        self.text("$EndMeshFormat\n");
    }
}

/// Version 2: vertices counted from 1, a triangle of the boundary before the tetrahedra.
fn gmsh_2(order: Option<Order>) -> Vec<u8> {
    let (places, cells) = cube();
    let mut w = Writer { out: Vec::new(), order };
    w.format("2.2");
    w.text(&format!("$Nodes\n{}\n", places.len()));
    for (i, place) in places.iter().enumerate() {
        w.int(i as i64 + 1);
        w.place(*place);
    }
    w.text(&format!("\n$EndNodes\n$Elements\n{}\n", cells.len() + 1));
    let mut number = 1;
    for (kind, list) in [(2, vec![vec![0, 1, 3]]), (4, cells.iter().map(|t| t.to_vec()).collect())]
    {
        let count = list.len() as i64;
        if order.is_some() {
            [kind, count, 2].into_iter().for_each(|n| w.int(n));
        }
        for nodes in list {
            w.int(number);
            number += 1;
            if order.is_none() {
                [kind, 2].into_iter().for_each(|n| w.int(n));
            }
            [7, 1].into_iter().for_each(|mark| w.int(mark));
            nodes.iter().for_each(|&n: &u32| w.int(i64::from(n) + 1));
            w.line();
        }
    }
    w.text("\n$EndElements\n");
    w.out
}

/// Version 4.1: vertices in two blocks, one of them with a parameter.
fn gmsh_4(order: Option<Order>) -> Vec<u8> {
    let (places, cells) = cube();
    let mut w = Writer { out: Vec::new(), order };
    w.format("4.1");
    w.text("$Nodes\n");
    [2, places.len() as i64, 1, places.len() as i64].into_iter().for_each(|n| w.long(n));
    w.line();
    for (parametric, range) in [(1, 0..2), (0, 2..places.len())] {
        [1, 5, parametric].into_iter().for_each(|n| w.int(n));
        w.long(range.len() as i64);
        w.line();
        range.clone().for_each(|i| w.long(i as i64 + 1));
        w.line();
        for i in range {
            w.place(places[i]);
            if parametric == 1 {
                match order {
                    None => w.text("0.5\n"),
                    Some(order) => put(&mut w.out, order, &0.5_f64.to_le_bytes()),
                }
            }
        }
    }
    w.text("\n$EndNodes\n$Elements\n");
    [2, 7, 1, 7].into_iter().for_each(|n| w.long(n));
    w.line();
    let mut number = 1;
    for (kind, list) in [(2, vec![vec![0, 1, 3]]), (4, cells.iter().map(|t| t.to_vec()).collect())]
    {
        [3, 1, kind].into_iter().for_each(|n| w.int(n));
        w.long(list.len() as i64);
        w.line();
        for nodes in list {
            w.long(number);
            number += 1;
            nodes.iter().for_each(|&n: &u32| w.long(i64::from(n) + 1));
            w.line();
        }
    }
    w.text("\n$EndElements\n");
    w.out
}

fn vtk(version: &str, order: Option<Order>) -> Vec<u8> {
    let (places, cells) = cube();
    let mut w = Writer { out: Vec::new(), order };
    let encoding = if order.is_some() { "BINARY" } else { "ASCII" };
    w.text(&format!("# vtk DataFile Version {version}\na cube\n{encoding}\n"));
    w.text(&format!("DATASET UNSTRUCTURED_GRID\nPOINTS {} double\n", places.len()));
    places.iter().for_each(|p| w.place(*p));
    if version.starts_with('5') {
        w.text(&format!(
            "\nCELLS {} {}\nOFFSETS vtktypeint64\n",
            cells.len() + 2,
            4 * cells.len() + 3
        ));
        let ends = (0..cells.len() as i64 + 1).map(|k| 3 + 4 * k);
        std::iter::once(0).chain(ends).for_each(|end| w.long(end));
        w.text("\nCONNECTIVITY vtktypeint64\n");
        [0, 1, 3].into_iter().for_each(|n| w.long(n));
        cells.iter().flatten().for_each(|&n| w.long(i64::from(n)));
    } else {
        w.text(&format!("\nCELLS {} {}\n", cells.len() + 1, 5 * cells.len() + 4));
        [3, 0, 1, 3].into_iter().for_each(|n| w.int(n));
        for t in &cells {
            w.int(4);
            t.iter().for_each(|&n| w.int(i64::from(n)));
            w.line();
        }
    }
    w.text(&format!("\nCELL_TYPES {}\n", cells.len() + 1));
    w.int(5);
    cells.iter().for_each(|_| w.int(10));
    w.text("\nPOINT_DATA 9\nSCALARS a double\n");
    w.out
}

fn tetgen(first: u32) -> (Vec<u8>, Vec<u8>) {
    let (places, cells) = cube();
    let mut nodes = format!("# a cube\n{} 3 1 1\n", places.len());
    for (i, p) in (first..).zip(&places) {
        nodes += &format!("{i} {} {} {} 0.5 1 # here\n", p.x, p.y, p.z);
    }
    let mut list = format!("{} 4 1\n", cells.len());
    for (i, t) in cells.iter().enumerate() {
        let [a, b, c, d] = t.map(|n| n + first);
        list += &format!("{i} {a} {b} {c} {d} 3\n");
    }
    (nodes.into_bytes(), list.into_bytes())
}

fn load(name: &str, bytes: &[u8]) -> Result<SolidMesh, MeshFileError> {
    let file = SolidFile { path: Path::new(name), bytes };
    load_solid(file, None, &MeshOptions::default())
}

fn load_pair(first: &str, pair: &(Vec<u8>, Vec<u8>)) -> Result<SolidMesh, MeshFileError> {
    let path = Path::new(first);
    let beside = companion(path).unwrap();
    let (own, other) =
        if first.ends_with(".node") { (&pair.0, &pair.1) } else { (&pair.1, &pair.0) };
    let file = SolidFile { path, bytes: own };
    load_solid(file, Some(SolidFile { path: &beside, bytes: other }), &MeshOptions::default())
}

/// Every format and encoding of the cube.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let orders = [None, Some(Order::Little), Some(Order::Big)];
    let mut files = Vec::new();
    files.extend(orders.map(|order| ("cube.msh", gmsh_2(order))));
    files.extend(orders.map(|order| ("cube.msh", gmsh_4(order))));
    for order in [None, Some(Order::Big)] {
        files.push(("cube.vtk", vtk("3.0", order)));
        files.push(("cube.VTK", vtk("5.1", order)));
    }
    files
}

#[test]
fn every_format_gives_the_same_mesh() {
    for (i, (name, bytes)) in files().iter().enumerate() {
        assert_eq!(load(name, bytes).unwrap(), known(), "{name}, file {i}");
    }
    for first in [0, 1] {
        for name in ["d/cube.node", "d/cube.ele"] {
            assert_eq!(load_pair(name, &tetgen(first)).unwrap(), known(), "{name} from {first}");
        }
    }
}

#[test]
fn a_file_that_ends_early_is_refused() {
    for (name, bytes) in files() {
        let text = String::from_utf8_lossy(&bytes);
        // what stands behind the last number says nothing
        let last = text.rfind("\n$EndElements").or(text.rfind("\nPOINT_DATA"));
        let end = bytes.len() - (text.len() - last.unwrap());
        for length in 0..end - 2 {
            assert!(load(name, &bytes[..length]).is_err(), "{name}, {length} of {end} bytes");
        }
    }
    let (nodes, cells) = tetgen(1);
    for length in 0..cells.len() - 2 {
        assert!(load_pair("a.ele", &(nodes.clone(), cells[..length].to_vec())).is_err());
    }
}

#[test]
fn damaged_files_are_refused_or_read_but_never_end_the_program() {
    let mut word = 1_u64;
    let mut random = move |below: usize| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (word >> 33) as usize % below
    };
    for (name, bytes) in files() {
        for _ in 0..2_000 {
            let mut bytes = bytes.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            if let Ok(mesh) = load(name, &bytes) {
                let count = mesh.positions.len() as u32;
                assert!(mesh.tetrahedra.iter().flatten().all(|&i| i < count));
            }
        }
    }
}

#[test]
fn errors_name_the_file_and_the_place() {
    let text = String::from_utf8(gmsh_2(None)).unwrap();
    let told = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        load("a.msh", text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    assert_eq!(
        told("2.2 0 8", "3 0 8"),
        "a.msh:2: version 3 is not read; save it as version 4.1 or 2.2"
    );
    assert_eq!(
        told("2 1 0 0", "2 1 x 0"),
        "a.msh:7: `x` is not a number, where a coordinate of a vertex should stand"
    );
    assert!(told("2 1 0 0", "2 1 nan 0").contains("is not finite"));
    assert!(told("8 1 1 1", "8 2 1 1e400").contains("is not finite"));
    assert!(told("2 4 2 7 1 1 2 4 8", "2 4 2 7 1 1 2 4 80").contains("names vertex 80"));
    let swapped = told("2 4 2 7 1 1 2 4 8", "2 4 2 7 1 2 1 4 8");
    assert_eq!(
        swapped,
        "a.msh, tetrahedron 0: is inverted: its corners turn the other way round than those of 5 \
         others"
    );
    assert!(told("$MeshFormat", "$Format").contains("begins with `$MeshFormat`"));
    let nothing = load("a.msh", b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n").unwrap_err().to_string();
    assert_eq!(nothing, "a.msh: there are no tetrahedra in it");
    assert!(load("a.obj", b"").unwrap_err().to_string().contains(SOLID_FILES));
}

#[test]
fn axes_are_turned_and_scaled() {
    let options = MeshOptions { up: super::super::UpAxis::Z, scale: Vec3::new(1.0, 2.0, 3.0) };
    let bytes = gmsh_4(None);
    let file = SolidFile { path: Path::new("a.msh"), bytes: &bytes };
    let mesh = load_solid(file, None, &options).unwrap();
    assert!((mesh.volume() - 6.0).abs() < 1e-14);
    let high = mesh.positions.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    assert_eq!(high, Vec3::new(1.0, 2.0, 0.0));
}
