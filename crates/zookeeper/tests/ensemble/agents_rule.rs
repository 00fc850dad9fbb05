//! The rules of the real agent, over a modelled volume: what the volume is, and whether a
//! permit starts a server on it. A mind that gives permits which the agent refuses is seen.

use super::volume::{Part, Volume};
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_zookeeper::decide::permit;
use palladion_agent_zookeeper::decide::{Facts, Process, Source, SpecFact, Start, VolumeFact};
use palladion_agent_zookeeper::read::{Config, Server};
use palladion_agent_zookeeper::volume::judge::{Judgement, judge};
use palladion_agent_zookeeper::volume::ledger::{Ledger, Membership};
use palladion_agent_zookeeper::volume::{Data, Found};
use palladion_agent_zookeeper::words::permit::Refused;
use palladion_agent_zookeeper::words::volume::Part as Missing;
use palladion_api::ids::{MemberName, StaticAddress, VolumeId};
use palladion_api::member::{PermitState, PermitStatus};
use palladion_api::service_member::{
    MemberVolumeState, ServerRole, ServiceMemberSpec, ServicePermit,
};
use palladion_api::zookeeper::{ServerId, ZookeeperPorts, Zxid};
use palladion_plan::sim::PodRun;

/// What the agent says that the volume is.
pub fn state(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> MemberVolumeState {
    match judge(&found(volume, pod), &MemberName::new(&pod.key.name), spec) {
        Judgement::Is(state, _) => state,
        Judgement::New => MemberVolumeState::Empty,
        Judgement::LostUnmarked { .. } => MemberVolumeState::Lost,
    }
}

/// Does the agent take it into use, and in the place of which volume that is lost?
pub fn taken(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> Option<Option<VolumeId>> {
    match judge(&found(volume, pod), &MemberName::new(&pod.key.name), spec) {
        Judgement::New => Some(None),
        Judgement::LostUnmarked { lost } => Some(Some(lost)),
        Judgement::Is(..) => None,
    }
}

/// Whether, and how, the agent starts a server by this permit.
pub fn start(
    volume: &Volume,
    pod: &PodRun,
    spec: &ServiceMemberSpec,
    permit: &ServicePermit,
) -> Result<Start, Refused> {
    let (found, member) = (found(volume, pod), MemberName::new(&pod.key.name));
    let ledger = found.ledger.as_ref().unwrap();
    let facts = Facts {
        now: jiff::Timestamp::UNIX_EPOCH,
        pod_uid: &pod.uid,
        member: &member,
        revision: &pod.revision,
        spec: Some(SpecFact { spec, source: Source::Live }),
        volume: VolumeFact::Found(&found),
        process: Process::Absent,
        container: Phase::Serving,
        reading: None,
        stopping: None,
        last_words: None,
    };
    let own = (spec.server_id.unwrap(), spec.address.as_ref().unwrap());
    permit::start(&facts, spec, permit, (&found, ledger, state(volume, pod, spec)), own)
}

/// The volume as the agent finds it while no server runs.
fn found(volume: &Volume, pod: &PodRun) -> Found {
    let config = volume.file.as_ref().map(|file| {
        let servers = file.servers.iter().map(|(id, (address, votes))| {
            let role = if *votes { ServerRole::Participant } else { ServerRole::Observer };
            let address = StaticAddress::new(address);
            (ServerId::new(*id), Server::new(&address, &ZookeeperPorts::default(), role))
        });
        Config { version: Zxid::new(file.version), servers: servers.collect() }
    });
    let data = match &volume.data {
        None => Data::Absent,
        Some(data) if data.log.is_empty() && data.epoch == 0 => {
            Data::Partial(vec![Missing::CurrentEpoch, Missing::Logs])
        }
        Some(data) if data.log.is_empty() => Data::Unlogged,
        Some(_) => Data::Whole,
    };
    Found {
        file_system: pod.disk.clone(),
        marker: volume.id.clone().map(VolumeId::new),
        owner: Some(MemberName::new(&pod.key.name)),
        ledger: Some(ledger(volume)),
        data,
        config,
        epoch: volume.data.as_ref().and_then(|data| i64::try_from(data.epoch).ok()),
        last_zxid: None,
    }
}

fn ledger(volume: &Volume) -> Ledger {
    let known = &volume.ledger;
    let id = volume.id.clone().unwrap_or_default();
    let mut ledger = Ledger::new(VolumeId::new(id), known.successor_of.clone());
    ledger.server_id = known.server_id.map(ServerId::new);
    ledger.counter = known.starts;
    ledger.used_permits.clone_from(&known.used);
    ledger.permit = known.used.last().map(|nonce| PermitStatus {
        nonce: nonce.clone(),
        state: PermitState::Used,
        message: None,
    });
    ledger.membership = match (known.part, &known.begun_by) {
        (Part::Begun, Some((kind, nonce))) => {
            Membership::Joining { kind: *kind, nonce: nonce.clone() }
        }
        (Part::None | Part::Begun, _) => Membership::Empty,
        (Part::Joined, _) => Membership::Joined,
        (Part::Left, _) => Membership::Left,
    };
    ledger
}
