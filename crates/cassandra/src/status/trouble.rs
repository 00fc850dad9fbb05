//! `Degraded`: what needs a person, the most telling first.

use crate::decide::draft::Draft;
use crate::decide::turn::failed_start;
use crate::facts::{Facts, MemberFact};
use palladion_api::conditions::DEGRADED;
use palladion_api::member::{ServerState, VolumeState};
use palladion_api::reasons::Reason;
use palladion_plan::{Conditions, FailureClass, Trouble, Truth};

pub(super) fn degraded(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    let failed =
        facts.snapshot.failure.as_ref().filter(|f| f.class != FailureClass::Conflict).map(|f| {
            let reason = match f.class {
                FailureClass::Foreign => Reason::ForeignObject,
                FailureClass::Transient | FailureClass::Refused | FailureClass::Conflict => {
                    Reason::ErrSyncFailed
                }
            };
            Trouble { reason, message: format!("could not {}: {}", f.doing, f.message).into() }
        });
    let trouble =
        failed.or_else(|| draft.troubles.first().cloned()).or_else(|| member_trouble(facts));
    match trouble {
        Some(Trouble { reason, message }) => writer.set(DEGRADED, Truth::True, reason, message),
        None => writer.set(DEGRADED, Truth::False, Reason::UpToDate, "nothing needs a person"),
    }
}

/// The first member whose pod, volume or server is in trouble.
fn member_trouble(facts: &Facts<'_>) -> Option<Trouble> {
    facts.members.values().find_map(|member| {
        let named = |reason, text: String| {
            Some(Trouble { reason, message: format!("member {}: {text}", member.name).into() })
        };
        if let Some(pod) = &member.pod {
            if let Some(message) = &pod.unschedulable {
                return named(Reason::Unschedulable, message.clone());
            }
            if let Some(trouble) = &pod.trouble {
                let reason = match trouble.reason.as_str() {
                    "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName"
                    | "ErrImageNeverPull" => Reason::ImagePullFailed,
                    "OOMKilled" => Reason::NotEnoughMemory,
                    _ => Reason::PodFailing,
                };
                return named(reason, format!("{}: {}", trouble.reason, trouble.message));
            }
            if pod.node.as_ref().is_some_and(|n| facts.nodes.get(n) == Some(&false)) {
                return named(
                    Reason::NodeUnreachable,
                    format!("node {} does not answer", pod.node.clone().unwrap_or_default()),
                );
            }
        }
        if let Some(volume) = member.volume() {
            let reason = match volume.state {
                VolumeState::Lost => Some(Reason::VolumeLost),
                VolumeState::NotMounted => Some(Reason::VolumeNotMounted),
                VolumeState::Foreign | VolumeState::Unaccounted => Some(Reason::VolumeForeign),
                VolumeState::Empty
                | VolumeState::Incomplete
                | VolumeState::Joined
                | VolumeState::Left => None,
            };
            if let Some(reason) = reason {
                let words =
                    volume.message.clone().unwrap_or_else(|| reason.next_step().to_string());
                return named(reason, words);
            }
        }
        server_trouble(member)
    })
}

fn server_trouble(member: &MemberFact) -> Option<Trouble> {
    let server = member.status.server.as_ref().filter(|_| member.agent_speaks())?;
    // Data of a member that left is set aside when it joins again; only the
    // agent knows that it could not be.
    let in_the_way = Reason::RetainedVolumeInTheWay;
    if server.reason.as_deref() == Some(in_the_way.as_str()) {
        let message = server.message.clone().unwrap_or_default().into();
        return Some(Trouble { reason: in_the_way, message });
    }
    if server.state != ServerState::Failed {
        return None;
    }
    let reason = failed_start::failure_reason(member);
    Some(Trouble { reason, message: failed_start::failure_words(member).into() })
}
