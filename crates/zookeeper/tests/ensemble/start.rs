//! How an agent starts its server: when, with which configuration, and with what on disk.

use super::agent::{Agent, Cause, answer};
use super::agents_rule;
use super::model::{Config, Data, Server};
use super::volume::Part;
use super::world::World;
use jiff::SignedDuration;
use palladion_agent_core::service::permit::TRIES;
use palladion_api::member::{PermitState, PermitStatus};
use palladion_api::service_member::{
    DataBeforeServiceStart, ServiceMemberSpec, ServicePermit, ServicePermitKind,
};
use palladion_plan::sim::{Activity, PodRun};

/// From the permit, or the pod's start, to the server's.
const START: SignedDuration = SignedDuration::from_secs(1);
/// From the end of a server to its next start.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(5);

/// Why an agent refuses a permit for a while.
const NOT_NOW: &str = "the volume is out of order";

impl World {
    /// Start the server, if it does not run.
    pub(super) fn run(
        &mut self,
        agent: &mut Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        cause: Cause<'_>,
    ) -> Activity {
        let uid = pod.uid.as_str();
        let wants_restart = agent.restart_token.as_ref().is_some_and(|t| *t != spec.restart_token);
        if wants_restart {
            self.spared(&pod.key.name);
            if self.ensemble.stop(uid) {
                agent.begun = None;
            }
        }
        if let Cause::Permit(permit) = cause
            && permit.kind == ServicePermitKind::Rescue
            && agent.permit.as_ref().is_none_or(|p| p.nonce != permit.nonce)
        {
            self.ensemble.stop(uid);
        }
        if self.ensemble.servers.contains_key(uid) {
            // A joiner that was started by another permit starts anew by this one.
            let is_begun = self.volume(pod).ledger.part == Part::Begun;
            let is_other = |p: &ServicePermit| {
                is_begun && agent.permit.as_ref().is_some_and(|own| own.nonce != p.nonce)
            };
            if let Cause::Permit(permit) = cause
                && is_other(permit)
                && !self.serves_as_member(uid)
            {
                self.ensemble.stop(uid);
                (agent.permit, agent.begun) = (None, None);
                return Activity::ACTED;
            }
            return Activity::default();
        }
        if let Cause::Permit(permit) = cause
            && self.refusing.contains(&pod.key.name)
        {
            let message = Some(NOT_NOW.to_string());
            agent.permit = Some(PermitStatus { message, ..answer(permit, PermitState::Refused) });
            return Activity::ACTED;
        }
        if let Cause::Permit(permit) = cause
            && let Err(why) = agents_rule::start(self.volume(pod), pod, spec, permit)
        {
            self.tell(&format!("{}: refuses its permit: {why}", pod.key.name));
            let message = Some(why.to_string());
            agent.permit = Some(PermitStatus { message, ..answer(permit, PermitState::Refused) });
            return Activity::ACTED;
        }
        if let Cause::Permit(permit) = cause
            && agent.permit.as_ref().is_none_or(|p| p.nonce != permit.nonce)
        {
            agent.permit = Some(answer(permit, PermitState::Used));
            (agent.begun, agent.last_words, agent.failed) = (None, None, 0);
        }
        let pause = if agent.last_words.is_some() { BACK_OFF } else { START };
        let start = *agent.begun.get_or_insert(self.store.now) + pause;
        if self.store.now < start {
            return Activity::default().at(start);
        }
        agent.begun = None;
        agent.restart_token = Some(spec.restart_token.clone());
        match self.launch(pod, spec, cause) {
            Ok(()) => (agent.last_words, agent.failed) = (None, 0),
            Err(words) => {
                agent.failed += 1;
                agent.last_words = Some(words);
                if let Cause::Permit(permit) = cause
                    && agent.failed >= TRIES
                {
                    // From then on it waits for another permit.
                    (agent.last_words, agent.failed) = (None, 0);
                    agent.permit = Some(answer(permit, PermitState::Failed));
                }
            }
        }
        Activity::ACTED
    }

    fn launch(
        &mut self,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        cause: Cause<'_>,
    ) -> Result<(), String> {
        if self.unlucky.contains(&pod.key.name) {
            return Err("unlucky".to_string());
        }
        if let Cause::Permit(permit) = cause {
            let id = spec.server_id.unwrap().number();
            self.make_way(pod, id, permit)?;
            self.volume(pod).ledger.begun_by = Some((permit.kind, permit.nonce.clone()));
            self.volume(pod).ledger.used.push(permit.nonce.clone());
            self.write_file(pod, spec, permit);
        }
        let address = spec.address.as_ref().unwrap().to_string();
        let volume = self.volume(pod);
        volume.ledger.starts += 1;
        let (id, own) = (volume.ledger.server_id.unwrap(), volume.id.clone().unwrap());
        let config = volume.file.clone().unwrap_or_default();
        let used_on = self.ensemble.used_on.entry(id).or_insert_with(|| own.clone());
        if *used_on != own {
            self.broken.push(format!("server ID {id} was used on volumes {used_on} and {own}"));
        }
        let server = Server { id, address, disk: pod.disk.clone(), config, leader: None };
        self.ensemble.start(pod.uid.as_str(), server)
    }

    /// What the permit says of what is on the volume.
    fn make_way(&mut self, pod: &PodRun, id: i64, permit: &ServicePermit) -> Result<(), String> {
        let volume = self.volume(pod);
        let is_clean = volume.data.is_none() && volume.ledger.part == Part::None;
        match permit.data {
            DataBeforeServiceStart::MustBeEmpty
                if !is_clean && volume.ledger.server_id != Some(id) =>
            {
                return Err("the volume is not empty".to_string());
            }
            DataBeforeServiceStart::Wipe => {
                assert_ne!(volume.ledger.part, Part::Joined, "data of a full member is wiped");
                (volume.data, volume.file) = (None, None);
                volume.ledger.part = Part::None;
            }
            DataBeforeServiceStart::MustBeEmpty
            | DataBeforeServiceStart::Keep
            | DataBeforeServiceStart::Unknown(_) => {}
        }
        Ok(())
    }

    /// The dynamic file is the server's: it is written for a permit alone.
    fn write_file(&mut self, pod: &PodRun, spec: &ServiceMemberSpec, permit: &ServicePermit) {
        let id = spec.server_id.unwrap().number();
        let address = spec.address.as_ref().unwrap().to_string();
        let volume = self.volume(pod);
        let is_new = volume.ledger.part == Part::None;
        volume.ledger.server_id = Some(id);
        let alone = Config { version: 0, servers: [(id, (address.clone(), true))].into() };
        match permit.kind {
            ServicePermitKind::Initialize => {
                volume.ledger.part = Part::Begun;
                if volume.file.is_none() {
                    volume.file = Some(alone);
                }
                if is_new {
                    volume.data = Some(Data::default());
                    self.ensemble.begun += 1;
                }
            }
            ServicePermitKind::Join => {
                volume.ledger.part = Part::Begun;
                let peers = permit.peers.iter();
                let peers = peers.map(|p| (p.server_id.number(), (p.address.to_string(), true)));
                let mut file = Config { version: 0, servers: peers.collect() };
                file.servers.insert(id, (address, false));
                volume.file = Some(file);
            }
            // Under the version that it has: a newer one would draw in those that come back.
            ServicePermitKind::Rescue => {
                let version = volume.file.as_ref().unwrap().version;
                volume.file = Some(Config { version, ..alone });
            }
            ServicePermitKind::Unknown(_) => unreachable!(),
        }
    }
}
