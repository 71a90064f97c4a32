//! The comparison as one picture: Figure 6 of the paper, and its Figure 3 below.

use super::Contestant;
use super::converge::{Contacts, Convergence, Left};
use super::simulate::{Moment, Motion};
use crate::print::number;
use std::fmt::Write;
use thirdlaw_run::plot::{CurveKey, HEIGHT, Panel, Plot, Scale, Series, WIDTH, sheet};

/// So many times what others begin with is off the plot.
const OFF: f64 = 30.0;
/// Steps of the axis of a plot over time.
const STEPS: usize = 200;

/// The picture.
pub fn svg(
    scene: &str,
    contacts: &Contacts,
    convergence: &[Convergence],
    motion: &[Motion],
) -> String {
    // everyone has the same colour in all plots
    let mut all: Vec<Contestant> = motion.iter().map(|m| m.who).collect();
    if all.is_empty() {
        all = convergence.iter().map(|c| c.who).collect();
    }
    let names: Vec<String> = all.iter().map(Contestant::name).collect();
    let keys = names.iter().zip(&all).map(|(name, who)| CurveKey { name, dashed: who.is_single() });
    let keys: Vec<CurveKey> = keys.collect();
    let who = |who: Contestant| convergence.iter().find(|c| c.who == who);
    let series = |make: &dyn Fn(Contestant) -> Vec<f64>| -> Vec<Series<'_>> {
        names.iter().zip(&all).map(|(name, who)| Series { name, values: make(*who) }).collect()
    };
    let plot = |title, unit, times, series| Plot {
        title,
        unit,
        note: "",
        times,
        series,
        scale: Scale::Log,
    };

    let count = convergence.iter().map(|c| c.steps.len()).max().unwrap_or(0);
    let iterations: Vec<f64> = (0..count).map(|i| i as f64).collect();
    let most = convergence.iter().filter_map(|c| c.steps.last()).map(|l| l.ms);
    // the slowest would press all others to the left
    let most = thirdlaw_run::stats::median(most.collect());
    let ms: Vec<f64> = (0..=STEPS).map(|k| most * k as f64 / STEPS as f64).collect();
    let closing = |l: &Left| l.closing;
    let normal = |l: &Left| l.normal;
    let limit = |c: &Convergence| OFF * c.steps.first().map_or(0.0, |l| l.closing);
    let read = |read: fn(&Left) -> f64| {
        move |of: Contestant| who(of).map_or(Vec::new(), |c| shown(&c.steps, read, limit(c)))
    };
    let mut panels = Vec::new();
    let by_iteration = plot("violation", "m/s", &iterations, series(&read(closing)));
    panels.push(Panel {
        title: "Average constraint violation, m/s, over iterations".into(),
        picture: by_iteration.svg_over("iterations", ""),
    });
    let by_time = series(&|of| who(of).map_or(Vec::new(), |c| over_time(&c.steps, &ms, limit(c))));
    panels.push(Panel {
        title: "Average constraint violation, m/s, over time".into(),
        picture: plot("violation", "m/s", &ms, by_time).svg_over("time", " ms"),
    });
    panels.push(Panel {
        title: "Average distance of normals from the solution, m/s, over iterations".into(),
        picture: plot("residual", "m/s", &iterations, series(&read(normal)))
            .svg_over("iterations", ""),
    });
    if !motion.is_empty() {
        let count = motion.iter().map(|m| m.frames.len()).max().unwrap_or(0);
        let frames: Vec<f64> = (0..count).map(|i| i as f64).collect();
        // who flies apart is cut off where that is beyond doubt
        let energies = motion[0].frames.iter().map(|m| m.mean);
        let highest = energies.fold(0.0, f64::max);
        let energy = |read: fn(&Moment) -> f64| {
            move |of: Contestant| {
                let motion = motion.iter().find(|m| m.who == of);
                motion.map_or(Vec::new(), |m| shown(&m.frames, read, OFF * highest))
            }
        };
        for (title, read) in [
            ("Average kinetic energy, J/kg, over frames", (|m: &Moment| m.mean) as fn(&_) -> f64),
            ("Kinetic energy of the median body, J/kg, over frames", |m| m.median),
        ] {
            let plot = plot(title, "J/kg", &frames, series(&energy(read)));
            panels.push(Panel { title: title.into(), picture: plot.svg_over("frames", "") });
        }
    }
    panels.push(Panel {
        title: format!(
            "Pairs of each colour: {} pairs of {} bodies in frame {}",
            contacts.pairs, contacts.bodies, contacts.frame
        ),
        picture: bars(&contacts.colors),
    });
    sheet(scene, &keys, &panels)
}

/// Values up to where one is not a number or beyond a limit.
fn shown<T>(steps: &[T], read: impl Fn(&T) -> f64, limit: f64) -> Vec<f64> {
    steps.iter().map(read).take_while(|x| *x <= limit).collect()
}

/// What is left at given times.
fn over_time(steps: &[Left], times: &[f64], limit: f64) -> Vec<f64> {
    let shown = shown(steps, |l| l.closing, limit);
    let mut at = 0;
    let mut values = Vec::new();
    for &time in times {
        while at + 1 < shown.len() && steps[at + 1].ms <= time {
            at += 1;
        }
        if at + 1 == shown.len() && time > steps[at].ms + times[1] {
            break;
        }
        values.push(shown.get(at).copied().unwrap_or(f64::NAN));
    }
    values
}

/// A histogram of the size of a plot.
fn bars(counts: &[usize]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let (left, top, bottom) = (62.0, 16.0, HEIGHT - 30.0);
    let width = (WIDTH - left - 26.0) / counts.len().max(1) as f64;
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n");
    for (i, &count) in counts.iter().enumerate() {
        let (x, height) = (left + i as f64 * width, (bottom - top) * count as f64 / most);
        let (y, middle) = (bottom - height, x + width / 2.0);
        let _ = writeln!(
            svg,
            "<rect class=\"bar c0\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>\
             <text class=\"tick\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"tick\" x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x + 1.0,
            (width - 2.0).max(0.5),
            y - 3.0,
            number(count as f64),
            HEIGHT - 12.0,
            i + 1
        );
    }
    svg + "</svg>"
}
