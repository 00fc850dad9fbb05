//! The writes of a leave: its intent is renewed or taken back, its member is
//! recorded as gone, its turn ends.

use crate::decide::departure;
use crate::decide::draft::Draft;
use crate::decide::evidence::Proof;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::leave::{Doing, Happened};
use palladion_api::cluster::Turn;
use palladion_api::ids::HostId;
use palladion_api::member::IntentKind;
use palladion_plan::words::Sentence;
use palladion_plan::{Event, Object, ObjectKey, Precondition, Step};
use serde_json::{Value, json};

/// A patch of the intent that was looked at: by a later one, of another leader, the member may
/// be leaving meanwhile. Its call has ended by then, so that its agent has little to report.
fn patch(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    intent: Value,
    doing: Doing,
) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "intent": intent } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence(turn)))
}

/// Let the member leave the ring, by recorded intent.
pub fn decommission(
    facts: &Facts<'_>,
    turn: &Turn,
    (member, object): (&MemberFact, &Object),
    host_id: &HostId,
    proof: &Proof,
) -> Step {
    let kind = match departure::takes_along(facts, member) {
        true => IntentKind::LeaveWithDatacenter,
        false => IntentKind::Decommission,
    };
    Step::patch_as_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": { "intent": {
            "kind": kind,
            "nonce": turn.nonce,
            "hostID": host_id,
            "volumeID": turn.volume_id,
            "lockToken": turn.lock_token,
        }}}),
        Doing::Decommission { member: member.name.clone() },
    )
    .fenced(facts.fence(turn))
    .proven(proof.stated())
    .announced(Event::normal(Happened::Leaving { member: member.name.clone() }))
}

/// The intent carries the nonce of the turn as it will be renewed; the agent has done it
/// already and answers at once.
pub fn renew(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, renewed: &Turn) -> Option<Step> {
    let doing = Doing::RenewIntent { member: member.name.clone() };
    patch(facts, turn, member, json!({ "nonce": renewed.nonce }), doing)
}

/// Take the intent back.
pub fn withdraw(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Step> {
    let doing = Doing::WithdrawIntent { member: member.name.clone() };
    patch(facts, turn, member, Value::Null, doing)
}

/// Take back the permit of a member that has not joined by it.
pub fn withdraw_permit(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Step> {
    let object = member.object.as_ref()?;
    let doing = Doing::WithdrawPermit { member: member.name.clone() };
    let patch = json!({ "spec": { "start": null } });
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing).fenced(facts.fence(turn)))
}

/// Record that a member is gone for good: from here on its set may shrink.
pub fn terminate(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    proof: &Proof,
    turn: &Turn,
) -> Step {
    let name = member.name.clone();
    let record = json!({
        "metadata": { "annotations": { palladion_api::labels::GONE: proof.text() } },
        "spec": { "run": "Terminated", "start": null },
    });
    let said = proof.text().to_string();
    let (doing, event) = match member.recorded_host_id() {
        Some(_) => {
            let doing = Doing::RecordLeft { member: name.clone(), proof: said };
            (doing, Happened::HasLeft { member: name })
        }
        None => {
            let doing = Doing::RecordNeverJoined { member: name.clone(), proof: said };
            (doing, Happened::NeverJoined { member: name })
        }
    };
    let seen = member.object.as_ref().map(|o| o.meta.clone()).unwrap_or_default();
    let key = ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str());
    Step::patch(key, Precondition::as_seen(&seen), record, doing)
        .fenced(facts.fence(turn))
        .proven(proof.stated())
        .announced(Event::normal(event))
}

/// End a turn, saying why.
pub fn end(
    facts: &Facts<'_>,
    turn: &Turn,
    why: impl Sentence,
    event: Option<Event>,
    draft: &mut Draft,
) {
    draft.steps.push(lock::end(facts, turn, why, event));
}
