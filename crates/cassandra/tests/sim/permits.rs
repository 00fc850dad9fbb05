//! Starts by permit: what it must fit, what becomes of the data first, and
//! what becomes of a start whose permit is taken back.

use super::agent::{Agent, Reach};
use super::ring::{BOOT, Phase, Server};
use super::volume::Membership;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::StaticAddress;
use palladion_api::member::{
    CassandraMemberSpec, DataBeforeStart, MemberState, PermitKind, PermitState, PermitStatus,
    ServerState, StartPermit, StartRecord, VolumeState,
};
use palladion_api::reasons::Reason;
use palladion_plan::sim::Activity;

impl Agent {
    pub(super) fn use_permit(
        &mut self,
        spec: &CassandraMemberSpec,
        permit: &StartPermit,
        state: VolumeState,
        reach: &mut Reach<'_>,
    ) -> Activity {
        let ledger_id = self.ledger(reach).map(|l| l.volume_id.clone()).unwrap_or_default();
        let fits_data = match (state, permit.data) {
            (VolumeState::Empty, _) => true,
            (VolumeState::Incomplete, DataBeforeStart::Wipe) => {
                permit.kind != PermitKind::Initialize
            }
            (VolumeState::Incomplete, DataBeforeStart::Keep) => {
                permit.kind != PermitKind::ResumeLeave
            }
            (VolumeState::Lost, DataBeforeStart::MustBeEmpty | DataBeforeStart::Wipe) => {
                permit.kind != PermitKind::Initialize
            }
            (VolumeState::Left, DataBeforeStart::Retire) => permit.kind == PermitKind::Join,
            (VolumeState::Joined, DataBeforeStart::Keep) => permit.kind == PermitKind::ResumeLeave,
            (_, _) => false,
        };
        let refusal = if permit.pod_uid.as_str() != self.pod.uid {
            Some("the permit is for another pod")
        } else if permit.volume_id != ledger_id {
            Some("the permit is for another volume")
        } else if !fits_data {
            Some("the permit does not fit what is on the volume")
        } else {
            None
        };
        let now = reach.now;
        if let Some(words) = refusal {
            if let Some(ledger) = self.ledger_mut(reach) {
                ledger.permit = Some(PermitStatus {
                    nonce: permit.nonce.clone(),
                    state: PermitState::Refused,
                    message: Some(words.into()),
                });
            }
            self.wait(Reason::WaitingForPermit, now);
            return Activity::default();
        }
        self.prepare_data(permit, reach);
        if let Some(ledger) = self.ledger_mut(reach) {
            if permit.kind != PermitKind::ResumeLeave {
                ledger.ring = Some(spec.ring.clone());
                ledger.membership =
                    Membership::Joining { kind: permit.kind, nonce: permit.nonce.clone() };
                ledger.host_id = None;
                ledger.address = None;
                ledger.intent = None;
                ledger.banned = false;
            }
            ledger.used.push(permit.nonce.clone());
            ledger.permit = Some(PermitStatus {
                nonce: permit.nonce.clone(),
                state: PermitState::Used,
                message: None,
            });
        }
        let own = spec.address.clone().unwrap_or_default();
        let seeds = match permit.kind {
            PermitKind::Initialize => vec![own],
            PermitKind::Join | PermitKind::Replace | PermitKind::ResumeLeave => {
                spec.seeds.iter().filter(|s| **s != own).cloned().collect()
            }
        };
        self.launch(spec, Some(permit), seeds, reach);
        Activity::ACTED
    }

    /// What the permit says of left-overs; never the data of a full member.
    fn prepare_data(&self, permit: &StartPermit, reach: &mut Reach<'_>) {
        let Some(disk) = reach.disks.get_mut(&self.pod.disk) else {
            return;
        };
        let removed = match permit.data {
            DataBeforeStart::Wipe => disk.content.data.take(),
            DataBeforeStart::Retire => {
                let old = disk.content.data.take();
                disk.content.retired.extend(old.clone());
                old
            }
            DataBeforeStart::MustBeEmpty | DataBeforeStart::Keep => None,
        };
        let seat = removed.and_then(|data| reach.ring.seats.get(&data.host_id).cloned());
        if seat.is_some_and(|seat| seat.state != MemberState::Joining) {
            let name = &self.pod.key.name;
            reach.ring.breaches.push(format!("{name} removes the data of a full member"));
        }
    }

    pub(super) fn launch(
        &mut self,
        spec: &CassandraMemberSpec,
        permit: Option<&StartPermit>,
        seeds: Vec<StaticAddress>,
        reach: &mut Reach<'_>,
    ) {
        let cause = permit.map_or("Autonomous".to_string(), |p| format!("{:?}", p.kind));
        let member = self.pod.key.name.clone();
        reach.ring.told.push(format!("{member} starts its server ({cause})"));
        let server = Server {
            member,
            disk: self.pod.disk.clone(),
            address: spec.address.clone().unwrap_or_default(),
            seeds,
            replace: permit.and_then(|p| p.replace_address.clone()),
            resumes: permit.is_some_and(|p| p.kind == PermitKind::ResumeLeave),
            lineage: None,
            host_id: None,
            phase: Phase::Booting,
            until: reach.now + BOOT,
            configuration: self.configuration.clone(),
            version: self.version.clone(),
        };
        reach.ring.servers.insert(self.pod.uid.clone(), server);
        let record = StartRecord {
            started_at: Time(reach.now),
            cause,
            normal_at: None,
            ended_at: None,
            exit_code: None,
            message: None,
        };
        if let Some(ledger) = self.ledger_mut(reach) {
            ledger.starts.insert(0, record);
            ledger.starts.truncate(5);
            ledger.restart_token.clone_from(&spec.restart_token);
        }
        self.set(ServerState::Starting, Reason::Starting, "", reach.now);
    }

    /// A permit that was taken back: the server that is not a full member yet is stopped.
    pub(super) fn heed_withdrawal(&mut self, spec: &CassandraMemberSpec, reach: &mut Reach<'_>) {
        let Some(ledger) = self.ledger(reach) else {
            return;
        };
        let joining = matches!(ledger.membership, Membership::Joining { .. });
        let used = ledger.permit.clone().filter(|p| p.state == PermitState::Used);
        let Some(used) = used.filter(|_| joining) else {
            return;
        };
        if spec.start.as_ref().is_some_and(|s| s.nonce == used.nonce) {
            return;
        }
        reach.ring.stop(&self.pod.uid, reach.now);
        if let Some(permit) = self.ledger_mut(reach).and_then(|l| l.permit.as_mut()) {
            permit.state = PermitState::Withdrawn;
        }
        self.wait(Reason::WaitingForPermit, reach.now);
    }
}
