//! The runner's stage on a real testbed.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::Result;

use super::look;
use super::runner::{Stage, State};
use super::{Act, Step, Story};
use crate::bed::{Bed, bed, text};
use crate::ring::Ring;
use crate::wanted::WantedRing;

/// The testbed of this process.
pub struct Testbed {
    bed: &'static Bed,
    ring: Option<Ring<'static>>,
    /// Namespaces that no story has made.
    foreign: BTreeSet<String>,
}

impl Testbed {
    /// The testbed that the environment names.
    ///
    /// # Errors
    /// It does not answer.
    pub fn attach() -> Result<Self> {
        let bed = bed();
        Ok(Self { bed, ring: None, foreign: namespaces(bed)? })
    }

    fn made_by_stories(&self) -> Result<Vec<String>> {
        let all = namespaces(self.bed)?;
        Ok(all.difference(&self.foreign).cloned().collect())
    }
}

fn namespaces(bed: &Bed) -> Result<BTreeSet<String>> {
    let all = bed.list("default", "namespaces")?;
    Ok(all.iter().map(|n| text(n, "/metadata/name").to_string()).collect())
}

impl Stage for Testbed {
    fn nodes(&self) -> usize {
        self.bed.cluster.nodes().len()
    }

    fn fresh_ring(&mut self, story: &Story, wanted: &WantedRing) -> Result<()> {
        self.ring = None;
        self.ring = Some(Ring::create(self.bed, story.name, wanted)?);
        Ok(())
    }

    fn play(&mut self, step: &Step) -> Result<(), String> {
        let ring = self.ring.as_ref();
        let played = catch_unwind(AssertUnwindSafe(|| match step.act {
            Act::OnTestbed(act) => act(),
            Act::OnRing(act) => act(ring.expect("the runner makes the ring first")),
        }));
        played.map_err(|panic| message(panic.as_ref()))
    }

    fn show(&self, story: &Story) {
        look::show(self.bed, story);
    }

    fn give_back(&mut self) -> Result<Vec<String>> {
        self.bed.mend_machines()
    }

    /// A story that had no ring and ended well is not waited for: the next one
    /// has namespaces of its own.
    fn clear(&mut self, _: &Story, state: State) -> Result<Vec<String>> {
        let had_ring = self.ring.take().is_some();
        for namespace in self.made_by_stories()? {
            if had_ring || state == State::Hurt {
                self.bed.remove_namespace(&namespace)?;
            } else {
                let words = format!("delete namespace {namespace} --ignore-not-found --wait=false");
                self.bed.kubectl(&words)?;
            }
        }
        match state {
            State::Hurt => self.bed.mend_volumes(),
            State::Well => Ok(Vec::new()),
        }
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
    text.unwrap_or_else(|| "it panicked without words".into())
}
