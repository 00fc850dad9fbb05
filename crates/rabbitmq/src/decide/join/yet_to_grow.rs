//! Who has yet to take its replicas: on record from before its node may join until it has
//! them. Its permit does not say so: that goes when its node serves, or with a turn that ends
//! before others name the node, which may be one of them by then all the same. Without the
//! record such a node would look like a whole member, and queues would miss a replica for ever.

use crate::decide::turn::permit::yet_to_grow;
use crate::facts::{Facts, MemberFact};
use crate::resources::{self as kinds, YET_TO_GROW};
use crate::words::join::Doing;
use palladion_api::ids::Nonce;
use palladion_api::service_member::ServicePermitKind;
use palladion_plan::Step;
use serde_json::{Value, json};

/// The nonce of the turn in which this member was to take replicas that it has not taken yet.
/// A permit of an operator that made no such record says so as well.
pub(super) fn nonce_of(member: &MemberFact) -> Option<Nonce> {
    let recorded = member.object.as_ref()?.meta.annotations.get(YET_TO_GROW);
    let permit = member.spec.as_ref().and_then(|spec| spec.start.as_ref());
    let permit = permit.filter(|start| start.kind == ServicePermitKind::Join);
    recorded.map(Nonce::new).or_else(|| permit.map(|start| start.nonce.clone()))
}

/// Put it on record that this member takes replicas in the turn with this nonce.
pub fn record(facts: &Facts<'_>, member: &MemberFact, nonce: &Nonce) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "metadata": { "annotations": yet_to_grow(Some(nonce)) } });
    let doing = Doing::YetToGrow { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}

/// It has its replicas: the record goes, and the permit with it.
pub(super) fn forget(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    nonce_of(member)?;
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({
        "metadata": { "annotations": yet_to_grow(None) }, "spec": { "start": Value::Null },
    });
    let doing = Doing::HasGrown { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}
