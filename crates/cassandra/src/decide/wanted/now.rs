//! `when: Now`: what a person insists on counts for one stop. Left over in the
//! spec, it says nothing of the next one, nor of the successor of a member.

use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::wanted::Doing;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::WhenToStop;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Does a person insist?
fn is_wanted(member: &MemberFact) -> bool {
    member.wanted().is_some_and(|w| w.when == WhenToStop::Now)
}

/// When what a person still insists on was carried out.
pub fn over_since(member: &MemberFact) -> Option<Timestamp> {
    let at = member.spec.as_ref().and_then(|s| s.stopped_now_at.as_ref());
    at.filter(|_| is_wanted(member)).map(|at| at.0)
}

/// What goes on record with a stop that is ordered now: it is used up, whether or
/// not it was needed.
pub fn used(facts: &Facts<'_>, member: &MemberFact) -> Option<Time> {
    is_wanted(member).then(|| Time(facts.now()))
}

/// It was taken back: set anew, it counts anew. Also while a turn is under way, since
/// a person may set it anew at any time.
pub fn forget(facts: &Facts<'_>) -> Option<Step> {
    facts.members.values().find_map(|member| {
        let is_over = member.spec.as_ref().is_some_and(|s| s.stopped_now_at.is_some());
        if !is_over || is_wanted(member) {
            return None;
        }
        let meta = &member.object.as_ref()?.meta;
        let patch = json!({ "spec": { "stoppedNowAt": Value::Null } });
        let doing = Doing::NowIsFree { member: member.name.clone() };
        Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
    })
}
