//! Servers that keep their agents out: the replication of the system keyspaces
//! cannot be kept, and a rollout goes no further. Nothing is done about it here,
//! but it is reported.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::access::Problem;
use crate::words::restart;
use palladion_api::member::AccessProblemKind as Kind;
use palladion_api::names;

/// Report the first member whose agent is kept out, the one that stops a rollout
/// before others.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if let Some((_, problem)) = locked_out(facts, valid) {
        draft.report(problem);
        return;
    }
    let mut members = facts.members.values().filter(|m| !m.is_gone());
    if let Some(problem) = members.find_map(|m| problem_of(valid, m)) {
        draft.report(problem);
    }
}

/// The member at which a rollout has stopped, and why.
pub fn locked_out<'a>(
    facts: &'a Facts<'_>,
    valid: &Valid,
) -> Option<(&'a MemberFact, restart::Problem)> {
    let member = stops_rollout(facts, valid)?;
    let why = problem_of(valid, member)?;
    Some((member, restart::Problem::LockedOut { member: member.name.clone(), why }))
}

/// Why a member that is restarted does not come back, where its agent cannot log in behind the seal
/// of its server.
pub fn kept_sealed(valid: &Valid, member: &MemberFact) -> Option<restart::Problem> {
    let is_told = !is_pending(member) && is_kept_out(member);
    let why = problem_of(valid, member).filter(|_| is_told)?;
    Some(restart::Problem::LockedOut { member: member.name.clone(), why })
}

/// A member in a pod of the newest revision that keeps its agent out, and perhaps
/// all clients, while another still lets its own in: those on an older revision
/// keep what they have (safety rule 6.7). Where all are kept out another restart harms nobody, and
/// may be the cure.
pub fn stops_rollout<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    let is_newest = |m: &MemberFact| {
        let rack = valid.racks.iter().find(|rack| rack.name == m.rack)?;
        let newest = facts.newest_revision(&rack.set)?;
        Some(m.pod.as_ref()?.revision == newest)
    };
    let is_open =
        |m: &MemberFact| matches!(kind(m), None | Some(Kind::Pending | Kind::DefaultUserOpen));
    let is_under_way = facts.joined().any(|m| is_newest(m) == Some(false));
    if !is_under_way || !facts.joined().any(|m| m.is_normal() && is_open(m)) {
        return None;
    }
    let mut proving = facts.joined().filter(|m| m.is_normal() && is_newest(m) == Some(true));
    proving.find(|m| is_kept_out(m))
}

/// Has its agent not logged in since the server started, with nothing known to be wrong?
pub fn is_pending(member: &MemberFact) -> bool {
    kind(member) == Some(Kind::Pending)
}

fn kind(member: &MemberFact) -> Option<Kind> {
    member.status.access.as_ref().map(|problem| problem.kind)
}

fn is_kept_out(member: &MemberFact) -> bool {
    match kind(member) {
        // What asks no agent of ours, such as a client's certificate, locks out nobody else.
        None | Some(Kind::Unanswered) => false,
        // Nobody is kept out, which is the problem.
        Some(Kind::DefaultUserOpen) => false,
        // Nothing is proven yet: a Secret that has just come is tried for a minute.
        Some(Kind::Pending) => true,
        // One that only a newer agent knows is a problem all the same.
        Some(
            Kind::CredentialsMissing
            | Kind::CredentialsRefused
            | Kind::CertificateRefused
            | Kind::Unknown,
        ) => true,
    }
}

/// What keeps the agent of a member out, by its own word.
fn problem_of(valid: &Valid, member: &MemberFact) -> Option<Problem> {
    let problem = member.status.access.as_ref().filter(|_| member.agent_speaks())?;
    let (member, secret) = (member.name.clone(), names::agents_secret(&valid.name));
    let why = problem.message.clone().unwrap_or_default();
    Some(match problem.kind {
        Kind::CredentialsMissing => Problem::Missing { member, secret },
        Kind::CredentialsRefused => Problem::Refused { member, secret, why },
        Kind::CertificateRefused if valid.client_certificates.is_some() => {
            Problem::SignedCertificate { member, why }
        }
        Kind::CertificateRefused => {
            let secret = valid.client_tls_secret.clone().unwrap_or(secret);
            Problem::Certificate { member, secret, why }
        }
        Kind::DefaultUserOpen => {
            let superuser = valid.superuser_secret.clone();
            Problem::DefaultUserOpen { member, agents: secret, superuser }
        }
        Kind::Unanswered => Problem::Unanswered { member, why },
        // What is not known is reported with all that is not known.
        Kind::Pending | Kind::Unknown => return None,
    })
}
