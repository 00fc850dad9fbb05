//! What proves that a step may be taken. Nobody outside this folder can make
//! one; the steps that could hurt ask for it.

use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use jiff::Timestamp;
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
        Self::new(kind, about(facts, whom), since.min(facts.now()), proven)
    }

    /// By what is on record, or reported, at this moment.
    pub(super) fn seen(
        facts: &Facts<'_>,
        kind: ProofKind,
        whom: &MemberFact,
        proven: &Proven,
    ) -> Self {
        Self::new(kind, about(facts, whom), facts.now(), proven)
    }

    /// The same about an object that is no member's own.
    pub(super) fn of_object(
        facts: &Facts<'_>,
        kind: ProofKind,
        name: &str,
        proven: &Proven,
    ) -> Self {
        Self::new(kind, vec![Identity::Object(name.to_string())], facts.now(), proven)
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

/// Every name and identity of a member: its own, its volumes' and its claim's. In a
/// replacement the volume that is lost is one of them.
fn about(facts: &Facts<'_>, whom: &MemberFact) -> Vec<Identity> {
    let turn = facts.turn().filter(|t| t.member == whom.name);
    let lost = turn.and_then(|t| t.replaces.as_ref()).map(|l| &l.volume_id);
    let marked = whom.loss().map(|l| &l.lost.volume_id);
    let names = [
        Some(Identity::Member(whom.name.clone())),
        whom.volume().map(|v| Identity::Volume(v.volume_id.clone())),
        whom.volume_id().cloned().map(Identity::Volume),
        lost.or(marked).cloned().map(Identity::Volume),
        whom.claim.as_ref().map(|c| Identity::Object(c.object.meta.name.clone())),
    ];
    names.into_iter().flatten().collect()
}
