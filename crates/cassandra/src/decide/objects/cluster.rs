//! The objects that a cluster and its racks consist of: Services, account,
//! budget, policy, configuration and sets. Written only where they differ.

use super::apply::{apply, apply_with};
use crate::build;
use crate::decide::draft::Draft;
use crate::decide::evidence::records;
use crate::decide::objects::recreating::{self, Outcome};
use crate::decide::objects::{policy, replicas, standing};
use crate::decide::turn::{seeds, stopping};
use crate::facts::{Facts, SetFact};
use crate::resources as kinds;
use crate::validate::{RackPlace, Valid, ValidRack};
use crate::words::objects::{Doing, Happened, What};
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::names;
use palladion_plan::wait::Subject;
use palladion_plan::words::Count;
use palladion_plan::workload::former::{self, FormerPod};
use palladion_plan::{Event, Proof, Step};
use serde_json::json;

/// Make and keep the objects of the cluster, rack by rack.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    apply(facts, kinds::SERVICE, build::client_service(valid), What::ClientService, None, draft);
    for object in build::member_account(valid) {
        let (kind, what) = match object["kind"].as_str() {
            Some("RoleBinding") => (kinds::ROLE_BINDING, What::RoleBinding),
            _ => (kinds::SERVICE_ACCOUNT, What::ServiceAccount),
        };
        apply(facts, kind, object, what, None, draft);
    }
    let budget = build::disruption_budget(valid);
    apply(facts, kinds::DISRUPTION_BUDGET, budget, What::DisruptionBudget, None, draft);
    policy::decide(facts, valid, draft);
    recreated_services(facts, valid, draft);
    for rack in &valid.racks {
        rack_objects(facts, valid, rack, draft);
    }
}

/// Services that ask for an address come before those that take any: one of these
/// could be given the address that another member has on record.
fn recreated_services(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for rack in &valid.racks {
        for ordinal in 0..replicas::of(facts, rack) {
            let member = names::member(&rack.set, ordinal);
            if let Some(address) = address_to_ask_for(facts, &member) {
                member_service(facts, valid, (rack, ordinal), Some(&address), draft);
            }
        }
    }
}

/// Asked for only where the Service is recreated: stating the address that it has
/// would be a write for nothing.
fn address_to_ask_for(facts: &Facts<'_>, member: &MemberName) -> Option<StaticAddress> {
    let known = facts.members.get(member).filter(|m| m.service.is_none())?;
    let can_be_had = |address: &&StaticAddress| {
        !is_left_behind(facts, member, address) && !facts.is_given_up(address)
    };
    // The one under which the ring knows the member, or else the one that it had last.
    let addresses = [known.ring_address(), known.recorded_address()];
    addresses.into_iter().flatten().find(can_be_had).cloned()
}

fn member_service(
    facts: &Facts<'_>,
    valid: &Valid,
    (rack, ordinal): (&ValidRack, i32),
    address: Option<&StaticAddress>,
    draft: &mut Draft,
) {
    let member = names::member(&rack.set, ordinal);
    let is_seed = facts.members.get(&member).map_or_else(
        || seeds::is_early(valid, ordinal),
        |m| seeds::is_designated(valid, m) || seeds::is_last(facts, valid, m),
    );
    let service = build::member_service(valid, rack, &member, address, is_seed);
    // An address that is taken stops its own member alone.
    let what = What::MemberService { member };
    apply_with(facts, kinds::SERVICE, service, what, None, Step::standing_alone, draft);
}

fn rack_objects(facts: &Facts<'_>, valid: &Valid, rack: &ValidRack, draft: &mut Draft) {
    let replicas = replicas::of(facts, rack);
    for ordinal in 0..replicas {
        if address_to_ask_for(facts, &names::member(&rack.set, ordinal)).is_none() {
            member_service(facts, valid, (rack, ordinal), None, draft);
        }
    }
    if rack.place == RackPlace::Dropped {
        return scale_dropped(facts, rack, draft);
    }
    let rendered = build::rendered(valid, rack, &standing::of(facts, rack));
    let config = build::config_map(valid, rack, &rendered);
    let what = What::Configuration { rack: rack.name.clone() };
    apply(facts, kinds::CONFIG_MAP, config, what, None, draft);

    let pods = replicas::pods(facts, rack);
    // The racks that a ring begins with are no news.
    let event = scaled_event(facts.sets.get(&rack.set), rack, replicas, pods)
        .filter(|_| facts.is_created());
    let mut set = build::stateful_set(valid, rack, pods, &rendered);
    if recreating::prepare(facts, valid, rack, &mut set, draft) == Outcome::Recreate {
        return;
    }
    let what = What::StatefulSet { rack: rack.name.clone() };
    if let Some(former) = former_pod(facts, rack) {
        let wait = draft.wait_for(former.blocks(what));
        wait.about(Subject::new(kinds::STATEFUL_SET, &rack.set));
        wait.until = former.until;
        return;
    }
    let scaled = |step: Step| {
        let fence = (pods == 0 && replicas > 0).then(|| stopping::fence(facts));
        step.fenced(fence).proven(fewer_pods(facts, rack, replicas, pods))
    };
    apply_with(facts, kinds::STATEFUL_SET, set, what, event, scaled, draft);
}

/// The pod that a rack without a set waits for before it gets one.
fn former_pod(facts: &Facts<'_>, rack: &ValidRack) -> Option<FormerPod> {
    if facts.sets.contains_key(&rack.set) {
        return None;
    }
    former::in_the_way(facts.objects(kinds::POD), &rack.set, facts.now())
}

fn scaled_event(set: Option<&SetFact>, rack: &ValidRack, members: i32, pods: i32) -> Option<Event> {
    let count = |number: i32| Count::of(number, "member");
    let rack = rack.name.clone();
    let happened = match set.map(|s| s.replicas) {
        None => Happened::RackCreated { rack },
        Some(had) if had > 0 && pods == 0 && members > 0 => {
            Happened::RackStopped { rack, members: count(members) }
        }
        Some(0) if pods > 0 => Happened::RackStarts { rack, members: count(pods) },
        Some(had) if had < pods => Happened::RackScaledUp { rack, members: count(pods) },
        Some(_) => return None,
    };
    Some(Event::normal(happened))
}

/// Of a rack that the spec does not name only the number of pods is kept: what
/// else its set says is all that is known of it.
fn scale_dropped(facts: &Facts<'_>, rack: &ValidRack, draft: &mut Draft) {
    let Some(set) = facts.sets.get(&rack.set) else {
        return;
    };
    let pods = replicas::pods(facts, rack);
    if set.replicas == pods || set.object.meta.is_terminating() {
        return;
    }
    let members = replicas::of(facts, rack);
    let fence = (pods == 0 && members > 0).then(|| stopping::fence(facts));
    draft.steps.push(
        Step::patch_as_seen(
            kinds::STATEFUL_SET,
            &set.object.meta,
            json!({ "spec": { "replicas": pods } }),
            Doing::ScaleDropped { rack: rack.name.clone() },
        )
        .fenced(fence)
        .proven(fewer_pods(facts, rack, members, pods)),
    );
}

/// What proves that a rack may have fewer pods than it has: nobody of the ring
/// is in the others, or a person wants none at all.
fn fewer_pods(facts: &Facts<'_>, rack: &ValidRack, members: i32, pods: i32) -> Option<Proof> {
    let has = facts.sets.get(&rack.set).map_or(0, |s| s.replicas);
    let proof = match pods < members {
        _ if has <= pods => None,
        true => records::stop_is_wanted(facts, &rack.set),
        false => records::is_vacant(facts, &rack.set, pods),
    };
    proof.map(|p| p.stated())
}

/// A replacement gets another address; the claim still names the lost one's.
fn is_left_behind(facts: &Facts<'_>, member: &MemberName, address: &StaticAddress) -> bool {
    let turn = facts.turn().filter(|t| t.member == *member);
    turn.and_then(|t| t.replaces.as_ref()).is_some_and(|r| r.address == *address)
}
