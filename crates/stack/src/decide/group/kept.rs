//! The gates of a group whose spec or profiles are refused, whose texts do not come about, or
//! whose set is not taken.

use crate::decide::dependencies::{self, Needs};
use crate::decide::draft::Draft;
use crate::decide::kept::{self, Kept};
use crate::decide::mounted::Key;
use crate::decide::text::Texts;
use crate::facts::GroupFacts;
use palladion_api::NodeAgentGroupSpec;
use palladion_api::node_agents::UpgradeStrategy;
use palladion_plan::workload::pod::PodFact;

/// Let agents start again that were accepted before.
pub fn decide(facts: &GroupFacts<'_>, spec: &NodeAgentGroupSpec) -> Draft {
    let mut draft = Draft::default();
    dependencies::decide(facts.snapshot, &spec.depends_on, Needs::Readiness, &mut draft);
    gates(facts, (spec, None), false, &mut draft);
    draft
}

/// Tend the gates of the pods that there are. Does anybody restart those of an older template?
/// If not, they start as they are. `newest` = the texts, if the spec is accepted, and what agents
/// find them by.
pub fn gates(
    facts: &GroupFacts<'_>,
    (spec, newest): (&NodeAgentGroupSpec, Option<(Option<Key<'_>>, &Texts)>),
    restarts: bool,
    draft: &mut Draft,
) {
    let Some(set) = &facts.set else {
        return;
    };
    let pods = facts.pods.iter().filter(|pod| !pod.terminating).collect();
    let texts = facts.texts.as_ref();
    let is_current = |pod: &PodFact| match spec.upgrade_strategy {
        UpgradeStrategy::Rolling => {
            !restarts
                || pod.spec_hash() == Some(&set.template)
                || facts.claims.at_risk(pod).is_some()
        }
        UpgradeStrategy::OnDelete => true,
    };
    let kept = Kept { pods, is_current: &is_current, texts, newest, closed: None };
    kept::decide(facts.snapshot, &kept, draft);
}
