//! `Degraded`: what needs a person, the most telling first, whose reason it has.

use crate::decide::draft::Draft;
use crate::decide::join;
use crate::facts::{Configuration, Facts, MemberFact, Voter};
use crate::words::status::Trouble as OfEnsemble;
use palladion_api::ids::VolumeId;
use palladion_api::labels;
use palladion_api::service_member::MemberServerState;
use palladion_plan::members::status as shared;
use palladion_plan::words::Names;
use palladion_plan::words::status::Trouble as OfMember;
use palladion_plan::{Conditions, Trouble};

pub(super) fn degraded(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    let of_server = |member: &MemberFact| of_server(facts, member);
    shared::degraded(writer, facts, draft, of_server, strangers(facts));
}

/// Servers in the configuration that no member accounts for.
fn strangers(facts: &Facts<'_>) -> Option<Trouble> {
    let servers = facts.strangers();
    let some = !servers.is_empty();
    some.then(|| Trouble::of(OfEnsemble::UnknownServers { servers: Names::of(servers) }))
}

/// A user is asked to give it up only where that is enough. What the ensemble counts it may need.
fn old_data(facts: &Facts<'_>, member: &MemberFact, volume: &VolumeId) -> OfEnsemble {
    let (name, volume) = (member.name.clone(), volume.clone());
    let counts = |c: &Configuration| !join::is_unknown(facts, member, c);
    if let Some(id) =
        member.status.server_id.filter(|_| facts.configuration().is_some_and(|c| counts(&c)))
    {
        return OfEnsemble::InConfiguration { member: name, volume, id };
    }
    let (namespace, annotation) = (facts.snapshot.owner.meta.namespace.clone(), labels::REPLACE);
    OfEnsemble::NotOnRecord { member: name, volume, namespace, annotation }
}

fn of_server(facts: &Facts<'_>, member: &MemberFact) -> Option<Trouble> {
    let server = member.server()?;
    if let Some(volume) = join::off_record(member).filter(|_| facts.exists()) {
        return Some(Trouble::of(old_data(facts, member, volume)));
    }
    let (id, known) = (member.server_id()?, facts.configuration()?);
    let has_turn = facts.turn().is_some_and(|t| t.member == member.name);
    let is_out = member.has_served() && known.server(id).is_none() && !has_turn;
    let name = member.name.clone();
    if let Some(volume) =
        member.known_volume_id().filter(|_| is_out && member.loss().is_none()).cloned()
    {
        let namespace = facts.snapshot.owner.meta.namespace.clone();
        let annotation = labels::REPLACE;
        let said = OfEnsemble::NotInConfiguration { member: name, volume, namespace, annotation };
        return Some(Trouble::of(said));
    }
    let failed = server.state == MemberServerState::Failed;
    let server = member.server_words();
    failed.then(|| Trouble::of(OfMember::ServerFailed { member: name, server }))
}
