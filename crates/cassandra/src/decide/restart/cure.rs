//! Members of which the ring waits for a restart, while the restart would wait for the ring: one
//! that serves and is down to the others, or has another schema than most; one that does not come
//! up from a start that nobody has the turn for. All others must be well, as for any restart.

use super::{going_without, next};
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::objects::restart_tokens;
use crate::decide::wanted;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::Objection;
use palladion_api::member::ServerState;
use palladion_plan::Flow;

/// May this member be restarted, as far as the members report by themselves?
pub fn may_be_restarted(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
) -> Result<(), Objection> {
    match going_without::ring_is_quiet(facts) {
        Err(_) if is_called_for(facts, valid, member) => Ok(()),
        quiet => quiet,
    }
}

/// Is its restart a cure that a person asks for, or that a rollout may begin with? A rollout, and
/// a restart of the whole ring or rack, choose none of two that do not see each other: the new revision may be what keeps the first
/// one of them from the other.
pub fn is_called_for(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    let is_another = |m: &MemberFact| m.name != member.name && is_one(facts, m);
    is_one(facts, member)
        && (restart_tokens::is_asked_of_it(valid, member) || !facts.joined().any(is_another))
}

/// Is what keeps the ring from being well about this member alone?
pub fn is_one(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let stands = member.is_normal() || is_starting(member);
    // What its agent does not read ends nothing, and what it said last may be long ago.
    let is_heard = member.agent_answers(&facts.nodes) && facts.silence(member).is_none();
    stands
        && is_heard
        && !member.is_stopped()
        && !wanted::is_on_its_way(member)
        && evidence::lost(member).is_none()
        && evidence::others_are_quiet_but_for(facts, member).is_ok()
}

/// Its server runs and does not serve: a restart cuts nothing in two.
fn is_starting(member: &MemberFact) -> bool {
    let state = member.reported_server().map(|server| server.state);
    state == Some(ServerState::Starting)
}

/// What a restart would cure goes before all that waits for a ring that is well.
pub fn first(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    if going_without::ring_is_quiet(facts).is_ok() {
        return Flow::Free;
    }
    let mut found = Draft::default();
    if next::next(facts, valid, &mut found).is_busy() && !found.steps.is_empty() {
        draft.take(found);
        return Flow::Busy;
    }
    Flow::Free
}
