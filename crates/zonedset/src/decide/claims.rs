//! Changes that a StatefulSet does not take: volume claims (document Q15), the
//! Service's name, the way pods are made. Growth of a claim and the other two
//! are carried out by making the set anew around its pods.

use super::{Draft, normal, warning};
use crate::build::set::{self, Fixed};
use crate::facts::{Facts, SetFact};
use crate::resources::{CLAIM, STATEFUL_SET};
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::RolloutState;
use palladion_plan::differ::{contains, quantity};
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::{Value, json};

/// What became of the claim templates of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Claims {
    /// As they were.
    Same,
    /// Some request more storage and all else is the same.
    Grown,
    /// Something else differs.
    Changed(String),
}

/// The fixed parts that a set has, which every apply must state again.
pub fn fixed(valid: &Valid, set: &SetFact) -> Fixed {
    let wanted = set::fixed(valid);
    let text = |field: &str, default: &str| {
        let found = set.object.at("/spec").and_then(|s| s[field].as_str());
        found.unwrap_or(default).to_string()
    };
    let claims = match compare(valid, set) {
        Claims::Same => wanted.claims,
        Claims::Grown | Claims::Changed(_) => observed(set).to_vec(),
    };
    Fixed {
        service_name: text("serviceName", ""),
        pod_management_policy: text("podManagementPolicy", "OrderedReady"),
        claims,
    }
}

/// Make the set anew around its pods, if its fixed parts are to change and no
/// rollout is under way. True = it is being done.
pub fn recreate(facts: &Facts<'_>, valid: &Valid, set: &SetFact, draft: &mut Draft) -> bool {
    if set.state != RolloutState::Done || !set.seen {
        return false;
    }
    let (has, wants) = (fixed(valid, set), set::fixed(valid));
    let is_grown =
        compare(valid, set) == Claims::Grown && ungrown(facts, valid, set).next().is_none();
    let differs = has.service_name != wants.service_name
        || has.pod_management_policy != wants.pod_management_policy;
    if !differs && !is_grown {
        return false;
    }
    let words = format!(
        "StatefulSet {} is made anew around its pods, which keep running",
        set.name
    );
    draft.wait(Reason::CreatingObjects, words.clone());
    draft.delete(
        STATEFUL_SET,
        &set.object,
        Loss::Nothing,
        Propagation::Orphan,
        normal(Reason::Synced, words),
    );
    true
}

/// Report what is not carried out; grow the claims that exist.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let wanted = draft.wanted.clone();
    for set in facts.sets.values().filter(|s| wanted.contains(&s.name)) {
        match compare(valid, set) {
            Claims::Same => {}
            Claims::Grown => {
                for (name, uid, size) in ungrown(facts, valid, set) {
                    draft.steps.push(grow(valid, &name, uid, &size));
                }
            }
            Claims::Changed(what) => {
                let words = format!(
                    "StatefulSet {}: {what}; claims that exist are not changed",
                    set.name
                );
                draft
                    .events
                    .extend(warning(Reason::VolumeClaimTemplatesWarning, words.clone()));
                draft.trouble(Reason::VolumeClaimTemplatesWarning, words);
            }
        }
    }
}

fn observed(set: &SetFact) -> &[Value] {
    set.object
        .at("/spec/volumeClaimTemplates")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn name(claim: &Value) -> &str {
    claim["metadata"]["name"].as_str().unwrap_or_default()
}

fn size(claim: &Value) -> &Value {
    &claim["spec"]["resources"]["requests"]["storage"]
}

fn compare(valid: &Valid, set: &SetFact) -> Claims {
    let wanted = &valid.spec.template.spec.volume_claim_templates;
    let has = observed(set);
    for claim in has {
        if !wanted.iter().any(|w| name(w) == name(claim)) {
            return Claims::Changed(format!(
                "the volume claim template {} was taken out",
                name(claim)
            ));
        }
    }
    let mut grown = false;
    for claim in wanted {
        let Some(old) = has.iter().find(|h| name(h) == name(claim)) else {
            return Claims::Changed(format!(
                "the volume claim template {} was added",
                name(claim)
            ));
        };
        let mut same_size = claim["spec"].clone();
        if quantity(size(claim)) > quantity(size(old)) {
            grown = true;
            same_size["resources"]["requests"]["storage"] = size(old).clone();
        }
        if !contains(&old["spec"], &same_size) {
            return Claims::Changed(format!(
                "the volume claim template {} was changed in more than a larger storage request",
                name(claim)
            ));
        }
    }
    if grown { Claims::Grown } else { Claims::Same }
}

/// Claims of the set's pods that request less than their template now does.
fn ungrown<'a>(
    facts: &'a Facts<'_>,
    valid: &'a Valid,
    set: &'a SetFact,
) -> impl Iterator<Item = (String, &'a str, Value)> {
    facts.objects(CLAIM).iter().filter_map(move |claim| {
        let template = valid
            .spec
            .template
            .spec
            .volume_claim_templates
            .iter()
            .find(|t| {
                let rest = claim
                    .meta
                    .name
                    .strip_prefix(name(t))
                    .and_then(|r| r.strip_prefix('-'));
                rest.is_some_and(|pod| palladion_api::names::ordinal(&set.name, pod).is_some())
            })?;
        let is_smaller = quantity(&claim.body["requested"]) < quantity(size(template));
        (is_smaller && !claim.meta.is_terminating()).then(|| {
            (
                claim.meta.name.clone(),
                claim.meta.uid.as_str(),
                size(template).clone(),
            )
        })
    })
}

fn grow(valid: &Valid, name: &str, uid: &str, size: &Value) -> Step {
    let words = format!(
        "PersistentVolumeClaim {name} grows to {}",
        size.as_str().unwrap_or_default()
    );
    Step::Patch {
        key: ObjectKey::new(CLAIM, &valid.namespace, name),
        patch: json!({ "spec": { "resources": { "requests": { "storage": size } } } }),
        subresource: Subresource::None,
        precondition: Precondition::Uid(uid.to_string()),
        fence: None,
        doing: format!("grow PersistentVolumeClaim {name}"),
        event: normal(Reason::Synced, words),
    }
}
