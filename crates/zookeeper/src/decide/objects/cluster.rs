//! The objects that an ensemble consists of, but for those of single members. Written
//! only where they differ.

use super::replicas;
use crate::build;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, SetFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::objects::{Happened, Problem, What};
use palladion_plan::wait::Subject;
use palladion_plan::words::Count;
use palladion_plan::workload::claims::{Change, compare, release_pods};
use palladion_plan::workload::former;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Event, Resource, Step};
use serde_json::Value;

const TEMPLATES: &str = "/spec/volumeClaimTemplates";
const ANNOTATIONS: &str = "/spec/template/metadata/annotations";

/// Make and keep the objects of the ensemble.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let [account, binding] = build::member_account(valid);
    for (kind, object, what) in [
        (kinds::SERVICE, build::client_service(valid), What::ClientService),
        (kinds::SERVICE, build::nodes_service(valid), What::NodesService),
        (kinds::SERVICE_ACCOUNT, account, What::ServiceAccount),
        (kinds::ROLE_BINDING, binding, What::RoleBinding),
        (kinds::DISRUPTION_BUDGET, build::disruption_budget(valid), What::DisruptionBudget),
        (kinds::CONFIG_MAP, build::config_map(valid), What::Configuration),
    ] {
        apply(facts, kind, object, what, |step| step, draft);
    }
    set(facts, valid, draft);
}

/// Apply one object: it must not exist yet, or be the one that was seen.
pub(super) fn apply(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    what: What,
    finish: impl Fn(Step) -> Step,
    draft: &mut Draft,
) {
    let namespace = &facts.snapshot.owner.meta.namespace;
    let about = Subject::new(resource, object["metadata"]["name"].as_str().unwrap_or_default());
    match upsert(resource, namespace, facts.objects(resource), object, &what.to_string(), None) {
        Ok(step) => draft.steps.push(finish(step)),
        Err(blocked) => {
            draft.wait_for(blocked).about(about);
        }
    }
}

fn set(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let standing = facts.set.as_ref().and_then(|s| s.object.at(ANNOTATIONS));
    let release = build::release(valid, standing);
    let replicas = replicas::of(facts, valid);
    let mut object = build::stateful_set(valid, replicas, &release);
    match &facts.set {
        None => {
            let pods = facts.objects(kinds::POD);
            if let Some(former) = former::in_the_way(pods, &valid.set, facts.now()) {
                let wait = draft.wait_for(former.blocks(What::StatefulSet));
                wait.about(Subject::new(kinds::STATEFUL_SET, &valid.set));
                wait.until = former.until;
                return;
            }
        }
        Some(stored) => {
            if is_recreated(facts, stored, &mut object, draft) {
                return;
            }
        }
    }
    let has = facts.set.as_ref().map_or(0, |s| s.replicas);
    let vacant = (has > replicas).then(|| evidence::is_vacant(facts, replicas)).flatten();
    let created = facts
        .set
        .is_none()
        .then(|| Event::normal(Happened::SetCreated { servers: Count::of(replicas, "server") }));
    let finish =
        |step: Step| step.proven(vacant.as_ref().map(|p| p.stated())).announced(created.clone());
    apply(facts, kinds::STATEFUL_SET, object, What::StatefulSet, finish, draft);
}

/// A set never changes its claim template. To let it grow, the set alone is deleted,
/// its pods stay, and the recreated set adopts them; any other change is refused.
fn is_recreated(
    facts: &Facts<'_>,
    stored: &SetFact,
    wanted: &mut Value,
    draft: &mut Draft,
) -> bool {
    let templates = |set: Option<&Value>| set.and_then(Value::as_array).cloned();
    let has = templates(stored.object.at(TEMPLATES)).unwrap_or_default();
    let want = templates(wanted.pointer(TEMPLATES)).unwrap_or_default();
    match compare(&want, &has) {
        Change::None => return false,
        Change::Growth if facts.turn().is_none() && !stored.object.meta.is_terminating() => {
            let event = Event::normal(Happened::SetRecreated);
            draft.steps.push(release_pods(&stored.object, Some(event)));
            return true;
        }
        Change::Growth => {}
        Change::Other(change) => draft.report(Problem::ClaimTemplate { change }),
    }
    wanted["spec"]["volumeClaimTemplates"] = Value::from(has);
    false
}
