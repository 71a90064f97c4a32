//! Which plots a run is worth.

use super::Report;
use crate::plot::{Plot, Scale, Series};
use thirdlaw::SolvePath;
use thirdlaw_scene::FrameStats;

impl Report {
    /// All plots, without those that would show nothing but zero.
    pub fn plots(&self) -> String {
        let times: Vec<f64> = self.frames.iter().map(|f| f.time).collect();
        let all = [
            self.energy(&times),
            self.plain(
                &times,
                "Penetration",
                "mm",
                "Deepest overlap, measured on the poses.",
                |f| f.penetration * 1e3,
            ),
            self.vectors(&times, "Momentum", "N·s", "Of everything that moves.", |f| f.momentum),
            self.vectors(
                &times,
                "Angular momentum",
                "N·m·s",
                "About the origin of the world.",
                |f| f.angular,
            ),
            self.plain(&times, "Strain", "%", "Largest stretch of any edge of cloth.", |f| {
                f.strain * 100.0
            }),
            self.plain(&times, "Joint error", "mm", "Largest gap at any joint.", |f| {
                f.joint_error * 1e3
            }),
            self.plain(&times, "Volume error", "%", "Largest change of any volume.", |f| {
                f.volume_error * 100.0
            }),
            self.time(&times),
            self.iterations(&times),
            self.paths(&times),
            self.plain(&times, "Contacts", "", "Points at which bodies touch.", |f| {
                f64::from(f.contacts)
            }),
            Plot {
                scale: Scale::Log,
                ..self.plain(
                    &times,
                    "Jitter",
                    "J/kg",
                    "Kinetic energy per mass of the middle body: how still a pile lies.",
                    |f| f.jitter,
                )
            },
            Plot {
                scale: Scale::Log,
                ..self.plain(
                    &times,
                    "Residual",
                    "m/s",
                    "Largest contact velocity that the solver left over.",
                    |f| f.contact_residual,
                )
            },
        ];
        let shown = all.iter().filter(|plot| !plot.is_flat_zero()).map(Plot::html);
        shown.collect::<String>() + &self.ledger_plots(&times)
    }

    fn column(&self, read: impl Fn(&FrameStats) -> f64) -> Vec<f64> {
        self.frames.iter().map(read).collect()
    }

    fn plain<'a>(
        &self,
        times: &'a [f64],
        title: &'a str,
        unit: &'a str,
        note: &'a str,
        read: impl Fn(&FrameStats) -> f64,
    ) -> Plot<'a> {
        let series = vec![Series { name: "all", values: self.column(read) }];
        Plot { title, unit, note, times, series, scale: Scale::Linear }
    }

    fn vectors<'a>(
        &self,
        times: &'a [f64],
        title: &'a str,
        unit: &'a str,
        note: &'a str,
        read: impl Fn(&FrameStats) -> [f64; 3],
    ) -> Plot<'a> {
        let part = |name, k: usize| Series { name, values: self.column(|f| read(f)[k]) };
        let series = vec![part("x", 0), part("y", 1), part("z", 2)];
        Plot { title, unit, note, times, series, scale: Scale::Linear }
    }

    fn energy<'a>(&self, times: &'a [f64]) -> Plot<'a> {
        // only differences of height count
        let lowest = self.frames.iter().map(|f| f.gravity).fold(f64::INFINITY, f64::min);
        let mut series = vec![
            Series {
                name: "total",
                values: self.column(|f| f.kinetic + f.gravity - lowest + f.elastic),
            },
            Series { name: "kinetic", values: self.column(|f| f.kinetic) },
            Series { name: "gravity", values: self.column(|f| f.gravity - lowest) },
        ];
        if self.frames.iter().any(|f| f.elastic != 0.0) {
            series.push(Series { name: "elastic", values: self.column(|f| f.elastic) });
        }
        Plot {
            title: "Energy",
            unit: "J",
            note: "By kind; gravity above its lowest value.",
            times,
            series,
            scale: Scale::Linear,
        }
    }

    fn time<'a>(&'a self, times: &'a [f64]) -> Plot<'a> {
        let (title, unit) = ("Time per frame", "ms");
        if self.stages.is_empty() {
            return self.plain(times, title, unit, "Stepping alone.", |f| f.step_ms);
        }
        let series =
            self.stages.iter().map(|(name, values)| Series { name, values: values.clone() });
        Plot {
            title,
            unit,
            note: "Stepping alone, by stage.",
            times,
            series: series.collect(),
            scale: Scale::Stacked,
        }
    }

    fn iterations<'a>(&self, times: &'a [f64]) -> Plot<'a> {
        let mut series = vec![Series {
            name: "contacts",
            values: self.column(|f| f64::from(f.contact_iterations)),
        }];
        if self.frames.iter().any(|f| f.cg_iterations > 0) {
            let values = self.column(|f| f64::from(f.cg_iterations));
            series.push(Series { name: "conjugate gradients", values });
        }
        Plot {
            title: "Iterations",
            unit: "",
            note: "Of the slowest island, summed over the substeps of a frame.",
            times,
            series,
            scale: Scale::Linear,
        }
    }

    /// Which paths islands of bodies took.
    fn paths<'a>(&self, times: &'a [f64]) -> Plot<'a> {
        let taken = SolvePath::ALL.into_iter().filter_map(|path| {
            let values = self.column(|f| f64::from(f.paths.of(path)));
            values
                .iter()
                .any(|islands| *islands > 0.0)
                .then_some(Series { name: path.name(), values })
        });
        Plot {
            title: "Islands",
            unit: "",
            note: "By the path they took through the steps of a frame.",
            times,
            series: taken.collect(),
            scale: Scale::Stacked,
        }
    }
}
