//! The rules of the real agent, over a modelled volume: what the volume is, and whether a
//! permit starts a node on it. A mind that gives permits which the agent refuses is seen.

use super::volume::{Part, Volume};
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_rabbitmq::decide::permit;
use palladion_agent_rabbitmq::decide::{
    Facts, Process, Source, SpecFact, Start, VolumeFact, WorkFact,
};
use palladion_agent_rabbitmq::read::Sign;
use palladion_agent_rabbitmq::volume::judge::{Judgement, judge};
use palladion_agent_rabbitmq::volume::ledger::{Entered, Ledger, Membership};
use palladion_agent_rabbitmq::volume::{Data, Found};
use palladion_agent_rabbitmq::words::permit::Refused;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{MemberVolumeState, ServiceMemberSpec, ServicePermit};
use palladion_plan::sim::PodRun;

/// What the agent says that the volume is.
pub fn state(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> MemberVolumeState {
    match judge(&found(volume, pod), &MemberName::new(&pod.key.name), spec) {
        Judgement::Is(state, _) => state,
        Judgement::New => MemberVolumeState::Empty,
        Judgement::LostUnmarked { .. } => MemberVolumeState::Lost,
    }
}

/// Does the agent take it into use?
pub fn is_new(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> bool {
    judge(&found(volume, pod), &MemberName::new(&pod.key.name), spec) == Judgement::New
}

/// Whether, and how, the agent starts a node by this permit.
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
        credentials: None,
        named: None,
        process: Process::Absent,
        container: Phase::Serving,
        doors: None,
        reading: None,
        sign: &Sign::None,
        work: WorkFact::Idle,
        stopping: None,
        last_words: None,
    };
    let own = (spec.node_name.as_ref().unwrap(), spec.address.as_ref().unwrap());
    permit::start(&facts, permit, (&found, ledger, state(volume, pod, spec)), own)
}

/// The volume as the agent finds it while no node runs.
fn found(volume: &Volume, pod: &PodRun) -> Found {
    let data = volume.data.as_ref();
    let members = data.iter().filter(|data| data.is_noted).flat_map(|data| &data.cluster);
    Found {
        file_system: pod.disk.clone(),
        marker: volume.id.clone().map(VolumeId::new),
        owner: Some(MemberName::new(&pod.key.name)),
        ledger: volume.id.as_ref().map(|id| ledger(volume, id)),
        data: if data.is_some() { Data::Whole } else { Data::Absent },
        members: members.map(NodeName::new).collect(),
    }
}

fn ledger(volume: &Volume, id: &str) -> Ledger {
    let known = &volume.ledger;
    let mut ledger = Ledger::new(VolumeId::new(id), None);
    ledger.counter = known.starts;
    ledger.used_permits.clone_from(&known.used);
    ledger.permit.clone_from(&known.permit);
    ledger.own.node_name = known.node_name.as_ref().map(NodeName::new);
    ledger.membership = match (known.part, &known.begun_by) {
        (Part::Begun, Some((kind, nonce))) => {
            Membership::Joining { kind: *kind, nonce: nonce.clone() }
        }
        (Part::None | Part::Begun, _) => Membership::Empty,
        (Part::Joined, _) => Membership::Joined,
        (Part::Left, _) => Membership::Left,
    };
    ledger.own.entered = match known.part {
        Part::Joined => Entered::Yes,
        Part::None | Part::Begun | Part::Left => Entered::No,
    };
    ledger
}
