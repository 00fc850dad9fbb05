//! The StatefulSet: created, kept, brought to the number of pods that is wanted,
//! and for a while to none, where all pods are recreated.

use crate::build::set::{self, Wanted};
use crate::decide::draft::{Draft, apply, wait_for};
use crate::decide::evidence;
use crate::decide::rollout::{keep, where_is};
use crate::decide::settle::Timing;
use crate::decide::text::{Made, Texts};
use crate::facts::Facts;
use crate::facts::component::SetFact;
use crate::reload::{Recreate, Work};
use crate::resources::{POD, STATEFUL_SET};
use crate::validate::Valid;
use crate::words::objects::{Doing, Happened, Waiting};
use crate::words::reload;
use palladion_api::ComponentSpec;
use palladion_api::component::names;
use palladion_plan::workload::former;
use palladion_plan::{Event, ObjectKey, Step, hash};
use serde_json::{Value, json};

/// The agent's image for the template: the recorded one, as long as nothing else
/// changes. A newer release restarts nobody.
pub fn agent_image<'a>(facts: &'a Facts<'_>, valid: &'a Valid) -> &'a str {
    let recorded = facts.set.as_ref().and_then(|set| {
        let image = set.agent_image.as_deref()?;
        (set::template_hash(valid, image) == set.template).then_some(image)
    });
    recorded.unwrap_or(&valid.agent_image)
}

/// What the pods are recreated for, by hash: other templates or other texts.
pub fn purpose(template: &str, texts: &Texts) -> String {
    let due = texts.all.values().filter(|text| text.time == Timing::Now);
    let texts: Vec<&str> = due.map(|text| text.hash.as_str()).collect();
    hash::of(&json!([template, texts]))
}

/// Which template a set that exists gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The newest.
    Newest,
    /// The one that it has: the texts for a newer one do not come about (safety rule 8.8), and
    /// a pod that is lost meanwhile would bring it in.
    ItsOwn,
}

/// Which template the set gets.
pub fn takes(facts: &Facts<'_>, template: &str, texts: &Texts) -> Takes {
    let is_old = facts.set.as_ref().is_some_and(|set| set.template != template);
    match is_old && texts.made != Made::All {
        true => Takes::ItsOwn,
        false => Takes::Newest,
    }
}

/// State the set as it should be now.
pub fn decide(
    facts: &Facts<'_>,
    valid: &Valid,
    (image, takes): (&str, Takes),
    (work, purpose): (&Work<'_>, &str),
    draft: &mut Draft,
) {
    let name = &valid.name;
    let Some(stored) = &facts.set else {
        return create(facts, valid, image, draft);
    };
    if stored.object.meta.is_terminating() {
        wait_for(draft, (STATEFUL_SET, name), Waiting::BeingDeleted { set: name.clone() });
        return;
    }
    let replicas = replicas(facts, valid, stored, draft);
    let running = Wanted { agent_image: image, replicas, recreating: None };
    let (wanted, event) = match (&stored.recreating, work.recreate) {
        (Some(what_for), _) if is_stopping(facts, stored) => {
            wait_for(draft, (STATEFUL_SET, name), stopping(facts));
            (Wanted { replicas: 0, recreating: Some(what_for), ..running }, None)
        }
        (Some(_), _) => {
            wait_for(draft, (STATEFUL_SET, name), reload::Waiting::Starting);
            (running, None)
        }
        (None, Recreate::Now) if stored.replicas > 0 => {
            wait_for(draft, (STATEFUL_SET, name), stopping(facts));
            let event = Event::normal(reload::Happened::Recreated);
            (Wanted { replicas: 0, recreating: Some(purpose), ..running }, Some(event))
        }
        (None, Recreate::Now | Recreate::No) => (running, None),
    };
    let mut object = set::stateful_set(valid, wanted);
    if takes == Takes::ItsOwn {
        set::keep_template(&mut object, &stored.object);
    }
    let has_template =
        takes == Takes::ItsOwn || stored.template == set::template_hash(valid, image);
    let is_written = has_template && stored.replicas == wanted.replicas;
    if !is_written {
        let what = ObjectKey::new(STATEFUL_SET, &valid.namespace, name).to_string();
        wait_for(draft, (STATEFUL_SET, name), Waiting::Updated { set: what });
    }
    let proof = evidence::may_shrink(facts, valid, stored, wanted.replicas, work.recreate);
    apply(facts.snapshot, STATEFUL_SET, object, (proof, event), draft);
}

/// Bring the pods back that were stopped to be recreated, as the set has them: what comes of a
/// spec that is refused meanwhile nobody knows.
pub fn come_back(facts: &Facts<'_>, spec: &ComponentSpec, draft: &mut Draft) {
    let Some(stored) = facts.set.as_ref().filter(|set| set.recreating.is_some()) else {
        return;
    };
    if stored.object.meta.is_terminating() || is_stopping(facts, stored) {
        return;
    }
    let patch = json!({
        "metadata": { "annotations": { names::RECREATING: Value::Null } },
        "spec": { "replicas": spec.replicas },
    });
    let doing = Doing::ComeBack { set: facts.snapshot.owner.meta.name.clone() };
    draft.steps.push(Step::patch_as_seen(STATEFUL_SET, &stored.object.meta, patch, doing));
}

/// What the recreation of all pods waits for.
fn stopping(facts: &Facts<'_>) -> reload::Waiting {
    match facts.pods.first().map(where_is) {
        Some(pod) => reload::Waiting::Stopping { left: facts.pods.len(), pod },
        None => reload::Waiting::Starting,
    }
}

/// As many as the spec has; as many as there are while one of those too many would take
/// its data with it.
fn replicas(facts: &Facts<'_>, valid: &Valid, stored: &SetFact, draft: &mut Draft) -> i32 {
    let wanted = valid.spec.replicas;
    let surplus = facts.pods.iter().filter(|pod| pod.ordinal >= wanted && !pod.terminating);
    let mut at_risk = surplus.filter_map(|pod| Some((pod, facts.claims.at_risk(pod)?)));
    match at_risk.next().filter(|_| stored.replicas > wanted) {
        Some((pod, at_risk)) => {
            keep(&pod.name, &at_risk, draft);
            stored.replicas
        }
        None => wanted,
    }
}

/// Are pods left of those that are to stop, or may there be?
fn is_stopping(facts: &Facts<'_>, stored: &SetFact) -> bool {
    stored.replicas > 0 || !stored.seen || !facts.pods.is_empty()
}

fn create(facts: &Facts<'_>, valid: &Valid, image: &str, draft: &mut Draft) {
    let name = &valid.name;
    if let Some(former) = former::in_the_way(facts.objects(POD), name, facts.now()) {
        let what = ObjectKey::new(STATEFUL_SET, &valid.namespace, name);
        wait_for(draft, (STATEFUL_SET, name), former.blocks(what)).until = former.until;
        return;
    }
    let wanted = Wanted { agent_image: image, replicas: valid.spec.replicas, recreating: None };
    let event = Event::normal(Happened::Created { set: name.clone() });
    let object = set::stateful_set(valid, wanted);
    apply(facts.snapshot, STATEFUL_SET, object, (None, Some(event)), draft);
    wait_for(draft, (STATEFUL_SET, name), Waiting::Created { set: name.clone() });
}
