//! Who leaves next: the highest ordinal that the spec does not ask for.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::leave::{Doing, Waiting};
use palladion_api::service::ServiceStep;
use palladion_plan::{Flow, turn};

/// The next member that should leave, if the ensemble allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let surplus = |m: &&MemberFact| m.ordinal >= valid.size && m.object.is_some();
    let members = facts.members.values().filter(surplus).filter(|m| !m.is_gone());
    let Some(member) = members.max_by_key(|m| m.ordinal) else {
        return Flow::Free;
    };
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        let waiting = Waiting::ForEnsemble { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    let volume = member.volume_id().cloned().unwrap_or_default();
    let mut turn = turn::new(facts.snapshot, &member.name, &volume, ServiceStep::Leave);
    turn.server_id = member.server_id();
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: member.name.clone() }));
    Flow::Busy
}

/// All that vote must answer, the leaver too: as long as it votes it counts for a
/// quorum. One that is out, or whose volume is lost, need not.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let question = Question::about(member);
    let Some(id) = member.server_id() else {
        return question;
    };
    let known = facts.configuration();
    let is_out = known.is_some_and(|c| c.server(id).is_none());
    match is_out || member.is_lost() {
        true => question.without([id]),
        false => question,
    }
}
