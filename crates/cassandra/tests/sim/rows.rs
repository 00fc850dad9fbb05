//! Data as clients and replicas have it: writes acknowledged at a consistency
//! level, hints for whoever was away, tombstones, and what a read at QUORUM may
//! answer in the worst case.

use super::ring::{Disks, Phase, Ring};
use super::volume::Data;
use jiff::{SignedDuration, Timestamp};
use palladion_agent::render::Door;
use palladion_api::ids::HostId;
use palladion_api::member::{Liveness, MemberState, Operation, RepairRanges};
use palladion_plan::sim::Activity;
use std::collections::{BTreeMap, BTreeSet};

/// The token ring is cut into so many ranges; a row belongs to one of them.
pub const RANGES: u32 = 16;
/// `max_hint_window`: for a member that is away for longer nobody keeps writes.
const HINT_WINDOW: SignedDuration = SignedDuration::from_hours(3);
/// `gc_grace_seconds`: after that a tombstone is dropped, and so is a hint.
pub const GC_GRACE: SignedDuration = SignedDuration::from_hours(24 * 10);
/// Compaction looks at the data of a server that has just started after so long.
const COMPACTED_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// A row as one replica holds it: the newest write wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Grows with every write.
    pub version: u64,
    /// Since when it is a tombstone, if it is one.
    pub deleted: Option<Timestamp>,
}

/// A write kept for a member that was away.
#[derive(Clone, Debug)]
pub struct Hint {
    pub to: HostId,
    pub row: u32,
    pub cell: Cell,
    /// When it was written.
    pub at: Timestamp,
}

/// Consistency level of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    One,
    Quorum,
    All,
}

/// The newest write of a row that a client was told is done.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub cell: Cell,
    pub level: Level,
}

/// What clients know.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    /// Rows ever written.
    pub rows: u32,
    versions: u64,
    pub told: BTreeMap<u32, Told>,
    /// Disks were lost: what only they held, at ONE, nobody promised.
    pub disks_lost: bool,
}

/// A cleanup that a server has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// The ring was changing.
    Refused,
    /// Rows of these ranges stay.
    Leaves(BTreeSet<u32>),
}

impl Ring {
    /// A client writes a row, or deletes it, through a coordinator: is it acknowledged?
    pub fn put(
        &mut self,
        through: &str,
        row: u32,
        deleted: Option<Timestamp>,
        level: Level,
        disks: &mut Disks,
    ) -> bool {
        let Some(coordinator) = self.coordinator(through) else {
            return false;
        };
        self.clients.versions += 1;
        let cell = Cell { version: self.clients.versions, deleted };
        let range = row % RANGES;
        let natural = self.owners(range);
        let view = self.views.of(&coordinator);
        // Who has not heard that a member joins sends it nothing.
        let mut pending = self.pending(range);
        pending.retain(|host| view.iter().any(|m| m.host_id == *host));
        let alive = |host: &HostId| {
            view.iter().find(|m| m.host_id == *host).is_none_or(|m| m.liveness == Liveness::Up)
        };
        let targets: Vec<&HostId> = natural.iter().chain(&pending).collect();
        let needed = self.required(level) + pending.len();
        if targets.iter().filter(|host| alive(host)).count() < needed {
            return false;
        }
        let taken: Vec<HostId> = targets
            .iter()
            .filter(|host| alive(host) && self.reaches(&coordinator, host))
            .map(|host| (*host).clone())
            .collect();
        for host in &taken {
            hold(disks, host, row, cell);
        }
        for host in targets.into_iter().filter(|host| !taken.contains(host)) {
            self.hint(&coordinator, host, row, cell, disks);
        }
        let is_done = taken.len() >= needed;
        if is_done {
            // At a `LOCAL_` level nobody has waited for those elsewhere, and a write may be lost
            // on its way there.
            if level > Level::One {
                self.reach_elsewhere(row, cell.version);
            }
            self.clients.told.insert(row, Told { cell, level });
        } else if deleted.is_some() {
            // Some have it, or a hint: it may take effect, and nothing is promised any more.
            self.clients.told.remove(&row);
        }
        is_done
    }

    /// A new row.
    pub fn new_row(&mut self) -> u32 {
        self.clients.rows += 1;
        self.clients.rows - 1
    }

    /// A member that takes clients; the first one if none is named.
    pub fn coordinator(&self, named: &str) -> Option<String> {
        let takes = |s: &super::ring::Server| {
            matches!(s.phase, Phase::Normal | Phase::Leaving | Phase::LeaveFailed)
                && s.door != Door::AwaitsRebuild
                && (named == s.member || named.is_empty() && !self.is_out_of_reach(&s.member))
        };
        self.servers.iter().find(|(_, s)| takes(s)).map(|(pod, _)| pod.clone())
    }

    fn required(&self, level: Level) -> usize {
        match level {
            Level::One => 1,
            Level::Quorum => self.copies / 2 + 1,
            Level::All => self.copies,
        }
    }

    /// Does the server of this pod reach the server of a host, and does that take writes?
    pub fn reaches(&self, pod: &str, host: &HostId) -> bool {
        let Some(from) = self.servers.get(pod) else {
            return false;
        };
        self.servers.values().any(|s| {
            s.host_id.as_ref() == Some(host)
                && !self.is_across(&from.member, Some(&s.member))
                && match s.phase {
                    Phase::Joining { .. }
                    | Phase::Normal
                    | Phase::Leaving
                    | Phase::LeaveFailed
                    | Phase::Unbootstrapped => true,
                    Phase::Booting
                    | Phase::Waking
                    | Phase::Initializing
                    | Phase::JoinFailed
                    | Phase::Drained
                    | Phase::Left
                    | Phase::Decommissioned => false,
                }
        })
    }

    fn hint(&mut self, coordinator: &str, to: &HostId, row: u32, cell: Cell, disks: &mut Disks) {
        let now = self.now;
        if self.away.get(to).is_some_and(|since| now > *since + HINT_WINDOW) {
            return;
        }
        if let Some(server) = self.servers.get(coordinator)
            && let Some(data) = disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut())
        {
            data.hints.push(Hint { to: to.clone(), row, cell, at: now });
        }
    }

    /// Hints go to whom they are for as soon as that is seen up; one for a
    /// member that does not own the range any more goes to those who do. They are
    /// written with the time of tombstones, so that older ones go nowhere.
    pub fn deliver_hints(&mut self, disks: &mut Disks) -> bool {
        let mut delivered = Vec::new();
        for (pod, server) in &self.servers {
            let hints = disks
                .get(&server.disk)
                .and_then(|d| d.content.data.as_ref())
                .map(|d| d.hints.clone())
                .unwrap_or_default();
            if hints.is_empty() || !matches!(server.phase, Phase::Normal | Phase::Leaving) {
                continue;
            }
            let view = self.views.of(pod);
            for hint in hints {
                let up = view.iter().any(|m| m.host_id == hint.to && m.liveness == Liveness::Up);
                if up && self.reaches(pod, &hint.to) {
                    delivered.push((server.disk.clone(), hint));
                }
            }
        }
        for (disk, hint) in &delivered {
            let owners = self.owners(hint.row % RANGES);
            if hint.at + GC_GRACE <= self.now {
                // It is dropped.
            } else if owners.contains(&hint.to) {
                hold(disks, &hint.to, hint.row, hint.cell);
            } else {
                for owner in &owners {
                    hold(disks, owner, hint.row, hint.cell);
                }
            }
            if let Some(data) = disks.get_mut(disk).and_then(|d| d.content.data.as_mut()) {
                data.hints.retain(|h| {
                    (&h.to, h.row, h.cell.version) != (&hint.to, hint.row, hint.cell.version)
                });
            }
        }
        !delivered.is_empty()
    }

    /// Compaction drops tombstones that are old enough, of servers that run.
    pub fn purge(&self, disks: &mut Disks) -> Activity {
        let mut all = Activity::default();
        let is_kept = |cell: &Cell| cell.deleted.is_none_or(|at| at + GC_GRACE > self.now);
        for server in self.servers.values() {
            let from = match server.phase {
                Phase::Normal => server.until + COMPACTED_AFTER,
                Phase::Leaving | Phase::LeaveFailed => self.now,
                Phase::Booting
                | Phase::Waking
                | Phase::Initializing
                | Phase::Joining { .. }
                | Phase::JoinFailed
                | Phase::Drained
                | Phase::Unbootstrapped
                | Phase::Left
                | Phase::Decommissioned => continue,
            };
            let disk = disks.get_mut(&server.disk);
            let Some(data) = disk.and_then(|d| d.content.data.as_mut()) else {
                continue;
            };
            if data.rows.values().all(is_kept) {
                continue;
            }
            if from <= self.now {
                data.rows.retain(|_, cell| is_kept(cell));
            } else {
                all = all.at(from);
            }
        }
        all
    }

    /// A member's primary ranges, or all, repaired: all who hold them have the
    /// newest of each row then. With a dead one that is left out, all who are up.
    pub fn repair(
        &mut self,
        pod: &str,
        operation: &Operation,
        disks: &mut Disks,
    ) -> Result<String, String> {
        self.repair_some(pod, operation, &(0..RANGES).collect(), disks)
    }

    /// The same, of these ranges.
    pub fn repair_some(
        &mut self,
        pod: &str,
        operation: &Operation,
        ranges: &BTreeSet<u32>,
        disks: &mut Disks,
    ) -> Result<String, String> {
        let own = self.servers.get(pod).and_then(|s| s.host_id.clone()).unwrap_or_default();
        if self.is_one_down_elsewhere() {
            return Err("Repair command #1 failed: endpoint not alive, elsewhere".into());
        }
        for range in ranges.iter().copied() {
            let mut owners = self.owners(range);
            let is_meant = match operation.ranges {
                RepairRanges::Primary => owners.first() == Some(&own),
                RepairRanges::All | RepairRanges::Unknown(_) => owners.contains(&own),
            };
            if !is_meant {
                continue;
            }
            if operation.target.is_some() {
                owners.retain(|host| self.reaches(pod, host));
            }
            if let Some(dead) = owners.iter().find(|host| !self.reaches(pod, host)) {
                return Err(format!("Repair command #1 failed: endpoint not alive: {dead}"));
            }
            let mut newest: BTreeMap<u32, Cell> = BTreeMap::new();
            for host in &owners {
                for (row, cell) in rows_of(disks, host, range) {
                    let best = newest.entry(row).or_insert(cell);
                    if best.version < cell.version {
                        *best = cell;
                    }
                }
            }
            for host in &owners {
                for (row, cell) in &newest {
                    hold(disks, host, *row, *cell);
                }
            }
            for (row, cell) in newest {
                self.reach_elsewhere(row, cell.version);
            }
        }
        Ok("repaired".into())
    }

    /// A cleanup begins. A server looks once whether the ring changes, and once for each
    /// table which ranges are its own: what streams bring later it may drop.
    pub(super) fn begin_cleanup(&mut self, pod: &str) {
        let changes = self.seats.values().any(|s| s.state != MemberState::Normal);
        let own = self.servers.get(pod).and_then(|s| s.host_id.clone()).unwrap_or_default();
        let cleanup = match changes {
            true => Cleanup::Refused,
            false => Cleanup::Leaves(
                (0..RANGES).filter(|range| self.owners(*range).contains(&own)).collect(),
            ),
        };
        self.cleanups.insert(pod.to_string(), cleanup);
    }

    /// Rows of ranges that a member did not own when it began are dropped.
    pub fn cleanup(&mut self, pod: &str, disks: &mut Disks) -> Result<String, String> {
        let ranges = match self.cleanups.remove(pod) {
            Some(Cleanup::Leaves(ranges)) => ranges,
            Some(Cleanup::Refused) => {
                return Err(
                    "Node is involved in cluster membership changes. Not safe to run cleanup."
                        .into(),
                );
            }
            None => return Err("the connection to the server was closed".into()),
        };
        let own = self.servers.get(pod).and_then(|s| s.host_id.clone()).unwrap_or_default();
        for data in data_of(disks, &own) {
            data.rows.retain(|row, _| ranges.contains(&(row % RANGES)));
        }
        Ok("done".into())
    }

    /// The first thing that a client would miss, or see come back: a read at
    /// QUORUM may be answered by any quorum of those owners that are up, one at ONE by any.
    pub fn broken_promise(&self, disks: &Disks) -> Option<String> {
        let quorum = self.required(Level::Quorum);
        for range in 0..RANGES {
            let told = self.clients.told.iter().filter(|(row, _)| *row % RANGES == range);
            let mut told = told.peekable();
            if told.peek().is_none() {
                continue;
            }
            let owners = self.owners(range);
            for (row, told) in
                told.filter(|(row, told)| !self.is_elsewhere(**row, told.cell.version))
            {
                let words = |what: &str| {
                    Some(format!("row {row}, acknowledged at {:?}, {what}", told.level))
                };
                let newest = |host: &HostId| cell_of(disks, host, *row);
                let has =
                    |host: &HostId| newest(host).is_some_and(|c| c.version >= told.cell.version);
                let answers: Vec<&HostId> = owners.iter().filter(|h| self.serves(h)).collect();
                let without: Vec<&&HostId> = answers.iter().filter(|h| !has(h)).collect();
                if told.cell.deleted.is_some() {
                    let zombie =
                        without.iter().any(|h| newest(h).is_some_and(|c| c.deleted.is_none()));
                    if zombie && without.len() >= quorum {
                        return words("was deleted and is back");
                    }
                    continue;
                }
                if told.level >= Level::Quorum && without.len() >= quorum {
                    return words("is not returned by a read at QUORUM");
                }
                // Who holds it is taken over from by whoever joins or replaces: all have it.
                if told.level == Level::All && !without.is_empty() {
                    return words("is not returned by a read at ONE");
                }
                if told.level == Level::One && self.clients.disks_lost {
                    continue;
                }
                let hinted = told.level == Level::One && is_hinted(disks, *row, told.cell.version);
                if !owners.iter().any(has) && !hinted {
                    return words("is on no member any more");
                }
            }
        }
        None
    }

    fn serves(&self, host: &HostId) -> bool {
        self.servers.values().any(|s| {
            s.host_id.as_ref() == Some(host)
                && matches!(s.phase, Phase::Normal | Phase::Leaving | Phase::LeaveFailed)
        })
    }
}

/// A replica takes a write, unless it has a newer one.
pub fn hold(disks: &mut Disks, host: &HostId, row: u32, cell: Cell) {
    for data in data_of(disks, host) {
        let known = data.rows.entry(row).or_insert(cell);
        if known.version < cell.version {
            *known = cell;
        }
    }
}

/// The rows of a range that a host holds.
pub fn rows_of(disks: &Disks, host: &HostId, range: u32) -> Vec<(u32, Cell)> {
    disks
        .values()
        .filter_map(|d| d.content.data.as_ref())
        .filter(|d| d.host_id == *host)
        .flat_map(|d| d.rows.iter().map(|(row, cell)| (*row, *cell)))
        .filter(|(row, _)| row % RANGES == range)
        .collect()
}

fn cell_of(disks: &Disks, host: &HostId, row: u32) -> Option<Cell> {
    let all = disks.values().filter_map(|d| d.content.data.as_ref());
    all.filter(|d| d.host_id == *host)
        .filter_map(|d| d.rows.get(&row).copied())
        .max_by_key(|c| c.version)
}

fn is_hinted(disks: &Disks, row: u32, version: u64) -> bool {
    let all = disks.values().filter_map(|d| d.content.data.as_ref());
    all.flat_map(|d| &d.hints).any(|h| h.row == row && h.cell.version >= version)
}

fn data_of<'a>(disks: &'a mut Disks, host: &'a HostId) -> impl Iterator<Item = &'a mut Data> {
    disks.values_mut().filter_map(|d| d.content.data.as_mut()).filter(move |d| d.host_id == *host)
}
