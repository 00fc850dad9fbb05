//! A member as a server of an ensemble: its server ID, how it sees the ensemble, and
//! whether it votes.

use palladion_api::ids::Nonce;
use palladion_api::service_member::EnsembleView;
use palladion_api::zookeeper::ServerId;
use palladion_plan::members::{ClaimFact, MemberFact, lost};

/// A member as a server of an ensemble.
pub trait Voter {
    /// The server ID that was given to its volume: by the record or, without one, by the claim.
    fn server_id(&self) -> Option<ServerId>;

    /// Server IDs of its volumes whose loss is on record.
    fn lost_ids(&self) -> Vec<ServerId>;

    /// The ensemble as its running server sees it now.
    fn view(&self) -> Option<&EnsembleView>;

    /// Its answer to this question.
    fn answer(&self, nonce: &Nonce) -> Option<Option<&EnsembleView>>;

    /// Does it serve as a member that votes, by its own word?
    fn votes(&self) -> bool;
}

impl Voter for MemberFact {
    fn server_id(&self) -> Option<ServerId> {
        self.identity.as_deref().and_then(|id| ServerId::parse(id).ok())
    }

    fn lost_ids(&self) -> Vec<ServerId> {
        self.loss().map(lost::all_server_ids).unwrap_or_default()
    }

    fn view(&self) -> Option<&EnsembleView> {
        self.status.ensemble.as_ref().filter(|_| self.runs())
    }

    fn answer(&self, nonce: &Nonce) -> Option<Option<&EnsembleView>> {
        self.answered(nonce).map(|evidence| evidence.ensemble.as_ref())
    }

    fn votes(&self) -> bool {
        self.view().is_some_and(EnsembleView::votes)
    }
}

/// Server ID that was given to the volume of a claim.
pub fn claimed_id(claim: &ClaimFact) -> Option<ServerId> {
    claim.identity.as_deref().and_then(|id| ServerId::parse(id).ok())
}
