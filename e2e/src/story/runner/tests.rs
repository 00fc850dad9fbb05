//! The runner on a stage that only writes down what it is asked for.

use anyhow::{Result, bail};

use super::super::Act;
use super::super::choice::Choice;
use super::*;
use crate::ring::Ring;
use crate::wanted::a_ring;

/// Fails at what it is told to fail at.
struct Paper {
    nodes: usize,
    /// What is mended at each clearing.
    mended: Vec<&'static str>,
    fails: Vec<&'static str>,
    written: Vec<String>,
}

impl Default for Paper {
    fn default() -> Self {
        Self { nodes: 3, mended: vec![], fails: vec![], written: vec![] }
    }
}

impl Paper {
    fn write(&mut self, words: String) -> Result<()> {
        let fails = self.fails.iter().any(|f| words == *f);
        self.written.push(words);
        if fails {
            bail!("as it was told to");
        }
        Ok(())
    }
}

impl Stage for Paper {
    fn nodes(&self) -> usize {
        self.nodes
    }
    fn fresh_ring(&mut self, _: &Story, wanted: &WantedRing) -> Result<()> {
        self.write(format!("ring of {}", wanted.members()))
    }
    fn play(&mut self, step: &Step) -> Result<(), String> {
        assert!(matches!(step.act, Act::OnRing(_)));
        self.write(step.name.to_string()).map_err(|e| e.to_string())
    }
    fn show(&self, _: &Story) {}
    fn give_back(&mut self) -> Result<Vec<String>> {
        Ok(self.mended.iter().map(ToString::to_string).collect())
    }
    fn clear(&mut self, _: &Story, state: State) -> Result<Vec<String>> {
        self.write(format!("clear {state:?}")).map(|()| Vec::new())
    }
}

fn nothing(_: &Ring<'_>) {}

/// Four steps: three on a ring of three, of which the second is for the soak,
/// and the third leaves a ring of four, which the last wants.
fn a_story() -> Story {
    let three = a_ring().racks(&[("a", 2), ("b", 1)]);
    let four = a_ring().racks(&[("a", 2), ("b", 2)]);
    Story::named("paper")
        .ring(three)
        .step("one", nothing)
        .step("long", nothing)
        .in_soak()
        .step("grows", nothing)
        .leaves(four.clone())
        .ring(four)
        .step("four", nothing)
        .into()
}

fn play(fails: &[&'static str], remains: Remains, choice: &Choice) -> (Vec<String>, Report) {
    play_on(Paper { fails: fails.to_vec(), ..Paper::default() }, remains, choice)
}

fn play_on(mut stage: Paper, remains: Remains, choice: &Choice) -> (Vec<String>, Report) {
    let stories = [a_story()];
    let mut runner =
        Runner { stage: &mut stage, length: Length::Landing, remains, report: Report::default() };
    runner.run(&choice.of(&stories).expect("something is meant"));
    let report = runner.report.clone();
    (stage.written, report)
}

fn outcomes(report: &Report) -> String {
    let word = |outcome: &Outcome| match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "failed",
        Outcome::NotRun(_) => "not run",
    };
    let all: Vec<String> =
        report.ended().iter().map(|(title, o)| format!("{title} {}", word(o))).collect();
    all.join(", ")
}

#[test]
fn steps_that_want_the_same_share_a_ring_and_all_is_cleared_at_the_end() {
    let (written, report) = play(&[], Remains::ClearedAway, &Choice::All);
    assert_eq!(written, ["ring of 3", "one", "grows", "four", "clear Well"]);
    assert_eq!(
        outcomes(&report),
        "paper/one passed, paper/long not run, paper/grows passed, paper/four passed"
    );
}

#[test]
fn a_step_alone_gets_a_fresh_ring_of_its_own() {
    let (written, _) = play(&[], Remains::ClearedAway, &Choice::Only("paper/four".into()));
    assert_eq!(written, ["ring of 4", "four", "clear Well"]);
}

#[test]
fn after_a_failure_all_is_cleared_and_the_next_step_gets_a_fresh_ring() {
    let (written, report) = play(&["grows"], Remains::ClearedAway, &Choice::All);
    let wanted = ["ring of 3", "one", "grows", "clear Hurt", "ring of 4", "four", "clear Well"];
    assert_eq!(written, wanted);
    assert_eq!(
        outcomes(&report),
        "paper/one passed, paper/long not run, paper/grows failed, paper/four passed"
    );
}

#[test]
fn without_a_ring_nothing_has_passed() {
    let (written, report) = play(&["ring of 3"], Remains::ClearedAway, &Choice::All);
    assert_eq!(written, ["ring of 3", "clear Hurt"]);
    assert_eq!(
        outcomes(&report),
        "paper/one failed, paper/long not run, paper/grows not run, paper/four not run"
    );
}

#[test]
fn what_cannot_be_cleared_away_is_a_failure() {
    let (_, report) = play(&["clear Well"], Remains::ClearedAway, &Choice::All);
    assert_eq!(report.failed(), 1);
    assert!(outcomes(&report).ends_with("paper/its remains go failed"));
}

#[test]
fn what_is_to_be_looked_at_stays_as_it_was() {
    let (written, report) = play(&["one"], Remains::Kept, &Choice::All);
    assert_eq!(written, ["ring of 3", "one"]);
    assert_eq!(
        outcomes(&report),
        "paper/one failed, paper/long not run, paper/grows not run, paper/four not run"
    );
}

#[test]
fn a_story_without_its_machines_has_failed() {
    let stage = Paper { nodes: 2, ..Paper::default() };
    let (written, report) = play_on(stage, Remains::ClearedAway, &Choice::All);
    assert!(written.is_empty(), "{written:?}");
    assert_eq!(report.failed(), 1);
    assert_eq!(
        outcomes(&report),
        "paper/it has its machines failed, paper/one not run, paper/long not run, paper/grows not run, paper/four not run"
    );
}

/// This one says that it leaves machines alone.
#[test]
fn what_is_mended_after_a_story_that_passed_is_its_failure() {
    let stage = || Paper { mended: vec!["n1 was without power"], ..Paper::default() };
    let (_, report) = play_on(stage(), Remains::ClearedAway, &Choice::All);
    assert_eq!(report.failed(), 1);
    let (title, outcome) = report.ended().last().expect("an end");
    assert_eq!(title, "paper/what it took away is given back");
    assert!(matches!(outcome, Outcome::Failed(why) if why.contains("n1 was without power")));
}

#[test]
fn what_is_mended_after_a_failure_is_not_counted_again() {
    let mended = vec!["n1 was without power"];
    let stage = Paper { fails: vec!["four"], mended, ..Paper::default() };
    let (_, report) = play_on(stage, Remains::ClearedAway, &Choice::All);
    assert_eq!(report.failed(), 1, "{}", outcomes(&report));
}
