//! Gmsh's `.msh`, versions 2 and 4.1, as text and as bytes in either order.

use super::super::{MeshPlace, Refusal, at_line};
use super::Raw;
use super::words::{Order, Words};
use thirdlaw::math::Vec3;

/// How numbers of the file are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Encoding {
    Text,
    Bytes(Order),
}

/// Bytes of a tag in version 4.1, and of an `int`.
const LONG: usize = 8;
const INT: usize = 4;
const REAL: usize = 8;

/// Kinds of elements that are tetrahedra: with four nodes, and with nodes on edges, faces and inside too.
const TETRAHEDRA: [i64; 4] = [4, 11, 29, 30];

/// Nodes of an element by its kind: for skipping those that are not tetrahedra.
fn nodes_of(kind: i64) -> Option<usize> {
    const NODES: [usize; 31] = [
        2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4,
        5, 6, 20, 35, 56,
    ];
    usize::try_from(kind).ok()?.checked_sub(1).and_then(|k| NODES.get(k).copied())
}

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<Raw, Refusal> {
    let mut file = File { words: Words::new(bytes), encoding: Encoding::Text, raw: Raw::default() };
    let mut version = None;
    while let Some(word) = file.words.word() {
        match word {
            b"$MeshFormat" => version = Some(file.format()?),
            b"$Nodes" | b"$Elements" if version.is_none() => {
                return Err(at_line(file.words.line, "a `.msh` file begins with `$MeshFormat`"));
            }
            b"$Nodes" if version == Some(2) => file.nodes_2()?,
            b"$Nodes" => file.nodes_4()?,
            b"$Elements" if version == Some(2) => file.elements_2()?,
            b"$Elements" => file.elements_4()?,
            // sections of other things
            _ => {}
        }
    }
    match version {
        Some(_) => Ok(file.raw),
        None => Err((MeshPlace::File, "it is no mesh of Gmsh: `$MeshFormat` is missing".into())),
    }
}

struct File<'a> {
    words: Words<'a>,
    encoding: Encoding,
    raw: Raw,
}

impl File<'_> {
    /// The header; says whether it is version 2 or 4.
    fn format(&mut self) -> Result<u32, Refusal> {
        let version: f64 = self.words.number("the version")?;
        let kind: u32 = self.words.number("the kind of the file")?;
        let size: u32 = self.words.number("the size of a number")?;
        if size != 8 {
            return Err(at_line(self.words.line, format!("numbers of {size} bytes are not read")));
        }
        if kind == 1 {
            self.words.rest_of_line();
            let mut probe = self.words;
            let order = match probe.int(Order::Little, "the header")? {
                1 => Order::Little,
                _ => Order::Big,
            };
            self.words = probe;
            self.encoding = Encoding::Bytes(order);
        }
        match version {
            v if (2.0..3.0).contains(&v) => Ok(2),
            v if (4.1..4.2).contains(&v) => Ok(4),
            v => {
                let problem = format!("version {v} is not read; save it as version 4.1 or 2.2");
                Err(at_line(self.words.line, problem))
            }
        }
    }

    /// A whole number: of so many bytes where the file holds bytes.
    fn whole(&mut self, width: usize, what: &str) -> Result<i64, Refusal> {
        match self.encoding {
            Encoding::Text => self.words.number(what),
            Encoding::Bytes(order) if width == INT => Ok(i64::from(self.words.int(order, what)?)),
            Encoding::Bytes(order) => Ok(self.words.bits(width, order, what)? as i64),
        }
    }

    fn tag(&mut self, width: usize, what: &str) -> Result<u64, Refusal> {
        let tag = self.whole(width, what)?;
        u64::try_from(tag).map_err(|_| at_line(self.words.line, format!("{what} is {tag}")))
    }

    fn place(&mut self) -> Result<Vec3, Refusal> {
        let what = "a coordinate of a vertex";
        match self.encoding {
            Encoding::Text => self.words.place(what),
            Encoding::Bytes(order) => self.words.real_place(REAL, order, what),
        }
    }

    /// A count that stands in a line of its own, in files of bytes too (version 2).
    fn count(&mut self, what: &str) -> Result<u64, Refusal> {
        let count = self.words.number(what)?;
        if self.encoding != Encoding::Text {
            self.words.rest_of_line();
        }
        Ok(count)
    }

    fn add_vertex(&mut self, tag: u64, place: Vec3) -> Result<(), Refusal> {
        match self.raw.vertices.insert(tag, place) {
            None => Ok(()),
            Some(_) => Err(at_line(self.words.line, format!("vertex {tag} is there twice"))),
        }
    }

    fn nodes_2(&mut self) -> Result<(), Refusal> {
        for _ in 0..self.count("the number of vertices")? {
            let tag = self.tag(INT, "the number of a vertex")?;
            let place = self.place()?;
            self.add_vertex(tag, place)?;
        }
        Ok(())
    }

    fn elements_2(&mut self) -> Result<(), Refusal> {
        let count = self.count("the number of elements")?;
        let mut read = 0;
        while read < count {
            // text has one header an element, bytes one for many
            let text = self.encoding == Encoding::Text;
            if text {
                self.tag(INT, "the number of an element")?;
            }
            let kind = self.whole(INT, "the kind of an element")?;
            let follow = if text { 1 } else { self.tag(INT, "how many elements follow")? };
            let marks = self.tag(INT, "the number of marks of an element")?;
            for _ in 0..follow {
                if !text {
                    self.tag(INT, "the number of an element")?;
                }
                for _ in 0..marks {
                    self.whole(INT, "a mark of an element")?;
                }
                self.element(kind, INT)?;
            }
            read += follow.max(1);
        }
        Ok(())
    }

    /// The nodes of an element, whose numbers have so many bytes.
    fn element(&mut self, kind: i64, width: usize) -> Result<(), Refusal> {
        let Some(nodes) = nodes_of(kind) else {
            let problem = format!("elements of kind {kind} are not known");
            return Err(at_line(self.words.line, problem));
        };
        let mut corners = [0; 4];
        for k in 0..nodes {
            let node = self.tag(width, "a node of an element")?;
            if let Some(corner) = corners.get_mut(k) {
                *corner = node;
            }
        }
        if TETRAHEDRA.contains(&kind) {
            self.raw.tetrahedra.push(corners);
        }
        Ok(())
    }

    /// Goes to where bytes begin: behind the line with the name of the section.
    fn begin_section(&mut self) {
        if self.encoding != Encoding::Text {
            self.words.rest_of_line();
        }
    }

    fn nodes_4(&mut self) -> Result<(), Refusal> {
        self.begin_section();
        let blocks = self.tag(LONG, "the number of blocks")?;
        for what in ["the number of vertices", "the least number", "the largest number"] {
            self.tag(LONG, what)?;
        }
        let mut tags = Vec::new();
        for _ in 0..blocks {
            let dimension = self.whole(INT, "the dimension of a block")?;
            self.whole(INT, "the number of a block")?;
            let parametric = self.whole(INT, "whether a block has parameters")?;
            let count = self.tag(LONG, "the number of vertices of a block")?;
            tags.clear();
            for _ in 0..count {
                tags.push(self.tag(LONG, "the number of a vertex")?);
            }
            for &tag in &tags {
                let place = self.place()?;
                for _ in 0..if parametric == 0 { 0 } else { dimension.clamp(0, 3) } {
                    match self.encoding {
                        Encoding::Text => self.words.number::<f64>("a parameter")?,
                        Encoding::Bytes(order) => self.words.real(REAL, order, "a parameter")?,
                    };
                }
                self.add_vertex(tag, place)?;
            }
        }
        Ok(())
    }

    fn elements_4(&mut self) -> Result<(), Refusal> {
        self.begin_section();
        let blocks = self.tag(LONG, "the number of blocks")?;
        for what in ["the number of elements", "the least number", "the largest number"] {
            self.tag(LONG, what)?;
        }
        for _ in 0..blocks {
            self.whole(INT, "the dimension of a block")?;
            self.whole(INT, "the number of a block")?;
            let kind = self.whole(INT, "the kind of the elements of a block")?;
            for _ in 0..self.tag(LONG, "the number of elements of a block")? {
                self.tag(LONG, "the number of an element")?;
                self.element(kind, LONG)?;
            }
        }
        Ok(())
    }
}
