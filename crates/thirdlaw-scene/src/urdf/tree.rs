//! The links of a robot as a tree.

use super::{Problem, Robot};

/// Orders the links so that each follows the one it hangs on; whatever is no tree is refused.
pub fn arrange(robot: &mut Robot, problems: &mut Vec<Problem>) {
    let count = robot.links.len();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    robot.parents = vec![None; count];
    for (i, joint) in robot.joints.iter().enumerate() {
        let refuse = |message: String| Problem { place: joint.place, message };
        let child = &robot.links[joint.child].name;
        if joint.parent == joint.child {
            let message = format!("joint `{}` joins link `{child}` with itself", joint.name);
            problems.push(refuse(message));
        } else if let Some(first) = robot.parents[joint.child] {
            let first = &robot.joints[first].name;
            problems.push(refuse(format!(
                "link `{child}` hangs on joint `{first}` already; `{}` would close a loop, which a \
                 URDF cannot describe: join the links in the scene",
                joint.name
            )));
        } else {
            robot.parents[joint.child] = Some(i);
            children[joint.parent].push(joint.child);
        }
    }
    let roots: Vec<usize> = (0..count).filter(|&i| robot.parents[i].is_none()).collect();
    let name = |i: &usize| format!("`{}`", robot.links[*i].name);
    if roots.len() > 1 {
        let names: Vec<String> = roots.iter().take(10).map(name).collect();
        let message = format!("only one link may hang on nothing, not {}", names.join(", "));
        problems.push(Problem { place: (1, 1), message });
    }
    let mut left: Vec<usize> = roots.iter().rev().copied().collect();
    while let Some(link) = left.pop() {
        robot.order.push(link);
        left.extend(children[link].iter().rev());
    }
    if robot.order.len() < count {
        let mut reached = vec![false; count];
        robot.order.iter().for_each(|&i| reached[i] = true);
        let lost: Vec<usize> = (0..count).filter(|&i| !reached[i]).collect();
        let names: Vec<String> = lost.iter().take(10).map(name).collect();
        let place = lost.iter().find_map(|&i| robot.parents[i]).map(|j| robot.joints[j].place);
        let message = format!("links hang on each other in a circle: {}", names.join(", "));
        problems.push(Problem { place: place.unwrap_or((1, 1)), message });
    }
    check_mimics(robot, problems);
}

/// A joint may follow one that follows another, but not in a circle.
fn check_mimics(robot: &Robot, problems: &mut Vec<Problem>) {
    for (i, joint) in robot.joints.iter().enumerate() {
        let mut at = i;
        for _ in 0..=robot.joints.len() {
            match robot.joints[at].mimic {
                Some((next, ..)) if next == i => {
                    let message = format!("joint `{}` follows itself", joint.name);
                    problems.push(Problem { place: joint.place, message });
                    break;
                }
                Some((next, ..)) => at = next,
                None => break,
            }
        }
    }
}
