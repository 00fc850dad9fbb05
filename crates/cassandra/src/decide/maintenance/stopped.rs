//! Members that the operator has stopped with the whole ring, while all of them were up and
//! saw each other: they have ended together whatever the clocks of their machines say. That
//! is on record before the first pod ends, until the member is up again (safety rule 7.8).

use super::CLOCKS;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::stopping::{self, Standing};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::Doing;
use jiff::{SignedDuration, Timestamp};
use palladion_api::labels;
use palladion_plan::Step;
use serde_json::{Value, json};

/// The records of one stop are written within this time.
const WRITTEN: SignedDuration = SignedDuration::from_mins(5);

/// Note the stop of a ring that is whole.
pub fn note(facts: &Facts<'_>, draft: &mut Draft) {
    match stopping::standing(facts) {
        Standing::Stops => {}
        Standing::Runs | Standing::Finishes { .. } => return,
    }
    let is_whole =
        evidence::ring_is_quiet(facts).is_ok() && facts.joined().all(|m| m.down_note().is_none());
    for member in facts.joined().filter(|m| is_whole && record(m).is_none()) {
        draft.steps.extend(write(member, json!(facts.now())));
    }
}

/// Take the note off whoever runs again.
pub fn forget(facts: &Facts<'_>, draft: &mut Draft) {
    if stopping::is_wanted(facts) {
        return;
    }
    for member in facts.joined().filter(|m| m.is_normal() && record(m).is_some()) {
        draft.steps.extend(write(member, Value::Null));
    }
}

/// Have all of these ended by one stop that is on record?
pub(super) fn by_operator(members: &[(&MemberFact, Timestamp)]) -> bool {
    let is_of_stop = |(member, at): &(&MemberFact, Timestamp)| {
        // Who ran last at another time has run since the stop that is on record.
        record(member).filter(|stop| stop.duration_since(*at).abs() <= CLOCKS)
    };
    let stops: Option<Vec<Timestamp>> = members.iter().map(is_of_stop).collect();
    let stops = stops.unwrap_or_default();
    let (first, last) = (stops.iter().min(), stops.iter().max());
    first.zip(last).is_some_and(|(first, last)| last.duration_since(*first) <= WRITTEN)
}

/// When the operator stopped it with the ring.
fn record(member: &MemberFact) -> Option<Timestamp> {
    let annotations = &member.object.as_ref()?.meta.annotations;
    annotations.get(labels::STOPPED_WITH_RING)?.parse().ok()
}

fn write(member: &MemberFact, at: Value) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let member = member.name.clone();
    let doing = match at.is_null() {
        true => Doing::ForgetRingStop { member },
        false => Doing::RecordRingStop { member },
    };
    let patch = json!({ "metadata": { "annotations": { labels::STOPPED_WITH_RING: at } } });
    Some(Step::patch_seen(kinds::MEMBER, meta, patch, doing))
}
