//! How a member stands, as sentences for people.

use crate::facts::MemberFact;
use crate::words::members::Server;
use palladion_plan::workload::pod::Reported;
use palladion_plan::workload::words::MemberPod;

/// How far a member's pod is.
pub fn pod_words(member: &MemberFact) -> MemberPod {
    let reported = match member.volume() {
        _ if !member.agent_speaks() => Reported::Nothing,
        None => Reported::NoVolume,
        Some(_) => Reported::Volume,
    };
    member.pod.as_ref().map_or(MemberPod::Missing, |pod| pod.of_member(reported))
}

/// What a member's agent reports about the server.
pub fn server_words(member: &MemberFact) -> Server {
    match (member.reported_server(), &member.pod) {
        (Some(s), _) => Server::of(s.state, s.mode.as_deref(), s.message.as_deref()),
        (None, None) => Server::NoPod,
        (None, Some(pod)) if pod.terminating => Server::PodTerminating,
        (None, Some(_)) => Server::Silent,
    }
}
