//! What would prove a step, where records and reports are enough and nobody is asked:
//! a member that has left, a place that nobody has, a pod in which nothing serves, a
//! deletion that a person wants. Only here are they found, and only a mind's `evidence`
//! makes a proof of them.

use super::{MemberFact, ServiceFacts};
use crate::proof::{Identity, Proof, ProofKind};
use crate::words::grounds::{Idle, Proven};
use crate::words::{Names, Sentence};
use crate::workload::pod::PodFact;
use jiff::Timestamp;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::MemberServerState;

/// What would prove a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounds {
    kind: ProofKind,
    about: Vec<Identity>,
    as_of: Timestamp,
    text: String,
}

/// How a mind makes a proof of them.
pub type Prove = fn(&Grounds) -> Proof;

impl Grounds {
    /// The kind of the proof.
    pub fn kind(&self) -> ProofKind {
        self.kind
    }

    /// All names and identities of what they are about.
    pub fn about(&self) -> Vec<Identity> {
        self.about.clone()
    }

    /// Since when they are known.
    pub fn as_of(&self) -> Timestamp {
        self.as_of
    }

    /// For people and records.
    pub fn text(&self) -> String {
        self.text.clone()
    }

    fn of(
        facts: &ServiceFacts<'_>,
        kind: ProofKind,
        whom: &MemberFact,
        text: &dyn Sentence,
    ) -> Self {
        let about = facts.identities(whom);
        Self { kind, about, as_of: facts.now(), text: text.to_string() }
    }

    fn of_object(
        facts: &ServiceFacts<'_>,
        kind: ProofKind,
        name: &str,
        text: &dyn Sentence,
    ) -> Self {
        let about = vec![Identity::Object(name.to_string())];
        Self { kind, about, as_of: facts.now(), text: text.to_string() }
    }

    /// The service begins on this volume: every other was looked at before the turn was
    /// given, and the record that names this one was written with the turn.
    pub fn is_first(
        facts: &ServiceFacts<'_>,
        turn: &ServiceTurn,
        member: &MemberFact,
    ) -> Option<Self> {
        let record = facts.initialized()?;
        let named = turn.step == ServiceStep::Initialize && record.volume_id == turn.volume_id;
        let is_open = record.served_at.is_none();
        let first = || Self::of(facts, ProofKind::AllEmpty, member, &Proven::First);
        (named && is_open).then(first)
    }

    /// A user has allowed the service to go on without these volumes, and answers for it.
    pub fn is_named(facts: &ServiceFacts<'_>, member: &MemberFact, volumes: Names) -> Self {
        Self::of(facts, ProofKind::DeadAsNamed, member, &Proven::Named { volumes })
    }

    /// It has left for good, as its record says.
    pub fn has_left(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<Self> {
        let annotations = member.object.as_ref().map(|o| &o.meta.annotations);
        let said = annotations.and_then(|a| a.get(labels::GONE));
        let proven = Proven::HasLeft { said: said.cloned().unwrap_or_default() };
        member.is_gone().then(|| Self::of(facts, ProofKind::Left, member, &proven))
    }

    /// Nobody of the service lives in the set from this ordinal on.
    pub fn is_vacant(facts: &ServiceFacts<'_>, from: i32) -> Option<Self> {
        let lives = |m: &MemberFact| {
            let has_pod = m.pod.as_ref().is_some_and(|p| !p.terminating);
            let has_data = m.claim.as_ref().is_some_and(|c| c.identity.is_some());
            m.ordinal >= from && !m.is_gone() && (m.object.is_some() || has_pod || has_data)
        };
        if facts.members.values().any(lives) {
            return None;
        }
        let proven = Proven::Vacant { set: facts.set_name.clone(), ordinal: from };
        Some(Self::of_object(facts, ProofKind::Vacant, &facts.set_name, &proven))
    }

    /// The cluster is being deleted, and by its policy this goes with it.
    pub fn goes_with_the_cluster(facts: &ServiceFacts<'_>, name: &str) -> Option<Self> {
        let owner = &facts.snapshot.owner.meta;
        let goes = owner.is_terminating() && facts.deletion_policy == DeletionPolicy::Delete;
        let proven = Proven::ClusterDeleted { uid: owner.uid.clone() };
        goes.then(|| Self::of_object(facts, ProofKind::OwnerDeleted, name, &proven))
    }

    /// No server serves in this pod: why, and the grounds.
    pub fn serves_nothing(
        facts: &ServiceFacts<'_>,
        member: &MemberFact,
        pod: &PodFact,
    ) -> Option<(Idle, Self)> {
        let why = runs_nothing(facts, member, pod)?;
        let (uid, revision) = (pod.uid.clone(), pod.revision.clone());
        let proven = Proven::Idle { pod: uid, revision, why: why.clone() };
        Some((why, Self::of(facts, ProofKind::Idle, member, &proven)))
    }

    /// A start on this volume was permitted before, for a pod that is gone. The server
    /// goes on with what the volume holds, as whom it was begun: that takes nothing back
    /// which it has acknowledged. Whether that is so says the mind.
    pub fn keeps_its_data(facts: &ServiceFacts<'_>, member: &MemberFact) -> Self {
        Self::of(facts, ProofKind::Idle, member, &Proven::GoesOn)
    }

    /// No server was ever given to the volume of this member, or to that which came in the
    /// place of one that is lost, and its Node is gone: it was never a part of the service,
    /// which exists without it.
    pub fn was_never_part(
        facts: &ServiceFacts<'_>,
        member: &MemberFact,
        node: &str,
    ) -> Option<Self> {
        let reported = member.status.server_id.is_some() || member.status.node_name.is_some();
        // What the member has on record, and what its agent last reported, is of the volume
        // that is lost. On a claim the name of a server stands before that is permitted.
        let lost = member.loss().filter(|_| member.is_marked());
        let claim = member.claim.as_ref();
        let is_another = lost
            .and_then(|l| l.lost.claim_uid.as_ref())
            .zip(claim)
            .is_some_and(|(lost, claim)| *lost != claim.uid());
        let has_one = claim.is_some_and(|c| c.identity.is_some())
            || (!is_another && (member.identity.is_some() || reported));
        if has_one || !facts.exists() {
            return None;
        }
        let proven = Proven::NothingOnNode { member: member.name.clone(), node: node.to_string() };
        Some(Self::of(facts, ProofKind::NeverPart, member, &proven))
    }
}

fn runs_nothing(facts: &ServiceFacts<'_>, member: &MemberFact, pod: &PodFact) -> Option<Idle> {
    if let Some(message) = &pod.unschedulable {
        return Some(Idle::Unschedulable { message: message.clone() });
    }
    if let Some(trouble) = pod.trouble_of(|container| container == facts.kind.container) {
        let (reason, message) = (trouble.reason.clone(), trouble.message.clone());
        return Some(Idle::Failing { reason, message });
    }
    has_no_process(member).then(|| Idle::Server { server: member.server_words() })
}

/// Does its agent report that no server runs? An agent that cannot ask about the
/// process waits as well, and says that it does not know.
fn has_no_process(member: &MemberFact) -> bool {
    member.server().is_some_and(|server| {
        let has_ended =
            matches!(server.state, MemberServerState::Waiting | MemberServerState::Failed);
        has_ended && server.reason.as_deref().is_some_and(Reason::is_of_no_process)
    })
}

impl ServiceFacts<'_> {
    /// Every name and identity of a member: its own, its volumes' and its claim's. In a
    /// replacement the volume that is lost is one of them.
    pub fn identities(&self, whom: &MemberFact) -> Vec<Identity> {
        let turn = self.turn().filter(|t| t.member == whom.name);
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
}
