//! Volumes that people give up: what goes on record with the stop, and when that
//! is void. Nothing is deleted because of it; a replacement has proofs of its own.

use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::wanted::Doing;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::Termination;
use palladion_plan::Step;
use serde_json::{Value, json};

/// The first version of the member protocol in which an agent bans a volume.
const BANS_VOLUMES: u32 = 3;

/// Does its agent speak, and not know what is asked of it? Its version.
pub fn too_old(member: &MemberFact) -> Option<&str> {
    let agent = member.status.agent.as_ref().filter(|_| member.agent_speaks())?;
    (agent.protocol < BANS_VOLUMES).then_some(agent.version.as_str())
}

/// What goes on record of it; none of a member that is not on record itself.
pub fn record(facts: &Facts<'_>, member: &MemberFact) -> Option<Termination> {
    Some(Termination {
        volume_id: member.spec.as_ref()?.volume_id.clone()?,
        host_id: member.recorded_host_id()?.clone(),
        since: Time(facts.now()),
    })
}

/// The member has another volume by now: the record is void, and goes.
pub fn forget(facts: &Facts<'_>) -> Option<Step> {
    facts.members.values().find_map(|member| {
        let spec = member.spec.as_ref()?;
        let is_void = spec.terminated.is_some() && spec.volume_id.is_some();
        if !is_void || member.is_terminated() {
            return None;
        }
        let meta = &member.object.as_ref()?.meta;
        let patch = json!({ "spec": { "terminated": Value::Null } });
        let doing = Doing::Forget { member: member.name.clone() };
        Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
    })
}
