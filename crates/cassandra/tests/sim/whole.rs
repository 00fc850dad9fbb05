//! A ring that begins with a backup: what its agents make of the orders that only such a ring
//! has, and what must never be seen of one.

use super::agent::{Agent, Reach};
use super::restores::{OWN_GRACE, TABLE, lacks};
use super::ring::{Phase, Ring, Server};
use super::transfers::{Outcome, hash};
use super::world::{World, cluster_key};
use palladion_agent::admin::Reading;
use palladion_agent::decide::Process;
use palladion_agent::render::Door;
use palladion_agent::volume::Data;
use palladion_agent::volume::tokens::{FirstTokens, TokensNote};
use palladion_agent_transfer::decide::Child;
use palladion_agent_transfer::tell::{Done, Line};
use palladion_agent_transfer::tokens::hash_of;
use palladion_agent_transfer::words::stopped::Cause;
use palladion_api::backup::{
    BackedUpMember, CatalogWork, Cataloged, LoadSource, TableFound, TableState, TokensWork,
    Transfer, TransferTask,
};
use palladion_api::ids::HostId;
use palladion_cassandra::resources as kinds;
use serde_json::json;
use std::collections::BTreeSet;

/// What the tokens of a member of a backup are: as many as a ring of the stories has.
pub fn tokens_of(host: &HostId) -> Vec<String> {
    (0..16).map(|number| format!("{host}/{number}")).collect()
}

fn stopped(cause: Cause, message: &str) -> Line {
    Line::Stopped { cause, message: message.into() }
}

impl Agent {
    /// What an order before the first start comes to.
    pub(super) fn before_the_start(
        &mut self,
        order: &Transfer,
        reach: &mut Reach<'_>,
    ) -> Option<Line> {
        match order.work.task()? {
            TransferTask::Catalog(of) if of.whole_ring => Some(read_ring(order, of, reach)),
            TransferTask::Tokens(of) => Some(self.note_tokens(of, reach)),
            _ => None,
        }
    }

    fn note_tokens(&mut self, of: &TokensWork, reach: &mut Reach<'_>) -> Line {
        let is_new = self.process == Process::Absent
            && self.found.as_ref().is_some_and(|found| found.data == Data::Absent);
        if !is_new {
            return stopped(Cause::RestoreFailed, "a server was started on this volume");
        }
        let tokens = tokens_of(&of.source);
        let (source, tokens_hash) = (of.source.clone(), hash_of(&tokens));
        let note = FirstTokens::Noted(Box::new(TokensNote {
            source: source.clone(),
            manifest_hash: of.manifest_hash.clone(),
            tokens,
            tokens_hash: tokens_hash.clone(),
        }));
        self.change_tokens(note, reach);
        Line::Done(Done::Noted { source, tokens_hash })
    }

    fn change_tokens(&mut self, note: FirstTokens, reach: &mut Reach<'_>) {
        if let Some(found) = &mut self.found {
            found.tokens = note.clone();
        }
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.tokens = note;
        }
    }

    /// Clients are let in: the server is started again for it.
    pub(super) fn open_to_clients(&mut self, reach: &mut Reach<'_>) {
        self.change_note(reach, |note| note.closed = false);
        self.change_tokens(FirstTokens::None, reach);
    }

    /// How far that is.
    pub(super) fn opening(&self, id: &str) -> Child {
        let is_open = !self.closed
            && self.process == Process::Running
            && self.found.as_ref().is_some_and(|found| !found.note.closed)
            && self.reading().is_some_and(Reading::serves);
        let id = id.to_string();
        match is_open {
            true => Child::Ended { id, last: Some(Line::Done(Done::Opened)) },
            false => Child::Runs { id },
        }
    }

    /// May files of this member of the backup become its own?
    pub(super) fn has_place_of(&self, source: &HostId, ring: &Ring) -> bool {
        let host = self.ledger().and_then(|ledger| ledger.host_id.clone());
        host.is_some_and(|host| ring.restored.get(&host) == Some(&tokens_of(source)))
    }
}

/// What a backup has, as somebody reads it who has no server.
fn read_ring(order: &Transfer, of: &CatalogWork, reach: &Reach<'_>) -> Line {
    if let Some(lacking) = lacks(order, of, reach) {
        return lacking;
    }
    let Some(Outcome::Complete(hosts)) = reach.ring.store.outcomes.get(&order.backup) else {
        return stopped(Cause::RestoreFailed, "there is no complete backup");
    };
    let manifest_hash = hash(hosts);
    if of.manifest_hash.as_ref().is_some_and(|wanted| *wanted != manifest_hash) {
        return stopped(Cause::RepositoryDamaged, "the manifest is another one");
    }
    let member = |host: &HostId| BackedUpMember {
        host_id: host.clone(),
        datacenter: "dc1".into(),
        rack: reach.ring.store.racks.get(host).cloned().unwrap_or_else(|| "a".into()),
        version: "5.0.5".into(),
        tokens: 16,
        tokens_hash: hash_of(&tokens_of(host)),
        left_out: !hosts.contains(host),
    };
    let out = reach.ring.store.left_out.get(&order.backup).cloned().unwrap_or_default();
    let source = |host: &HostId| LoadSource { host_id: host.clone(), sstables: 4, bytes: 400 };
    let taken = reach.ring.store.taken.unwrap_or(reach.now);
    let time = k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(taken);
    let table = TableFound {
        from: TABLE.into(),
        to: TABLE.into(),
        state: TableState::Absent,
        gc_grace_seconds: OWN_GRACE,
        differs: None,
        index: None,
    };
    let cataloged = Cataloged {
        from: time.clone(),
        to: time,
        sources: hosts.iter().map(source).collect(),
        tables: vec![table],
        members: hosts.iter().chain(&out).map(member).collect(),
        journals: super::rewind::journals(of, hosts, reach),
    };
    Line::Done(Done::Cataloged { manifest_hash, cataloged: Box::new(cataloged) })
}

impl Ring {
    /// The launch of the server in this pod is closed to clients.
    pub fn is_closed(&self, pod: &str) -> bool {
        self.servers.get(pod).is_some_and(|server| server.door == Door::Closed)
    }

    /// A server has come up with tokens that it was given: the last one who does has them.
    pub(super) fn take_tokens(&mut self, pod: &str, host: &HostId) {
        let server = self.servers.get(pod);
        let Some(tokens) = server.and_then(|server| server.restored.clone()) else {
            return;
        };
        let has = |(other, theirs): (&HostId, &Vec<String>)| {
            other != host && self.seats.contains_key(other) && *theirs == tokens
        };
        if let Some((other, _)) = self.restored.iter().find(|(a, b)| has((a, b))) {
            self.breaches.push(format!("{host} takes the tokens of {other} over"));
        }
        self.restored.insert(host.clone(), tokens);
    }
}

impl World {
    /// Whoever asks a ring that begins with a backup gets an answer when all of it is there, and
    /// not before.
    pub(super) fn no_client_is_let_in_before_all_is_there(&self) -> Result<(), String> {
        let begins = |cluster: &serde_json::Value| cluster["spec"]["backup"]["restore"].is_string();
        if !self.store.get(&cluster_key()).is_some_and(|cluster| begins(cluster)) {
            return Ok(());
        }
        let serves = |server: &&Server| server.door == Door::Open && server.phase == Phase::Normal;
        let Some(server) = self.ring.servers.values().find(serves) else {
            return Ok(());
        };
        let all: BTreeSet<&HostId> =
            self.ring.store.outcomes.values().flat_map(Outcome::hosts).collect();
        let table = self.ring.tables.get(TABLE);
        let mut restores = self.store.list(kinds::RESTORE);
        let goes_on = restores.any(|(_, restore)| restore["spec"]["pointInTime"].is_string());
        let is_there = |host: &HostId| {
            table.is_some_and(|table| {
                let is_loaded = table.loaded.iter().any(|(_, loaded)| loaded == host);
                is_loaded && (!goes_on || table.replayed.contains_key(host))
            })
        };
        match all.into_iter().find(|host| !is_there(host)) {
            None => Ok(()),
            Some(host) => {
                Err(format!("{} takes clients, and what {host} had is not there", server.member))
            }
        }
    }

    /// A restore of a ring is complete when its roles are there, too.
    pub(super) fn complete_rings_have_their_roles(&self) -> Result<(), String> {
        for (key, restore) in self.store.list(kinds::RESTORE) {
            let is_whole = restore["spec"]["mode"] == "WholeRing";
            let keeps = restore["spec"]["auth"] == json!("Keep");
            if !is_whole || keeps || restore["status"]["phase"] != "Complete" {
                continue;
            }
            let backup = restore["status"]["source"]["backupID"].as_str().unwrap_or_default();
            let hosts = self.ring.store.outcomes.get(backup).map(Outcome::hosts);
            let mut hosts = hosts.into_iter().flatten();
            if let Some(host) = hosts.find(|host| !self.ring.roles_of.contains(*host)) {
                return Err(format!(
                    "restore {} is complete without the roles of {host}",
                    key.name
                ));
            }
        }
        Ok(())
    }
}
