//! Stories: tests on a real ring as declared steps. A story names what it needs
//! and its steps in the order in which they are told; each step names the ring
//! that it wants to find, so that it can be told alone on a fresh one.
//!
//! Which steps run is said in `choice`, on which testbed in `lanes`, how they
//! are played and cleared away in `runner`, the testbed's part in `stage`.

mod choice;
mod durations;
mod lanes;
mod look;
mod outcome;
mod program;
mod runner;
mod stage;

use std::marker::PhantomData;

pub use durations::{Durations, read_told_whole};
pub use program::{Suite, main};

use crate::ring::Ring;
use crate::wanted::WantedRing;

/// Steps repeat what is too long for landing where this is set.
const SOAK: &str = "PALLADION_SOAK";
/// The machines of a testbed unless it is asked for others.
const NODES: usize = 3;

/// Which run a step is for, and how often it repeats what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// Every run: as often as landing has time for.
    Landing,
    /// `cargo xtask soak` alone: as often as the issues ask for.
    Soak,
}

impl Length {
    /// That of this run.
    pub fn of_this_run() -> Self {
        match std::env::var_os(SOAK) {
            Some(_) => Self::Soak,
            None => Self::Landing,
        }
    }
}

/// Is this a soak? Steps then repeat what they do.
pub fn is_soak() -> bool {
    Length::of_this_run() == Length::Soak
}

/// What a story does to the machines that it runs on. It has them for itself
/// either way: a testbed plays one story at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// Nothing that outlasts its namespace.
    LeftAlone,
    /// Power, disks or the operator are taken away: the runner makes sure that
    /// all is back before the next story begins.
    Broken,
}

/// What a step does on a ring.
pub type OnRing = fn(&Ring<'static>);
/// What a step does that makes what it needs itself.
pub type OnTestbed = fn();

/// How a step is played.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// On the ring that it wants.
    OnRing(OnRing),
    /// On the testbed alone.
    OnTestbed(OnTestbed),
}

impl From<OnRing> for Act {
    fn from(act: OnRing) -> Self {
        Self::OnRing(act)
    }
}

impl From<OnTestbed> for Act {
    fn from(act: OnTestbed) -> Self {
        Self::OnTestbed(act)
    }
}

/// What a step that passed leaves behind of its ring.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Leaves {
    /// A ring like the one it found.
    AsFound,
    /// Another one.
    Other(WantedRing),
    /// None that another step could use.
    None,
}

/// One step of a story.
#[derive(Clone, Debug)]
pub struct Step {
    /// A sentence that holds when the step passes.
    pub name: &'static str,
    /// Which runs it is for.
    pub length: Length,
    ring: Option<WantedRing>,
    leaves: Leaves,
    act: Act,
}

/// Steps that share a testbed, and a ring where they want the same.
#[derive(Clone, Debug)]
pub struct Story {
    /// Its name, and the namespace and name of its ring.
    pub name: &'static str,
    /// In the order in which they are told.
    pub steps: Vec<Step>,
    nodes: usize,
    machines: Machines,
}

impl Story {
    /// Declare a story of steps that make what they need themselves; with
    /// [`Draft::ring`] it becomes one of steps on a ring.
    pub fn named(name: &'static str) -> Draft<OnTestbed> {
        let steps = Vec::new();
        let story = Story { name, steps, nodes: NODES, machines: Machines::LeftAlone };
        Draft { story, ring: None, acts: PhantomData }
    }

    /// How a step of it is called: `story/step`.
    pub fn title(&self, step: &Step) -> String {
        format!("{}/{}", self.name, step.name)
    }
}

/// A story that is being declared; `into()` ends it.
#[derive(Debug)]
pub struct Draft<A> {
    story: Story,
    ring: Option<WantedRing>,
    acts: PhantomData<A>,
}

impl<A: Into<Act>> Draft<A> {
    /// The steps from here on want this ring.
    #[must_use]
    pub fn ring(self, wanted: WantedRing) -> Draft<OnRing> {
        Draft { story: self.story, ring: Some(wanted), acts: PhantomData }
    }

    /// It needs so many machines, if not three.
    #[must_use]
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.story.nodes = nodes;
        self
    }

    /// It takes power, disks or the operator away.
    #[must_use]
    pub fn breaks_machines(mut self) -> Self {
        self.story.machines = Machines::Broken;
        self
    }

    /// One more step: a sentence that holds when it passes, and what to do.
    #[must_use]
    pub fn step(mut self, name: &'static str, act: A) -> Self {
        self.story.steps.push(Step {
            name,
            length: Length::Landing,
            ring: self.ring.clone(),
            leaves: Leaves::AsFound,
            act: act.into(),
        });
        self
    }

    /// The last step takes minutes and adds little to what the simulator shows:
    /// it is for the soak alone.
    #[must_use]
    pub fn in_soak(self) -> Self {
        self.of_last_step(|step| step.length = Length::Soak)
    }

    fn of_last_step(mut self, change: impl FnOnce(&mut Step)) -> Self {
        self.story.steps.last_mut().map(change);
        self
    }
}

impl Draft<OnRing> {
    /// The last step leaves another ring than it found.
    #[must_use]
    pub fn leaves(self, ring: WantedRing) -> Self {
        self.of_last_step(|step| step.leaves = Leaves::Other(ring))
    }

    /// The last step leaves no ring that another step could use.
    #[must_use]
    pub fn leaves_no_ring(self) -> Self {
        self.of_last_step(|step| step.leaves = Leaves::None)
    }
}

impl<A> From<Draft<A>> for Story {
    fn from(draft: Draft<A>) -> Self {
        draft.story
    }
}
