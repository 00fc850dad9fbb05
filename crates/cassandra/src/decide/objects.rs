//! The objects that a cluster and its racks consist of: Services, account,
//! budget, configuration and sets. Written only where they differ.

use super::{Draft, replicas, synced};
use crate::build;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{Valid, ValidRack};
use palladion_api::names;
use palladion_api::reasons::Reason;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Event, Resource, differ};
use serde_json::Value;

/// Make and keep the objects of the cluster, rack by rack.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    apply(
        facts,
        kinds::SERVICE,
        build::client_service(valid),
        "the client Service",
        None,
        draft,
    );
    for object in build::member_account(valid) {
        let (kind, what) = match object["kind"].as_str() {
            Some("RoleBinding") => (kinds::ROLE_BINDING, "the members' role binding"),
            _ => (kinds::SERVICE_ACCOUNT, "the members' service account"),
        };
        apply(facts, kind, object, what, None, draft);
    }
    let budget = build::disruption_budget(valid);
    apply(
        facts,
        kinds::DISRUPTION_BUDGET,
        budget,
        "the disruption budget",
        None,
        draft,
    );
    for rack in &valid.racks {
        rack_objects(facts, valid, rack, draft);
    }
}

fn rack_objects(facts: &Facts<'_>, valid: &Valid, rack: &ValidRack, draft: &mut Draft) {
    let replicas = replicas::of(facts, rack);
    for ordinal in 0..replicas {
        let member = names::member(&rack.set, ordinal);
        // Asked for only where the Service is made anew: stating the address
        // that it has would be a write for nothing.
        let recorded = facts
            .members
            .get(&member)
            .filter(|m| m.service.is_none())
            .and_then(|m| {
                m.spec
                    .as_ref()
                    .and_then(|s| s.address.clone())
                    .or_else(|| m.claim.as_ref().and_then(|c| c.address.clone()))
            })
            .filter(|address| !is_left_behind(facts, &member, address));
        let is_seed = u32::try_from(ordinal).is_ok_and(|o| o < valid.seeds_per_rack);
        let service = build::member_service(valid, rack, &member, recorded.as_deref(), is_seed);
        let what = format!("the Service of member {member}");
        apply(facts, kinds::SERVICE, service, &what, None, draft);
    }
    let config = build::config_map(valid, rack);
    let what = format!("the configuration of rack {}", rack.name);
    apply(facts, kinds::CONFIG_MAP, config, &what, None, draft);

    let event = match facts.sets.get(&rack.set) {
        None => synced(format!("Rack {} created", rack.name)),
        Some(set) if set.replicas < replicas => synced(format!(
            "Rack {} scaled up to {replicas} members",
            rack.name
        )),
        Some(_) => None,
    };
    let mut set = build::stateful_set(valid, rack, replicas);
    keep_claims(facts, rack, &mut set, draft);
    let what = format!("the StatefulSet of rack {}", rack.name);
    apply(facts, kinds::STATEFUL_SET, set, &what, event, draft);
}

/// A set cannot change its claim templates; an apply that tries is refused as
/// a whole, and with it every other change of the rack. The stored ones are
/// kept, and a difference that matters is told.
fn keep_claims(facts: &Facts<'_>, rack: &ValidRack, set: &mut Value, draft: &mut Draft) {
    const TEMPLATES: &str = "/spec/volumeClaimTemplates";
    let Some(stored) = facts
        .sets
        .get(&rack.set)
        .and_then(|s| s.object.at(TEMPLATES))
    else {
        return;
    };
    let Some(wanted) = set.pointer_mut(TEMPLATES) else {
        return;
    };
    if differ::contains(stored, wanted) {
        return;
    }
    if !differ::contains(&stored[0]["spec"], &wanted[0]["spec"]) {
        draft.trouble(
            Reason::ClaimTemplateKept,
            format!(
                "the claim template of rack {} differs from that of its StatefulSet {}; claims that exist are not changed, set it back",
                rack.name, rack.set
            ),
        );
    }
    *wanted = stored.clone();
}

/// A replacement gets another address; the claim still names the lost one's.
fn is_left_behind(facts: &Facts<'_>, member: &str, address: &str) -> bool {
    let turn = facts.turn().filter(|t| t.member == member);
    turn.and_then(|t| t.replaces.as_ref())
        .is_some_and(|r| r.address == address)
}

/// Apply one object: it must not exist yet, or be the one that was seen.
pub fn apply(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    what: &str,
    event: Option<Event>,
    draft: &mut Draft,
) {
    let namespace = &facts.snapshot.owner.meta.namespace;
    match upsert(
        resource,
        namespace,
        facts.objects(resource),
        object,
        what,
        event,
    ) {
        Ok(step) => draft.steps.push(step),
        Err(wait) => draft.wait(Reason::CreatingObjects, wait),
    }
}
