//! Garments for the [figure](super::figure), in its rest pose: two panels, front and back, sewn
//! together along their seams.
//!
//! A panel is a lattice of cells in the plane of the figure (x to its left, y up); each node lies on
//! the front or the back of a body-like shape, and nodes on a seam are one vertex. Rest lengths are
//! those of that shape, so that nothing is strained when the garment is put on.

use std::collections::BTreeMap;
use thirdlaw::math::Vec3;
use thirdlaw::{ClothError, ClothMesh};

/// A mesh of cloth with named groups of vertices.
#[derive(Clone, Debug)]
pub struct ClothPattern {
    /// Triangles, start and rest.
    pub mesh: ClothMesh,
    /// Vertices by the name of their group.
    pub groups: Vec<(&'static str, Vec<u32>)>,
}

/// Numbers of a shirt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shirt {
    /// From vertex to vertex, about, m.
    pub spacing: f64,
    /// Room between body and cloth, m.
    pub ease: f64,
    /// From the shoulder line to the hem, m.
    pub length: f64,
    /// From the armpit to the cuff, m.
    pub sleeve: f64,
    /// Width of the hem over that of the chest.
    pub flare: f64,
    /// Width of the cuff over that of the armhole.
    pub puff: f64,
}

impl Default for Shirt {
    fn default() -> Self {
        Shirt { spacing: 0.02, ease: 0.02, length: 0.62, sleeve: 0.4, flare: 1.0, puff: 0.8 }
    }
}

/// Numbers of pants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pants {
    /// From vertex to vertex, about, m.
    pub spacing: f64,
    /// Room between body and cloth, m.
    pub ease: f64,
    /// From the crotch to the cuff, m.
    pub inseam: f64,
    /// Width of the cuff over that of the thigh.
    pub flare: f64,
}

impl Default for Pants {
    fn default() -> Self {
        Pants { spacing: 0.02, ease: 0.02, inseam: 0.72, flare: 0.8 }
    }
}

/// A node of a panel: column, row, and on which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    i: usize,
    j: usize,
    back: bool,
}

/// More cells than this are a slip of the keyboard.
const CELLS_MAX: f64 = 1e6;

/// Height of the shoulders and radius of the armhole without ease, m.
const SHOULDER: f64 = 1.40;
const ARMHOLE: f64 = 0.075;
/// Half the width and depth of the chest without ease, m.
const CHEST: [f64; 2] = [0.19, 0.145];
/// Half the width and depth of the opening for the neck, m.
const NECK: [f64; 2] = [0.095, 0.08];

impl Shirt {
    /// The shirt, worn by the figure.
    pub fn sheet(&self) -> Result<ClothPattern, ClothError> {
        let r = ARMHOLE + self.ease;
        let [a, b] = CHEST.map(|x| x + self.ease);
        let below = self.length - 2.0 * r;
        if below < self.spacing {
            let problem =
                format!("must be at least {} m, not {}", 2.0 * r + self.spacing, self.length);
            return Err(ClothError::Size { what: "length", problem });
        }
        let torso = cells(0.5 * std::f64::consts::PI * (a + b), self.spacing, 6)?;
        let sleeve = cells(self.sleeve, self.spacing, 1)?;
        let armhole = cells(std::f64::consts::PI * r, self.spacing, 4)?;
        let rows = cells(below, self.spacing, 1)?;
        let (columns, top) = (2 * sleeve + torso, rows + armhole);
        let (armpit, shoulder) = (SHOULDER - r, SHOULDER + r);
        // where a node lies across its panel: −1 to 1 over the torso, beyond that on a sleeve
        let across = |i: usize| {
            if i < sleeve {
                -1.0 - (sleeve - i) as f64 / sleeve as f64
            } else if i > sleeve + torso {
                1.0 + (i - sleeve - torso) as f64 / sleeve as f64
            } else {
                2.0 * gathered((i - sleeve) as f64 / torso as f64) - 1.0
            }
        };
        let is_neck = |i: usize| (across(i) * a).abs() < NECK[0] - 0.3 * self.spacing;
        let place = |node: Node| {
            let s = across(node.i);
            let side = if node.back { -1.0 } else { 1.0 };
            if node.j < rows {
                // the torso below the armpits
                let t = 1.0 - node.j as f64 / rows as f64;
                let wide = 1.0 + (self.flare - 1.0) * t;
                let z = b * wide * (1.0 - s * s).max(0.0).sqrt();
                return Vec3::new(a * wide * s, armpit - below * t, side * z);
            }
            let t = gathered((node.j - rows) as f64 / armhole as f64);
            let around = 2.0 * (t * (1.0 - t)).max(0.0).sqrt();
            if s.abs() > 1.0 {
                let narrow = 1.0 + (self.puff - 1.0) * (s.abs() - 1.0);
                let x = s.signum() * (a + self.sleeve * (s.abs() - 1.0));
                let y = SHOULDER + r * narrow * (2.0 * t - 1.0);
                return Vec3::new(x, y, side * r * narrow * around);
            }
            // between the armpits the chest closes towards the shoulders, where the armholes take
            // over, and around the neck it is open
            let x = a * s;
            let chest = square(b) * (1.0 - s * s).max(0.0) * (1.0 - t * t);
            let (arm, neck) = (square(r * around), square(NECK[1] * t * t));
            let neck = (1.0 - square(x / NECK[0])).max(0.0) * neck;
            let z = (square(chest) + square(arm) + square(neck)).sqrt().sqrt();
            Vec3::new(x, armpit + (shoulder - armpit) * t, side * z)
        };
        let on_sleeve = |i: usize| i < sleeve || i >= sleeve + torso;
        let is_cell = |i: usize, j: usize| j >= rows || !on_sleeve(i);
        let is_seam = |i: usize, j: usize| {
            if j == top {
                return !is_neck(i);
            }
            let side = i == sleeve || i == sleeve + torso;
            let under_arm = j == rows && (i <= sleeve || i >= sleeve + torso);
            under_arm || (j < rows && side)
        };
        let sewn = |node: Node| Node { back: node.back && !is_seam(node.i, node.j), ..node };
        let panels = Panels { columns, rows: top, is_cell: &is_cell, sewn: &sewn, place: &place };
        let (mesh, index) = panels.mesh()?;
        let group = |wanted: &dyn Fn(&Node) -> bool| {
            index.iter().filter(|(n, _)| wanted(n)).map(|(_, &i)| i).collect::<Vec<u32>>()
        };
        let near_neck = |i: usize| is_neck(i) || is_neck(i + 1) || (i > 0 && is_neck(i - 1));
        let groups = vec![
            ("neck", group(&|n| n.j == top && near_neck(n.i))),
            ("hem", group(&|n| n.j == 0)),
            ("cuffs", group(&|n| n.i == 0 || n.i == columns)),
        ];
        Ok(ClothPattern { mesh, groups })
    }
}

/// Heights of crotch and waist, m.
const CROTCH: f64 = 0.81;
const WAIST: f64 = 1.06;
/// Axis and radius of the thigh without ease, m.
const LEG: f64 = 0.1;
const THIGH: f64 = 0.075;
/// Half the width and depth at the hips and at the waist without ease, m.
const HIPS: [f64; 2] = [0.18, 0.125];
const BELT: [f64; 2] = [0.145, 0.125];
/// From the middle to the inner seam just below the crotch, m.
const STRIDE: f64 = 0.004;

impl Pants {
    /// The pants, worn by the figure.
    pub fn sheet(&self) -> Result<ClothPattern, ClothError> {
        let leg = cells(std::f64::consts::PI * (THIGH + self.ease), self.spacing, 4)?;
        let legs = cells(self.inseam, self.spacing, 2)?;
        let hips = cells(WAIST - CROTCH, self.spacing, 2)?;
        // columns 0 to leg and leg + 1 to 2 leg + 1; above the crotch the middle two are one
        let columns = 2 * leg + 1;
        let outer = LEG + THIGH + self.ease;
        let place = |node: Node| {
            let is_left = node.i > leg;
            let (mirror, column) = if is_left { (1.0, columns - node.i) } else { (-1.0, node.i) };
            let side = if node.back { -1.0 } else { 1.0 };
            // 0 at the outer seam, 1 at the inner one
            let s = gathered(column as f64 / leg as f64);
            let round = 2.0 * (s * (1.0 - s)).max(0.0).sqrt();
            if node.j < legs {
                let t = 1.0 - node.j as f64 / legs as f64;
                // the legs part at once and taper below the knee
                let calf = (2.0 * t - 1.0).max(0.0);
                let inner = STRIDE + 0.011 * (4.0 * t).min(1.0);
                let narrow = 1.0 + (self.flare - 1.0) * calf;
                let (middle, half) = (0.5 * (outer + inner), 0.5 * (outer - inner) * narrow);
                let x = middle + half * (1.0 - 2.0 * s);
                let z = (THIGH + self.ease) * narrow * round;
                return Vec3::new(mirror * x, CROTCH - self.inseam * t, side * z);
            }
            let t = (node.j - legs) as f64 / hips as f64;
            let [a, b] = [0, 1].map(|k| {
                let low = if k == 0 { outer } else { HIPS[1] + self.ease };
                let (hip, belt) = (HIPS[k] + self.ease, BELT[k] + self.ease);
                if t < 0.6 {
                    low + (hip - low) * t / 0.6
                } else {
                    hip + (belt - hip) * (t - 0.6) / 0.4
                }
            });
            // two legs become one body
            let joined = 1.0 - (1.0 - t) * square(1.0 - t);
            let two = square((THIGH + self.ease) * round);
            let one = b * b * (1.0 - square(1.0 - s)).max(0.0);
            let z = ((1.0 - joined) * two + joined * one).sqrt();
            Vec3::new(mirror * a * (1.0 - s), CROTCH + (WAIST - CROTCH) * t, side * z)
        };
        let is_cell = |i: usize, _: usize| i != leg;
        let sewn = |node: Node| {
            let Node { i, j, back } = node;
            let i = if j >= legs && i == leg + 1 { leg } else { i };
            let inner = (i == leg || i == leg + 1) && j <= legs;
            let seam = i == 0 || i == columns || inner;
            Node { i, j, back: back && !seam }
        };
        let top = legs + hips;
        let panels = Panels { columns, rows: top, is_cell: &is_cell, sewn: &sewn, place: &place };
        let (mesh, index) = panels.mesh()?;
        let group = |wanted: &dyn Fn(&Node) -> bool| {
            index.iter().filter(|(n, _)| wanted(n)).map(|(_, &i)| i).collect::<Vec<u32>>()
        };
        let groups = vec![("waist", group(&|n| n.j == top)), ("cuffs", group(&|n| n.j == 0))];
        Ok(ClothPattern { mesh, groups })
    }
}

/// How many cells of about `spacing` a length takes.
fn cells(length: f64, spacing: f64, least: usize) -> Result<usize, ClothError> {
    let count = (length / spacing).round();
    if count.is_nan() || count * count >= CELLS_MAX {
        let problem = format!("of {spacing} m makes too many vertices");
        return Err(ClothError::Size { what: "spacing", problem });
    }
    Ok((count as usize).max(least))
}

fn square(x: f64) -> f64 {
    x * x
}

/// From 0 to 1, slower at both ends, where a panel bends around the body.
fn gathered(s: f64) -> f64 {
    let round = 0.5 * (1.0 - libm::cos(std::f64::consts::PI * s));
    0.3 * s + 0.7 * round
}

/// Front and back of a garment.
struct Panels<'a> {
    columns: usize,
    rows: usize,
    is_cell: &'a dyn Fn(usize, usize) -> bool,
    /// The node that stands for a node.
    sewn: &'a dyn Fn(Node) -> Node,
    place: &'a dyn Fn(Node) -> Vec3,
}

impl Panels<'_> {
    fn mesh(&self) -> Result<(ClothMesh, BTreeMap<Node, u32>), ClothError> {
        let mut index: BTreeMap<Node, u32> = BTreeMap::new();
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for back in [false, true] {
            for j in 0..self.rows {
                for i in (0..self.columns).filter(|&i| (self.is_cell)(i, j)) {
                    let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                    let [a, b, c, d] = corners.map(|(i, j)| {
                        let node = (self.sewn)(Node { i, j, back });
                        *index.entry(node).or_insert_with(|| {
                            positions.push((self.place)(node));
                            positions.len() as u32 - 1
                        })
                    });
                    // diagonals alternate, so that the mesh prefers no direction
                    let pair = if (i + j) % 2 == 0 {
                        [[a, b, c], [a, c, d]]
                    } else {
                        [[a, b, d], [b, c, d]]
                    };
                    triangles
                        .extend(pair.map(|[a, b, c]| if back { [a, c, b] } else { [a, b, c] }));
                }
            }
        }
        let mesh = ClothMesh::from_shape(positions, triangles, Vec3::Y, false)?;
        Ok((mesh, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::figure::Figure;
    use thirdlaw::collide::deformable::signed_distance;

    /// V − E + F, and the number of closed border lines.
    fn topology(mesh: &ClothMesh) -> (i64, usize) {
        let mut edges: BTreeMap<[u32; 2], Vec<bool>> = BTreeMap::new();
        for &[a, b, c] in &mesh.triangles {
            for [i, j] in [[a, b], [b, c], [c, a]] {
                edges.entry([i.min(j), i.max(j)]).or_default().push(i < j);
            }
        }
        let mut next = BTreeMap::new();
        for ([i, j], sides) in &edges {
            match **sides {
                [forwards] => {
                    let (from, to) = if forwards { (*i, *j) } else { (*j, *i) };
                    assert!(next.insert(from, to).is_none(), "the border meets itself at {from}");
                }
                [a, b] => assert_ne!(a, b, "neighbours face the same way"),
                _ => panic!("{} triangles at an edge", sides.len()),
            }
        }
        let mut lines = 0;
        while let Some((&start, _)) = next.first_key_value() {
            let mut at = start;
            while let Some(to) = next.remove(&at) {
                at = to;
            }
            lines += 1;
        }
        let euler = mesh.positions.len() as i64 - edges.len() as i64 + mesh.triangles.len() as i64;
        (euler, lines)
    }

    #[test]
    fn garments_are_surfaces_with_their_openings() {
        for spacing in [0.012, 0.02, 0.027, 0.04] {
            let shirt = Shirt { spacing, ..Shirt::default() }.sheet().unwrap();
            assert_eq!(topology(&shirt.mesh), (-2, 4), "neck, hem and two cuffs at {spacing}");
            let pants = Pants { spacing, ..Pants::default() }.sheet().unwrap();
            assert_eq!(topology(&pants.mesh), (-1, 3), "waist and two cuffs at {spacing}");
        }
    }

    #[test]
    fn garments_do_not_touch_who_wears_them() {
        let figure = Figure::default().pieces().unwrap();
        let shirt = Shirt::default().sheet().unwrap();
        let blouse = Shirt { ease: 0.03, flare: 1.25, puff: 1.1, ..Shirt::default() };
        let pants = Pants::default().sheet().unwrap();
        let sheets = [shirt, blouse.sheet().unwrap(), pants];
        for (k, sheet) in sheets.iter().enumerate() {
            for p in &sheet.mesh.positions {
                for piece in &figure {
                    let local = piece.pose.inverse() * *p;
                    let near = signed_distance(&piece.shape, local, 0.003);
                    assert!(near.is_none(), "garment {k} at {p} in {:?}", piece.name);
                }
            }
        }
    }

    #[test]
    fn cells_are_even() {
        for sheet in [Shirt::default().sheet().unwrap(), Pants::default().sheet().unwrap()] {
            let mut lengths = Vec::new();
            for &[a, b, c] in &sheet.mesh.triangles {
                for [i, j] in [[a, b], [b, c], [c, a]] {
                    let x = &sheet.mesh.positions;
                    lengths.push(x[i as usize].distance(x[j as usize]));
                }
            }
            let most = lengths.iter().copied().fold(0.0, f64::max);
            let least = lengths.iter().copied().fold(1.0, f64::min);
            assert!(most < 0.08 && least > 0.002, "{least} to {most}");
        }
    }

    #[test]
    fn impossible_garments_are_refused() {
        assert!(Shirt { spacing: 1e-6, ..Shirt::default() }.sheet().is_err());
        assert!(Shirt { length: 0.1, ..Shirt::default() }.sheet().is_err());
        assert!(Pants { spacing: 1e-9, ..Pants::default() }.sheet().is_err());
    }
}
