//! What an agent reports of its volume goes on record: the start counter, by which an
//! old copy of the volume is known, and the file system, by which a lost volume is told
//! apart from one that is not mounted. A permit that has done its work goes.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::objects::Doing;
use palladion_api::member::PermitState;
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::Step;
use serde_json::{Map, Value, json};

/// Record what members report.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.enrolled() {
        draft.steps.extend(record(member));
        if facts.turn().is_none_or(|t| t.member != member.name) {
            draft.steps.extend(withdraw(member));
        }
    }
}

fn record(member: &MemberFact) -> Option<Step> {
    let (spec, volume) = (member.spec.as_ref()?, member.volume()?);
    if volume.state != MemberVolumeState::Joined || !member.is_on_its_volume() {
        return None;
    }
    let mut changes = Map::new();
    if volume.starts > spec.starts {
        changes.insert("starts".into(), json!(volume.starts));
    }
    if spec.file_system.is_none() {
        changes.insert("fileSystem".into(), json!(volume.file_system));
    }
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::RecordVolume { member: member.name.clone() };
    let patch = json!({ "spec": changes });
    (!changes.is_empty()).then(|| Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
}

fn withdraw(member: &MemberFact) -> Option<Step> {
    let start = member.spec.as_ref()?.start.as_ref()?;
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == start.nonce)?;
    let is_done = answer.state == PermitState::Done && member.votes();
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::WithdrawPermit { member: member.name.clone() };
    let patch = json!({ "spec": { "start": Value::Null } });
    is_done.then(|| Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
}
