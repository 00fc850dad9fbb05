//! The gates of a Component whose spec is refused, whose texts do not come about, or whose set is
//! not taken.

use super::gates::incomplete;
use super::set;
use crate::decide::dependencies::{self, Needs};
use crate::decide::draft::Draft;
use crate::decide::kept::{self, Kept};
use crate::decide::mounted::Key;
use crate::decide::text::Texts;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::gates::Closed;
use palladion_api::ComponentSpec;
use palladion_api::component::status::MOST_GATES;
use palladion_api::staged::ConfigKey;
use palladion_plan::Trouble;
use palladion_plan::workload::pod::PodFact;

/// Let pods start again that were accepted before.
pub fn decide(facts: &Facts<'_>, spec: &ComponentSpec) -> Draft {
    let mut draft = Draft::default();
    dependencies::decide(facts.snapshot, &spec.depends_on, Needs::Readiness, &mut draft);
    set::come_back(facts, spec, &mut draft);
    gates(facts, None, false, &mut draft);
    draft
}

/// Tend the gates of the pods that there are. Does anybody restart those of an older template?
/// If not, they start as they are. `accepted` = the spec and its
/// texts, if these are written.
pub fn gates(
    facts: &Facts<'_>,
    accepted: Option<(&Valid, &Texts)>,
    restarts: bool,
    draft: &mut Draft,
) {
    let Some(set) = &facts.set else {
        return;
    };
    // The set may have been scaled by hand, to whatever number.
    let pods = facts.pods.iter().filter(|pod| !pod.terminating && pod.ordinal < set.replicas);
    let pods: Vec<&PodFact> = pods.take(MOST_GATES).collect();
    let newest = accepted.map(|(valid, texts)| (key(valid), texts));
    let texts = facts.texts.as_ref();
    // What keeps its data is not restarted, whatever it was made from.
    let is_current = |pod: &PodFact| {
        !restarts || pod.spec_hash() == Some(&set.template) || facts.claims.at_risk(pod).is_some()
    };
    // A text may name the addresses of all.
    let comes = accepted.is_some_and(|(_, texts)| !texts.are_stuck());
    let no_address = pods.iter().find(|pod| comes && pod.address.is_none());
    let no_address = no_address.map(|pod| Trouble::of(Closed::Address { pod: pod.name.clone() }));
    let closed = incomplete(facts, set.replicas).or(no_address);
    let kept = Kept { pods, is_current: &is_current, texts, newest, closed };
    kept::decide(facts.snapshot, &kept, draft);
}

/// What pods are to find the newest texts by.
pub fn key(valid: &Valid) -> Option<Key<'static>> {
    Some(match valid.spec.config.as_ref()?.key {
        ConfigKey::PodName => Key::Name,
        ConfigKey::PodIp => Key::Address,
    })
}
