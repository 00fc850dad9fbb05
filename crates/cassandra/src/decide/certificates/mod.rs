//! Certificates that the operator signs, for clients and for the other members: an
//! authority of the ring alone for each of both, an order for each member, what its
//! agent asks for is signed, and signed anew in time. Nothing of it takes a turn,
//! and nothing stops a server.

pub mod authorities;
mod client_ca;
mod due;
pub mod expiring;
mod members;
pub mod pending;
mod report;
pub mod rotation;
pub mod steps;
#[cfg(test)]
mod tests;

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::member::Purpose;
use palladion_api::server_config::ClientCertificates;
pub use report::report;

/// Make authorities, order and sign. Behind the status: what comes again and
/// again is no work of the ring.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if !facts.can_sign() {
        return;
    }
    for purpose in wanted(valid) {
        draft.begin_part();
        authorities::decide(facts, purpose, draft);
        draft.begin_part();
        rotation::decide(facts, purpose, draft);
        draft.begin_part();
        if purpose == Purpose::Client {
            draft.begin_part();
            client_ca::decide(facts, valid, draft);
        }
        members::decide(facts, valid, purpose, draft);
    }
}

/// What servers need them for.
pub fn wanted(valid: &Valid) -> impl Iterator<Item = Purpose> {
    let (by_operator, internode) =
        (valid.client_certificates == Some(ClientCertificates::Operator), valid.internode_tls);
    Purpose::ALL.into_iter().filter(move |purpose| match purpose {
        Purpose::Client => by_operator,
        Purpose::Internode => internode.is_some(),
    })
}
