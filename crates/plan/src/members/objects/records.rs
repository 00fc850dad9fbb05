//! What an agent reports of its volume goes on record: the start counter, by which an
//! old copy of the volume is known, and the file system, by which a lost volume is told
//! apart from one that is not mounted. A permit that has done its work goes.

use super::super::{Draft, MEMBER, MemberFact, ServiceFacts};
use crate::plan::Step;
use crate::words::service::Doing;
use palladion_api::member::PermitState;
use palladion_api::service_member::MemberVolumeState;
use serde_json::{Map, Value, json};

/// Record what members report. Whoever has the turn is written to by its turn.
pub fn decide(facts: &ServiceFacts<'_>, draft: &mut Draft) {
    let has_turn = |m: &&MemberFact| facts.turn().is_some_and(|t| t.member == m.name);
    for member in facts.enrolled().filter(|m| !has_turn(m)) {
        draft.steps.extend(record(member));
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
    let doing = match is_permit_done(member) {
        true => Doing::WithdrawPermit { member: member.name.clone() },
        false => Doing::RecordVolume { member: member.name.clone() },
    };
    if is_permit_done(member) {
        changes.insert("start".into(), Value::Null);
    }
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": changes });
    (!changes.is_empty()).then(|| Step::patch_as_seen(MEMBER, meta, patch, doing))
}

fn is_permit_done(member: &MemberFact) -> bool {
    let start = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let answer = member.status.permit.as_ref().filter(|p| p.state == PermitState::Done);
    let is_it = start.zip(answer).is_some_and(|(start, answer)| start.nonce == answer.nonce);
    is_it && member.serves
}
