//! What is left of an ensemble that has lost its majority.

use crate::facts::{Facts, MemberFact, Voter};
use crate::words::rescue::Waiting;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::labels;
use palladion_api::service_member::{LossCause, MemberVolumeState};
use palladion_api::zookeeper::{ServerId, Zxid};
use palladion_plan::hash;
use serde_json::json;

/// What is left.
pub struct Left<'a> {
    /// Members whose volumes are lost.
    pub lost: Vec<&'a MemberFact>,
    /// Members whose volumes are lost, and that have others, on which no server votes.
    pub replaced: Vec<&'a MemberFact>,
    /// Members whose volumes are not.
    pub rest: Vec<&'a MemberFact>,
    /// Servers that vote and belong to no member: nobody can say what became of them.
    pub strangers: Vec<ServerId>,
}

/// What is left, if it is no majority of those that vote.
pub fn survey<'a>(facts: &'a Facts<'_>) -> Option<Left<'a>> {
    let known = facts.configuration()?;
    let votes = |m: &&MemberFact| m.server_id().is_some_and(|id| known.has_participant(id));
    // Who is left out by a rescue was not lost before.
    let is_left_out = |m: &MemberFact| m.loss().is_some_and(|l| l.cause == LossCause::Rescue);
    let is_lost =
        |m: &&MemberFact| m.is_lost_by_its_own_word() || (m.is_marked() && !is_left_out(m));
    let (lost, rest): (Vec<_>, Vec<_>) = facts.enrolled().filter(votes).partition(is_lost);
    // A server in the place of which another was begun, which does not vote yet.
    let replaced = |m: &&MemberFact| {
        !m.is_marked() && m.lost_ids().iter().any(|id| known.has_participant(*id))
    };
    let replaced: Vec<_> = facts.enrolled().filter(replaced).collect();
    let mut strangers = facts.strangers();
    strangers.retain(|id| known.has_participant(*id));
    strangers.sort_unstable();
    // What one on a machine that is away said last is no answer.
    let serves = facts.members.values().any(|m| m.votes() && m.agent_answers(&facts.nodes));
    let is_any_gone = !lost.is_empty() || !strangers.is_empty() || !replaced.is_empty();
    let is_majority_lost = is_any_gone && !known.is_majority(rest.len()) && !serves;
    is_majority_lost.then_some(Left { lost, replaced, rest, strangers })
}

impl Left<'_> {
    /// The volumes that are lost.
    pub fn volumes(&self) -> Vec<VolumeId> {
        let lost = self.lost.iter().filter_map(|m| m.volume_id());
        let replaced = self.replaced.iter().filter_map(|m| Some(&m.loss()?.lost.volume_id));
        let mut volumes: Vec<VolumeId> = lost.chain(replaced).cloned().collect();
        volumes.sort();
        volumes
    }

    /// What a permission is about: volumes that are lost, and servers of no member.
    pub fn about(&self) -> Vec<String> {
        let volumes = self.volumes();
        let volumes = volumes.iter().map(ToString::to_string);
        volumes.chain(self.strangers.iter().map(ToString::to_string)).collect()
    }

    /// The nonce of a permission: it stands for these volumes and servers, and for no others.
    pub fn nonce(&self, facts: &Facts<'_>) -> Nonce {
        let uid = &facts.snapshot.owner.meta.uid;
        Nonce::new(hash::of(&json!([uid, self.volumes(), self.strangers])))
    }

    /// Has a user allowed it?
    pub fn is_allowed(&self, facts: &Facts<'_>) -> bool {
        let given = facts.snapshot.owner.meta.annotations.get(labels::ALLOW_RESCUE);
        given.is_some_and(|given| Nonce::new(given) == self.nonce(facts))
    }

    /// Those that are left and have not reported what they have.
    pub fn unreported(&self, facts: &Facts<'_>) -> Vec<&MemberFact> {
        self.rest.iter().copied().filter(|m| rank(facts, m).is_none()).collect()
    }

    /// The one that knows most, once all that are left have reported.
    pub fn best<'a>(&self, facts: &'a Facts<'_>) -> Result<&'a MemberFact, Waiting> {
        let mut best: Option<(Rank, &MemberFact)> = None;
        for member in &self.rest {
            let Some(rank) = rank(facts, member) else {
                return Err(Waiting::ForReport { member: member.name.clone() });
            };
            let member = &facts.members[&member.name];
            if best.as_ref().is_none_or(|(other, _)| rank > *other) {
                best = Some((rank, member));
            }
        }
        best.map(|(_, member)| member).ok_or(Waiting::NothingLeft)
    }
}

/// In the order in which ZooKeeper itself would elect.
type Rank = (i64, Zxid, Option<ServerId>);

fn rank(facts: &Facts<'_>, member: &MemberFact) -> Option<Rank> {
    let volume = member.volume().filter(|_| member.agent_answers(&facts.nodes))?;
    let is_whole = volume.state == MemberVolumeState::Joined && member.is_on_its_volume();
    is_whole.then_some((volume.epoch?, volume.last_zxid?, member.server_id()))
}
