//! What decides is a function of facts and settings alone.

use super::*;

fn resting() -> Facts {
    Facts { contacts: 4, rows: 48, masses: [1.0, 1.0], settled: false, ..Facts::none() }
}

#[test]
fn every_threshold_divides_two_paths() {
    let settings = Settings::default();
    let path = |facts: Facts| classify(&facts, &settings, 1.0 / 60.0);
    let fast = Facts { speed: 2.0, relative_speed: 10.0, ..resting() };
    assert_eq!(path(resting()), SolvePath::ConvergedPile);
    assert_eq!(path(Facts { settled: true, ..resting() }), SolvePath::Pile);
    assert_eq!(path(fast), SolvePath::Batched);
    assert_eq!(path(Facts { relative_speed: 0.5, ..fast }), SolvePath::Pile);
    assert_eq!(path(Facts { contacts: MANY_CONTACTS, rows: 480, ..fast }), SolvePath::Pile);
    assert_eq!(path(Facts { bounces: true, ..resting() }), SolvePath::General);
    assert_eq!(path(Facts { bounces: true, settled: true, ..resting() }), SolvePath::Pile);
    let many = Facts { contacts: MANY_CONTACTS, rows: 480, ..fast };
    assert_eq!(path(Facts { bounces: true, ..many }), SolvePath::Pile);
    let carried = Facts { bounces: true, settled: true, carried: true, ..resting() };
    assert_eq!(path(carried), SolvePath::General);
    assert_eq!(path(Facts { masses: [1.0, 21.0], ..resting() }), SolvePath::General);
    let lopsided = Facts { masses: [1.0, 21.0], rows: 300, contacts: 25, ..resting() };
    assert_eq!(path(lopsided), SolvePath::ConvergedPile);
    assert_eq!(path(Facts { masses: [1e-10, 1e-10], ..fast }), SolvePath::Batched);
    assert_eq!(path(Facts { links: 1, ..fast }), SolvePath::General);
    assert_eq!(path(Facts { plain_body: true, ..Facts::none() }), SolvePath::Free);
    assert_eq!(path(Facts::none()), SolvePath::General);
}

#[test]
fn settings_can_ask_for_the_general_path_alone() {
    let mut settings = Settings::default();
    settings.contact.paths = Paths::General;
    let facts = [resting(), Facts { contacts: 1_000, rows: 12_000, ..resting() }];
    assert!(facts.iter().all(|facts| classify(facts, &settings, 0.01) == SolvePath::General));
}

#[test]
fn the_direct_solver_follows_on_what_iteration_is_not_trusted_with() {
    let contact = ContactSettings::default();
    let heavy = Facts { masses: [1.0, 50.0], ..resting() };
    assert_eq!(escalate(&resting(), &contact, 48), DirectUse::Never);
    assert!(
        matches!(escalate(&heavy, &contact, 48), DirectUse::Auto { above, .. } if above == 1e-4)
    );
    assert_eq!(escalate(&heavy, &contact, 101), DirectUse::Never);
    // and then iterating long first is spared
    assert_eq!(effort(&heavy, &contact, 2, 48).iterations, 2);
    assert_eq!(effort(&heavy, &contact, 2, 200).iterations, 20);
}

#[test]
fn towers_and_arches_are_solved_at_once_and_heaps_are_swept() {
    let contact = ContactSettings::default();
    let tower = Facts { contacts: 40, grounded: 1, rows: 480, bodies: 40, ..resting() };
    let is_chain = |facts: Facts| {
        let chain = matches!(escalate(&facts, &contact, facts.rows), DirectUse::Chain { .. });
        assert_eq!(sag(&facts, &contact) == 0.0, chain);
        chain
    };
    assert!(is_chain(tower));
    assert!(is_chain(Facts { contacts: 26, grounded: 2, rows: 312, bodies: 25, ..tower }));
    // at rest it must go on standing
    assert!(is_chain(Facts { settled: true, ..tower }));
    // short, wide, leaning on each other, falling
    assert!(!is_chain(Facts { contacts: 8, rows: 96, bodies: 8, ..tower }));
    assert!(!is_chain(Facts { contacts: 60, rows: 720, ..tower }));
    assert!(!is_chain(Facts { contacts: 45, grounded: 8, rows: 540, ..tower }));
    assert!(!is_chain(Facts { speed: 2.0, ..tower }));
    assert_eq!(classify(&tower, &Settings::default(), 0.02), SolvePath::General);
    let off = ContactSettings { converge: false, ..contact };
    assert_eq!(escalate(&tower, &off, tower.rows), DirectUse::Never);
}

#[test]
fn few_contacts_are_solved_through_joints_and_many_in_turn() {
    let facts =
        JointFacts { contact_rows: 24, nodes: 12, pairwise: true, plain: false, lopsided: false };
    let exact = |facts| classify_joints(&facts, JointSolve::Exact);
    assert_eq!(exact(JointFacts { contact_rows: 0, ..facts }), SolvePath::Joints);
    assert_eq!(exact(facts), SolvePath::ThroughJoints);
    assert_eq!(exact(JointFacts { contact_rows: 243, ..facts }), SolvePath::JointsInTurn);
    assert_eq!(exact(JointFacts { nodes: 900, ..facts }), SolvePath::JointsInTurn);
    // plain joints of like masses among many contacts need not be exact
    let plain = JointFacts { nodes: 900, plain: true, ..facts };
    assert_eq!(exact(plain), SolvePath::SoftJoints);
    assert_eq!(exact(JointFacts { lopsided: true, ..plain }), SolvePath::JointsInTurn);
    assert_eq!(exact(JointFacts { nodes: 12, ..plain }), SolvePath::ThroughJoints);
    let soft = |facts| classify_joints(&facts, JointSolve::Soft);
    assert_eq!(soft(JointFacts { nodes: 12, ..plain }), SolvePath::SoftJoints);
    assert_eq!(soft(facts), SolvePath::ThroughJoints);
    assert_eq!(classify_joints(&facts, JointSolve::Rows), SolvePath::JointRows);
    let geared = JointFacts { pairwise: false, ..facts };
    assert_eq!(classify_joints(&geared, JointSolve::Rows), SolvePath::ThroughJoints);
    assert_eq!(classify_joints(&facts, JointSolve::Interleaved), SolvePath::JointsInterleaved);
}
