//! One member and what belongs to it: what is recorded, what its agent says,
//! and what Kubernetes has.

use super::PodFact;
use crate::resources as kinds;
use jiff::Timestamp;
use palladion_api::ids::{ClaimUid, HostId, MemberName, RackName, StaticAddress, Uid, VolumeId};
use palladion_api::labels;
use palladion_api::member::{
    CassandraMemberSpec, CassandraMemberStatus, Guard, Removal, RunState, ServerStatus,
    VolumeState, Wanted,
};
use palladion_api::reasons::Reason;
use palladion_plan::{Object, Subject};
use std::sync::Arc;

/// One member: what is recorded, what its agent says, and what Kubernetes has.
#[derive(Debug, Clone, Default)]
pub struct MemberFact {
    /// Name of the member, its pod and its Service.
    pub name: MemberName,
    /// Rack by its own name.
    pub rack: RackName,
    /// Ordinal in the rack's set.
    pub ordinal: i32,
    /// The member object.
    pub object: Option<Arc<Object>>,
    /// Its spec.
    pub spec: Option<CassandraMemberSpec>,
    /// Its status, empty until its agent has written.
    pub status: CassandraMemberStatus,
    /// The pod.
    pub pod: Option<PodFact>,
    /// The member Service's address.
    pub service: Option<ServiceFact>,
    /// The claim.
    pub claim: Option<ClaimFact>,
    /// The task that restarts it now.
    pub restart_task: Option<Uid>,
    /// Does a task drain it now?
    pub drain: DrainTask,
}

/// May a volume in this state be that of a member? What is not known may be: it is never counted
/// as none.
pub fn may_be_of_member(state: VolumeState) -> bool {
    match state {
        VolumeState::Joined | VolumeState::Unknown => true,
        VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Left
        | VolumeState::Lost
        | VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted => false,
    }
}

/// Does a task drain a member now?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DrainTask {
    /// None does.
    #[default]
    None,
    /// One does.
    Wanted,
    /// One did, and a person has taken it back: what was not begun yet is not begun.
    TakenBack,
}

/// A member's Service.
#[derive(Debug, Clone)]
pub struct ServiceFact {
    /// The static address, once given.
    pub address: Option<StaticAddress>,
    /// The stored object.
    pub object: Arc<Object>,
    /// The label `palladion.dev/decommissioned` of a member that leaves or has left.
    pub decommissioned: Option<String>,
    /// Since when it is kept for its address alone.
    pub alone_since: Option<Timestamp>,
}

/// Whether a server of a member runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// None does.
    None,
    /// Its agent reports one, or what it reports this build does not know.
    MayRun,
    /// Its agent has not been heard.
    Unknown,
}

/// A member's claim.
#[derive(Debug, Clone)]
pub struct ClaimFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// Is it bound to a volume?
    pub bound: bool,
    /// Is it being deleted?
    pub terminating: bool,
    /// Recorded host ID.
    pub host_id: Option<HostId>,
    /// Recorded volume ID.
    pub volume_id: Option<VolumeId>,
    /// Recorded address.
    pub address: Option<StaticAddress>,
}

impl MemberFact {
    /// What no server of it is started without: as the operator has said, or, where it has not,
    /// as its agent has noted on the volume.
    pub fn security_floor(&self) -> Option<&[Guard]> {
        let said = self.spec.as_ref().and_then(|spec| spec.security_floor.as_deref());
        said.or(self.status.security_floor.as_deref())
    }

    /// The member as what a wait is about.
    pub fn subject(&self) -> Subject {
        Subject::new(kinds::MEMBER, &self.name)
    }

    /// Does the agent of the pod that exists now speak?
    pub fn agent_speaks(&self) -> bool {
        match (&self.pod, &self.status.agent) {
            (Some(pod), Some(agent)) => pod.uid == agent.pod_uid && !pod.terminating,
            _ => false,
        }
    }

    /// What the agent of the pod that exists now says of the server.
    pub fn reported_server(&self) -> Option<&ServerStatus> {
        self.status.server.as_ref().filter(|_| self.agent_speaks())
    }

    /// Host ID from any witness: the operator's record, the agent's ledger once
    /// it says that the member has joined, the claim. A joiner has none.
    pub fn recorded_host_id(&self) -> Option<&HostId> {
        if self.is_gone() {
            return None;
        }
        let joined = self.status.volume.as_ref().is_some_and(|v| may_be_of_member(v.state));
        let reported = self.status.host_id.as_ref().filter(|_| joined);
        self.spec
            .as_ref()
            .and_then(|s| s.host_id.as_ref())
            .or(reported)
            .or(self.claim.as_ref().and_then(|c| c.host_id.as_ref()))
    }

    /// The address that its record names, or else its claim.
    pub fn recorded_address(&self) -> Option<&StaticAddress> {
        let recorded = self.spec.as_ref().and_then(|s| s.address.as_ref());
        recorded.or_else(|| self.claim.as_ref().and_then(|c| c.address.as_ref()))
    }

    /// The address under which the ring knows it, as far as that is on record: the claim
    /// names it until the member is back under another one.
    pub fn ring_address(&self) -> Option<&StaticAddress> {
        let claimed = self.claim.as_ref().and_then(|c| c.address.as_ref());
        claimed.or_else(|| self.spec.as_ref().and_then(|s| s.address.as_ref()))
    }

    /// Is it on record that this member has left for good, with proof?
    pub fn is_gone(&self) -> bool {
        self.spec.as_ref().is_some_and(|s| s.run == RunState::Terminated)
    }

    /// Has the operator ordered its server to be stopped, because a person wants it?
    pub fn is_stopped(&self) -> bool {
        self.spec.as_ref().is_some_and(|s| s.run == RunState::Stopped)
    }

    /// Has a person given up the volume that it is on? Nothing but a replacement goes on then.
    pub fn is_terminated(&self) -> bool {
        let spec = self.spec.as_ref();
        let given_up = spec.and_then(|s| s.terminated.as_ref()).map(|t| &t.volume_id);
        given_up.is_some() && given_up == spec.and_then(|s| s.volume_id.as_ref())
    }

    /// Does its agent say that a user has given up the volume, whatever is on record?
    pub fn is_banned(&self) -> bool {
        let reason = self.reported_server().and_then(|s| s.reason.as_deref());
        reason == Some(Reason::MemberTerminated.as_str())
    }

    /// What people want of it.
    pub fn wanted(&self) -> Option<&Wanted> {
        self.spec.as_ref()?.wanted.as_ref()
    }

    /// The removal of this member that is ordered: nothing cancels it meanwhile.
    pub fn removal(&self) -> Option<&Removal> {
        self.spec.as_ref()?.removal.as_ref()
    }

    /// Does it run and say that it is a full member?
    pub fn is_normal(&self) -> bool {
        self.agent_speaks()
            && self.status.server.as_ref().is_some_and(|s| {
                s.state == palladion_api::member::ServerState::Running
                    && s.mode.as_deref() == Some("NORMAL")
            })
    }

    /// The note of the operator since when it is down, as it stands in the object.
    pub fn down_note(&self) -> Option<&str> {
        self.object.as_ref()?.meta.annotations.get(labels::DOWN_SINCE).map(String::as_str)
    }

    /// The note of the operator until when hints for it may be on their way.
    pub fn hints_note(&self) -> Option<&str> {
        self.object.as_ref()?.meta.annotations.get(labels::HINTS_PENDING).map(String::as_str)
    }

    /// Does its agent report that a server of it runs, or may?
    pub fn may_run(&self) -> bool {
        self.reported_server().is_some_and(|server| server.state.may_run())
    }

    /// Does a server of it run? Where a pod has a Node, only its agent can say no: what it
    /// has not said is not known, and a server starts without being heard.
    pub fn process(&self) -> Process {
        match (self.reported_server(), &self.pod) {
            (Some(server), _) if server.state.may_run() => Process::MayRun,
            (Some(_), _) | (None, None) => Process::None,
            (None, Some(pod)) if pod.node.is_none() => Process::None,
            (None, Some(_)) => Process::Unknown,
        }
    }

    /// Was its server drained, and not restarted since?
    pub fn is_drained(&self) -> bool {
        let mode = self.reported_server().and_then(|s| s.mode.as_deref());
        mode == Some("DRAINED")
    }

    /// Does its agent speak, and does its machine answer? What a dead machine said
    /// last is no answer.
    pub fn agent_answers(&self, nodes: &std::collections::BTreeMap<String, bool>) -> bool {
        let node = self.pod.as_ref().and_then(|pod| pod.node.as_deref()).unwrap_or_default();
        self.agent_speaks() && nodes.get(node) == Some(&true)
    }

    /// The Node of its pod, if that is known and not ready: what runs there nobody knows.
    pub fn silent_node(&self, nodes: &std::collections::BTreeMap<String, bool>) -> Option<&str> {
        self.pod.as_ref()?.silent_node(nodes)
    }

    /// Does its own agent say that it serves, be it its own agent alone, and do kubelet and Node agree? What
    /// a dead machine said last is no sign of life.
    pub fn lives_by_its_own_word(&self, nodes: &std::collections::BTreeMap<String, bool>) -> bool {
        let stands = |pod: &PodFact| {
            let node = pod.node.as_deref().unwrap_or_default();
            // Of one that takes no clients yet the kubelet says what its agent has said.
            let is_closed = self.is_closed() || self.awaits_rebuild();
            let is_closed = is_closed && !pod.running.is_empty() && !pod.terminating;
            (pod.is_ready() || is_closed) && nodes.get(node) == Some(&true)
        };
        self.is_normal() && self.pod.as_ref().is_some_and(stands)
    }

    /// The volume as its own agent reports it now.
    pub fn volume(&self) -> Option<&palladion_api::member::VolumeStatus> {
        self.agent_speaks().then_some(self.status.volume.as_ref()).flatten()
    }

    /// Is there a claim that holds the data of a member that joined?
    pub fn is_bound_member(&self) -> bool {
        !self.is_gone() && self.claim.as_ref().is_some_and(|c| c.bound && c.host_id.is_some())
    }
}

impl ClaimFact {
    /// Its uid.
    pub fn uid(&self) -> ClaimUid {
        ClaimUid::from(&self.object.meta.uid)
    }

    /// The cluster object that it goes with, where its data is marked so.
    pub fn cluster_uid(&self) -> Option<Uid> {
        self.object.meta.annotations.get(labels::CLUSTER_UID).map(Uid::new)
    }

    /// The volume that a user has terminated while it was behind this claim.
    pub fn terminated_volume(&self) -> Option<VolumeId> {
        self.object.meta.annotations.get(labels::TERMINATED).map(VolumeId::new)
    }

    /// The host ID that left the ring with its data, as it is on record.
    pub fn left_host_id(&self) -> Option<HostId> {
        let left = self.object.meta.annotations.get(labels::GONE);
        left.filter(|id| !id.is_empty()).map(HostId::new)
    }

    pub(super) fn read(object: &Arc<Object>) -> Self {
        let annotation = |key: &str| object.meta.annotations.get(key).cloned();
        ClaimFact {
            bound: object.str_at("/volume").is_some_and(|v| !v.is_empty()),
            terminating: object.meta.is_terminating(),
            host_id: annotation(labels::HOST_ID).map(HostId::new),
            volume_id: annotation(labels::VOLUME_ID).map(VolumeId::new),
            address: annotation(labels::ADDRESS).map(StaticAddress::new),
            object: object.clone(),
        }
    }
}
