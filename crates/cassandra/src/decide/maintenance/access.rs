//! Servers that keep their agents out: the replication of the system keyspaces
//! cannot be kept, and a rollout goes no further. Nothing is done about it here,
//! but it is reported.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::access::Problem;
use crate::words::restart;
use palladion_api::member::{AccessProblemKind as Kind, Guard};
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

/// A member in a pod of the newest revision that keeps its agent out, and perhaps
/// all clients, while another still lets its own in: those on an older revision
/// keep what they have (safety rule 6.7). Where all are kept out another restart harms nobody, and
/// may be the cure.
pub fn stops_rollout<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    let is_open =
        |m: &MemberFact| matches!(kind(m), None | Some(Kind::Pending | Kind::DefaultUserOpen));
    let is_under_way = facts.joined().any(|m| is_newest(facts, valid, m) == Some(false));
    if !is_under_way || !facts.joined().any(|m| m.is_normal() && is_open(m)) {
        return None;
    }
    let is_proving = |m: &&MemberFact| m.is_normal() && is_newest(facts, valid, m) == Some(true);
    facts.joined().filter(is_proving).find(|m| is_kept_out(m))
}

/// Is its pod of the newest revision?
fn is_newest(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<bool> {
    let rack = valid.racks.iter().find(|rack| rack.name == member.rack)?;
    let newest = facts.newest_revision(&rack.set)?;
    Some(member.pod.as_ref()?.revision == newest)
}

/// Would a member that is new let in the user that everybody knows? Servers that ask nobody have made
/// it, and none that asks has closed it yet: a rollout comes first.
pub fn is_open_to_all(facts: &Facts<'_>, valid: &Valid) -> bool {
    let has_closed = |m: &MemberFact| {
        let server = m.status.server.as_ref();
        let serves = server.is_some_and(|server| server.guards.contains(&Guard::Password));
        serves || kind(m) == Some(Kind::Sealed)
    };
    valid.asks_for_passwords()
        && !facts.joined().any(has_closed)
        && facts.joined().any(|m| is_newest(facts, valid, m) == Some(false))
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
        None => false,
        // What asks no agent of ours, such as a client's certificate, locks out nobody else. A
        // sealed server lets in nobody.
        Some(Kind::Unanswered) => member.is_sealed(),
        // Nobody is kept out, which is the problem.
        Some(Kind::DefaultUserOpen) => false,
        // Nothing is proven yet: a Secret that has just come is tried for a minute.
        Some(Kind::Pending) => true,
        // One that only a newer agent knows is a problem all the same.
        Some(
            Kind::CredentialsMissing
            | Kind::CredentialsRefused
            | Kind::CertificateRefused
            | Kind::Sealed
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
        Kind::Pending | Kind::Sealed | Kind::Unknown => return None,
    })
}
