//! What proves that a step may be taken. Nobody outside this folder can make
//! one; the steps that could hurt ask for it.

use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use jiff::Timestamp;
use palladion_api::ids::HostId;
use palladion_api::member::Replacement;
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
        host_id: Option<&HostId>,
        proven: &Proven,
    ) -> Self {
        // By the turn's own time, which no agent's clock can bend; the clock of
        // the leader that took it may have been ahead.
        let since = facts.turn().map_or(facts.now(), |t| t.since.0);
        Self::new(kind, about(whom, host_id), since.min(facts.now()), proven)
    }

    /// By what is on record, or reported, at this moment.
    pub(super) fn seen(
        facts: &Facts<'_>,
        kind: ProofKind,
        whom: &MemberFact,
        proven: &Proven,
    ) -> Self {
        Self::new(kind, about(whom, None), facts.now(), proven)
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

    /// The same proof, for what this record marks.
    pub fn on_record(&self, record: &Replacement) -> Self {
        let mut about = vec![
            Identity::Host(record.host_id.clone()),
            Identity::Volume(record.volume_id.clone()),
        ];
        about.extend(self.0.about().iter().cloned());
        let (recorded, proven) = (record.reason.clone(), self.text().to_string());
        let proven = Proven::OnRecord { recorded, proven };
        Self::new(self.0.kind(), about, self.0.as_of(), &proven)
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

/// Every name and identity of a member: its own, its host ID, its volume's and its claim's.
fn about(whom: &MemberFact, host_id: Option<&HostId>) -> Vec<Identity> {
    let spec = whom.spec.as_ref();
    let claim = whom.claim.as_ref();
    let reported = whom.volume().map(|v| &v.volume_id);
    let recorded = spec.and_then(|s| s.volume_id.as_ref());
    let names = [
        Some(Identity::Member(whom.name.clone())),
        host_id.cloned().map(Identity::Host),
        whom.recorded_host_id().cloned().map(Identity::Host),
        reported.cloned().map(Identity::Volume),
        recorded.cloned().map(Identity::Volume),
        claim.map(|c| Identity::Object(c.object.meta.name.clone())),
    ];
    names.into_iter().flatten().collect()
}
