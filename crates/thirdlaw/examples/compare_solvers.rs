//! One contact problem, and how fast each solver gets on with it.

use thirdlaw::Solver;
use thirdlaw::contact::Study;
use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let brick = Shape::cuboid(Vec3::new(0.5, 0.25, 0.25))?;
    for row in 0..8 {
        for column in 0..6 {
            let shift = if row % 2 == 0 { 0.0 } else { 0.5 };
            let (x, y) = (f64::from(column) + shift, 0.25 + 0.5 * f64::from(row));
            world.add_body(Body::dynamic(brick.clone()).at(x, y, 0.0))?;
        }
    }
    for _ in 0..30 {
        world.step(1.0 / 60.0)?;
    }
    let next = world.contact_problem(1.0 / 60.0)?;
    println!("{} contacts, {} rows", next.problem.blocks.len(), next.problem.rows.len());
    println!("speed at which they still close (m/s) after so many iterations, from nothing:");
    println!("{:>22} {:>9} {:>9} {:>9} {:>9}", "", 1, 10, 100, 1000);
    let mut left = Vec::new();
    for solver in Solver::ALL {
        let mut study = Study::cold(&next.problem, &next.velocities, solver);
        let mut line = format!("{:>22}", solver.name());
        let mut closing = 0.0;
        for made in 1..=1000 {
            study.iterate();
            if [1, 10, 100, 1000].contains(&made) {
                closing = study.violation().closing;
                line += &format!(" {closing:9.1e}");
            }
        }
        println!("{line}");
        left.push((closing, solver));
    }
    let of = |wanted| left.iter().find(|(_, solver)| *solver == wanted).map_or(1.0, |l| l.0);
    assert!(of(Solver::Pgs) < 1e-3 && of(Solver::ColoredPgs) < 1e-3);
    assert!(of(Solver::BlockMassSplitting) < 0.05);
    Ok(())
}
