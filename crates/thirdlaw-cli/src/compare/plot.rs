//! The comparison as one picture: an SVG that stands alone.

use super::{Moment, Way};
use thirdlaw_run::plot::{CurveKey, Panel, Plot, Scale, Series, sheet};

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
    let shown = plots.iter().filter(|plot| !plot.is_flat_zero());
    let panels: Vec<Panel> = shown
        .map(|plot| Panel { title: format!("{}, {}", plot.title, plot.unit), picture: plot.svg() })
        .collect();
    let keys: Vec<CurveKey> =
        ways.iter().map(|way| CurveKey { name: way.name, dashed: false }).collect();
    sheet(scene, &keys, &panels)
}
