//! What a claim says about its volume: what its server is called, volume ID, address, and whose it is.
//! The claim outlives every other object of the cluster, so that a recreated one finds
//! its members again. And its size, which follows the template.

use super::super::spec::ServiceSpec;
use super::super::{ClaimFact, Draft, MemberFact, ServiceFacts};
use crate::kinds::{CLAIM, STORAGE_CLASS};
use crate::plan::{Event, Step};
use crate::words::service::{Doing, Happened, Problem};
use crate::workload::claims;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::labels;
use palladion_api::service_member::MemberVolumeState;
use serde_json::{Map, Value, json};

/// Annotate the claims of members whose server has a name on record, and let claims grow.
pub fn decide(facts: &ServiceFacts<'_>, spec: &ServiceSpec, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| !m.is_gone() && m.loss().is_none()) {
        let Some(claim) = &member.claim else { continue };
        let name = claim.object.meta.name.clone();
        if claim.terminating {
            let member = member.name.clone();
            draft.report(Problem::ClaimTerminating { claim: name, member });
            continue;
        }
        draft.steps.extend(annotate(spec, member, claim));
        grow(facts, spec, claim, draft);
    }
}

fn annotate(service: &ServiceSpec, member: &MemberFact, claim: &ClaimFact) -> Option<Step> {
    let spec = member.spec.as_ref()?;
    let is_on_it = member.is_on_its_volume();
    let id = (service.kind.identity_of)(spec).filter(|_| is_on_it);
    let with_data = |value: Option<String>| value.filter(|_| id.is_some());
    let volume = with_data(spec.volume_id.as_ref().map(ToString::to_string));
    let address = with_data(spec.address.as_ref().map(ToString::to_string));
    // Data of another cluster, or of nobody knows whom, must not go with this one.
    let is_ours = member.volume().is_some_and(|v| match v.state {
        MemberVolumeState::Empty
        | MemberVolumeState::Incomplete
        | MemberVolumeState::Joined
        | MemberVolumeState::Left
        | MemberVolumeState::Lost
        | MemberVolumeState::RolledBack => true,
        MemberVolumeState::NotMounted
        | MemberVolumeState::Foreign
        | MemberVolumeState::Unaccounted
        | MemberVolumeState::Unknown => false,
    });
    let goes = service.deletion_policy == DeletionPolicy::Delete;
    let stamp = (is_ours && (id.is_some() || goes)).then(|| service.uid.to_string());
    let wanted = [
        (service.kind.identity, id.clone()),
        (labels::VOLUME_ID, volume),
        (labels::ADDRESS, address),
        (labels::CLUSTER_UID, stamp),
    ];
    let differs = |(key, value): &(&str, Option<String>)| {
        value.is_some() && claim.object.meta.annotations.get(*key) != value.as_ref()
    };
    let changes: Map<String, Value> = wanted
        .into_iter()
        .filter(differs)
        .map(|(key, value)| (key.to_string(), json!(value)))
        .collect();
    let meta = &claim.object.meta;
    let doing = Doing::RecordOnClaim { claim: meta.name.clone() };
    let patch = json!({ "metadata": { "annotations": changes } });
    (!changes.is_empty()).then(|| Step::patch_as_seen(CLAIM, meta, patch, doing))
}

fn grow(facts: &ServiceFacts<'_>, service: &ServiceSpec, claim: &ClaimFact, draft: &mut Draft) {
    let template = json!({ "spec": service.claim.spec });
    let requested = claim.object.at("/requested").unwrap_or(&Value::Null);
    // A claim that is not bound gets no larger volume by asking for one.
    if !claim.bound || !claims::is_smaller(requested, &template) {
        return;
    }
    let class = claim.object.str_at("/class").unwrap_or_default();
    let classes = facts.objects(STORAGE_CLASS);
    let expands = classes
        .iter()
        .find(|c| c.meta.name == class)
        .is_some_and(|c| c.at("/allowVolumeExpansion") == Some(&Value::Bool(true)));
    let size = claims::size(&template).as_str().unwrap_or_default().to_string();
    if expands {
        let claim_name = claim.object.meta.name.clone();
        let event = Event::normal(Happened::ClaimGrows { claim: claim_name, size });
        draft.steps.push(claims::grow(&claim.object, &template, Some(event)));
    } else {
        let (claim, class) = (claim.object.meta.name.clone(), class.to_string());
        draft.report(Problem::CannotGrow { claim, size, class });
    }
}
