//! Members of a datacenter that leaves are closed to clients, all together, and repaired: rows that
//! were written at `LOCAL_` levels may be nowhere else. One that took clients again, as on
//! another volume, begins this anew for all. Whoever takes the leave back opens them again.

use super::stage::{self, Stage};
use crate::decide::draft::Draft;
use crate::decide::maintenance::debts;
use crate::facts::{self, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::departure::{Cause, Doing, Happened};
use palladion_api::member::Closing;
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// Order what comes next, and say what is waited for.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    match stage::of(facts) {
        None => take_back(facts, draft),
        Some(Stage::Left | Stage::Goes) => {}
        Some(Stage::Waits(waiting) | Stage::Repairs(waiting)) => {
            draft.wait_for(waiting);
        }
        Some(Stage::Refused(refused)) => {
            draft.report(refused.clone());
            draft.wait_for(refused);
        }
        Some(Stage::Closes) => close(facts, draft),
        Some(Stage::RecordsRepairs) => {
            for member in facts.joined().filter(|m| !m.is_repair_recorded()) {
                draft.steps.extend(record_repair(facts, member));
            }
        }
    }
}

/// Whose repair was recorded before is repaired once more.
fn close(facts: &Facts<'_>, draft: &mut Draft) {
    let has_begun = facts.joined().any(MemberFact::is_to_close);
    let datacenter = facts.spec.datacenter.name.clone();
    let mut event = (!has_begun).then(|| Event::normal(Happened::Closing { datacenter }));
    for member in facts.joined().filter(|m| !m.is_to_close() || m.is_repair_recorded()) {
        let Some(volume_id) = member.spec.as_ref().and_then(|s| s.volume_id.clone()) else {
            continue;
        };
        let mut closing = facts::no_repair_recorded();
        closing["volumeID"] = json!(volume_id);
        let spec = json!({ "closing": closing, "opening": Value::Null });
        let doing = Doing::Close { member: member.name.clone() };
        draft.steps.extend(patch(member, spec, doing).map(|step| step.announced(event.take())));
    }
}

/// The repair and the word that it was recorded are one write: whatever ends in between, no member
/// counts as repaired that is not.
fn record_repair(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let volume_id = member.spec.as_ref()?.volume_id.clone()?;
    let closing = Closing {
        volume_id,
        repair_recorded: true,
        closed_at: member.closed_at().cloned(),
        repaired: facts.copies_to_repair(),
    };
    let mut spec = json!({ "closing": closing });
    let datacenter = facts.spec.datacenter.name.clone();
    let repair = debts::repair_of_itself(Cause::Leaves { datacenter, at: facts.now() });
    if let Some(all) = debts::with(member, &repair) {
        spec["pendingMaintenance"] = json!(all);
    }
    patch(member, spec, Doing::RecordRepair { member: member.name.clone() })
}

/// Who is not closed yet need not be. Who is, is opened with the others.
fn take_back(facts: &Facts<'_>, draft: &mut Draft) {
    let is_ordered = |m: &&MemberFact| m.spec.as_ref().is_some_and(|s| s.closing.is_some());
    for member in facts.joined().filter(is_ordered).filter(|m| !m.is_noted_closed()) {
        let doing = Doing::TakeBack { member: member.name.clone() };
        draft.steps.extend(patch(member, json!({ "closing": Value::Null }), doing));
    }
}

fn patch(member: &MemberFact, mut spec: Value, doing: Doing) -> Option<Step> {
    let object = member.object.as_ref()?;
    facts::clear_of_member(object, &mut spec);
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, json!({ "spec": spec }), doing))
}
