//! What members make of their orders for a restore, and which member is asked.

use crate::decide::transfers::{self, Said, ordered, short};
pub use crate::decide::transfers::{Answer, identity};
use crate::facts::{Facts, MemberFact};
use crate::words::restores::{Member, Stopped};
use palladion_api::ids::{HostId, MemberName, VolumeId};
use palladion_api::restore::{Coordinator, RestoreMember};

/// What it says of the order with this ID.
pub fn answer<'a>(member: &'a MemberFact, id: &str) -> Answer<'a> {
    transfers::answer(member, id, |cause, member, why| Stopped::of(cause, member, why).into())
}

/// A member with its identity.
pub type One<'a> = (&'a MemberFact, &'a HostId, &'a VolumeId);

/// Agents of before this protocol do not know how to restore.
pub const KNOWS_RESTORES: u32 = 10;

/// The full members of the ring whose agents know how to restore, or are not known.
pub fn all<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = One<'a>> {
    let knows = |member: &&MemberFact| {
        member.status.agent.as_ref().is_none_or(|agent| agent.protocol >= KNOWS_RESTORES)
    };
    let there = facts.members.values().filter(|member| !member.is_gone()).filter(knows);
    there.filter_map(|member| {
        let (host, volume) = identity(member)?;
        Some((member, host, volume))
    })
}

/// The one that has the order already, unless its server is down; or else the first that is up.
pub fn chosen<'a>(facts: &'a Facts<'_>, id: &str) -> Option<One<'a>> {
    let is_up = |one: &One<'_>| one.0.is_live(&facts.nodes);
    let has = |one: &One<'_>| ordered(one.0).is_some_and(|order| order.id == id);
    all(facts).filter(is_up).find(has).or_else(|| all(facts).find(is_up))
}

/// Which server an entry names.
pub trait Named {
    /// Name, host ID and volume.
    fn who(&self) -> (&MemberName, &HostId, &VolumeId);
}

impl Named for Coordinator {
    fn who(&self) -> (&MemberName, &HostId, &VolumeId) {
        (&self.name, &self.host_id, &self.volume_id)
    }
}

impl Named for RestoreMember {
    fn who(&self) -> (&MemberName, &HostId, &VolumeId) {
        (&self.name, &self.host_id, &self.volume_id)
    }
}

/// The member of an entry, if it is still that server.
pub fn there<'a>(facts: &'a Facts<'_>, entry: &impl Named) -> Option<One<'a>> {
    let (name, host, volume) = entry.who();
    let member = facts.members.get(name).filter(|member| !member.is_gone())?;
    let (is, on) = identity(member)?;
    (is == host && on == volume).then_some((member, is, on))
}

/// Is it sure that the member is not there any more, or is another server now?
pub fn is_lost(facts: &Facts<'_>, entry: &impl Named) -> bool {
    let (name, host, volume) = entry.who();
    let Some(member) = facts.members.get(name).filter(|member| !member.is_gone()) else {
        return true;
    };
    identity(member).is_some_and(|(is, on)| is != host || on != volume)
}

/// Why an answer is waited for, if there is a reason to say.
pub fn waits(facts: &Facts<'_>, member: &MemberFact, answer: &Answer<'_>) -> Option<Said> {
    match answer {
        Answer::Going(Some(why)) => Some(why.clone()),
        Answer::None if !member.is_live(&facts.nodes) => {
            Some(Member::Down { member: member.name.clone() }.into())
        }
        Answer::None | Answer::Going(None) | Answer::Done(_) | Answer::Failed(_) => None,
    }
}

/// The words of a sentence, as an entry of the status has them.
pub fn words(said: &Said) -> String {
    short(said.1.to_string())
}
