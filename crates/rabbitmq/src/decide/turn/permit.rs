//! Permits: given to the member that has the turn, and how far they are.

use super::yet_to_grow;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Proof};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use palladion_api::labels;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::{DataBeforeServiceStart, ServicePermitKind};
use palladion_plan::members::turn as shared;
pub use palladion_plan::members::turn::{Course, TRIES, data_before_join, keeps_volume, withdraw};
use palladion_plan::words::turn::Doing;
use palladion_plan::{Flow, Step};
use serde_json::json;

/// What came of the permit of this turn.
pub fn course(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Course {
    let own = Some(facts.node_of(member));
    let has_joined =
        member.status.node_name == own && shared::is_joined_on_its_volume(turn, member);
    shared::course(turn, member, has_joined)
}

/// A permit in the making.
pub struct Permit<'a> {
    /// The turn that it belongs to.
    pub turn: &'a ServiceTurn,
    /// The member that gets it.
    pub member: &'a MemberFact,
    /// Nodes to join through.
    pub nodes: Vec<NodeName>,
    /// Feature flags of the cluster.
    pub flags: Vec<String>,
    /// What happens to what is on the volume.
    pub data: DataBeforeServiceStart,
    /// Why it may be given.
    pub proof: &'a Proof,
}

/// Give the permit of a turn to its member. The name of the node is on the claim before
/// it is used: the claim outlives every other object of the cluster.
pub fn give(facts: &Facts<'_>, permit: &Permit<'_>, draft: &mut Draft) {
    let Permit { turn, member, nodes, flags, data, proof } = permit;
    let (Some(object), Some(pod), Some(claim)) = (&member.object, &member.pod, &member.claim)
    else {
        return;
    };
    let (kind, grows) = match turn.step {
        ServiceStep::Initialize => (ServicePermitKind::Initialize, None),
        ServiceStep::Join => (ServicePermitKind::Join, Some(&turn.nonce)),
        // As long as its loss is on record it is brought to its end.
        ServiceStep::Replace => (ServicePermitKind::Join, None),
        ServiceStep::Leave | ServiceStep::Restart | ServiceStep::Rescue | ServiceStep::Remove => {
            return;
        }
    };
    let node = facts.node_of(member);
    let annotations = json!({
        labels::NODE_NAME: node, labels::VOLUME_ID: turn.volume_id,
        labels::ADDRESS: member.address(), labels::GONE: null,
    });
    let doing = || Doing::Permit { member: member.name.clone(), work: turn.step.into() };
    let patch = json!({ "metadata": { "annotations": annotations } });
    let on_claim = Step::patch_as_seen(kinds::CLAIM, &claim.object.meta, patch, doing());
    draft.steps.push(on_claim.fenced(facts.fence()));
    let reported = member.volume();
    let on_member = json!({ "annotations": yet_to_grow::annotation(grows) });
    let patch = json!({ "metadata": on_member, "spec": {
        "nodeName": node,
        "volumeID": turn.volume_id,
        "fileSystem": reported.map(|v| &v.file_system),
        "starts": reported.and_then(|v| v.starts),
        "operation": null,
        "intent": null,
        "start": {
            "kind": kind,
            "nonce": turn.nonce,
            "podUID": pod.uid,
            "volumeID": turn.volume_id,
            "reason": proof.text(),
            "attempt": turn.attempt,
            "nodes": nodes,
            "flags": flags,
            "data": data,
        },
    }});
    draft.steps.push(
        Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing())
            .fenced(facts.fence())
            .proven(proof.stated()),
    );
}

/// Give the permit anew to one whose start on this volume was permitted before, if it goes on
/// with what the volume holds.
pub fn give_again(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) -> Flow {
    let nodes = known_nodes(facts, member);
    let proof = evidence::keeps_its_data(facts, turn, member).filter(|_| !nodes.is_empty());
    let Some(proof) = proof else { return Flow::Free };
    let (flags, data) = (Vec::new(), DataBeforeServiceStart::Keep);
    give(facts, &Permit { turn, member, nodes, flags, data, proof: &proof }, draft);
    Flow::Busy
}

/// The other nodes of the cluster: those that serve or, where none does, those that have
/// served. Of two nodes the other one serves only with this one, and its agent refuses a
/// permit that names no node.
fn known_nodes(facts: &Facts<'_>, member: &MemberFact) -> Vec<NodeName> {
    let serving = facts.views().filter(|(m, _)| m.name != member.name);
    let serving: Vec<NodeName> = serving.map(|(_, view)| view.node.clone()).collect();
    if !serving.is_empty() {
        return serving;
    }
    let others = facts.enrolled().filter(|m| m.name != member.name && m.has_served());
    others.map(|m| facts.node_of(m)).collect()
}

/// The nodes that a joiner joins through, and the feature flags that it starts with.
pub fn of_cluster(agreed: &Agreed, own: &NodeName) -> (Vec<NodeName>, Vec<String>) {
    let running = agreed.answers.values().map(|answer| answer.broker.node.clone());
    let flags = agreed.flags().map(|flags| flags.enabled.clone());
    (running.filter(|node| node != own).collect(), flags.unwrap_or_default())
}
