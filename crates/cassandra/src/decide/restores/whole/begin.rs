//! What must be so before a whole ring is restored: the ring was created for it, and does not
//! exist yet.

use super::super::read::Restore;
use super::super::source::Unusable;
use super::has_begun;
use crate::decide::objects::replicas;
use crate::facts::{Facts, KNOWS_POINTS_IN_TIME, KNOWS_WHOLE_RINGS, MemberFact};
use crate::validate::Valid;
use crate::words::restores::{Pending, Refused};
use palladion_api::member::VolumeState;
use palladion_api::restore::{RestoreAuth, RestoreRepair};

/// Is it so?
///
/// # Errors
/// Not yet, or never.
pub fn ready(facts: &Facts<'_>, valid: &Valid, restore: &Restore<'_>) -> Result<(), Unusable> {
    let not_yet = |why: Pending| Unusable::NotYet(why.into());
    let cluster = || valid.name.clone();
    let unknown = |field: &str, word: String| Pending::UnknownWord { field: field.into(), word };
    if let Some(RestoreAuth::Unknown(word)) = restore.spec.auth {
        return Err(not_yet(unknown("auth", word.to_string())));
    }
    if let Some(RestoreRepair::Unknown(word)) = restore.spec.repair {
        return Err(not_yet(unknown("repair", word.to_string())));
    }
    if has_begun(facts) {
        return Err(Unusable::Never(Refused::RingExists { cluster: cluster() }.into()));
    }
    let named = valid.backup.as_ref().and_then(|backup| backup.restore.as_deref());
    if named != Some(restore.name()) {
        let restore = restore.name().to_string();
        return Err(not_yet(Pending::RingNotNamed { cluster: cluster(), restore }));
    }
    let knows = match restore.spec.point_in_time {
        Some(_) => KNOWS_POINTS_IN_TIME,
        None => KNOWS_WHOLE_RINGS,
    };
    let mut members = all(facts, valid).peekable();
    if members.peek().is_none() {
        return Err(not_yet(Pending::NoMembers { cluster: cluster() }));
    }
    for (name, member) in members {
        let is_empty = |member: &&MemberFact| {
            member.volume().is_some_and(|volume| volume.state == VolumeState::Empty)
        };
        let Some(member) = member.filter(is_empty) else {
            return Err(not_yet(Pending::Volume { member: name }));
        };
        let agent = member.status.agent.as_ref();
        if let Some(agent) = agent.filter(|agent| agent.protocol < knows) {
            let (member, agent) = (name, agent.version.clone());
            return Err(not_yet(Pending::AgentTooOld { member, agent }));
        }
    }
    Ok(())
}

/// The members that the spec asks for.
pub fn all<'a>(
    facts: &'a Facts<'_>,
    valid: &'a Valid,
) -> impl Iterator<Item = (palladion_api::ids::MemberName, Option<&'a MemberFact>)> {
    let all = replicas::in_order(facts, valid).into_iter();
    let all = all.map(|(_, name)| {
        let member = facts.members.get(&name);
        (name, member)
    });
    all.filter(|(_, member)| member.is_none_or(|member| replicas::is_wanted(valid, member)))
}
