//! Who leaves next: one that is lost, then the highest ordinal, of those that the spec does not
//! ask for.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::leave::{Doing, Waiting};
use palladion_api::service::ServiceStep;
use palladion_api::service_member::{MemberVolume, MemberVolumeState};
use palladion_api::zookeeper::ServerId;
use palladion_plan::members::leave::{first, has_lost};
use palladion_plan::{Flow, turn};

/// The next member that should leave, if the ensemble allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let Some(member) = first(facts, valid) else {
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

/// The same, where one of them is lost: whoever joins waits for all that vote.
pub fn of_lost(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    match has_lost(facts, valid) {
        true => next(facts, valid, draft),
        false => Flow::Free,
    }
}

/// Can the next one leave now, and is one of them lost?
pub fn can_lost(facts: &Facts<'_>, valid: &Valid) -> bool {
    let is_quiet = |m: &MemberFact| evidence::is_quiet(facts, &question(facts, m)).is_ok();
    has_lost(facts, valid) && first(facts, valid).is_some_and(is_quiet)
}

/// All that vote must answer, the leaver too: as long as it votes it counts for a
/// quorum. One that is out need not, nor those that vote by the word of the others alone and
/// do not run; and those whose volumes are lost have nothing to say.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let idle = facts.enrolled().filter(|m| is_idle(m)).filter_map(Voter::server_id);
    let question = Question::about(member).without(facts.lost_servers()).without(idle);
    let known = facts.configuration();
    let is_out = |id: &ServerId| known.is_some_and(|c| c.server(*id).is_none());
    question.without(member.server_id().filter(is_out))
}

/// Was its server begun, and does it not run? Whether it votes it cannot say.
fn is_idle(member: &MemberFact) -> bool {
    let is_begun = |v: &MemberVolume| v.state == MemberVolumeState::Incomplete;
    member.volume().is_some_and(is_begun) && !member.may_run()
}
