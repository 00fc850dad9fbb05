//! The objects that a service consists of, but for those of single members. Written
//! only where they differ.

use super::super::build::{self, Release};
use super::super::spec::ServiceSpec;
use super::super::{Draft, Grounds, Prove, ServiceFacts, SetFact};
use super::replicas;
use crate::kinds::{
    CONFIG_MAP, DISRUPTION_BUDGET, POD, ROLE_BINDING, SERVICE, SERVICE_ACCOUNT, STATEFUL_SET,
};
use crate::object::Resource;
use crate::plan::{Event, Step};
use crate::wait::Subject;
use crate::words::Count;
use crate::words::service::{Happened, Problem, What};
use crate::workload::claims::{Change, compare, release_pods};
use crate::workload::former;
use crate::workload::upsert::upsert;
use serde_json::Value;

const TEMPLATES: &str = "/spec/volumeClaimTemplates";
const ANNOTATIONS: &str = "/spec/template/metadata/annotations";

/// Make and keep what is small: the Services of all (`ports` are those of the clients),
/// the members' account, the disruption budget, the configuration.
pub fn small(
    facts: &ServiceFacts<'_>,
    spec: &ServiceSpec,
    [clients, nodes]: [&[(&str, u16)]; 2],
    config_map: Value,
    draft: &mut Draft,
) {
    let [account, binding] = build::member_account(spec);
    for (kind, object, what) in [
        (SERVICE, build::client_service(spec, clients), What::ClientService),
        (SERVICE, build::nodes_service(spec, nodes), What::NodesService),
        (SERVICE_ACCOUNT, account, What::ServiceAccount),
        (ROLE_BINDING, binding, What::RoleBinding),
        (DISRUPTION_BUDGET, build::disruption_budget(spec), What::DisruptionBudget),
        (CONFIG_MAP, config_map, What::Configuration),
    ] {
        apply(facts, kind, object, what, |step| step, draft);
    }
}

/// Apply one object: it must not exist yet, or be the one that was seen.
pub fn apply(
    facts: &ServiceFacts<'_>,
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

/// Make and keep the StatefulSet. `release` makes its pod template of the annotations of
/// the one that stands.
pub fn set(
    facts: &ServiceFacts<'_>,
    spec: &ServiceSpec,
    release: impl FnOnce(Option<&Value>) -> Release,
    prove: Prove,
    draft: &mut Draft,
) {
    let standing = facts.set.as_ref().and_then(|s| s.object.at(ANNOTATIONS));
    let release = release(standing);
    let replicas = replicas::of(facts, spec);
    let mut object = build::stateful_set(spec, replicas, &release);
    match &facts.set {
        None => {
            let pods = facts.objects(POD);
            if let Some(former) = former::in_the_way(pods, &spec.set, facts.now()) {
                let wait = draft.wait_for(former.blocks(What::StatefulSet));
                wait.about(Subject::new(STATEFUL_SET, &spec.set));
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
    let vacant = (has > replicas).then(|| Grounds::is_vacant(facts, replicas)).flatten();
    let created = facts
        .set
        .is_none()
        .then(|| Event::normal(Happened::SetCreated { members: Count::of(replicas, "member") }));
    let finish = |step: Step| step.proven(vacant.as_ref().map(prove)).announced(created.clone());
    apply(facts, STATEFUL_SET, object, What::StatefulSet, finish, draft);
}

/// A set never changes its claim template. To let it grow, the set alone is deleted,
/// its pods stay, and the recreated set adopts them; any other change is refused.
fn is_recreated(
    facts: &ServiceFacts<'_>,
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
