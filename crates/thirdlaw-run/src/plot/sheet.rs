//! Plots below a legend, as one SVG that stands alone.

use super::{HEIGHT, WIDTH};
use crate::report::html::escape;
use std::fmt::Write;

/// The colours of curves: those of reports, and more.
const COLORS: [&str; 12] = [
    "#1f6fb8", "#c4561b", "#23855a", "#8a4fa3", "#8f7000", "#c03a6b", "#3d7f8c", "#6d6d6d",
    "#4b5bc0", "#111111", "#7a3b12", "#a0a000",
];
/// Left of everything.
const LEFT: f64 = 14.0;
/// Above each plot, for its title.
const TITLE: f64 = 34.0;
/// A row of the legend.
const ROW: f64 = 20.0;
/// Of a letter of the legend, about.
const LETTER: f64 = 6.6;

/// What a colour stands for; the n-th key is that of class `cN`.
pub struct CurveKey<'a> {
    /// Of the curve.
    pub name: &'a str,
    /// Whether it is the same as the one before it in another way: that colour, dashed.
    pub dashed: bool,
}

/// A titled picture of the size of a plot.
pub struct Panel {
    /// Above it.
    pub title: String,
    /// SVG.
    pub picture: String,
}

/// The picture of all.
pub fn sheet(title: &str, keys: &[CurveKey], panels: &[Panel]) -> String {
    let longest = keys.iter().map(|key| key.name.chars().count()).max().unwrap_or(0);
    let width = longest as f64 * LETTER + 44.0;
    let columns = ((WIDTH - LEFT) / width).floor().max(1.0) as usize;
    let head = 38.0 + keys.len().div_ceil(columns) as f64 * ROW;
    let height = head + panels.len() as f64 * (HEIGHT + TITLE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\">\n<style>.grid {{ stroke: #ddd; fill: none }} \
         .tick {{ fill: #666; font-size: 12px }} .line {{ fill: none; stroke-width: 1.8 }}"
    );
    let looks = looks(keys);
    for (k, (color, dashed)) in looks.iter().enumerate() {
        let dash = if *dashed { "; stroke-dasharray: 5 3" } else { "" };
        let _ = write!(
            svg,
            " .line.c{k} {{ stroke: {color}{dash} }} circle.c{k}, .bar.c{k} {{ fill: {color} }}"
        );
    }
    let _ = write!(
        svg,
        "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"17\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    );
    for (k, key) in keys.iter().enumerate() {
        let (x, y) = (LEFT + (k % columns) as f64 * width, 45.0 + (k / columns) as f64 * ROW);
        let _ = writeln!(
            svg,
            "<path class=\"line c{k}\" style=\"stroke-width: 4\" d=\"M{x} {y}h20\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"13\">{}</text>",
            x + 26.0,
            y + 4.5,
            escape(key.name)
        );
    }
    for (k, panel) in panels.iter().enumerate() {
        let y = head + k as f64 * (HEIGHT + TITLE);
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{}</text>\n{}",
            y + 24.0,
            escape(&panel.title),
            placed(&panel.picture, y + TITLE)
        );
    }
    svg + "</svg>\n"
}

/// A picture of the size of a plot at a height; without its own size it would fill the whole.
fn placed(picture: &str, y: f64) -> String {
    let size = format!("<svg y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" ");
    picture.replacen("<svg ", &size, 1)
}

/// Colour of each key and whether it is dashed.
fn looks(keys: &[CurveKey]) -> Vec<(&'static str, bool)> {
    let mut looks: Vec<(&str, bool)> = Vec::new();
    let mut next = 0;
    for key in keys {
        let same = looks.last().filter(|_| key.dashed).map(|last| last.0);
        looks.push(same.map_or_else(
            || {
                next += 1;
                (COLORS[(next - 1) % COLORS.len()], key.dashed)
            },
            |color| (color, true),
        ));
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dashed_key_has_the_colour_of_the_one_before() {
        let key = |name, dashed| CurveKey { name, dashed };
        let keys = [key("a", false), key("a <b>", true), key("c", false)];
        let (a, c) = (COLORS[0], COLORS[1]);
        assert_eq!(looks(&keys), [(a, false), (a, true), (c, false)]);
        let picture = "<svg viewBox=\"0 0 640 250\"></svg>".into();
        let panel = Panel { title: "5 < 6".into(), picture };
        let svg = sheet("title", &keys, &[panel]);
        assert!(svg.contains("a &lt;b&gt;") && svg.contains("5 &lt; 6"), "{svg}");
        // a picture within a picture needs a place and a size of its own
        assert!(svg.contains("<svg y=\"92\" width=\"640\" height=\"250\" viewBox"), "{svg}");
    }
}
