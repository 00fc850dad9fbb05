//! A joiner that does not get into its cluster: its server runs and reaches nobody, or the others
//! refuse it; its agent waits for what a start needs; its machine is away. The turn is for one at
//! a time, so it ends after a while, and with it the permit: the server stops, and what is on its
//! volume stays as it is. On record, on its member, is when the join is tried again: later each
//! time, and each time for longer, as a large cluster may take longer than the first try had.
//! Another pod begins again.
//!
//! Whether others know the joiner already, so that nobody may stop it, says the mind.

use super::{Draft, MEMBER, MemberFact, ServiceFacts, lost, turn};
use crate::plan::Step;
use crate::words::late::{Doing, Ended, Problem};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::PodUid;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Each try has this, and the next one twice as much: what a new server of a replacement has.
const FIRST: SignedDuration = lost::PATIENCE;
/// So often the time is doubled: forty minutes for a try, and eighty to the next.
const DOUBLED: u32 = 3;
/// Of what its agent said last. An annotation has room for more than a person reads.
const LONGEST: usize = 500;

/// What is on record of the last try.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Late {
    #[serde(rename = "podUID")]
    pod_uid: PodUid,
    tries: u32,
    since: Time,
    why: String,
}

impl Late {
    /// How long the try took.
    fn took(&self) -> SignedDuration {
        time_of(self.tries.saturating_sub(1))
    }

    fn minutes(&self) -> i64 {
        self.took().as_mins()
    }

    /// When the join is tried again.
    fn until(&self) -> Timestamp {
        self.since.0 + self.took() * 2
    }
}

/// How long a try takes after so many.
fn time_of(tries: u32) -> SignedDuration {
    FIRST * 2_i32.pow(tries.min(DOUBLED))
}

/// What is on record of the pod that there is. Of what cannot be read nobody waits for anything.
fn recorded(member: &MemberFact) -> Option<Late> {
    let annotations = &member.object.as_ref()?.meta.annotations;
    let late: Late = serde_json::from_str(annotations.get(labels::POSTPONED_JOIN)?).ok()?;
    let pod = member.pod.as_ref()?;
    (late.pod_uid == pod.uid).then_some(late)
}

/// Until when the join of this member is postponed. A leader whose clock was ahead postpones
/// nothing.
pub fn until(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<Timestamp> {
    let late = recorded(member).filter(|late| late.since.0 <= facts.now())?;
    Some(late.until()).filter(|until| facts.now() < *until)
}

/// Say what a person has to do about a join that came to nothing, also while it is tried again.
pub fn report(facts: &ServiceFacts<'_>, member: &MemberFact, draft: &mut Draft) {
    let Some(late) = recorded(member) else { return };
    let (name, minutes, why) = (member.name.clone(), late.minutes(), late.why.clone());
    match until(facts, member) {
        Some(at) => {
            draft.report(Problem::NotInTime { member: name, minutes, why, at });
            draft.wake_at(at);
        }
        None => draft.report(Problem::TriedAgain { member: name, minutes, why }),
    }
}

/// When it has had its time to join: its server, since it runs; its agent, where none runs, since
/// all were asked whether it may.
pub fn deadline(facts: &ServiceFacts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Timestamp {
    // What it waited for before its start does not count. An agent whose clock is ahead is not
    // waited for any longer.
    let started = member.server().filter(|_| member.runs()).map(|server| server.since.0);
    let asked = turn.question.as_ref().map(|question| question.since.0);
    let known = [started, asked].into_iter().flatten().filter(|since| *since <= facts.now());
    let begun = known.fold(turn.since.0, Timestamp::max);
    begun + time_of(recorded(member).map_or(0, |late| late.tries))
}

/// Does its pod end on a machine that is away? Nobody knows when that comes to its end.
pub fn is_going_with_its_machine(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    let going = member.pod.as_ref().filter(|pod| pod.terminating);
    let machine = going.and_then(|pod| pod.node.as_deref());
    machine.is_some_and(|machine| facts.nodes.get(machine) != Some(&true))
}

/// End the turn of a member whose join is postponed: a leader has recorded that, and ended before
/// it could end the turn.
pub fn end_postponed(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let minutes = recorded(member).map_or(0, |late| late.minutes());
    draft.steps.push(turn::end(facts, turn, Ended::NotInTime { minutes }));
}

/// End the turn of a member that has had its time: its permit goes, and when it is tried
/// again goes on record.
pub fn postpone(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let (Some(object), Some(pod)) = (&member.object, &member.pod) else { return };
    let tries = recorded(member).map_or(0, |late| late.tries).saturating_add(1);
    let why: String = member.server_words().to_string().chars().take(LONGEST).collect();
    let late = Late { pod_uid: pod.uid.clone(), tries, since: Time(facts.now()), why };
    let patch = json!({
        "metadata": { "annotations": { labels::POSTPONED_JOIN: json!(late).to_string() } },
        "spec": { "start": Value::Null },
    });
    let doing = Doing::Postpone { member: member.name.clone() };
    let step = Step::patch_as_seen(MEMBER, &object.meta, patch, doing);
    draft.steps.push(step.fenced(facts.fence()));
    draft.steps.push(turn::end(facts, turn, Ended::NotInTime { minutes: late.minutes() }));
}

/// It has joined after all: nothing of that stays on record, nor does its permit.
pub fn forget(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    meta.annotations.get(labels::POSTPONED_JOIN)?;
    let patch = json!({
        "metadata": { "annotations": { labels::POSTPONED_JOIN: Value::Null } },
        "spec": { "start": Value::Null },
    });
    let doing = Doing::Forget { member: member.name.clone() };
    Some(Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(facts.fence()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_has_twice_the_time_of_the_last_and_so_has_the_pause_up_to_a_limit() {
        let minutes = |tries| {
            let (pod_uid, why) = (PodUid::from("p"), String::new());
            let late = Late { pod_uid, tries, since: Time(Timestamp::UNIX_EPOCH), why };
            (late.minutes(), late.until().as_second() / 60)
        };
        assert_eq!([1, 2, 3, 4, 5, 99].map(minutes).map(|m| m.0), [5, 10, 20, 40, 40, 40]);
        assert_eq!([1, 2, 3, 4, 5, 99].map(minutes).map(|m| m.1), [10, 20, 40, 80, 80, 80]);
    }
}
