//! Agents that cannot log in to their servers: without, the system keyspaces
//! cannot be kept. Nothing is done about it here, but it is reported.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::access::Problem;
use palladion_api::member::AccessProblemKind;
use palladion_api::names;

/// Report the first member whose agent is kept out.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut members = facts.members.values().filter(|m| !m.is_gone() && m.agent_speaks());
    let found = members.find_map(|m| Some((m.name.clone(), m.status.access.as_ref()?)));
    let Some((member, problem)) = found else { return };
    let secret = names::agents_secret(&valid.name);
    draft.report(match problem.kind {
        AccessProblemKind::CredentialsMissing => Problem::Missing { member, secret },
        AccessProblemKind::CredentialsRefused => {
            Problem::Refused { member, secret, why: problem.message.clone().unwrap_or_default() }
        }
        AccessProblemKind::CertificateRefused => {
            let secret = valid.client_tls_secret.clone().unwrap_or(secret);
            let why = problem.message.clone().unwrap_or_default();
            Problem::Certificate { member, secret, why }
        }
    });
}
