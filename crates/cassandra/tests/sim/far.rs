//! A datacenter elsewhere that has the ring's data, and what the members here have of it: their
//! rows come by a rebuild, or from members here that have them, and a client that reads before
//! finds none and no error.

use super::agent::{Agent, Reach};
use super::report::KNOWS_DATACENTERS;
use super::ring::{Force, Phase, Ring, Server};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent::admin::ByDatacenter;
use palladion_agent::decide::rebuild::{self, Next, Shut};
use palladion_agent::decide::{Process, Start};
use palladion_agent::leave;
use palladion_agent::render::Door;
use palladion_agent::volume::rebuilt::Rebuilt;
use palladion_api::ids::Nonce;
use palladion_api::member::{IntentKind, Liveness, Operation, RebuildStatus, RingMember};
use palladion_api::server_config::Opens;
use palladion_api::task::{RemoveDatacenterTask, ReplicationTask};
use std::collections::{BTreeMap, BTreeSet};

/// What agents refuse to give copies by datacenter.
pub const SIMPLE: &str = "SimpleStrategy";

/// The keyspace of clients.
pub const SHOP: &str = "shop";
/// The keyspaces of the server whose copies the operator keeps.
pub const SYSTEM: [&str; 3] = ["system_auth", "system_distributed", "system_traces"];

/// The datacenter here, and the one elsewhere.
pub const HERE: &str = "dc1";
pub const THERE: &str = "dc2";

/// What is elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Far {
    /// Copies of keyspaces by datacenter; nothing where the ring has one.
    pub copies: BTreeMap<String, BTreeMap<String, u32>>,
    /// How often a keyspace was altered.
    pub altered: u32,
    /// How often the rows of a keyspace here became void: its copies here went, or it was dropped.
    /// What was copied before is nothing of what is there now.
    generations: BTreeMap<String, u32>,
    /// Keyspaces that name the datacenter here since these disks take clients.
    later: BTreeMap<String, BTreeSet<String>>,
    /// Members whose agents write their own datacenter alone.
    pub drops_others: bool,
    /// What tasks have asked of the servers in these pods.
    asked: BTreeMap<String, ReplicationTask>,
    /// What datacenters the servers in these pods are asked to remove.
    pub(super) removing: BTreeMap<String, RemoveDatacenterTask>,
    /// Keyspaces with SimpleStrategy.
    pub simple: BTreeSet<String>,
    /// How many native ports were opened.
    pub opened: usize,
    /// Rows of clients that have copies there, with the newest version; none where clients' rows
    /// are kept here alone.
    pub rows: Option<BTreeMap<u32, u64>>,
}

impl Ring {
    /// Somebody elsewhere alters a keyspace.
    pub fn alter(&mut self, keyspace: &str, datacenter: &str, copies: u32) {
        if datacenter == HERE && copies == 0 {
            self.becomes_void(keyspace);
        } else if datacenter == HERE && self.copies_in(keyspace, HERE) == 0 {
            let open = self.servers.values().filter(|s| s.phase == Phase::Normal && is_open(s));
            let open = open.map(|server| server.disk.clone()).collect();
            self.far.later.insert(keyspace.into(), open);
        }
        let of = self.far.copies.entry(keyspace.into()).or_default();
        match copies {
            0 => of.remove(datacenter),
            copies => of.insert(datacenter.into(), copies),
        };
        self.far.altered += 1;
        self.told.push(format!("{keyspace} has {copies} copies in {datacenter}"));
    }

    /// Somebody drops a keyspace; one of its name that is created later is another one.
    pub fn drop_keyspace(&mut self, keyspace: &str) {
        self.becomes_void(keyspace);
        self.far.copies.remove(keyspace);
        self.far.altered += 1;
        self.told.push(format!("{keyspace} is dropped"));
    }

    fn becomes_void(&mut self, keyspace: &str) {
        *self.far.generations.entry(keyspace.into()).or_default() += 1;
        self.far.later.remove(keyspace);
    }

    fn generation(&self, keyspace: &str) -> u32 {
        self.far.generations.get(keyspace).copied().unwrap_or_default()
    }

    /// The keyspaces that name the datacenter here, and of which this disk does not have all rows.
    pub fn lacked_on(&self, disk: &str, disks: &super::ring::Disks) -> Vec<String> {
        let copied = disks.get(disk).and_then(|disk| disk.content.data.as_ref());
        let copied = copied.map(|data| data.copied.clone()).unwrap_or_default();
        let is_current =
            |keyspace: &String| copied.get(keyspace) == Some(&self.generation(keyspace));
        let has = copied.keys().filter(|k| is_current(k));
        let has = has.map(|keyspace| (keyspace.clone(), u32::MAX)).collect();
        let uneven: Vec<String> = self.far.simple.iter().cloned().collect();
        let lacks = rebuild::in_the_way(HERE, &self.far.copies, &uneven, &has);
        lacks.into_iter().cloned().collect()
    }

    /// A leaver streams what it has of its ranges. Those that take them have no more of a keyspace
    /// than it had.
    pub(super) fn ranges_move_from(&self, leaver: &str, disks: &mut super::ring::Disks) {
        let lacks = self.lacked_on(leaver, disks);
        let stay = self.servers.values().filter(|s| s.phase == Phase::Normal && s.disk != leaver);
        for server in stay {
            let data = disks.get_mut(&server.disk).and_then(|disk| disk.content.data.as_mut());
            data.into_iter().for_each(|data| data.copied.retain(|name, _| !lacks.contains(name)));
        }
    }

    /// The keyspace of clients has copies elsewhere: what is there now has all rows.
    pub fn rows_are_elsewhere_too(&mut self) {
        let all = self.clients.told.iter().map(|(row, told)| (*row, told.cell.version));
        self.far.rows = Some(all.collect());
    }

    /// A row reaches the copies elsewhere, where the keyspace has some there and names us.
    pub(super) fn reach_elsewhere(&mut self, row: u32, version: u64) {
        let is_named = self.copies_in(SHOP, HERE) > 0;
        if let Some(rows) = self.far.rows.as_mut().filter(|_| is_named) {
            let known = rows.entry(row).or_default();
            *known = version.max(*known);
        }
    }

    /// Whoever would repair rows with those elsewhere needs all of them up.
    pub(super) fn is_one_down_elsewhere(&self) -> bool {
        self.far.rows.is_some() && self.elsewhere.values().any(|m| m.liveness != Liveness::Up)
    }

    /// Does a client find this row elsewhere?
    pub(super) fn is_elsewhere(&self, row: u32, version: u64) -> bool {
        let known = self.far.rows.as_ref().and_then(|rows| rows.get(&row));
        known.is_some_and(|known| *known >= version)
    }

    /// Has the ring members in this datacenter?
    fn has_members_in(&self, datacenter: &str) -> bool {
        let is_there = |m: &RingMember| m.datacenter.as_deref() == Some(datacenter);
        datacenter == HERE || self.elsewhere.values().any(is_there)
    }

    /// What an operation for the system keyspaces makes of them.
    pub(super) fn alter_system_keyspaces(&mut self, operation: &Operation) {
        if self.far.copies.is_empty() {
            return;
        }
        for keyspace in &operation.keyspaces {
            let before = self.far.copies.get(keyspace).cloned().unwrap_or_default();
            if self.far.drops_others {
                self.far.copies.insert(keyspace.clone(), BTreeMap::new());
            }
            for (datacenter, copies) in &operation.replication {
                // The agent drops only a datacenter that has no members any more.
                if *copies > 0 || !self.has_members_in(datacenter) {
                    self.alter(keyspace, datacenter, *copies);
                }
            }
            for (datacenter, _) in before {
                let has_members =
                    self.elsewhere.values().any(|m| m.datacenter.as_ref() == Some(&datacenter));
                if has_members && self.copies_in(keyspace, &datacenter) == 0 {
                    self.breaches
                        .push(format!("{keyspace} has lost {datacenter}, which has members"));
                }
            }
        }
    }

    pub(super) fn note_asked(&mut self, pod: &str, body: &ReplicationTask) {
        self.far.asked.insert(pod.into(), body.clone());
    }

    /// What a task makes of keyspaces, and how many copies the last one had before.
    pub(super) fn replicate(&mut self, pod: &str) -> Result<(), String> {
        let Some(body) = self.far.asked.remove(pod) else { return Ok(()) };
        if let Some(keyspace) = body.keyspaces.iter().find(|k| self.far.simple.contains(*k)) {
            return Err(format!("{keyspace} has {SIMPLE}"));
        }
        for keyspace in &body.keyspaces {
            self.alter(keyspace, &body.datacenter, body.factor);
        }
        Ok(())
    }

    /// Members elsewhere are removed one after the other, as long as the agent sees no reason against
    /// it; a server refuses one that is alive.
    pub(super) fn remove_elsewhere(&mut self, pod: &str) -> Result<(), String> {
        let Some(body) = self.far.removing.remove(pod) else { return Ok(()) };
        for host in &body.host_ids {
            let there = |m: &&RingMember| m.datacenter.as_ref() == Some(&body.name);
            if self.elsewhere.values().filter(there).any(|m| m.liveness == Liveness::Up) {
                return Err("is not down".into());
            }
            if self.elsewhere.remove(host).is_some() {
                self.told.push(format!("{host} elsewhere is removed"));
            }
        }
        Ok(())
    }

    /// Copies of a keyspace in a datacenter.
    pub fn copies_in(&self, keyspace: &str, datacenter: &str) -> u32 {
        let of = self.far.copies.get(keyspace);
        of.and_then(|of| of.get(datacenter)).copied().unwrap_or(0)
    }

    /// What a rebuild brings.
    pub(super) fn copy_from_elsewhere(
        &mut self,
        pod: &str,
        operation: &Operation,
        disks: &mut super::ring::Disks,
    ) -> Result<String, String> {
        let source = operation.source_datacenter.clone().unwrap_or_default();
        for keyspace in &operation.keyspaces {
            if self.copies_in(keyspace, &source) == 0 {
                return Err(format!("Unable to find sufficient sources in keyspace {keyspace}"));
            }
        }
        let Some(server) = self.servers.get(pod) else { return Err("it has ended".into()) };
        self.told.push(format!("{} is rebuilt: {:?}", server.member, operation.keyspaces));
        let data = disks.get_mut(&server.disk).and_then(|disk| disk.content.data.as_mut());
        let copied = operation.keyspaces.iter().map(|k| (k.clone(), self.generation(k)));
        data.into_iter().for_each(|data| data.copied.extend(copied.clone()));
        Ok("rebuilt".into())
    }

    /// A member that enters the ring is sent what all members here have.
    pub(super) fn copy_from_here(&mut self, pod: &str, disks: &mut super::ring::Disks) {
        let Some(own) = self.servers.get(pod).map(|server| server.disk.clone()) else { return };
        let others = self.servers.values().filter(|s| s.phase == Phase::Normal && s.disk != own);
        let have = others.filter_map(|s| Some(&disks.get(&s.disk)?.content.data.as_ref()?.copied));
        let both = |all: BTreeMap<String, u32>, one: BTreeMap<String, u32>| {
            all.into_iter().filter(|(name, of)| one.get(name) == Some(of)).collect()
        };
        let all = have.cloned().reduce(both);
        let data = disks.get_mut(&own).and_then(|disk| disk.content.data.as_mut());
        if let (Some(data), Some(all)) = (data, all) {
            data.copied = all;
        }
    }

    /// A native port opens: whoever reads at `LOCAL_ONE` there finds all rows.
    pub(super) fn port_opens(&mut self, pod: &str, disks: &super::ring::Disks) {
        let Some(server) = self.servers.get(pod).filter(|server| server.configuration.is_added())
        else {
            return;
        };
        let mut lacks = self.lacked_on(&server.disk, disks);
        let was_open = |of: &BTreeSet<String>| of.contains(&server.disk);
        lacks.retain(|keyspace| !self.far.later.get(keyspace).is_some_and(was_open));
        if !lacks.is_empty() {
            let words = format!("{} takes clients without {lacks:?}", server.member);
            self.breaches.push(words);
        }
        self.far.opened += 1;
    }
}

fn is_open(server: &Server) -> bool {
    server.door == Door::Open && server.configuration.is_added()
}

impl Agent {
    pub(super) fn opens(&self) -> Option<Opens> {
        self.configuration.is_added().then_some(Opens::WhenRebuilt)
    }

    fn notes_rebuilt(&self) -> bool {
        let is_closed = || self.found.as_ref().is_some_and(|found| found.rebuilt.closed);
        self.opens().is_some() || is_closed()
    }

    /// How its server is called to leave, or what forbids it, as the real agent looks right
    /// before the call.
    pub(super) fn may_leave(&self, nonce: &Nonce, ring: &Ring) -> Result<Force, String> {
        let intent = self.saved.as_ref().and_then(|saved| saved.spec.intent.as_ref());
        let kind = intent.filter(|intent| intent.nonce == *nonce).map(|intent| intent.kind);
        if kind != Some(IntentKind::LeaveWithDatacenter) {
            return Ok(Force::No);
        }
        let reading = self.reading().ok_or("the server is not responding")?;
        let members = reading.members.iter().flatten();
        let known = members.filter_map(|m| Some((m.address.clone(), m.datacenter.clone()?)));
        let (copies, uneven) = (self.counted_by_datacenter(ring), self.counted_uneven(ring));
        let counted = ByDatacenter { copies, uneven };
        match leave::refused(HERE, reading, &known.collect(), &counted) {
            Some(why) => Err(why.to_string()),
            None => Ok(Force::Yes),
        }
    }

    /// Copies by datacenter, where they are counted.
    pub(super) fn counted_by_datacenter(
        &self,
        ring: &Ring,
    ) -> BTreeMap<String, BTreeMap<String, u32>> {
        let is_asked = self.protocol >= KNOWS_DATACENTERS
            && (self.opens().is_some() || !ring.elsewhere.is_empty());
        if !is_asked {
            return BTreeMap::new();
        }
        let mut counted = ring.far.copies.clone();
        // Counted from the members that hold ranges.
        counted.values_mut().for_each(|of| of.retain(|name, _| ring.has_members_in(name)));
        counted
    }

    /// Keyspaces that do not count copies by datacenter, where those are counted.
    pub(super) fn counted_uneven(&self, ring: &Ring) -> Vec<String> {
        let counted = self.counted_by_datacenter(ring);
        ring.far.simple.iter().filter(|name| counted.contains_key(*name)).cloned().collect()
    }

    /// What was rebuilt is compared with what was just counted.
    pub(super) fn forget_rebuilt(&mut self, reach: &mut Reach<'_>) {
        let counted = self.copies.by_datacenter.clone();
        if !self.notes_rebuilt() || counted.is_empty() {
            return;
        }
        let here = rebuild::copies_in(HERE, &counted);
        let elsewhere = reach.ring.elsewhere.len();
        let members = u32::try_from(self.copies.members.saturating_sub(elsewhere)).unwrap();
        let uneven = self.copies.uneven.clone();
        self.change_rebuilt(reach, |noted| {
            noted.keyspaces.retain(|name, _| !uneven.contains(name));
            noted.forget(&here, members);
        });
    }

    /// Noted before a start.
    pub(super) fn begin_rebuilt(&mut self, start: &Start, reach: &mut Reach<'_>) {
        let permit = self.saved.as_ref().and_then(|saved| saved.spec.start.clone());
        let noted = self.found.as_ref().map(|found| found.rebuilt.clone()).unwrap_or_default();
        let rebuilt = rebuild::noted_before(self.opens(), &start.cause, permit.as_ref(), noted);
        self.change_rebuilt(reach, |noted| *noted = rebuilt);
    }

    pub(super) fn change_rebuilt(
        &mut self,
        reach: &mut Reach<'_>,
        change: impl FnOnce(&mut Rebuilt),
    ) {
        let Some(found) = &mut self.found else { return };
        change(&mut found.rebuilt);
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.rebuilt = found.rebuilt.clone();
        }
    }

    /// Follow the order to take clients, as the real loop does.
    pub(super) fn follow_opening(&mut self, reach: &mut Reach<'_>) {
        let Some(ledger) = self.ledger().cloned() else { return };
        let rebuilt = self.found.as_ref().map(|found| found.rebuilt.clone()).unwrap_or_default();
        let (counted, uneven) = (self.copies.by_datacenter.clone(), self.copies.uneven.clone());
        let reading = self.reading();
        let is_fresh = reading.is_some_and(|r| {
            r.schema_agreed == Some(true)
                && r.schema_version == self.copies.of
                && !counted.is_empty()
        });
        let lacks =
            is_fresh.then(|| rebuild::in_the_way(HERE, &counted, &uneven, &rebuilt.copies()));
        match rebuild::opens(&self.facts(reach.now), &ledger, lacks.as_deref()) {
            Next::Nothing => self.follow_closing(is_fresh, reach),
            Next::Note => self.change_rebuilt(reach, Rebuilt::opened),
            Next::Call => {
                let pod = self.pod.uid.to_string();
                if let Some(server) = reach.ring.servers.get_mut(&pod) {
                    (server.door, server.called_shut) = (Door::Open, false);
                    reach.ring.told.push(format!("{} takes clients", self.pod.key.name));
                    reach.ring.port_opens(&pod, reach.disks);
                }
                self.awaits_rebuild = false;
                self.look = None;
            }
        }
    }

    /// Follow the order to take no clients any more, as the real loop does.
    fn follow_closing(&mut self, is_fresh: bool, reach: &mut Reach<'_>) {
        self.note_port(reach);
        let Some(ledger) = self.ledger().cloned() else { return };
        match rebuild::closes(&self.facts(reach.now), &ledger) {
            Shut::Nothing => {}
            Shut::Note if self.opens().is_none() && !is_fresh => {}
            Shut::Note => {
                let mut here = rebuild::copies_in(HERE, &self.copies.by_datacenter);
                here.retain(|name, _| !self.copies.uneven.contains(name));
                let has = self.opens().is_none().then_some(here);
                let at = self.clock_at(reach.now);
                self.change_rebuilt(reach, |noted| noted.shut(has.as_ref(), at));
            }
            Shut::Call => {
                let (pod, at) = (self.pod.uid.to_string(), self.clock_at(reach.now));
                self.change_rebuilt(reach, |noted| noted.close_at(at));
                // One that is yet to open its port opens it all the same.
                if let Some(server) = reach.ring.servers.get_mut(&pod) {
                    let has_opened = server.phase == Phase::Normal && server.until <= reach.now;
                    if has_opened || server.phase == Phase::Leaving {
                        server.door = Door::AwaitsRebuild;
                    }
                    server.called_shut = true;
                    reach.ring.told.push(format!("{} takes no clients", self.pod.key.name));
                }
                self.awaits_rebuild = true;
                self.look = None;
            }
        }
    }

    /// The launch record of the real agent outlives it; here the next look says it again.
    fn note_port(&mut self, reach: &mut Reach<'_>) {
        if self.reading().is_some_and(|r| r.native_transport == Some(true)) {
            let server = reach.ring.servers.get_mut(self.pod.uid.as_str());
            server.into_iter().for_each(|server| server.was_open = true);
            self.was_open = true;
        }
    }

    pub(super) fn told_rebuilt(&self) -> Option<RebuildStatus> {
        if !self.notes_rebuilt() {
            return None;
        }
        let rebuilt = &self.found.as_ref()?.rebuilt;
        let closed_at = rebuilt.closed_at.map(Time);
        Some(RebuildStatus { open: rebuilt.open, closed_at, keyspaces: rebuilt.copies() })
    }

    /// Can its server be given work?
    pub(super) fn is_at_work(&self) -> bool {
        let can = |r: &palladion_agent::admin::Reading| {
            r.serves() || self.awaits_rebuild && r.is_full_member()
        };
        self.process == Process::Running && self.reading().is_some_and(can)
    }
}
