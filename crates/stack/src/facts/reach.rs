//! Pods that nobody reaches: their node is not ready, or they have not ended in their time.
//! What they do is not known, and what is asked of them is not done.

use crate::resources::NODE;
use jiff::SignedDuration;
use palladion_plan::Snapshot;
use palladion_plan::workload::pod::PodFact;
use std::collections::BTreeMap;

/// So long after its grace a pod may take to be gone: its node reports that a little later.
const LATE: SignedDuration = SignedDuration::from_secs(60);

/// Can a pod be reached?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// As far as is known.
    Reached,
    /// It should have ended by now, or its node is not ready.
    Lost,
}

/// The nodes at one moment.
#[derive(Clone, Debug)]
pub struct Nodes {
    ready: BTreeMap<String, bool>,
    now: jiff::Timestamp,
}

impl Nodes {
    /// Read them. A node that is not known counts as one that is ready.
    pub fn read(snapshot: &Snapshot) -> Self {
        let nodes = snapshot.all(NODE).unwrap_or_default().iter();
        let is_ready = |said: Option<&str>| !matches!(said, Some("False" | "Unknown"));
        let ready = nodes.map(|node| (node.meta.name.clone(), is_ready(node.str_at("/ready"))));
        Self { ready: ready.collect(), now: snapshot.now }
    }

    /// Can this pod be reached?
    pub fn of(&self, pod: &PodFact) -> Reach {
        let is_late = pod.ends_by.is_some_and(|by| self.now >= by + LATE);
        let is_silent = pod.silent_node(&self.ready).is_some();
        if is_late || is_silent { Reach::Lost } else { Reach::Reached }
    }

    /// When a pod that is on its way out counts as lost.
    pub fn lost_at(&self, pod: &PodFact) -> Option<jiff::Timestamp> {
        pod.ends_by.map(|by| by + LATE).filter(|at| *at > self.now)
    }
}
