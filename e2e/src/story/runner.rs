//! How stories are played: each step on a ring like the one it wants, what is
//! left cleared away at the end and after a failure, nothing reported as passed
//! that was not played.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::choice::Chosen;
use super::durations::told_whole;
use super::outcome::{Outcome, Report};
use super::{Leaves, Length, Machines, Step, Story};
use crate::wanted::WantedRing;

/// What the runner needs of the testbed.
pub trait Stage {
    /// How many machines it has.
    fn nodes(&self) -> usize;
    /// Make this ring for a story, in the place of an earlier one.
    fn fresh_ring(&mut self, story: &Story, wanted: &WantedRing) -> Result<()>;
    /// Play a step; its panic is the error.
    fn play(&mut self, step: &Step) -> Result<(), String>;
    /// Show how everything stands, for whoever reads of a failure.
    fn show(&self, story: &Story);
    /// Give back what all stories share: machines, the operator, its
    /// configuration, the storage class. What had to be mended.
    fn give_back(&mut self) -> Result<Vec<String>>;
    /// Remove all that the story has made, its ring too, with the data; which
    /// disks had to be mended.
    fn clear(&mut self, story: &Story, state: State) -> Result<Vec<String>>;
}

/// In which state a story leaves its testbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// What it took away it has given back.
    Well,
    /// Machines may be without power, disks out of place, the operator away.
    Hurt,
}

/// What happens to the remains of a step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// They are cleared away, and the next step gets a fresh ring.
    ClearedAway,
    /// They are kept to be looked at, and nothing more is played.
    Kept,
}

/// Plays chosen steps.
pub struct Runner<'a> {
    /// Where.
    pub stage: &'a mut dyn Stage,
    /// Which run this is.
    pub length: Length,
    /// What happens after a failure.
    pub remains: Remains,
    /// What became of the steps so far.
    pub report: Report,
}

/// Where a story stands.
#[derive(Default)]
struct Standing {
    ring: Option<WantedRing>,
    /// Something was made that is not cleared away yet.
    is_dirty: bool,
    /// Why no further step of it can be played.
    over: Option<String>,
}

impl Runner<'_> {
    /// Play all of them.
    pub fn run(&mut self, chosen: &[Chosen]) {
        for chosen in chosen {
            if let Some(took) = self.story(chosen) {
                // Read again by `cargo xtask test --record`.
                println!("{}", told_whole(chosen.story.name, took));
            }
        }
    }

    /// The last act: in no lane, so how long it takes is not on record.
    pub fn look_back(&mut self, last: &Chosen) {
        self.story(last);
    }

    /// Play one; how long that took if it was told whole and passed.
    fn story(&mut self, chosen: &Chosen) -> Option<Duration> {
        let (story, begin) = (chosen.story, Instant::now());
        let kept = (self.remains == Remains::Kept && self.report.failed() > 0)
            .then(|| "everything is kept as it stood when a step failed".to_string());
        let first = self.report.ended().len();
        let few = self.too_few_machines(story);
        let mut standing = Standing { over: kept.or(few), ..Standing::default() };
        for step in &chosen.steps {
            self.step(story, step, &mut standing);
        }
        let ended = &self.report.ended()[first..];
        let failed = ended.iter().any(|(_, o)| matches!(o, Outcome::Failed(_)));
        if standing.is_dirty && !(failed && self.remains == Remains::Kept) {
            let state = match story.machines {
                Machines::Broken => State::Hurt,
                Machines::LeftAlone => State::Well,
            };
            let mended = self.clear(story, state, &mut standing);
            // What a failure left was mended after it: this was left by steps that passed.
            if !mended.is_empty() {
                let title = format!("{}/what it took away is given back", story.name);
                self.report.fails(title, format!("mended after it: {}", mended.join(", ")));
            }
        }
        let is_whole = chosen.steps.len() == story.steps.len();
        let ended = &self.report.ended()[first..];
        let failed = ended.iter().any(|(_, o)| matches!(o, Outcome::Failed(_)));
        let is_played = ended.iter().any(|(_, o)| *o == Outcome::Passed);
        (is_whole && is_played && !failed && standing.over.is_none()).then(|| begin.elapsed())
    }

    /// Nobody asked for a story that cannot be played here to be passed over.
    fn too_few_machines(&mut self, story: &Story) -> Option<String> {
        let (needs, has) = (story.nodes, self.stage.nodes());
        if has >= needs {
            return None;
        }
        let why = format!("it needs {needs} machines and the testbed has {has}");
        self.report.fails(format!("{}/it has its machines", story.name), why.clone());
        Some(why)
    }

    fn step(&mut self, story: &Story, step: &Step, standing: &mut Standing) {
        let title = story.title(step);
        let for_the_soak = (step.length > self.length).then(|| "it is for the soak".to_string());
        if let Some(why) = for_the_soak.or_else(|| standing.over.clone()) {
            return self.report.ends(title, Outcome::NotRun(why), Duration::ZERO);
        }
        Report::begins(&title);
        if let Err(why) = self.ring_for(story, step, standing) {
            self.report.fails(title, format!("the ring that it wants was not made: {why}"));
            standing.over = Some("the ring could not be made".into());
            return self.after_failure(story, standing);
        }
        standing.is_dirty = true;
        let begin = Instant::now();
        match self.stage.play(step) {
            Ok(()) => {
                self.report.ends(title, Outcome::Passed, begin.elapsed());
                match &step.leaves {
                    Leaves::AsFound => {}
                    Leaves::Other(ring) => standing.ring = Some(ring.clone()),
                    Leaves::None => standing.ring = None,
                }
            }
            Err(why) => {
                self.report.ends(title, Outcome::Failed(why), begin.elapsed());
                self.after_failure(story, standing);
            }
        }
    }

    /// A ring that serves this step: the one that is there, or a fresh one.
    fn ring_for(
        &mut self,
        story: &Story,
        step: &Step,
        standing: &mut Standing,
    ) -> Result<(), String> {
        let Some(wanted) = &step.ring else { return Ok(()) };
        if standing.ring.as_ref().is_some_and(|ring| ring.serves(wanted)) {
            return Ok(());
        }
        standing.ring = None;
        standing.is_dirty = true;
        let begin = Instant::now();
        self.stage.fresh_ring(story, wanted).map_err(|error| format!("{error:#}"))?;
        println!("a fresh ring ({wanted}) in {:.1} s", begin.elapsed().as_secs_f64());
        standing.ring = Some(wanted.clone());
        Ok(())
    }

    fn after_failure(&mut self, story: &Story, standing: &mut Standing) {
        self.stage.show(story);
        match self.remains {
            Remains::ClearedAway => drop(self.clear(story, State::Hurt, standing)),
            Remains::Kept => standing.over = Some("everything is kept as it stood".into()),
        }
    }

    /// What had to be mended besides: a story that says that it leaves machines
    /// alone is not taken at its word.
    fn clear(&mut self, story: &Story, state: State, standing: &mut Standing) -> Vec<String> {
        standing.ring = None;
        standing.is_dirty = false;
        let mended = self.stage.give_back();
        let mended = mended.and_then(|first| Ok([first, self.stage.clear(story, state)?].concat()));
        mended.unwrap_or_else(|error| {
            self.report.fails(format!("{}/its remains go", story.name), format!("{error:#}"));
            standing.over = Some("what was left could not be cleared away".into());
            Vec::new()
        })
    }
}

#[cfg(test)]
mod tests;
