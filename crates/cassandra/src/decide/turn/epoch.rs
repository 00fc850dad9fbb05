//! A new leader raises the epoch before anything else, so that the writes of a
//! leader that was frozen and woke up again fail (safety rule 3.3).

use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::{self, Facts, JOB_NONCE, MemberFact};
use crate::resources as kinds;
use crate::words::turn::Doing;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::MemberName;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Raise the epoch of a cluster that an earlier leader has written to.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let Some(seen) = facts.status.epoch else {
        return;
    };
    if seen >= facts.snapshot.epoch {
        return;
    }
    // An upgrade of the operator comes with a new leader, and so with this write.
    let mut status = facts::of_cluster_on_record(facts).unwrap_or_else(|| json!({}));
    status["epoch"] = json!(facts.snapshot.epoch);
    if let Some(turn) = facts.turn() {
        status["turn"] = json!({ "epoch": facts.snapshot.epoch });
        if is_question_alone(facts, turn) {
            // Whatever was answered to the earlier leader does not count.
            status["turn"]["nonce"] = json!(facts.snapshot.nonce);
            status["turn"]["since"] = json!(Time(facts.now()));
        }
        if let Some(step) = stamp(facts, &turn.member) {
            draft.steps.push(step);
        }
    }
    if facts.status.job.is_some() {
        // The writes of the job are fenced on its nonce.
        status["job"] = json!({ "nonce": facts.snapshot.nonce, "epoch": facts.snapshot.epoch });
    }
    draft.steps.extend(facts.members.values().filter_map(under_former_name));
    draft.steps.insert(
        0,
        Step::compare_and_set(
            status,
            vec![
                ("/status/epoch".into(), Value::from(seen)),
                lock::seen(facts, "/status/initialization"),
                lock::seen(facts, "/status/founding"),
                // Of another turn, taken meanwhile, the nonce is another.
                lock::seen(facts, "/status/turn"),
                lock::seen(facts, JOB_NONCE),
            ],
            Doing::RaiseEpoch,
        ),
    );
}

/// Does the nonce of the turn stand for nothing but its question? A permit, an
/// intent or a removal that was ordered is followed by the nonce that it carries,
/// until its end; so is the initialization, of which the status has the record.
fn is_question_alone(facts: &Facts<'_>, turn: &Turn) -> bool {
    let (nonce, job) = (Some(&turn.nonce), facts::removal_id(&turn.nonce));
    let carries = |member: &MemberFact| {
        let (spec, status) = (member.spec.as_ref(), &member.status);
        let of_member = [
            spec.and_then(|s| s.start.as_ref()).map(|s| &s.nonce),
            spec.and_then(|s| s.intent.as_ref()).map(|i| &i.nonce),
            status.permit.as_ref().map(|p| &p.nonce),
            status.intent.as_ref().map(|i| &i.nonce),
        ];
        let ordered = spec.and_then(|s| s.operation.as_ref()).map(|o| &o.id);
        let begun = status.operation.as_ref().map(|o| &o.id);
        of_member.contains(&nonce) || [ordered, begun].contains(&Some(&job))
    };
    turn.step != TurnStep::Initialize && !facts.members.values().any(carries)
}

/// Touch the member that the turn names: a frozen leader's write to it carries
/// an old resourceVersion and fails.
fn stamp(facts: &Facts<'_>, member: &MemberName) -> Option<Step> {
    let object = facts.members.get(member)?.object.as_ref()?;
    Some(Step::patch_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": { "turnEpoch": facts.snapshot.epoch } }),
        Doing::TakeOver { member: member.clone() },
    ))
}

/// Move pending maintenance that stands under its former name.
fn under_former_name(member: &MemberFact) -> Option<Step> {
    let spec = facts::of_member_on_record(member)?;
    let doing = Doing::RenamePending { member: member.name.clone() };
    let meta = &member.object.as_ref()?.meta;
    Some(Step::patch_as_seen(kinds::MEMBER, meta, json!({ "spec": spec }), doing))
}

/// True while this leader's epoch is not on record: no turn is taken or used.
pub fn is_behind(facts: &Facts<'_>) -> bool {
    facts.status.epoch.is_some_and(|seen| seen != facts.snapshot.epoch)
}
