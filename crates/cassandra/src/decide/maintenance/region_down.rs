//! A whole datacenter that is down for all members here goes on record, with a nonce: by that a user
//! may say that restarts and replacements here go on without it, for this one absence.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Elsewhere};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Objection;
use crate::words::regions::Doing;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::RegionDown;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Note it, and forget it when one of its members is up again, or none is there any more. A member
/// that has just been restarted may not know yet where those that are down are: by that nobody is back.
pub fn note(facts: &Facts<'_>, draft: &mut Draft) {
    let on_record = facts.status.region_down.as_ref();
    let all: Vec<&MemberFact> = facts.joined().filter(|m| m.is_normal()).collect();
    if all.is_empty() || all.iter().any(|m| m.status.ring.is_none()) {
        return;
    }
    let down = down_for_all(facts, &all);
    let (status, doing) = match (on_record, down) {
        (None, Some(datacenter)) => {
            let nonce = facts.snapshot.nonce.clone();
            let since = Time(facts.now());
            let doing = Doing::NoteDown { datacenter: datacenter.clone() };
            (json!(RegionDown { datacenter, nonce, since }), doing)
        }
        (Some(known), _) if evidence::is_back_or_gone(facts, &all, &known.datacenter) => {
            (Value::Null, Doing::NoteBack { datacenter: known.datacenter.clone() })
        }
        (None, None) | (Some(_), _) => return,
    };
    let pointers = ["/status/turn", "/status/regionDown"];
    let seen = pointers.map(|pointer| lock::seen(facts, pointer)).into();
    draft.steps.push(Step::compare_and_set(json!({ "regionDown": status }), seen, doing));
}

/// The datacenter of which every one of these sees all members down.
fn down_for_all(facts: &Facts<'_>, all: &[&MemberFact]) -> Option<String> {
    let mut seen = all.iter().map(|member| {
        match evidence::elsewhere_is_quiet(facts, &[member], Elsewhere::AllNormal) {
            Err(Objection::RegionDown { datacenter, .. }) => Some(datacenter),
            Ok(()) | Err(_) => None,
        }
    });
    let first = seen.next()??;
    seen.all(|other| other.as_ref() == Some(&first)).then_some(first)
}
