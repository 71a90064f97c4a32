//! A worker is a process of its own: a scene that hangs, overflows the stack or eats all memory ends the worker
//! and not the command. It reads orders, a line each, and answers each by a line of JSON.

use super::draw::Draw;
use super::laws::{self, Verdict};
use super::sketch::Sketch;
use super::{judge, kinds, shrink, watch};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What a worker is told to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the scene.
    pub scene: u64,
    /// Kind of the scene.
    pub kind: String,
    /// Judge by these laws, by all where none is named.
    pub laws: Vec<String>,
    /// Shrink the scene for this law, instead of judging it.
    pub law: Option<String>,
}

/// What a worker answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The scene was refused, and why.
    Refused(String),
    /// Law and verdict.
    Judged(Vec<(String, Outcome)>),
    /// The smaller scene, and how it breaks the law.
    Shrunk(String, String),
    /// The law no longer breaks.
    Kept,
    /// A frame never ended; says where.
    Hung(String),
    /// The worker died.
    Died,
}

/// A verdict as it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// Kept.
    Held,
    /// Broken; says how.
    Failed(String),
    /// Could not be judged.
    Skipped,
    /// Does not apply.
    Silent,
}

/// The scene that an order is about.
pub fn sketch(order: &Order) -> Option<Sketch> {
    let kind = kinds::find(&order.kind)?;
    Some((kind.make)(&mut Draw::new(order.seed, order.scene)))
}

/// Works off orders until there are no more.
pub fn work() {
    watch::start(|what| {
        tell(&Answer::Hung(what));
        std::process::exit(3);
    });
    for line in std::io::stdin().lock().lines() {
        let Some(order) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
            break;
        };
        tell(&answer(&order));
    }
}

fn tell(answer: &Answer) {
    let mut out = std::io::stdout().lock();
    if let Ok(text) = serde_json::to_string(answer) {
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

fn answer(order: &Order) -> Answer {
    let Some(sketch) = sketch(order) else { return Answer::Kept };
    if let Some(law) = order.law.as_deref().and_then(laws::find) {
        return match shrink::shrink(&sketch, &law) {
            Some((smaller, how)) => Answer::Shrunk(smaller.text(), how),
            None => Answer::Kept,
        };
    }
    match judge::judge(&sketch, &order.laws) {
        Err(why) => Answer::Refused(why),
        Ok(verdicts) => Answer::Judged(
            verdicts.into_iter().map(|(law, verdict)| (law.into(), outcome(verdict))).collect(),
        ),
    }
}

fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Held => Outcome::Held,
        Verdict::Failed(how) => Outcome::Failed(how),
        Verdict::Skipped(_) => Outcome::Skipped,
        Verdict::Silent => Outcome::Silent,
    }
}

/// A worker seen from the command; started anew when it dies.
#[derive(Default)]
pub struct Worker(Option<(Child, ChildStdin, BufReader<ChildStdout>)>);

impl Worker {
    /// Has an order worked off.
    pub fn ask(&mut self, order: &Order) -> std::io::Result<Answer> {
        let (_, orders, answers) = match &mut self.0 {
            Some(running) => running,
            none => none.insert(start()?),
        };
        let text = serde_json::to_string(order)?;
        let mut line = String::new();
        let told = writeln!(orders, "{text}").and_then(|()| orders.flush());
        let read = told.and_then(|()| answers.read_line(&mut line));
        let answer = read.ok().and_then(|_| serde_json::from_str(&line).ok());
        let answer = answer.unwrap_or(Answer::Died);
        if matches!(answer, Answer::Hung(_) | Answer::Died)
            && let Some((mut child, ..)) = self.0.take()
        {
            let _ = child.kill();
            let _ = child.wait();
        }
        Ok(answer)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((mut child, orders, answers)) = self.0.take() {
            drop((orders, answers));
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start() -> std::io::Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
    let own = std::env::current_exe()?;
    let mut command = Command::new(own);
    // a worker computes on one thread; there are as many workers as threads
    command.args(["torture", "--worker"]).env("RAYON_NUM_THREADS", "1");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let gone = || std::io::Error::other("a worker has no pipes");
    let orders = child.stdin.take().ok_or_else(gone)?;
    let answers = child.stdout.take().ok_or_else(gone)?;
    Ok((child, orders, BufReader::new(answers)))
}
