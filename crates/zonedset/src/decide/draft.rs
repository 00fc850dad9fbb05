//! A decision in the making: what the deciders have found so far, and what they
//! all do to objects.

use crate::facts::Facts;
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use palladion_api::zoned_stateful_set::PendingConfig;
use palladion_plan::wait::{Subject, Wait};
use palladion_plan::words::{Message, Reasoned};
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Event, ObjectKey, Proof, Resource};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A decision in the making.
pub type Draft = palladion_plan::Draft<Notes>;

/// What the deciders note for the status.
#[derive(Debug, Default)]
pub struct Notes {
    /// What each set waits for, or why it failed.
    pub messages: BTreeMap<String, Message>,
    /// Names of the sets that are wanted; others are left over.
    pub wanted: BTreeSet<String>,
    /// Configuration that is being gathered.
    pub pending_config: Option<PendingConfig>,
    /// Versions of Secrets in use.
    pub secret_versions: BTreeMap<String, u32>,
}

/// What a decision to do nothing would say.
pub fn idle(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let newest = facts.sets.values().map(|s| s.version).max().unwrap_or(1);
    let more = Notes {
        wanted: valid.zones.iter().map(|z| valid.set_name(z, newest)).collect(),
        pending_config: facts.status.pending_config.clone(),
        secret_versions: facts.status.secret_versions.clone(),
        ..Notes::default()
    };
    Draft { more, ..Draft::default() }
}

/// Wait for something that is about a set.
pub fn wait_for_set<'a>(draft: &'a mut Draft, set: &str, sentence: impl Reasoned) -> &'a mut Wait {
    draft.wait_for(sentence).about(Subject::new(STATEFUL_SET, set))
}

/// Wait for something that is about a set, and say so in the set's own status.
pub fn wait_in_set(draft: &mut Draft, set: &str, sentence: impl Reasoned + Clone) {
    draft.more.messages.insert(set.to_string(), sentence.clone().into());
    wait_for_set(draft, set, sentence);
}

/// Apply one object: it must not exist yet, or be the one that was seen. The
/// proof says why pods of one that exists may end by it.
pub fn apply(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    (proof, event): (Option<Proof>, Option<Event>),
    draft: &mut Draft,
) {
    let namespace = &facts.snapshot.owner.meta.namespace;
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_string();
    let what = ObjectKey::new(resource, namespace, &name).to_string();
    match upsert(resource, namespace, facts.objects(resource), object, &what, event) {
        Ok(step) => draft.steps.push(step.proven(proof)),
        Err(blocked) => {
            draft.wait_for(blocked).about(Subject::new(resource, name));
        }
    }
}
