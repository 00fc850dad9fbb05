//! Who proves a revision in which nobody serves yet, and whether others wait for that: only
//! for one that can serve without them.

use super::{MemberFact, ServiceFacts};
use palladion_api::ids::MemberName;
use palladion_api::service::ServiceStep;
use palladion_api::service_member::MemberVolumeState;
use std::collections::BTreeMap;

/// Who proves which revision, and who may serve meanwhile.
pub(super) struct Proving<'a> {
    /// Members that have data, or had.
    all: usize,
    /// Those that serve, or may without anybody's help.
    able: Vec<&'a MemberFact>,
    /// The member that proves a revision now: it has the turn, or was allowed to start in it.
    provers: BTreeMap<String, MemberName>,
}

impl<'a> Proving<'a> {
    /// As it stands.
    pub fn now(facts: &'a ServiceFacts<'_>) -> Self {
        let counts = |m: &&MemberFact| m.has_served() || m.serves || m.is_marked();
        let able: Vec<&MemberFact> = facts.enrolled().filter(|m| is_able(facts, m)).collect();
        let all = facts.enrolled().filter(counts).count();
        let turn = facts.turn().filter(|t| t.step == ServiceStep::Restart);
        let of_turn = turn.and_then(|t| facts.members.get(&t.member));
        let of_turn = of_turn.filter(|m| !is_on_machine_that_is_away(facts, m));
        // Before its pod is the new one, whoever has the turn proves nothing.
        let may_prove = of_turn.into_iter().chain(able.iter().copied().filter(|m| !m.serves));
        let mut provers = BTreeMap::new();
        for member in may_prove {
            if let Some(pod) = &member.pod {
                provers.entry(pod.revision.clone()).or_insert_with(|| member.name.clone());
            }
        }
        Self { all, able, provers }
    }

    /// Is there a server that a bad change would not reach: one that serves, or may start in
    /// another revision? Where there is none, nothing is spared by waiting, and a server alone
    /// may never serve: it waits for the others, and they would wait for it.
    pub fn spares(&self, revision: &str) -> bool {
        let is_another = |m: &MemberFact| m.pod.as_ref().is_some_and(|p| p.revision != revision);
        self.able.iter().any(|m| m.serves || is_another(m))
    }

    /// For whom this member waits before it starts in this revision. Where the others are no
    /// majority, the one that proves it may wait for this member.
    pub fn awaited(&self, member: &MemberFact, revision: &str) -> Option<MemberName> {
        let prover = self.provers.get(revision).filter(|prover| **prover != member.name)?;
        (self.able.len() * 2 > self.all).then(|| prover.clone())
    }

    /// This one starts in it, too. Whoever has yet to join proves nothing.
    pub fn starts(&mut self, member: &'a MemberFact, revision: &str) {
        if !member.has_served() {
            return;
        }
        self.able.push(member);
        self.provers.entry(revision.to_string()).or_insert_with(|| member.name.clone());
    }
}

/// Does it serve, or may its server start by itself in the pod that it has, and come to serve
/// without one that does not run? By the last report of its volume, as a new pod has none yet.
fn is_able(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    let (Some(spec), Some(pod)) = (&member.spec, &member.pod) else { return false };
    let last = member.status.volume.as_ref().map(|volume| volume.state);
    let is_member = last == Some(MemberVolumeState::Joined) && !member.is_lost();
    let may_start = is_member
        && spec.revisions.contains(&pod.revision)
        && !pod.terminating
        && !pod.is_stuck()
        && !member.waits_for_others;
    // What one on such a machine said last is no answer.
    (member.serves || may_start) && !is_on_machine_that_is_away(facts, member)
}

fn is_on_machine_that_is_away(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    let machine = member.pod.as_ref().and_then(|pod| pod.node.as_deref());
    machine.is_some_and(|machine| facts.nodes.get(machine) != Some(&true))
}
