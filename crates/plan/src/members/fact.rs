//! One member and what belongs to it: what is recorded, what its agent says, and what
//! Kubernetes has. What its system reports of itself reads the mind.

use super::{ClaimFact, MEMBER};
use crate::object::Object;
use crate::wait::Subject;
use crate::words::members::Server;
use crate::workload::pod::{PodFact, Reported};
use crate::workload::words::MemberPod;
use palladion_api::ids::{MemberName, Nonce, StaticAddress, VolumeId};
use palladion_api::member::RunState;
use palladion_api::service_member::{
    MemberEvidence, MemberServer, MemberServerState, MemberVolume, MemberVolumeState,
    ServiceMemberSpec, ServiceMemberStatus, VolumeLoss,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One member: what is recorded, what its agent says, and what Kubernetes has.
#[derive(Debug, Clone, Default)]
pub struct MemberFact {
    /// Name of the member and its pod.
    pub name: MemberName,
    /// Ordinal in the set.
    pub ordinal: i32,
    /// The member object.
    pub object: Option<Arc<Object>>,
    /// Its spec.
    pub spec: Option<ServiceMemberSpec>,
    /// Its status, empty until its agent has written.
    pub status: ServiceMemberStatus,
    /// What the system calls the server on its volume (its server ID, its node name), by
    /// the record or, without one, by the claim. None was given before its first permit.
    pub identity: Option<String>,
    /// Does it serve as a full member now, by its own word? Set by the mind, which knows
    /// what its system reports; false is "not known" as well.
    pub serves: bool,
    /// Do others that serve report that it runs? It may, while its own agent cannot ask it.
    /// Set by the mind, where its system reports it.
    pub is_seen: bool,
    /// Does its server run and come to nothing before another one starts, by its own word?
    /// Set by the mind, where its system reports it.
    pub waits_for_others: bool,
    /// The pod.
    pub pod: Option<PodFact>,
    /// Its Services: of its address, and of addresses of volumes that were lost.
    pub services: Vec<ServiceFact>,
    /// The claim.
    pub claim: Option<ClaimFact>,
}

/// A Service that holds an address of a member.
#[derive(Debug, Clone)]
pub struct ServiceFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// The address, once given.
    pub address: Option<StaticAddress>,
}

impl MemberFact {
    /// The member as what a wait is about.
    pub fn subject(&self) -> Subject {
        Subject::new(MEMBER, &self.name)
    }

    /// Does the agent of the pod that exists now speak?
    pub fn agent_speaks(&self) -> bool {
        match (&self.pod, &self.status.agent) {
            (Some(pod), Some(agent)) => pod.uid == agent.pod_uid && !pod.terminating,
            _ => false,
        }
    }

    /// Does its agent speak, and is its Node not known to be away? What a dead machine said
    /// last is no answer.
    pub fn agent_answers(&self, nodes: &BTreeMap<String, bool>) -> bool {
        let node = self.pod.as_ref().and_then(|pod| pod.node.as_deref());
        self.agent_speaks() && node.is_none_or(|node| nodes.get(node) != Some(&false))
    }

    /// What the agent of the pod that exists now says of the server.
    pub fn server(&self) -> Option<&MemberServer> {
        self.status.server.as_ref().filter(|_| self.agent_speaks())
    }

    /// The volume as its own agent reports it now.
    pub fn volume(&self) -> Option<&MemberVolume> {
        self.status.volume.as_ref().filter(|_| self.agent_speaks())
    }

    /// Does its agent report now that nothing has come to its volume yet?
    pub fn is_on_empty_volume(&self) -> bool {
        self.volume().is_some_and(|volume| volume.state == MemberVolumeState::Empty)
    }

    /// The volume on record.
    pub fn volume_id(&self) -> Option<&VolumeId> {
        self.spec.as_ref()?.volume_id.as_ref()
    }

    /// The volume on record, or else the one that its agent reports.
    pub fn known_volume_id(&self) -> Option<&VolumeId> {
        self.volume_id().or(self.volume().map(|v| &v.volume_id))
    }

    /// Does its agent report the volume that is on record?
    pub fn is_on_its_volume(&self) -> bool {
        let reported = self.volume().map(|v| &v.volume_id);
        reported.is_some() && reported == self.volume_id()
    }

    /// Was a server on its volume given a name of its own, and has not left?
    pub fn is_enrolled(&self) -> bool {
        self.identity.is_some() && !self.is_gone()
    }

    /// The address on record.
    pub fn address(&self) -> Option<&StaticAddress> {
        let recorded = self.spec.as_ref().and_then(|s| s.address.as_ref());
        recorded.or_else(|| self.claim.as_ref().and_then(|c| c.address.as_ref()))
    }

    /// Is it on record that it has left for good, with proof?
    pub fn is_gone(&self) -> bool {
        self.spec.as_ref().is_some_and(|s| s.run == RunState::Terminated)
    }

    /// The record that its volume is lost.
    pub fn loss(&self) -> Option<&VolumeLoss> {
        self.spec.as_ref()?.replace.as_ref()
    }

    /// Is the volume that it has on record the one that is lost by that record? In a
    /// replacement it has another one, as soon as a server was permitted on that.
    pub fn is_marked(&self) -> bool {
        self.loss().is_some_and(|l| Some(&l.lost.volume_id) == self.volume_id())
    }

    /// Is the volume lost that it has on record, by that record or by its own agent's word?
    pub fn is_lost(&self) -> bool {
        self.is_marked() || self.is_lost_by_its_own_word()
    }

    /// Does its own agent report that what the server has acknowledged may be gone? Where
    /// an old copy was mounted, the newer volume may still exist: that a person says.
    pub fn is_lost_by_its_own_word(&self) -> bool {
        self.volume().is_some_and(|v| match v.state {
            MemberVolumeState::Lost => true,
            MemberVolumeState::Empty
            | MemberVolumeState::Incomplete
            | MemberVolumeState::Joined
            | MemberVolumeState::Left
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack
            | MemberVolumeState::Unknown => false,
        })
    }

    /// Has a server on its volume been a full member, as far as anybody knows? What is
    /// not known may have been.
    pub fn has_served(&self) -> bool {
        let reported = self.status.volume.as_ref().is_some_and(|v| match v.state {
            MemberVolumeState::Joined
            | MemberVolumeState::Lost
            | MemberVolumeState::RolledBack
            | MemberVolumeState::Unknown => true,
            MemberVolumeState::Empty
            | MemberVolumeState::Incomplete
            | MemberVolumeState::Left
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted => false,
        });
        self.identity.is_some() && reported
    }

    /// Does a server run on its volume, so that what its agent last reported of it is how
    /// it is now?
    pub fn runs(&self) -> bool {
        let runs = self.server().is_some_and(|s| match s.state {
            MemberServerState::Running | MemberServerState::Starting => true,
            MemberServerState::Waiting
            | MemberServerState::Stopped
            | MemberServerState::Stopping
            | MemberServerState::Failed
            | MemberServerState::Left
            | MemberServerState::Unknown => false,
        });
        runs && self.is_on_its_volume()
    }

    /// Its answer to this question, as the agent of the pod that exists now gave it for
    /// the volume on record.
    pub fn answered(&self, nonce: &Nonce) -> Option<&MemberEvidence> {
        let evidence = self.status.evidence.as_ref().filter(|e| e.nonce == *nonce)?;
        let of_volume = Some(&evidence.volume_id) == self.volume_id();
        (of_volume && self.agent_speaks()).then_some(evidence)
    }

    /// Is its pod ready?
    pub fn is_ready(&self) -> bool {
        self.pod.as_ref().is_some_and(PodFact::is_ready)
    }

    /// May a server of it run, as far as its agent says? One that is silent may, unless its
    /// pod has no machine yet.
    pub fn may_run(&self) -> bool {
        match self.server() {
            Some(server) => server.state.may_run(),
            None => self.pod.as_ref().is_some_and(|pod| pod.node.is_some()),
        }
    }

    /// The Service whose address it has on record, or the one that it will have.
    pub fn service(&self) -> Option<&ServiceFact> {
        match self.spec.as_ref().and_then(|s| s.address.as_ref()) {
            Some(address) => self.services.iter().find(|s| s.address.as_ref() == Some(address)),
            None => self.services.iter().find(|s| s.object.meta.name == self.name.as_str()),
        }
    }

    /// How far its pod is, for people.
    pub fn pod_words(&self) -> MemberPod {
        let reported = match self.volume() {
            _ if !self.agent_speaks() => Reported::Nothing,
            None => Reported::NoVolume,
            Some(_) => Reported::Volume,
        };
        self.pod.as_ref().map_or(MemberPod::Missing, |pod| pod.of_member(reported))
    }

    /// What its agent reports about the server, for people.
    pub fn server_words(&self) -> Server {
        match (self.server(), &self.pod) {
            (Some(s), _) => Server::of(s.state, s.message.as_deref()),
            (None, None) => Server::NoPod,
            (None, Some(pod)) if pod.terminating => Server::PodTerminating,
            (None, Some(_)) => Server::Silent,
        }
    }
}

impl ServiceFact {
    pub(super) fn read(object: &Arc<Object>) -> Self {
        let address = object.str_at("/spec/clusterIP").filter(|a| !a.is_empty() && *a != "None");
        Self { address: address.map(StaticAddress::new), object: object.clone() }
    }
}
