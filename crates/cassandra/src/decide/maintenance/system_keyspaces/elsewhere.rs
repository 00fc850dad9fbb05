//! Copies of the system keyspaces in another datacenter of the ring, once it has members: its own
//! operator cannot log in there before. Only one that has copies of none of them is given any: what
//! a person or its own operator has taken from it is not given back, and how many it has later is
//! their affair.

use super::deserted;
use super::had::{Had, had};
use super::{Job, Part, factor_for, is_altered, keeps_others, ordered, record, waits};
use super::{is_attempt, wait_for_newer_agent};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::maintenance::{Added, Doing, Happened};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::SystemReplicationChange;
use palladion_plan::{Event, Flow};
use serde_json::{Value, json};

/// Members count again within seconds after the schema has changed. After so long what was set is
/// not there any more, and the change holds up nothing else.
const COUNTED_WITHIN: SignedDuration = SignedDuration::from_mins(5);

/// Give the first datacenter copies that has members and none.
pub(super) fn extend(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let others = facts.members_elsewhere();
    let under_way = facts.status.system_replication_change.as_ref();
    if let Some(change) = under_way.filter(|change| change.datacenter.is_some()) {
        go_on(facts, valid, change, draft);
        return Flow::Busy;
    }
    if under_way.is_none() && deserted::drop_one(facts, draft).is_busy() {
        return Flow::Busy;
    }
    for name in others.keys() {
        report_partly(facts, name, draft);
    }
    // A change of our own goes first.
    let mut new = others.iter().filter(|(name, _)| had(facts, name) == Some(Had::Nothing));
    let Some((name, members)) = new.next().filter(|_| under_way.is_none()) else {
        return Flow::Free;
    };
    if waits(facts, draft) {
        return Flow::Busy;
    }
    let factor = factor_for(usize::try_from(*members).unwrap_or(usize::MAX));
    let datacenter = (*name).to_string();
    let nonce = facts.snapshot.nonce.clone();
    let change = SystemReplicationChange { factor, datacenter: Some(datacenter.clone()), nonce };
    let doing = Doing::Extend { datacenter, factor };
    draft.steps.push(record(facts, json!({ "systemReplicationChange": change }), doing));
    Flow::Busy
}

/// What keeps a datacenter from copies of the roles that a person alone changes.
fn report_partly(facts: &Facts<'_>, datacenter: &str, draft: &mut Draft) {
    match had(facts, datacenter) {
        None => {
            if let Some(old) = uncounted(facts) {
                wait_for_newer_agent(old, draft);
            }
        }
        Some(Had::Some { roles: false }) => {
            draft.wait_for(Added::NoRoles { datacenter: datacenter.to_string() });
        }
        Some(Had::Nothing | Had::Some { roles: true } | Had::All) => {}
    }
}

fn go_on(facts: &Facts<'_>, valid: &Valid, change: &SystemReplicationChange, draft: &mut Draft) {
    let (datacenter, factor) = (change.datacenter.clone().unwrap_or_default(), change.factor);
    let is_there = facts.members_elsewhere().contains_key(datacenter.as_str());
    if change.factor == 0 {
        return deserted::go_on(facts, valid, change, draft);
    }
    let over = |doing| record(facts, json!({ "systemReplicationChange": Value::Null }), doing);
    let has = had(facts, &datacenter);
    if !is_there || has == Some(Had::All) {
        let event = Event::normal(Happened::Extended { factor, datacenter: datacenter.clone() });
        let step = over(Doing::Extended { datacenter });
        draft.steps.push(step.announced(is_there.then_some(event)));
        return;
    }
    let joined: Vec<&MemberFact> = facts.joined().collect();
    let is_altered = is_altered(&joined, change);
    let counted_until = altered_at(&joined, change).map(|at| at + COUNTED_WITHIN);
    if is_altered && counted_until.is_none_or(|until| facts.now() >= until) {
        let event = Event::warning(Happened::NotExtended { datacenter: datacenter.clone() });
        draft.steps.push(over(Doing::NotExtended { datacenter }).announced(Some(event)));
        return;
    }
    if waits(facts, draft) {
        return;
    }
    if !is_altered {
        Job { facts, valid, change, part: Part::Alter }.alter(&joined, draft);
    }
    if let Some(old) = uncounted(facts).filter(|_| has.is_none()) {
        wait_for_newer_agent(old, draft);
    }
    // Until members have counted again.
    let wait = draft.wait_for(Added::Extending { datacenter, factor });
    if let Some(until) = counted_until.filter(|_| is_altered) {
        wait.until(until);
    }
}

/// When the operation of this change ended.
fn altered_at(joined: &[&MemberFact], change: &SystemReplicationChange) -> Option<Timestamp> {
    let alter = Part::Alter.id(change);
    let ended = joined.iter().filter_map(|member| {
        let operation = ordered(member).filter(|o| is_attempt(&o.id, &alter))?;
        let status = member.status.operation.as_ref().filter(|s| s.id == operation.id)?;
        Some(status.finished_at.as_ref()?.0)
    });
    ended.max()
}

/// Who does not count by datacenter, since its agent is of before that.
fn uncounted<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberFact> {
    facts.joined().find(|m| m.is_normal() && m.counted().is_none() && !keeps_others(m))
}
