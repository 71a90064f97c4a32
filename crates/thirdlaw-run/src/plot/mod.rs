//! Plots over time as SVG that stands inside the page: lines or stacked areas, on a linear or a
//! logarithmic scale. Colours come from the page, so that they follow light and dark.

mod sheet;

pub use sheet::{CurveKey, Panel, sheet};

use crate::report::html::escape;
use crate::text::number;
use std::fmt::Write;

/// Drawn size, in units of the SVG; the page scales it.
pub const WIDTH: f64 = 640.0;
/// The other way.
pub const HEIGHT: f64 = 250.0;
/// Of the plane with the curves.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 30.0;
/// Columns into which frames are gathered where there are more: the lowest and the highest of each
/// are drawn, so that no peak is lost.
const COLUMNS: usize = 300;

/// One plot.
pub struct Plot<'a> {
    /// What is shown.
    pub title: &'a str,
    /// Of all its curves.
    pub unit: &'a str,
    /// What it tells, in a sentence.
    pub note: &'a str,
    /// Of the frames, s.
    pub times: &'a [f64],
    /// The curves, at most as many as the page has colours.
    pub series: Vec<Series<'a>>,
    /// How values become heights.
    pub scale: Scale,
}

/// One curve.
pub struct Series<'a> {
    /// For the legend.
    pub name: &'a str,
    /// One a frame.
    pub values: Vec<f64>,
}

/// How values become heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Lines.
    Linear,
    /// Lines; values at or below zero are not shown.
    Log,
    /// Areas on top of each other, from zero.
    Stacked,
}

impl Plot<'_> {
    /// Whether there is anything to see.
    pub fn is_flat_zero(&self) -> bool {
        self.series.iter().all(|series| series.values.iter().all(|&x| x == 0.0))
    }

    /// The plot with title and legend.
    pub fn html(&self) -> String {
        let mut legend = String::new();
        for (k, series) in self.series.iter().enumerate() {
            let most = series.values.iter().copied().filter(|x| x.is_finite());
            let most = most.fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            let end = series.values.last().copied().unwrap_or(0.0);
            let name = match self.series.len() {
                1 => String::new(),
                _ => format!("{} ", escape(&series.name.replace('_', " "))),
            };
            let _ = write!(
                legend,
                "<li><span class=\"key c{k}\"></span>{name}<span class=\"num\">peak {}, end {}</span></li>",
                number(most),
                number(end)
            );
        }
        format!(
            "<figure class=\"plot\">\n<figcaption><h3>{} <span class=\"unit\">{}</span></h3>\
             <p>{}</p></figcaption>\n{}\n<ul class=\"legend\">{legend}</ul>\n</figure>\n",
            escape(self.title),
            escape(self.unit),
            escape(self.note),
            self.svg()
        )
    }

    /// The plane with curves and ticks; colours come from whoever shows it.
    pub fn svg(&self) -> String {
        self.svg_over("time", " s")
    }

    /// The same over something else than time: what that is, and what follows its numbers.
    pub fn svg_over(&self, what: &str, unit: &str) -> String {
        let curves = self.curves();
        let axis = Axis::of(&curves, self.scale);
        let (first, last) = (self.times.first().copied().unwrap_or(0.0), self.end());
        let x = |t: f64| LEFT + (t - first) / (last - first) * (WIDTH - LEFT - RIGHT);
        let y = |v: f64| HEIGHT - BOTTOM - axis.share(v) * (HEIGHT - TOP - BOTTOM);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} over {what}, from {} to {}{unit}\">\n",
            escape(self.title),
            number(first),
            number(last)
        );
        for tick in &axis.ticks {
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"tick\" \
                 x=\"{label}\" y=\"{text_y:.1}\" text-anchor=\"end\">{}</text>",
                tick_text(*tick),
                y = y(*tick),
                right = WIDTH - RIGHT,
                label = LEFT - 7.0,
                text_y = y(*tick) + 4.0
            );
        }
        for tick in round_ticks(first, last, 6) {
            let _ = writeln!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}{unit}</text>",
                x(tick),
                HEIGHT - 7.0,
                tick_text(tick)
            );
        }
        for (k, curve) in curves.iter().enumerate().rev() {
            svg += &match self.scale {
                Scale::Stacked => area(curve, k, x, y),
                _ => line(curve, k, x, y),
            };
        }
        svg + "</svg>"
    }

    fn end(&self) -> f64 {
        let first = self.times.first().copied().unwrap_or(0.0);
        let last = self.times.last().copied().unwrap_or(1.0);
        if last > first { last } else { first + 1.0 }
    }

    /// The curves as points of time and value, thinned; stacked ones on top of each other.
    fn curves(&self) -> Vec<Vec<(f64, f64)>> {
        let mut below = vec![0.0; self.times.len()];
        let mut curves = Vec::new();
        for series in &self.series {
            let mut points = Vec::with_capacity(self.times.len());
            for (k, (&time, &value)) in self.times.iter().zip(&series.values).enumerate() {
                let shown = if self.scale == Scale::Stacked { below[k] + value } else { value };
                below[k] = shown;
                if shown.is_finite() && (self.scale != Scale::Log || shown > 0.0) {
                    points.push((time, shown));
                }
            }
            curves.push(thinned(&points));
        }
        curves
    }
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 2 * COLUMNS {
        return points.to_vec();
    }
    let mut kept = Vec::with_capacity(2 * COLUMNS);
    for chunk in points.chunks(points.len().div_ceil(COLUMNS)) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) =
            (chunk.iter().min_by(by_value), chunk.iter().max_by(by_value))
        else {
            continue;
        };
        let (a, b) = if low.0 <= high.0 { (low, high) } else { (high, low) };
        kept.push(*a);
        if a != b {
            kept.push(*b);
        }
    }
    kept
}

fn path(curve: &[(f64, f64)], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let point = |&(t, v): &(f64, f64)| format!("{:.1} {:.1}", x(t), y(v));
    curve.iter().map(point).collect::<Vec<_>>().join("L")
}

fn line(curve: &[(f64, f64)], k: usize, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    match curve {
        [] => String::new(),
        [(t, v)] => {
            format!("<circle class=\"c{k}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>\n", x(*t), y(*v))
        }
        _ => format!("<path class=\"line c{k}\" d=\"M{}\"/>\n", path(curve, x, y)),
    }
}

/// Drawn from the last to the first, each hides what is below the one before.
fn area(curve: &[(f64, f64)], k: usize, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return String::new() };
    let (left, right, floor) = (x(first.0), x(last.0), y(0.0));
    format!(
        "<path class=\"area c{k}\" d=\"M{left:.1} {floor:.1}L{}L{right:.1} {floor:.1}Z\"/>\n",
        path(curve, x, y)
    )
}

/// Where values lie between the bottom and the top of a plot.
struct Axis {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<f64>,
}

impl Axis {
    fn of(curves: &[Vec<(f64, f64)>], scale: Scale) -> Axis {
        let values = || curves.iter().flatten().map(|point| point.1);
        let (mut low, mut high) = values()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = if scale == Scale::Log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        if scale == Scale::Log {
            // twelve decades: below lies rounding
            let top = high.log10().ceil();
            let bottom = low.log10().floor().max(top - 12.0).min(top - 1.0);
            let every = ((top - bottom) / 5.0).ceil().max(1.0) as usize;
            let ticks = (0..=(top - bottom) as usize).step_by(every);
            let ticks = ticks.map(|k| libm::pow(10.0, bottom + k as f64)).collect();
            return Axis { low: bottom, high: top, log: true, ticks };
        }
        low = low.min(0.0);
        high = high.max(0.0);
        if high - low <= 0.0 {
            high = low + 1.0;
        }
        let ticks = round_ticks(low, high, 5);
        let step = if ticks.len() > 1 { ticks[1] - ticks[0] } else { high - low };
        let low = (low / step + 1e-9).floor() * step;
        let high = (high / step - 1e-9).ceil().max((low / step).round() + 1.0) * step;
        let count = ((high - low) / step).round() as usize;
        let ticks = (0..=count.min(20)).map(|k| low + k as f64 * step).collect();
        Axis { low, high, log: false, ticks }
    }

    /// 0 at the bottom, 1 at the top.
    fn share(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// Multiples of 1, 2 or 5 times a power of ten between two numbers, about `count` of them.
fn round_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![low];
    }
    let power = libm::pow(10.0, rough.log10().floor());
    let lead = rough / power;
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|s| lead <= *s + 1e-9).unwrap_or(10.0) * power;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last.min(first + 20)).map(|k| k as f64 * step).collect()
}

fn tick_text(value: f64) -> String {
    // what rounding leaves of a zero is no number to show
    number(if value.abs() < 1e-300 { 0.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: Vec<f64>, scale: Scale) -> String {
        let times: Vec<f64> = (0..values.len()).map(|k| k as f64 / 60.0).collect();
        let series =
            vec![Series { name: "a<b", values: values.clone() }, Series { name: "c_d", values }];
        Plot { title: "T", unit: "J", note: "n", times: &times, series, scale }.html()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(round_ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(round_ticks(-0.3, 0.4, 5).len(), 4);
        assert_eq!(round_ticks(1.0, 1.0, 5), [1.0]);
    }

    #[test]
    fn a_curve_stays_in_its_plane_and_names_are_escaped() {
        for scale in [Scale::Linear, Scale::Log, Scale::Stacked] {
            let values = vec![0.0, 1e-9, 3.0, f64::NAN, f64::INFINITY, 2.0];
            let html = plot(values, scale);
            assert!(html.contains("a&lt;b") && html.contains("c d"), "{html}");
            let curve = html.split(" d=\"M").last().unwrap().split('"').next().unwrap();
            for number in curve.split(|c: char| !(c.is_ascii_digit() || "-.e".contains(c))) {
                let Ok(number) = number.parse::<f64>() else { continue };
                assert!((0.0..=WIDTH).contains(&number), "{scale:?}: {curve}");
            }
            assert!(!html.contains("NaN") && !html.contains("inf "), "{html}");
        }
    }

    #[test]
    fn the_axis_ends_at_round_numbers_and_not_below_zero_without_need() {
        let axis = |low: f64, high: f64| {
            let axis = Axis::of(&[vec![(0.0, low), (1.0, high)]], Scale::Linear);
            (axis.low, axis.high)
        };
        assert_eq!(axis(0.0, 9.3), (0.0, 10.0));
        assert_eq!(axis(0.0, 10.0), (0.0, 10.0));
        assert_eq!(axis(2.0, 3.9), (0.0, 4.0));
        assert_eq!(axis(-3.0, 0.0), (-3.0, 0.0));
        assert_eq!(axis(0.0, 0.0), (0.0, 1.0));
    }

    #[test]
    fn odd_input_makes_a_plot() {
        for values in [vec![], vec![0.0], vec![5.0; 4], vec![-1e300, 1e300], vec![f64::NAN; 3]] {
            for scale in [Scale::Linear, Scale::Log, Scale::Stacked] {
                assert!(plot(values.clone(), scale).contains("<svg"));
            }
        }
    }

    #[test]
    fn thinning_keeps_the_peaks() {
        let points: Vec<(f64, f64)> =
            (0..100_000).map(|k| (k as f64, if k == 77_777 { 9.0 } else { 1.0 })).collect();
        let kept = thinned(&points);
        assert!(kept.len() <= 2 * COLUMNS);
        assert!(kept.contains(&(77_777.0, 9.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
    }
}
