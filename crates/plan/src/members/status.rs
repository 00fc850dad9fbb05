//! What is so, what is being done, and what is waited for: the conditions of a service
//! that are the same for every system. Observations only; no decision is taken from them.

use super::{Draft, MemberFact, ServiceFacts};
use crate::conditions::{Conditions, Truth};
use crate::draft::{Trouble, is_upkeep};
use crate::snapshot::FailureClass;
use crate::words::status::{
    Accepted, AgentVersion, Available, Failed, Fine, Held, Paused, Rest, Running, Several,
    Starting, Trouble as OfMember,
};
use crate::words::{Message, Names};
use crate::workload::pod::{PodFact, PodTroubleKind};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PAUSED, PROGRESSING};
use palladion_api::reasons::Reason;
use palladion_api::service::{ServiceNode, ServiceStatus, ServiceTurn};
use palladion_api::service_member::{MemberVolumeState, ServiceMemberSpec};

/// As many troubles as are read at once.
const MOST_SHOWN: usize = 3;

/// Is everything, or this service, paused? Says where.
pub fn pause(facts: &ServiceFacts<'_>, is_paused: bool) -> Option<Paused> {
    if facts.operator_config.as_ref().is_some_and(|c| c.paused) {
        return Some(Paused::Everywhere);
    }
    is_paused.then_some(Paused::Here)
}

/// The conditions that are stored.
pub fn stored(facts: &ServiceFacts<'_>, conditions: &[Condition]) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(conditions, generation, facts.now())
}

/// The spec was refused: what runs goes on running, and what is so is told. `ready` of `size`
/// are those of record.
pub fn refused(
    writer: &mut Conditions,
    refusal: &Trouble,
    (ready, size): (usize, usize),
    pause: Option<Paused>,
) {
    for condition in [ACCEPTED, PROGRESSING] {
        writer.set(condition, Truth::False, refusal.reason, &refusal.message);
    }
    available(writer, ready, size);
    paused(writer, pause);
}

/// What needs a person while the spec is refused: a turn that is under way goes no further.
pub fn held(facts: &ServiceFacts<'_>, turn: Option<&ServiceTurn>, refusal: &Trouble) -> Draft {
    let mut draft = Draft::default();
    if let Some(turn) = turn.filter(|turn| facts.members.contains_key(&turn.member)) {
        let (member, work) = (turn.member.clone(), turn.step.into());
        let message = Held::Turn { member, work }.into();
        draft.troubles.push(Trouble { reason: refusal.reason, message });
    }
    draft
}

/// What dependents read while the spec is refused: who is there and is ready is observed, and
/// needs no valid spec; the rest is as it was understood last. None where nothing ever was.
pub fn service_of_refused(
    last: Option<&ServiceStatus>,
    (ready, size): (usize, usize),
    nodes: Vec<ServiceNode>,
) -> Option<ServiceStatus> {
    let (active, ready) = (ready * 2 > size, u32::try_from(ready).unwrap_or(u32::MAX));
    last.map(|last| ServiceStatus { active, ready, nodes, ..last.clone() })
}

/// Where these members are, as dependents read it.
pub fn nodes<'a>(of_record: impl Iterator<Item = &'a MemberFact>) -> Vec<ServiceNode> {
    let node =
        |m: &MemberFact| Some(ServiceNode { name: m.name.clone(), address: m.address()?.clone() });
    of_record.filter_map(node).collect()
}

fn available(writer: &mut Conditions, ready: usize, size: usize) {
    match ready * 2 > size {
        true => writer.set_true(AVAILABLE, Available::Quorum { ready, size }),
        false => writer.set_false(AVAILABLE, Available::NoQuorum { ready, size }),
    }
}

/// Accepted, Available, Progressing and Paused of a service that was understood. `ready` of
/// `size` are those of record; all members that are there are counted besides.
pub fn conditions(
    writer: &mut Conditions,
    facts: &ServiceFacts<'_>,
    draft: &Draft,
    (ready, size, wanted): (usize, usize, u32),
    pause: Option<Paused>,
) {
    writer.set_true(ACCEPTED, Accepted::Valid);
    available(writer, ready, size);
    let works = !draft.waits.is_empty() || draft.steps.iter().any(|s| !is_upkeep(s));
    let all_there = usize::try_from(wanted) == Ok(ready_members(facts));
    match (all_there && !works, pause.clone()) {
        (true, None) => writer.set_false(PROGRESSING, Rest::AllReady),
        (_, Some(paused)) => writer.set_false(PROGRESSING, paused),
        (false, None) => progressing(writer, facts, draft),
    }
    paused(writer, pause);
}

/// Members whose pods are ready.
pub fn ready_members(facts: &ServiceFacts<'_>) -> usize {
    facts.members.values().filter(|m| !m.is_gone() && m.is_ready()).count()
}

/// What is being done, or why nothing is.
fn progressing(writer: &mut Conditions, facts: &ServiceFacts<'_>, draft: &Draft) {
    if let Some(wait) = draft.waits.first() {
        return writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    if let Some(step) = draft.steps.iter().find(|s| !is_upkeep(s)) {
        let doing = Message::quoted(step.doing());
        return writer.set(PROGRESSING, Truth::True, Reason::CreatingObjects, doing);
    }
    let exists = |m: &&MemberFact| !m.is_gone() && (m.object.is_some() || m.pod.is_some());
    let mut away = facts.members.values().filter(exists).filter(|m| !m.is_ready());
    let starting = away.next().map(|m| Starting::Member {
        member: m.name.clone(),
        pod: m.pod_words(),
        server: m.server_words(),
    });
    writer.set_true(PROGRESSING, starting.unwrap_or(Starting::NoMember));
}

fn paused(writer: &mut Conditions, pause: Option<Paused>) {
    match pause {
        Some(paused) => writer.set_true(PAUSED, paused),
        None => writer.set_false(PAUSED, Running::NotPaused),
    }
}

/// Progressing of a cluster that is being deleted.
pub fn deleting(writer: &mut Conditions, draft: &Draft) {
    if let Some(wait) = draft.waits.first() {
        writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
}

/// `Degraded`: what needs a person, the most telling first, whose reason it has. A failed
/// step comes first, then what the deciders report, members, and the mind's `others`.
pub fn degraded(
    writer: &mut Conditions,
    facts: &ServiceFacts<'_>,
    draft: &Draft,
    of_server: impl Fn(&MemberFact) -> Option<Trouble>,
    others: impl IntoIterator<Item = Trouble>,
) {
    let failure = facts.snapshot.failure.as_ref();
    let is_passing = |class| matches!(class, FailureClass::Conflict | FailureClass::Held);
    let failed = failure.filter(|f| !is_passing(f.class)).map(|f| {
        let (doing, answer) = (f.doing.clone(), f.message.clone());
        Trouble::of(match f.class {
            FailureClass::Foreign => Failed::Foreign { doing, answer },
            FailureClass::Transient
            | FailureClass::Refused
            | FailureClass::Conflict
            | FailureClass::Held => Failed::Other { doing, answer },
        })
    });
    let of_members = facts.members.values().filter(|m| !m.is_gone());
    let of_members =
        of_members.filter_map(|m| of_member(facts, m).map(Trouble::of).or_else(|| of_server(m)));
    let all = failed.into_iter().chain(draft.troubles.iter().cloned()).chain(of_members);
    match first_of_each_reason(all.chain(others)) {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

/// Who waits for one thing to be mended learns of the others too. Of several members in
/// the same trouble the first stands for all.
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
        let sentence = Several::Also {
            before: before.message.to_string().trim_end_matches('.').to_string(),
            also: also.message.to_string(),
        };
        Trouble { reason: before.reason, message: sentence.into() }
    }))
}

/// Is the pod or the volume of a member in trouble, or does it say what is not known?
fn of_member(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<OfMember> {
    let pod = member.pod.as_ref().and_then(|pod| of_pod(facts, member, pod));
    pod.or_else(|| of_volume(member)).or_else(|| of_another_version(member))
}

fn of_pod(facts: &ServiceFacts<'_>, member: &MemberFact, pod: &PodFact) -> Option<OfMember> {
    let member = member.name.clone();
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
    let node = pod.node.clone().filter(|n| facts.nodes.get(n) == Some(&false))?;
    Some(OfMember::NodeNotReady { member, node })
}

fn of_volume(member: &MemberFact) -> Option<OfMember> {
    let volume = member.volume()?;
    let name = member.name.clone();
    let message =
        |reason: Reason| volume.message.clone().unwrap_or_else(|| reason.next_step().to_string());
    match volume.state {
        MemberVolumeState::Lost => {
            Some(OfMember::VolumeLost { member: name, message: message(Reason::VolumeLost) })
        }
        MemberVolumeState::RolledBack => Some(OfMember::VolumeRolledBack {
            member: name,
            message: message(Reason::VolumeRolledBack),
        }),
        MemberVolumeState::NotMounted => Some(OfMember::VolumeNotMounted {
            member: name,
            message: message(Reason::VolumeNotMounted),
        }),
        MemberVolumeState::Foreign | MemberVolumeState::Unaccounted => {
            Some(OfMember::VolumeForeign { member: name, message: message(Reason::VolumeForeign) })
        }
        // Said with all that is not known.
        MemberVolumeState::Unknown
        | MemberVolumeState::Empty
        | MemberVolumeState::Incomplete
        | MemberVolumeState::Joined
        | MemberVolumeState::Left => None,
    }
}

/// What a newer agent reports, or a newer operator has left on record.
fn of_another_version(member: &MemberFact) -> Option<OfMember> {
    let mut fields = member.spec.as_ref().map(ServiceMemberSpec::unknown).unwrap_or_default();
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
