//! What of the certificates needs a person.

use super::pending::can_ask;
use super::{expiring, wanted};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::internode;
use crate::validate::Valid;
use crate::words::certificates::{Problem, Unsigned};
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::member::{CertificateProblemKind as Kind, Purpose};

/// Report that nothing is signed, or else the first member that does not take
/// what was signed for it; and which certificates run out.
pub fn report(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let is_wanted = internode::wanted(facts) != InternodeTlsMode::Off;
    if wanted(valid).next().is_none() && !is_wanted {
        return;
    }
    if !facts.can_sign() {
        draft.report(Problem::PoliciesOff);
        return expiring::report(facts, Unsigned::PoliciesOff, draft);
    }
    let members = || facts.members.values().filter(|m| !m.is_gone() && m.agent_speaks());
    let problem = |purpose| members().find_map(|member| problem_of(member, purpose));
    if let Some(problem) = wanted(valid).find_map(problem) {
        draft.report(problem);
    }
    expiring::report(facts, Unsigned::Other, draft);
}

fn problem_of(member: &MemberFact, purpose: Purpose) -> Option<Problem> {
    let agent = member.status.agent.as_ref()?;
    let name = member.name.clone();
    if !can_ask(member, purpose) {
        return Some(Problem::OldAgent { member: name, agent: agent.version.clone() });
    }
    let status = member.status.tls.as_ref()?.of(purpose)?;
    let problem = status.problem.as_ref()?;
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
