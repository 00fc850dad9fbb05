//! Maintenance that a member was asked for and cannot begin: its server takes no clients, and its
//! agent begins nothing there. It is not asked, or not for longer than some minutes, so that it
//! holds up neither the maintenance of others nor tasks.

use super::debts::patch;
use super::orders::{ordered, outcome, words};
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Objection;
use crate::words::maintenance::{Doing, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::HostId;
use palladion_api::member::{Debt, Operation};
use palladion_plan::Step;
use serde_json::json;

/// An agent begins within seconds what it can begin.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// From when on it is not asked any more for what its agent has not begun. What a replacement waits
/// for is asked for until it is done: it would stream from a member that may lack data. Once that
/// member is not lost any more, nobody waits for it.
pub(super) fn until(facts: &Facts<'_>, member: &MemberFact, debt: &Debt) -> Option<Timestamp> {
    let is_lost = |host_id: &HostId| {
        let mut all = facts.members.values().filter_map(evidence::lost);
        all.any(|(_, replaced)| replaced.host_id == *host_id)
    };
    let operation = ordered(member, debt)?;
    let is_waited_for = operation.target.as_ref().is_some_and(is_lost);
    if is_waited_for {
        return None;
    }
    unbegun_until(facts, member, operation)
}

/// The same of any operation.
pub(super) fn unbegun_until(
    facts: &Facts<'_>,
    member: &MemberFact,
    operation: &Operation,
) -> Option<Timestamp> {
    if outcome(member, operation).is_some() {
        return None;
    }
    let asked = operation.requested_at.as_ref()?.0;
    // Neither of these is asked again at once. A silent agent may have begun it.
    let cannot = member.is_shut() || !member.is_normal();
    let is_unbegun = cannot && member.agent_answers(&facts.nodes);
    is_unbegun.then(|| facts.again(asked, None, PATIENCE))
}

/// The write that asks it no more.
pub(super) fn withdraw(facts: &Facts<'_>, member: &MemberFact, debt: &Debt) -> Option<Step> {
    until(facts, member, debt).filter(|at| facts.now() >= *at)?;
    let doing = Doing::WithdrawUnbegun { work: debt.kind.into(), member: member.name.clone() };
    patch(member, json!({ "operation": null }), doing)
}

/// Does its maintenance wait until it takes clients again?
pub(super) fn waits(member: &MemberFact, debt: &Debt, draft: &mut Draft) -> bool {
    let is_shut = member.is_shut();
    if is_shut {
        let (work, name, cause) = words(member, debt);
        let why = Objection::ClosedToClients { member: name.clone() };
        let waiting = Waiting::Postponed { work, member: name, why, cause };
        draft.wait_for(waiting).about(member.subject());
    }
    is_shut
}
