//! What goes on while a spec is refused, its texts cannot be made or written, or its set is
//! rejected: a pod that starts again gets a ticket, as long as nobody restarts it for a newer
//! template, for the text that is in the map.

use super::draft::Draft;
use super::gates::{Gated, Terms, tend};
use super::mounted::{Key, of_started};
use super::text::Texts;
use crate::gate::{self, Stand};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Snapshot, Trouble, Wait};
use std::collections::BTreeMap;

/// The pods of a service, and what they have.
pub struct Kept<'a> {
    /// Those that should be there.
    pub pods: Vec<&'a PodFact>,
    /// Is a pod to start as it is? One that is to be restarted waits for that.
    pub is_current: &'a dyn Fn(&PodFact) -> bool,
    /// The map as it was read back; `None` = there is none.
    pub texts: Option<&'a BTreeMap<String, String>>,
    /// The texts that are to be in it, if the spec is accepted, and what pods are to find them by.
    pub newest: Option<(Option<Key<'a>>, &'a Texts)>,
    /// Why no gate is opened, dependencies aside.
    pub closed: Option<Trouble>,
}

/// Tend the gates. What the pods depend on was looked at before.
pub fn decide(snapshot: &Snapshot, kept: &Kept<'_>, draft: &mut Draft) {
    let closed = draft.more.missing.clone().or_else(|| kept.closed.clone());
    let current = |pod: &PodFact| {
        let text = || of_started(pod, kept.texts, kept.newest);
        (kept.is_current)(pod).then(text).flatten().map(|text| text.hash)
    };
    let hashes: Vec<Option<String>> = kept.pods.iter().map(|pod| current(pod)).collect();
    let gated: Vec<Gated<'_>> = kept
        .pods
        .iter()
        .zip(&hashes)
        .map(|(pod, hash)| Gated { pod, text: hash.as_deref(), inputs: None })
        .collect();
    tend(snapshot, &gated, Terms { closed: closed.as_ref() }, draft);
    let is_waited_at = gated.iter().any(|gated| gate::stand(gated.pod) != Stand::Passed);
    if let Some(trouble) = closed.filter(|_| is_waited_at) {
        draft.waits.insert(0, Wait::new(trouble.reason, trouble.message.clone()));
        draft.more.closed = Some(trouble);
    }
}
