//! Who is replaced next, and what must be so before it may have the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::{failing, lock, order, permit};
use crate::decide::{join, leave};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::replace::{Doing, Waiting};
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_plan::members::leave::is_lost_leaver;
use palladion_plan::members::{lost, turn as shared};
use palladion_plan::{Flow, turn};

/// The first lost member that can be replaced now, if the others are a majority and agree.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    for member in lost::to_replace(facts, valid) {
        if failing::wait(facts, member, draft).is_busy() {
            continue;
        }
        if lost::waits_for_pod(member) {
            let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
            draft.wait_for(waiting).about(member.subject());
        } else if lost::can_begin(member) {
            return begin(facts, member, draft);
        }
    }
    Flow::Free
}

/// Does the new node of this replacement not come up?
pub fn comes_to_nothing(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let member = facts.members.get(&turn.member).filter(|_| turn.step == ServiceStep::Replace);
    let is_begun = |m: &&MemberFact| !m.is_marked() && !facts.is_named(m);
    member
        .filter(is_begun)
        .is_some_and(|m| shared::comes_to_nothing(facts, turn, &permit::course(facts, turn, m)))
}

/// Can another lost member be replaced now?
pub fn can_another(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let others = lost::to_replace(facts, valid).filter(|m| m.name != turn.member);
    others.into_iter().any(|m| is_next(facts, m) && can_begin_now(facts, m))
}

/// Does it begin where nobody has the turn? One that was postponed lets others go on.
fn is_next(facts: &Facts<'_>, member: &MemberFact) -> bool {
    lost::can_begin(member) && failing::until(facts, member).is_none()
}

/// Does nothing in what the others report stand against it?
pub(super) fn can_begin_now(facts: &Facts<'_>, member: &MemberFact) -> bool {
    evidence::is_quiet(facts, &question(facts, member)).is_ok()
}

/// Begin, or go on with, the replacement of this member.
pub fn begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some(loss) = member.loss() else {
        return Flow::Free;
    };
    let name = || member.name.clone();
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        draft.wait_for(Waiting::ForCluster { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    // A replacement that is under way goes on with its own volume.
    let begun = member.volume_id().filter(|v| **v != loss.lost.volume_id);
    let volume = begun.unwrap_or(&loss.lost.volume_id);
    let mut turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Replace);
    turn.replaces = Some(loss.lost.clone());
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name() }));
    Flow::Busy
}

/// All others must answer; those whose volumes are lost have nothing to say.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    Question::about(member).without(facts.lost_nodes()).without([facts.node_of(member)])
}

/// Is its new node joining, or does somebody carry out an order for it? Otherwise it goes on by its
/// record, whoever comes between. Where nobody serves it joins nobody.
pub fn is_begun(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let serves = facts.views().next().is_some();
    let member = facts.members.get(&turn.member);
    let is_joining = serves && member.is_some_and(shared::has_open_permit);
    is_joining || order::is_under_way(facts, turn)
}

/// Does the replacement of a lost member come before this turn? While a member is lost
/// nothing else changes the cluster; what has been changed already is brought to its end.
pub fn takes_over(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let can_be_replaced = lost::to_replace(facts, valid).any(|m| is_next(facts, m));
    let can_leave = leave::of_lost_comes_first(facts, valid);
    let Some(member) = facts.members.get(&turn.member) else {
        return false;
    };
    match turn.step {
        // One that the others know and that is lost itself comes to no end.
        ServiceStep::Join => {
            let is_known = facts.is_named(member) || join::is_awaited(facts, member);
            (can_be_replaced || can_leave) && (member.is_lost() || !is_known)
        }
        ServiceStep::Leave => {
            let has_begun = member.is_gone() || is_lost_leaver(member) || !facts.is_named(member);
            (can_be_replaced || can_leave) && !has_begun && !order::is_given(facts, turn)
        }
        // One that is away comes back first.
        ServiceStep::Restart => member.is_lost() || (can_be_replaced && member.serves),
        ServiceStep::Initialize
        | ServiceStep::Replace
        | ServiceStep::Rescue
        | ServiceStep::Remove => false,
    }
}
