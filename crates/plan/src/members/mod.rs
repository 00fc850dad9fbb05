//! What every clustered service that consists of `ServiceMember`s has in common,
//! whatever its system: the facts of a member, its objects, its claims, the permit and
//! the turn, revisions, volumes that are lost, members that have left.
//!
//! A mind of such a service reads [`ServiceFacts`], adds what its own system reports,
//! and calls the deciders of here beside its own. Nothing here knows how a server of a
//! system is asked, who counts for a majority, or when a member may join: that is the
//! mind's. Nor does anything here make proofs: [`Grounds`] say what would be one, and
//! only a mind's `evidence` turns them into a proof.

pub mod ask;
pub mod build;
pub mod claim;
mod claim_fact;
mod fact;
mod facts;
pub mod first_start;
mod grounds;
pub mod late;
pub mod leave;
pub mod lost;
pub mod objects;
pub mod old_data;
mod proving;
pub mod question;
pub mod revisions;
pub mod spec;
pub mod status;
pub mod survey;
pub mod teardown;
pub mod turn;

pub use claim_fact::ClaimFact;
pub use fact::{MemberFact, ServiceFact};
pub use facts::{ServiceFacts, ServiceKind, SetFact, watches};
pub use grounds::{Grounds, Prove};

use crate::object::Resource;
use palladion_api::service::Ask;

/// `ServiceMember`.
pub const MEMBER: Resource = Resource::ours("ServiceMember", "servicemembers");

/// A decision in the making.
pub type Draft = crate::draft::Draft<Notes>;

/// What the status says besides.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// What only a user may allow.
    pub ask: Option<Ask>,
}
