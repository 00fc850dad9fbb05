//! What proves that a step may be taken. Nobody outside this folder can make
//! one; the steps that could hurt ask for it.

use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use jiff::Timestamp;
use palladion_plan::members::Grounds;
use palladion_plan::proof::{self, Identity, MakesProofs, ProofKind};

/// What this folder makes proofs by.
struct Gathered;

impl MakesProofs for Gathered {}

/// Why a step that could hurt may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof(proof::Proof);

impl Proof {
    /// By answers to the question that the turn has put.
    pub(super) fn asked(
        facts: &Facts<'_>,
        kind: ProofKind,
        whom: &MemberFact,
        since: Timestamp,
        proven: &Proven,
    ) -> Self {
        // By the turn's own time, which no agent's clock can bend.
        Self::new(kind, facts.identities(whom), since.min(facts.now()), proven)
    }

    /// By what is on record, or reported, at this moment.
    pub(super) fn on(grounds: &Grounds) -> Self {
        Self(of_grounds(grounds))
    }

    fn new(kind: ProofKind, about: Vec<Identity>, as_of: Timestamp, proven: &Proven) -> Self {
        Self(proof::Proof::new(Gathered, kind, about, as_of, proven.to_string()))
    }

    /// The same proof, for an order to this member to change the configuration: it is
    /// carried out by one member for another.
    #[must_use]
    pub fn carried_out_by(&self, executor: &MemberFact) -> Self {
        let mut about = self.0.about().to_vec();
        about.push(Identity::Member(executor.name.clone()));
        let (kind, as_of, text) = (self.0.kind(), self.0.as_of(), self.0.text().to_string());
        Self(proof::Proof::new(Gathered, kind, about, as_of, text))
    }

    /// For people and records.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// As a step carries it.
    pub fn stated(&self) -> proof::Proof {
        self.0.clone()
    }
}

/// The proof that grounds make, for the deciders that all clustered services share.
pub fn of_grounds(grounds: &Grounds) -> proof::Proof {
    let (kind, about, as_of) = (grounds.kind(), grounds.about(), grounds.as_of());
    proof::Proof::new(Gathered, kind, about, as_of, grounds.text())
}
