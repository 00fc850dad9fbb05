//! Which volumes are lost: by the word of the agent on them, or by a user's, who names
//! the volume.

use super::super::{Draft, MemberFact, ServiceFacts};
use super::marks;
use crate::words::lost::{Lost, Problem};
use palladion_api::labels;
use palladion_api::service_member::LossCause;

/// Record volumes that are lost.
pub fn decide(facts: &ServiceFacts<'_>, draft: &mut Draft) {
    for member in facts.enrolled().filter(|m| !m.is_marked()) {
        if member.is_lost_by_its_own_word() && !is_of_before(member) {
            let message = member.volume().and_then(|v| v.message.clone());
            let why = Lost::ByAgent { message: message.unwrap_or_default() };
            draft.steps.extend(marks::mark(member, LossCause::Agent, why, None));
        } else if let Some(named) = named(member) {
            of_user(member, named, draft);
        }
    }
}

/// Was that reported before its agent heard of the permit for this volume? Until then a
/// volume that was taken in the place of a lost one counts as that one.
fn is_of_before(member: &MemberFact) -> bool {
    let permit = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let answer = member.status.permit.as_ref().map(|p| &p.nonce);
    let is_in_place_of_another = member.loss().is_some() && member.is_on_its_volume();
    is_in_place_of_another && permit.is_some_and(|p| answer != Some(&p.nonce))
}

/// The volume that a user has named.
pub(in super::super) fn named(member: &MemberFact) -> Option<&str> {
    let annotations = &member.object.as_ref()?.meta.annotations;
    annotations.get(labels::REPLACE).map(String::as_str)
}

fn of_user(member: &MemberFact, named: &str, draft: &mut Draft) {
    let Some(volume) = member.volume_id() else { return };
    let (name, annotation) = (member.name.clone(), labels::REPLACE);
    if member.loss().is_some_and(|l| l.lost.volume_id.as_str() == named) {
        return; // Its replacement is under way.
    }
    if named != volume.as_str() {
        let (named, volume) = (named.to_string(), volume.clone());
        return draft.report(Problem::OtherVolume { member: name, named, volume, annotation });
    }
    // A server that serves is not dead, whatever anybody says.
    if member.serves || member.is_seen {
        let volume = volume.clone();
        return draft.report(Problem::Serves { member: name, volume, annotation });
    }
    let why = Lost::ByUser { annotation };
    draft.steps.extend(marks::mark(member, LossCause::User, why, None));
}
