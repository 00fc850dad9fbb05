//! The gates of a Component whose spec is refused, whose texts do not come about, or whose set is
//! not taken.

use super::gates::incomplete;
use super::set;
use crate::decide::dependencies::{self, Needs};
use crate::decide::draft::Draft;
use crate::decide::kept::{self, Kept};
use crate::decide::mounted::mounted;
use crate::facts::Facts;
use palladion_api::ComponentSpec;
use palladion_api::component::status::MOST_GATES;
use palladion_plan::workload::pod::PodFact;

/// Let pods start again that were accepted before.
pub fn decide(facts: &Facts<'_>, spec: &ComponentSpec) -> Draft {
    let mut draft = Draft::default();
    dependencies::decide(facts.snapshot, &spec.depends_on, Needs::Readiness, &mut draft);
    set::come_back(facts, spec, &mut draft);
    gates(facts, false, &mut draft);
    draft
}

/// Tend the gates of the pods that there are. Does anybody restart those of an older template?
/// If not, they start as they are.
pub fn gates(facts: &Facts<'_>, restarts: bool, draft: &mut Draft) {
    let Some(set) = &facts.set else {
        return;
    };
    // The set may have been scaled by hand, to whatever number.
    let pods = facts.pods.iter().filter(|pod| !pod.terminating && pod.ordinal < set.replicas);
    let pods = pods.take(MOST_GATES).collect();
    let texts = mounted(&set.object, facts.texts.as_ref());
    // What keeps its data is not restarted, whatever it was made from.
    let is_current = |pod: &PodFact| {
        !restarts || pod.spec_hash() == Some(&set.template) || facts.claims.at_risk(pod).is_some()
    };
    let closed = incomplete(facts, set.replicas);
    let kept = Kept { pods, is_current: &is_current, texts, closed };
    kept::decide(facts.snapshot, &kept, draft);
}
