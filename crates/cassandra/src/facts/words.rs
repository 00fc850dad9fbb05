//! How a member stands, in words for people.

use crate::facts::MemberFact;

/// Where a member's pod is on its way, in words.
pub fn pod_words(member: &MemberFact) -> String {
    match &member.pod {
        None => "its pod does not exist yet".into(),
        Some(pod) if pod.terminating => "its old pod is ending".into(),
        Some(pod) => match (&pod.unschedulable, &pod.trouble) {
            (Some(message), _) => format!("its pod cannot be scheduled: {message}"),
            (None, Some(trouble)) => {
                format!("its pod is in trouble: {}: {}", trouble.reason, trouble.message)
            }
            (None, None) if !member.agent_speaks() => {
                format!("its pod is {} and its agent has not reported yet", pod.phase)
            }
            (None, None) => "its pod runs".into(),
        },
    }
}

/// What a member's agent says about the server, in words.
pub fn server_words(member: &MemberFact) -> String {
    let Some(server) = member.status.server.as_ref().filter(|_| member.agent_speaks()) else {
        return "its agent has not reported yet".into();
    };
    let mode = server.mode.as_ref().map(|m| format!(", mode {m}")).unwrap_or_default();
    let message = server.message.as_ref().map(|m| format!(": {m}")).unwrap_or_default();
    format!("server {:?}{mode}{message}", server.state)
}
