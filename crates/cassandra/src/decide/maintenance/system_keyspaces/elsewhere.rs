//! Copies of the system keyspaces in another datacenter of the ring, once it has members: its own
//! operator cannot log in there before. How many it has later is that operator's affair; none is
//! ever taken from it here: an agent lowers nothing elsewhere that its operator orders.

use super::{Job, KEYSPACES, Part, factor_for, is_altered, record};
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::maintenance::{Added, Doing, Happened, Replicating};
use palladion_api::cluster::SystemReplicationChange;
use palladion_plan::{Event, Flow};
use serde_json::{Value, json};

/// Give the first datacenter copies that has members and none.
pub(super) fn extend(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let others = facts.members_elsewhere();
    let under_way = facts.status.system_replication_change.as_ref();
    if let Some(change) = under_way.filter(|change| change.datacenter.is_some()) {
        go_on(facts, valid, change, draft);
        return Flow::Busy;
    }
    // A change of our own goes first.
    let mut lacking = others.iter().filter(|(name, _)| lacks(facts, name) == Some(true));
    let Some((name, members)) = lacking.next().filter(|_| under_way.is_none()) else {
        return Flow::Free;
    };
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait_for(Replicating::Quiet { why });
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

fn go_on(facts: &Facts<'_>, valid: &Valid, change: &SystemReplicationChange, draft: &mut Draft) {
    let (datacenter, factor) = (change.datacenter.clone().unwrap_or_default(), change.factor);
    let is_there = facts.members_elsewhere().contains_key(datacenter.as_str());
    if !is_there || lacks(facts, &datacenter) == Some(false) {
        let event = Event::normal(Happened::Extended { factor, datacenter: datacenter.clone() });
        let done = json!({ "systemReplicationChange": Value::Null });
        let step = record(facts, done, Doing::Extended { datacenter });
        draft.steps.push(step.announced(is_there.then_some(event)));
        return;
    }
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait_for(Replicating::Quiet { why });
        return;
    }
    let joined: Vec<&MemberFact> = facts.joined().collect();
    if !is_altered(&joined, change) {
        Job { facts, valid, change, part: Part::Alter }.alter(&joined, draft);
    }
    // Until members have counted again.
    draft.wait_for(Added::Extending { datacenter, factor });
}

/// Has one of the system keyspaces no copies there, as far as all members report it? None where
/// nobody does, or one has not counted again yet.
fn lacks(facts: &Facts<'_>, datacenter: &str) -> Option<bool> {
    let mut answers = facts.joined().filter(|m| m.is_normal()).map(|member| {
        let counted = member.counted()?;
        let mut known = KEYSPACES.iter().filter_map(|keyspace| counted.get(*keyspace));
        Some(known.any(|of| of.get(datacenter).is_none_or(|copies| *copies == 0)))
    });
    let first = answers.next()??;
    answers.all(|answer| answer == Some(first)).then_some(first)
}
