//! `Degraded`: what needs a person, the most telling first, whose reason it has.

use crate::decide::draft::Draft;
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact};
use crate::words::status::{AgentVersion, Failed, Fine, Several, Trouble as OfMember};
use palladion_api::conditions::DEGRADED;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, MemberVolumeState, ServiceMemberSpec};
use palladion_plan::words::Names;
use palladion_plan::workload::pod::{PodFact, PodTroubleKind};
use palladion_plan::{Conditions, FailureClass, Trouble, Truth};

/// As many as are read at once.
const MOST_SHOWN: usize = 3;

pub(super) fn degraded(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
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
    let of_members = of_members.filter_map(|m| of_member(facts, m)).map(Trouble::of);
    let strangers = strangers(facts).map(Trouble::of);
    let all = failed.into_iter().chain(draft.troubles.iter().cloned()).chain(of_members);
    match first_of_each_reason(all.chain(strangers)) {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set_false(DEGRADED, Fine::Nothing),
    }
}

/// Servers in the configuration that no member accounts for.
fn strangers(facts: &Facts<'_>) -> Option<OfMember> {
    let strange = facts.strangers();
    (!strange.is_empty()).then(|| OfMember::UnknownServers { servers: Names::of(strange) })
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
fn of_member(facts: &Facts<'_>, member: &MemberFact) -> Option<OfMember> {
    let pod = member.pod.as_ref().and_then(|pod| of_pod(facts, member, pod));
    pod.or_else(|| of_volume(member))
        .or_else(|| of_another_version(member))
        .or_else(|| of_server(facts, member))
}

fn of_pod(facts: &Facts<'_>, member: &MemberFact, pod: &PodFact) -> Option<OfMember> {
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

fn of_server(facts: &Facts<'_>, member: &MemberFact) -> Option<OfMember> {
    let server = member.server()?;
    let (id, known) = (member.server_id()?, facts.configuration()?);
    let has_turn = facts.turn().is_some_and(|t| t.member == member.name);
    let is_out = member.has_served() && known.server(id).is_none() && !has_turn;
    let name = member.name.clone();
    if is_out && member.loss().is_none() {
        return Some(OfMember::NotInConfiguration { member: name });
    }
    let failed = server.state == MemberServerState::Failed;
    failed.then(|| OfMember::ServerFailed { member: name, server: server_words(member) })
}
