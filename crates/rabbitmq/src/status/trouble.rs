//! `Degraded`: what needs a person, the most telling first, whose reason it has.

use super::partition;
use crate::decide::draft::Draft;
use crate::decide::turn::failing;
use crate::decide::{join, leave};
use crate::facts::{Facts, MemberFact};
use crate::words::leave::Problem as OfLeaver;
use crate::words::queues::Queues;
use crate::words::status::{MoreOf, Trouble as OfCluster};
use palladion_api::conditions::DEGRADED;
use palladion_api::labels;
use palladion_api::names::rabbitmq_secret;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{Alarm, MemberServerState};
use palladion_plan::members::status as shared;
use palladion_plan::words::Names;
use palladion_plan::words::status::Trouble as OfMember;
use palladion_plan::{Conditions, Trouble};

/// Reasons of what only the answers of the nodes show.
const OF_ANSWERS: [Reason; 3] =
    [Reason::QueuesWouldBeLost, Reason::QueuesWouldLoseQuorum, Reason::QueueNamesNode];
/// The feature flag with which membership is kept in another way.
const KHEPRI: &str = "khepri_db";

pub(super) fn degraded(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    let of_server = |member: &MemberFact| of_server(facts, member);
    // That a volume is lost, or a machine away, does not say why nothing comes of it.
    let of_turns = facts.members.values().filter_map(|m| of_turn(facts, m));
    shared::degraded(writer, facts, draft, of_server, of_turns.chain(of_cluster(facts)));
}

/// What a turn of this member has failed at, which has ended so that others go on.
fn of_turn(facts: &Facts<'_>, member: &MemberFact) -> Option<Trouble> {
    let Some(found) = leave::unmoved(facts, member) else {
        return failing::trouble(facts, member);
    };
    let (member, queues) = (member.name.clone(), Queues::from(&found.unmoved));
    let namespace = facts.snapshot.owner.meta.namespace.clone();
    Some(Trouble::of(match found.failure {
        None => OfLeaver::QueuesNotMoved { member, queues },
        Some(why) => OfLeaver::MoveFailed { member, queues, why, namespace },
    }))
}

/// Does what the answers before have shown stand until the next ones are in? What needs a
/// person is looked at again and again, and must not come and go with each look.
pub(super) fn stands(facts: &Facts<'_>, draft: &Draft) -> bool {
    let is_asking = draft.waits.iter().any(|wait| wait.reason == Reason::WaitingForEvidence);
    let mut conditions = facts.status.conditions.iter();
    let said = conditions.find(|c| c.type_ == DEGRADED && c.status == "True");
    let reason = said.and_then(|said| Reason::read(&said.reason));
    is_asking && draft.troubles.is_empty() && reason.is_some_and(|r| OF_ANSWERS.contains(&r))
}

fn of_cluster(facts: &Facts<'_>) -> Vec<Trouble> {
    let uses_khepri = facts.views().any(|(_, view)| {
        view.flags.as_ref().is_some_and(|flags| flags.enabled.iter().any(|flag| flag == KHEPRI))
    });
    let strangers = facts.strangers();
    let nodes = (!strangers.is_empty()).then(|| Names::of(&strangers));
    let alarm = facts.views().find_map(|(_, view)| view.alarms.first().cloned());
    let all = [
        uses_khepri.then_some(OfCluster::Khepri),
        partition(facts).map(|(member, nodes)| OfCluster::Partitioned { member, nodes }),
        nodes.map(|nodes| OfCluster::UnknownNodes { nodes }),
        definitions_missing(facts),
        alarm.map(of_alarm),
    ];
    all.into_iter().flatten().map(Trouble::of).collect()
}

fn of_alarm(alarm: Alarm) -> OfCluster {
    let step = match alarm.resource.as_str() {
        "memory" => MoreOf::Memory,
        "disk" => MoreOf::Disk,
        // Of file descriptors, for example.
        _ => MoreOf::Unknown,
    };
    OfCluster::Alarm { node: alarm.node, resource: alarm.resource, step }
}

/// The Secret with the credentials.
fn secret(facts: &Facts<'_>) -> String {
    let own = || rabbitmq_secret(&facts.snapshot.owner.meta.name);
    facts.spec.secret_name.clone().unwrap_or_else(own)
}

/// A member whose pod would mount the definitions, and has none.
fn definitions_missing(facts: &Facts<'_>) -> Option<OfCluster> {
    let secret = facts.spec.definitions_secret_name.clone()?;
    let newest = facts.newest_revision()?;
    let mounts = |m: &&MemberFact| {
        m.agent_speaks() && m.pod.as_ref().is_some_and(|pod| pod.revision == newest)
    };
    let mut without = facts.members.values().filter(mounts);
    let member = without.find(|m| m.status.definitions_hash.is_none())?.name.clone();
    Some(OfCluster::DefinitionsMissing { secret, member })
}

fn of_server(facts: &Facts<'_>, member: &MemberFact) -> Option<Trouble> {
    let name = || member.name.clone();
    if let Some(volume) = join::off_record(facts, member).filter(|_| facts.exists()) {
        let namespace = facts.snapshot.owner.meta.namespace.clone();
        let (volume, annotation) = (volume.clone(), labels::REPLACE);
        let said = OfCluster::NotOnRecord { member: name(), volume, namespace, annotation };
        return Some(Trouble::of(said));
    }
    let server = member.server()?;
    let message = || server.message.clone().unwrap_or_default();
    let said = match server.reason.as_deref().and_then(Reason::read) {
        Some(Reason::CredentialsMissing) => {
            let secret = secret(facts);
            Some(OfCluster::CredentialsMissing { secret, member: name(), message: message() })
        }
        Some(Reason::CookieDiffers) => {
            Some(OfCluster::CookieDiffers { member: name(), message: message() })
        }
        Some(Reason::NameUnresolved) => {
            Some(OfCluster::NameUnresolved { member: name(), message: message() })
        }
        Some(Reason::WaitingForTables) => {
            Some(OfCluster::WaitingForTables { member: name(), message: message() })
        }
        Some(Reason::DefinitionsPending) => {
            let secret = facts.spec.definitions_secret_name.clone().unwrap_or_default();
            Some(OfCluster::DefinitionsRefused { secret, member: name(), message: message() })
        }
        Some(_) | None => None,
    };
    if let Some(said) = said {
        return Some(Trouble::of(said));
    }
    if let Some(volume) = member.known_volume_id().filter(|_| is_out(facts, member)).cloned() {
        let namespace = facts.snapshot.owner.meta.namespace.clone();
        let annotation = labels::REPLACE;
        let said = OfCluster::NotInCluster { member: name(), volume, namespace, annotation };
        return Some(Trouble::of(said));
    }
    let (failed, server) = (server.state == MemberServerState::Failed, member.server_words());
    failed.then(|| Trouble::of(OfMember::ServerFailed { member: name(), server }))
}

/// Has it served, and do the others not name its node, although nobody took it out?
fn is_out(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let has_turn = facts.turn().is_some_and(|t| t.member == member.name);
    let others = facts.views().any(|(m, _)| m.name != member.name);
    let is_known = facts.is_named(member) || !others;
    member.has_served() && member.loss().is_none() && !has_turn && !is_known
}
