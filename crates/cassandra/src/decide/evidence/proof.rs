//! What proves that a step may be taken. Nobody outside this folder can make
//! one; the steps that could hurt ask for it.

use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Proven;
use jiff::Timestamp;
use palladion_api::ids::{HostId, VolumeId};
use palladion_api::member::Replacement;
use palladion_plan::proof::{self, ProofKind};

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
        Self::new(kind, vec![name.to_string()], facts.now(), proven)
    }

    fn new(kind: ProofKind, about: Vec<String>, as_of: Timestamp, proven: &Proven) -> Self {
        Self(proof::Proof::new(kind, about, as_of, proven.to_string()))
    }

    /// The same proof, for what this record marks.
    pub fn on_record(&self, record: &Replacement) -> Self {
        let named = [record.host_id.as_str(), record.volume_id.as_str()];
        let mut about: Vec<String> = named.map(str::to_string).to_vec();
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
fn about(whom: &MemberFact, host_id: Option<&HostId>) -> Vec<String> {
    let spec = whom.spec.as_ref();
    let claim = whom.claim.as_ref();
    let reported = whom.volume().map(|v| &v.volume_id);
    let recorded = spec.and_then(|s| s.volume_id.as_ref());
    let names = [
        Some(whom.name.as_str()),
        host_id.map(HostId::as_str),
        whom.recorded_host_id().map(HostId::as_str),
        reported.map(VolumeId::as_str),
        recorded.map(VolumeId::as_str),
        claim.map(|c| c.object.meta.name.as_str()),
    ];
    names.into_iter().flatten().map(str::to_string).collect()
}
