//! What of the certificates needs a person.

use super::pending::can_ask;
use super::{are_wanted, can_sign, expiring};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::certificates::{Problem, Unsigned};
use palladion_api::member::CertificateProblemKind as Kind;

/// Report that nothing is signed, or else the first member that does not take
/// what was signed for it; and which certificates run out.
pub fn report(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if !are_wanted(valid) {
        return;
    }
    if !can_sign(facts) {
        draft.report(Problem::PoliciesOff);
        return expiring::report(facts, Unsigned::PoliciesOff, draft);
    }
    let mut members = facts.members.values().filter(|m| !m.is_gone() && m.agent_speaks());
    if let Some(problem) = members.find_map(problem_of) {
        draft.report(problem);
    }
    expiring::report(facts, Unsigned::Other, draft);
}

fn problem_of(member: &MemberFact) -> Option<Problem> {
    let agent = member.status.agent.as_ref()?;
    let name = member.name.clone();
    if !can_ask(member) {
        return Some(Problem::OldAgent { member: name, agent: agent.version.clone() });
    }
    let client = member.status.tls.as_ref()?.client.as_ref()?;
    let problem = client.problem.as_ref()?;
    let (node, why) = (agent.node.clone(), problem.message.clone().unwrap_or_default());
    Some(match problem.kind {
        Kind::NotYetValid => Problem::NotYetValid { member: name, node, why },
        Kind::Expired => Problem::Expired { member: name, node, why },
        Kind::Refused => Problem::Refused { member: name, why },
        Kind::NotStored => Problem::NotStored { member: name, why },
        // What a newer agent reports is reported with all that is not known.
        Kind::Unknown => return None,
    })
}
