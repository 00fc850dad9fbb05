//! How a member stands, as sentences for people.

use crate::facts::MemberFact;
use crate::words::members::{Pod, Server};

/// How far a member's pod is.
pub fn pod_words(member: &MemberFact) -> Pod {
    match &member.pod {
        None => Pod::Missing,
        Some(pod) if pod.terminating => Pod::Terminating,
        Some(pod) => match (&pod.unschedulable, &pod.trouble) {
            (Some(message), _) => Pod::Unschedulable { message: message.clone() },
            (None, Some(trouble)) => {
                let (reason, message) = (trouble.reason.clone(), trouble.message.clone());
                Pod::Failing { reason, message }
            }
            (None, None) if !member.agent_speaks() => Pod::Silent { phase: pod.phase.clone() },
            (None, None) if member.volume().is_none() => Pod::NoVolume,
            (None, None) => Pod::Running,
        },
    }
}

/// What a member's agent reports about the server.
pub fn server_words(member: &MemberFact) -> Server {
    match (member.server(), &member.pod) {
        (Some(s), _) => Server::of(s.state, s.message.as_deref()),
        (None, None) => Server::NoPod,
        (None, Some(pod)) if pod.terminating => Server::PodTerminating,
        (None, Some(_)) => Server::Silent,
    }
}
