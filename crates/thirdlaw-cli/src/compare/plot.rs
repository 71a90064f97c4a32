//! The comparison as one picture: an SVG that stands alone.

use super::{Moment, Way};
use crate::report::html::escape;
use crate::report::plot::{HEIGHT, Plot, Scale, Series, WIDTH};
use std::fmt::Write;

/// The colours of curves, as in reports.
const COLORS: [&str; 4] = ["#1f6fb8", "#c4561b", "#23855a", "#8a4fa3"];
/// Above each plot, for its title.
const TITLE: f64 = 34.0;
/// Above all plots, for the name of the scene and the legend.
const HEAD: f64 = 58.0;

/// The picture.
pub fn svg(scene: &str, ways: &[Way]) -> String {
    // ways that broke off are shorter
    let longest = ways.iter().max_by_key(|way| way.frames.len());
    let times: Vec<f64> = longest.iter().flat_map(|w| &w.frames).map(|m| m.time).collect();
    let curves = |read: &dyn Fn(&Moment) -> f64, running: bool| -> Vec<Series<'_>> {
        let curve = |way: &Way| {
            let mut sum = 0.0;
            let mut values: Vec<f64> = Vec::with_capacity(times.len());
            for moment in &way.frames {
                sum = if running { sum + read(moment) } else { read(moment) };
                values.push(sum);
            }
            values.resize(times.len(), f64::NAN);
            values
        };
        ways.iter().map(|way| Series { name: way.name, values: curve(way) }).collect()
    };
    let plot =
        |title, unit, scale, series| Plot { title, unit, note: "", times: &times, series, scale };
    let reference = ways.last().map_or("", |way| way.name);
    let title = format!("Largest difference from {reference}");
    let plots = [
        plot(&title, "m", Scale::Log, curves(&|m| m.apart[0], false)),
        plot("Energy", "J", Scale::Linear, curves(&|m| m.energy, false)),
        plot("Energy from nowhere", "J", Scale::Linear, curves(&|m| m.passivity_error, true)),
        plot("Momentum from nowhere", "N·s", Scale::Log, curves(&|m| m.imbalance, false)),
        plot("Time per frame", "ms", Scale::Log, curves(&|m| m.step_ms, false)),
    ];
    let shown: Vec<&Plot<'_>> = plots.iter().filter(|plot| !plot.is_flat_zero()).collect();
    let height = HEAD + shown.len() as f64 * (HEIGHT + TITLE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\">\n<style>.grid {{ stroke: #ddd; fill: none }} \
         .tick {{ fill: #666; font-size: 12px }} .line {{ fill: none; stroke-width: 1.8 }} "
    );
    for (k, color) in COLORS.iter().enumerate() {
        let _ = write!(svg, ".line.c{k} {{ stroke: {color} }} circle.c{k} {{ fill: {color} }} ");
    }
    let _ = write!(
        svg,
        "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"14\" y=\"24\" font-size=\"17\" font-weight=\"bold\">{}</text>\n",
        escape(scene)
    );
    for (k, way) in ways.iter().enumerate() {
        let (x, color) = (14 + 130 * k, COLORS[k % COLORS.len()]);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"38\" width=\"12\" height=\"12\" fill=\"{color}\"/>\
             <text x=\"{}\" y=\"49\" font-size=\"13\">{}</text>",
            x + 18,
            escape(way.name)
        );
    }
    for (k, plot) in shown.iter().enumerate() {
        let y = HEAD + k as f64 * (HEIGHT + TITLE);
        let _ = writeln!(
            svg,
            "<text x=\"14\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{}, {}</text>\n\
             <g transform=\"translate(0 {})\">{}</g>",
            y + 24.0,
            escape(plot.title),
            escape(plot.unit),
            y + TITLE,
            plot.svg()
        );
    }
    svg + "</svg>\n"
}
