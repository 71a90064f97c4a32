//! VTK's `.vtk` of an unstructured grid, as text and as bytes (the largest first), with cells in one list of
//! counts and corners (up to version 4) or as offsets and corners (version 5).

use super::super::{Refusal, at_line};
use super::Raw;
use super::words::{Order, Words};

/// Kinds of cells that are tetrahedra: with four nodes, and with nodes on edges too.
const TETRAHEDRA: [i64; 2] = [10, 24];

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<Raw, Refusal> {
    let mut words = Words::new(bytes);
    let first = words.rest_of_line();
    let Some(version) = first.strip_prefix("# vtk DataFile Version ") else {
        return Err(at_line(1, "a `.vtk` file begins with `# vtk DataFile Version`"));
    };
    let new = version.trim().starts_with('5');
    words.rest_of_line(); // a title
    let text = match words.word() {
        Some(b"ASCII") => true,
        Some(b"BINARY") => false,
        _ => return Err(at_line(words.line, "neither `ASCII` nor `BINARY` is said")),
    };
    let mut file = File { words, text, raw: Raw::default(), cells: Vec::new() };
    let mut kinds = Vec::new();
    while let Some(word) = file.words.word() {
        match word {
            b"DATASET" if file.words.word() != Some(b"UNSTRUCTURED_GRID") => {
                let problem = "only data sets that are an `UNSTRUCTURED_GRID` hold tetrahedra";
                return Err(at_line(file.words.line, problem));
            }
            b"POINTS" => file.points()?,
            b"CELLS" if new => file.cells_by_offsets()?,
            b"CELLS" => file.cells_by_counts()?,
            b"CELL_TYPES" => {
                let count = file.count("the number of cells")?;
                file.begin();
                kinds = file.list(count, Kind::Int, "the kind of a cell")?;
            }
            // values at cells and points
            b"CELL_DATA" | b"POINT_DATA" => break,
            _ => {}
        }
    }
    file.finish(&kinds)
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Int,
    Long,
    Float,
    Double,
}

impl Kind {
    fn from_name(name: &[u8]) -> Option<Kind> {
        match name {
            b"int" | b"vtktypeint32" | b"unsigned_int" => Some(Kind::Int),
            b"long" | b"vtktypeint64" | b"vtkIdType" | b"unsigned_long" => Some(Kind::Long),
            b"float" => Some(Kind::Float),
            b"double" => Some(Kind::Double),
            _ => None,
        }
    }

    fn width(self) -> usize {
        if matches!(self, Kind::Int | Kind::Float) { 4 } else { 8 }
    }
}

struct File<'a> {
    words: Words<'a>,
    text: bool,
    raw: Raw,
    cells: Vec<Vec<u64>>,
}

impl File<'_> {
    fn count(&mut self, what: &str) -> Result<u64, Refusal> {
        self.words.number(what)
    }

    /// Goes to where bytes begin.
    fn begin(&mut self) {
        if !self.text {
            self.words.rest_of_line();
        }
    }

    /// The name of a kind of number, and what kind it is.
    fn kind(&mut self) -> Result<Kind, Refusal> {
        let name = self.words.word().unwrap_or_default().to_ascii_lowercase();
        let name: &[u8] = if name == b"vtkidtype" { b"vtkIdType" } else { &name };
        Kind::from_name(name).ok_or_else(|| {
            let name = String::from_utf8_lossy(name).chars().take(40).collect::<String>();
            at_line(self.words.line, format!("`{name}` is no kind of number that is read here"))
        })
    }

    /// So many whole numbers.
    fn list(&mut self, count: u64, kind: Kind, what: &str) -> Result<Vec<i64>, Refusal> {
        // read one by one: no more memory than there are bytes
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(match (self.text, kind) {
                (true, _) => self.words.number(what)?,
                (false, Kind::Int) => i64::from(self.words.int(Order::Big, what)?),
                (false, _) => self.words.bits(kind.width(), Order::Big, what)? as i64,
            });
        }
        Ok(list)
    }

    fn points(&mut self) -> Result<(), Refusal> {
        let count = self.count("the number of points")?;
        let kind = self.kind()?;
        self.begin();
        for i in 0..count {
            let what = "a coordinate of a point";
            let place = match self.text {
                true => self.words.place(what)?,
                false => self.words.real_place(kind.width(), Order::Big, what)?,
            };
            self.raw.vertices.insert(i, place);
        }
        Ok(())
    }

    fn cells_by_counts(&mut self) -> Result<(), Refusal> {
        let count = self.count("the number of cells")?;
        self.count("the size of the list")?;
        self.begin();
        for _ in 0..count {
            let nodes = self.list(1, Kind::Int, "the number of nodes of a cell")?[0];
            let nodes = u64::try_from(nodes).unwrap_or(0);
            let corners = self.list(nodes, Kind::Int, "a node of a cell")?;
            self.add_cell(&corners)?;
        }
        Ok(())
    }

    fn cells_by_offsets(&mut self) -> Result<(), Refusal> {
        let offset_count = self.count("the number of offsets")?;
        let node_count = self.count("the number of nodes")?;
        let mut lists = [Vec::new(), Vec::new()];
        for (list, (name, count)) in
            lists.iter_mut().zip([("OFFSETS", offset_count), ("CONNECTIVITY", node_count)])
        {
            if self.words.word() != Some(name.as_bytes()) {
                return Err(at_line(self.words.line, format!("`{name}` should stand here")));
            }
            let kind = self.kind()?;
            self.begin();
            *list = self.list(count, kind, "a number of a cell")?;
        }
        let [offsets, nodes] = lists;
        for ends in offsets.windows(2) {
            let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let Some(corners) = range.and_then(|(a, b)| nodes.get(a..b)) else {
                let problem = format!("a cell reaches from node {} to {}", ends[0], ends[1]);
                return Err(at_line(self.words.line, problem));
            };
            let corners = corners.to_vec();
            self.add_cell(&corners)?;
        }
        Ok(())
    }

    fn add_cell(&mut self, corners: &[i64]) -> Result<(), Refusal> {
        let corners: Result<Vec<u64>, _> = corners.iter().map(|&c| u64::try_from(c)).collect();
        match corners {
            Ok(corners) => self.cells.push(corners),
            Err(_) => return Err(at_line(self.words.line, "a cell has a node below 0")),
        }
        Ok(())
    }

    fn finish(mut self, kinds: &[i64]) -> Result<Raw, Refusal> {
        if kinds.len() != self.cells.len() {
            let problem =
                format!("{} cells have {} kinds (`CELL_TYPES`)", self.cells.len(), kinds.len());
            return Err(at_line(self.words.line, problem));
        }
        for (i, (kind, nodes)) in kinds.iter().zip(&self.cells).enumerate() {
            if !TETRAHEDRA.contains(kind) {
                continue;
            }
            let Some(corners) = nodes.first_chunk::<4>() else {
                let problem = format!("has {} nodes and is called a tetrahedron", nodes.len());
                return Err(super::at(format!("cell {i}"), problem));
            };
            self.raw.tetrahedra.push(*corners);
        }
        Ok(self.raw)
    }
}
