//! `Degraded`: what needs a person, the most telling first, whose reason it has.

use crate::decide::draft::Draft;
use crate::decide::evidence::absence::left_by_hand;
use crate::decide::evidence::marks;
use crate::decide::turn::{failed_start, stopping};
use crate::facts::leaver::failed_halfway;
use crate::facts::{Facts, MemberFact, PodFact};
use crate::resources as kinds;
use crate::words::leave::Refused;
use crate::words::status::{AgentVersion, Failed, Fine, Several, Trouble as OfMember};
use palladion_api::conditions::DEGRADED;
use palladion_api::ids::MemberName;
use palladion_api::labels;
use palladion_api::member::{CassandraMemberSpec, ServerState, VolumeState};
use palladion_api::reasons::Reason;
use palladion_plan::words::Names;
use palladion_plan::workload::pod::PodTroubleKind;
use palladion_plan::{Conditions, Failure, FailureClass, Trouble, Truth};

/// As many as are read at once.
const MOST_SHOWN: usize = 3;

pub(super) fn degraded(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    let failure = facts.snapshot.failure.as_ref();
    let is_passing = |class| matches!(class, FailureClass::Conflict | FailureClass::Held);
    let failed = failure.filter(|f| !is_passing(f.class)).map(|f| {
        let (doing, answer) = (f.doing.clone(), f.message.clone());
        if let Some(taken) = address_taken(facts, f) {
            return Trouble::of(taken);
        }
        Trouble::of(match f.class {
            FailureClass::Foreign => Failed::Foreign { doing, answer },
            FailureClass::Transient
            | FailureClass::Refused
            | FailureClass::Conflict
            | FailureClass::Held => Failed::Other { doing, answer },
        })
    });
    let of_members = facts.members.values().filter_map(|member| of_member(facts, member));
    let all = failed.into_iter().chain(draft.troubles.iter().cloned()).chain(of_members);
    let all = all.chain(terminated(facts).map(Trouble::of)).chain(stopped(facts).map(Trouble::of));
    match first_of_each_reason(all) {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

/// What the API server says it could not do with a ClusterIP that another Service has,
/// or that is outside of its range.
const ALLOCATED: &str = "allocate";

/// Is it the Service of a member that cannot have its recorded address again?
fn address_taken(facts: &Facts<'_>, failure: &Failure) -> Option<Failed> {
    let object = failure.object.as_ref().filter(|o| o.resource == kinds::SERVICE)?;
    let member = facts.members.get(&MemberName::new(object.name.clone()))?;
    let address = member.ring_address().filter(|_| failure.message.contains(ALLOCATED))?;
    let owner = &facts.snapshot.owner.meta;
    Some(Failed::AddressTaken {
        member: member.name.clone(),
        address: address.clone(),
        namespace: owner.namespace.clone(),
        cluster: owner.name.clone(),
        annotation: labels::GIVE_UP_ADDRESSES,
        answer: failure.message.clone(),
    })
}

/// Members whose volumes people have given up: they wait to be replaced.
fn terminated(facts: &Facts<'_>) -> Option<OfMember> {
    let terminated = facts.joined().filter(|m| m.is_terminated() && marks::of(m).is_none());
    let names: Vec<&MemberName> = terminated.map(|m| &m.name).collect();
    (!names.is_empty()).then(|| OfMember::Terminated { members: Names::of(names) })
}

/// Members that people have stopped: the ring has so many copies less.
fn stopped(facts: &Facts<'_>) -> Option<OfMember> {
    let stopped = facts.joined().filter(|m| m.is_stopped() && !m.is_terminated());
    let stopped = stopped.map(|m| &m.name);
    let names: Vec<&MemberName> = stopped.collect();
    // Of a ring without pods that is said instead.
    let is_said = names.is_empty() || stopping::is_wanted(facts);
    (!is_said).then(|| OfMember::Stopped { members: Names::of(names) })
}

/// Who waits for one thing to be mended learns of the others too. Of several
/// members that are in the same trouble the first stands for all: each has a
/// condition of its own.
fn first_of_each_reason(all: impl Iterator<Item = Trouble>) -> Option<Trouble> {
    let mut shown: Vec<Trouble> = Vec::new();
    for trouble in all {
        if shown.len() < MOST_SHOWN && shown.iter().all(|s| s.reason != trouble.reason) {
            shown.push(trouble);
        }
    }
    let mut shown = shown.into_iter();
    let first = shown.next()?;
    Some(shown.fold(first, |before, also| {
        Trouble {
            reason: before.reason,
            message: Several::Also {
                before: before.message.to_string().trim_end_matches('.').to_string(),
                also: also.message.to_string(),
            }
            .into(),
        }
    }))
}

/// Is the pod, the volume or the server of a member in trouble?
fn of_member(facts: &Facts<'_>, member: &MemberFact) -> Option<Trouble> {
    let pod = member.pod.as_ref().and_then(|pod| of_pod(facts, &member.name, pod));
    pod.or_else(|| of_volume(member))
        .or_else(|| of_another_version(member))
        .map(Trouble::of)
        .or_else(|| of_server(facts, member))
}

/// What a newer agent reports, or a newer operator has left on record.
fn of_another_version(member: &MemberFact) -> Option<OfMember> {
    let mut fields = member.spec.as_ref().map(CassandraMemberSpec::unknown).unwrap_or_default();
    fields.extend(member.status.unknown());
    let agent = match &member.status.agent {
        Some(agent) => agent.version.clone(),
        None => AgentVersion::NotReported.to_string(),
    };
    (!fields.is_empty()).then(|| OfMember::NotKnown {
        member: member.name.clone(),
        fields: Names::of(fields),
        agent,
    })
}

fn of_pod(facts: &Facts<'_>, member: &MemberName, pod: &PodFact) -> Option<OfMember> {
    let member = member.clone();
    if let Some(message) = pod.unschedulable.clone() {
        return Some(OfMember::Unschedulable { member, message });
    }
    if let Some(trouble) = &pod.trouble {
        let (reason, message) = (trouble.reason.clone(), trouble.message.clone());
        return Some(match trouble.kind() {
            PodTroubleKind::ImagePull => OfMember::ImagePull { member, reason, message },
            PodTroubleKind::OutOfMemory => OfMember::OutOfMemory { member, reason, message },
            PodTroubleKind::Other => OfMember::PodFailing { member, reason, message },
        });
    }
    let node = pod.silent_node(&facts.nodes)?;
    Some(OfMember::NodeNotReady { member, node: node.to_string() })
}

fn of_volume(member: &MemberFact) -> Option<OfMember> {
    let volume = member.volume()?;
    let name = member.name.clone();
    let message =
        |reason: Reason| volume.message.clone().unwrap_or_else(|| reason.next_step().to_string());
    match volume.state {
        VolumeState::Lost => {
            Some(OfMember::VolumeLost { member: name, message: message(Reason::VolumeLost) })
        }
        VolumeState::NotMounted => Some(OfMember::VolumeNotMounted {
            member: name,
            message: message(Reason::VolumeNotMounted),
        }),
        VolumeState::Unaccounted if says(member, Reason::VolumeDamaged) => {
            Some(OfMember::VolumeDamaged { member: name, message: message(Reason::VolumeDamaged) })
        }
        VolumeState::Foreign | VolumeState::Unaccounted => {
            Some(OfMember::VolumeForeign { member: name, message: message(Reason::VolumeForeign) })
        }
        // Reported with all that is not known.
        VolumeState::Unknown
        | VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Left => None,
    }
}

/// Is this the reason that its agent gives for the state of its server?
fn says(member: &MemberFact, reason: Reason) -> bool {
    let server = member.reported_server();
    server.is_some_and(|s| s.reason.as_deref() == Some(reason.as_str()))
}

fn of_server(facts: &Facts<'_>, member: &MemberFact) -> Option<Trouble> {
    let server = member.reported_server()?;
    if server.reason.as_deref() == Some(Reason::NoProgress.as_str()) {
        let (name, message) = (member.name.clone(), server.message.clone().unwrap_or_default());
        return Some(Trouble::of(OfMember::Stalled { member: name, message }));
    }
    if left_by_hand(facts, member) {
        let (name, label) = (member.name.clone(), labels::REPLACE);
        return Some(Trouble::of(OfMember::LeftByHand { member: name, label }));
    }
    if let Some(failure) = failed_halfway(member) {
        let (since, why) = (failure.since.as_ref(), failure.message.clone());
        return Some(Trouble::of(Refused::Halfway {
            member: member.name.clone(),
            since: since.map_or(facts.now(), |t| t.0),
            why: why.unwrap_or_default(),
        }));
    }
    // Data of a member that left is set aside when it joins again; only the
    // agent knows that it could not be.
    if server.reason.as_deref() == Some(Reason::RetainedVolumeInTheWay.as_str()) {
        let (member, message) = (member.name.clone(), server.message.clone().unwrap_or_default());
        return Some(Trouble::of(OfMember::RetainedVolume { member, message }));
    }
    // Of one whose record says so, all are named together.
    if member.is_banned() && !member.is_terminated() {
        let (member, message) = (member.name.clone(), server.message.clone().unwrap_or_default());
        return Some(Trouble::of(OfMember::Banned { member, message }));
    }
    if server.reason.as_deref() == Some(Reason::DataTooOld.as_str()) {
        let (member, message) = (member.name.clone(), server.message.clone().unwrap_or_default());
        return Some(Trouble::of(OfMember::DataTooOld { member, message }));
    }
    (server.state == ServerState::Failed).then(|| Trouble::of(failed_start::problem(member)))
}
