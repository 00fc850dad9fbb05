//! What is remembered of repairs, on the volume beside the ledger: of each
//! keyspace the member's own ranges, and when they were repaired last, by groups
//! of tables with one history. It forgets on the safe side (safety rule 5.5).

use super::due::interval;
use super::failing::Failing;
use super::pieces::{self, MINUTE, Piece};
use super::schema::{Schema, Table};
use crate::admin::jobs::Segment;
use crate::ranges::Range;
use palladion_api::ids::HostId;
use palladion_api::repair::Coverage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Groups of one keyspace; beyond that times are kept less exactly, so that some
/// become alike. Where that does not help there are more: nothing is forgotten.
const GROUPS: usize = 64;

/// No time becomes earlier than it is by more than this part of its interval.
const EXACT: i64 = 10;

/// Own ranges by keyspace.
pub type Own = BTreeMap<String, Vec<Range>>;

/// All that is remembered.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Whose it is. Of another member, with other data, nothing is remembered.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// By keyspace.
    #[serde(default)]
    pub keyspaces: BTreeMap<String, History>,
    /// Of keyspaces of which the member has no copy at present. When one comes back it was
    /// never repaired, and is as late as it was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    without_copy: BTreeMap<String, History>,
    /// The repair that was begun last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    /// Was there a record that could not be read? It is, until tables are seen the next time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_forgotten: bool,
    /// Segments that have failed, the oldest failure first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<Failing>,
}

/// Of one keyspace.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// How it is replicated.
    pub replication: String,
    /// The member's own ranges.
    pub ranges: Vec<Range>,
    /// Tables with one history each.
    pub groups: Vec<Group>,
}

/// Tables with one history.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The tables.
    pub tables: BTreeMap<String, Table>,
    /// Their history.
    pub pieces: Vec<Piece>,
}

/// A repair that was begun and has not been noted as done.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// What it is of.
    pub segment: Segment,
    /// IDs of its tables.
    pub ids: BTreeMap<String, String>,
    /// When it was begun, in seconds since 1970.
    pub started: i64,
    /// The members of the ring at that time.
    pub ring: String,
    /// The number that the server has given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
}

impl Memory {
    /// Of what was repaired the record is lost: its data may be as old as deletions are kept.
    pub fn forgotten() -> Self {
        Self { is_forgotten: true, ..Self::default() }
    }

    /// Fit what is remembered to what there is: forget what is gone or is another
    /// by now, and what was never seen before was never repaired.
    pub fn observe(&mut self, host_id: &HostId, schema: &Schema, own: &Own, now: i64) {
        if self.host_id.as_ref() != Some(host_id) {
            let is_forgotten = self.is_forgotten && self.host_id.is_none();
            *self = Self { host_id: Some(host_id.clone()), is_forgotten, ..Self::default() };
        }
        let is_forgotten = std::mem::take(&mut self.is_forgotten);
        let mut before = std::mem::take(&mut self.keyspaces);
        let mut kept = std::mem::take(&mut self.without_copy);
        for name in own.iter().filter(|(_, ranges)| ranges.is_empty()).map(|(name, _)| name) {
            let known = before.remove(name).or_else(|| kept.remove(name));
            let is_there = |_: &History| schema.keyspaces.contains_key(name);
            self.without_copy.extend(known.filter(is_there).map(|known| (name.clone(), known)));
        }
        for (name, ranges) in own.iter().filter(|(_, ranges)| !ranges.is_empty()) {
            let Some(keyspace) = schema.keyspaces.get(name) else { continue };
            let known = before.remove(name);
            let is_same = known.as_ref().is_some_and(|h| h.replication == keyspace.replication);
            let known = known.or_else(|| kept.remove(name));
            let mut left = keyspace.tables.clone();
            let mut groups: Vec<Group> = Vec::new();
            for group in known.into_iter().flat_map(|history| history.groups) {
                let mut tables = BTreeMap::new();
                for (name, table) in group.tables {
                    if left.get(&name).is_some_and(|there| there.id == table.id) {
                        tables.extend(left.remove_entry(&name));
                    }
                }
                // Who has a copy now may lack what all had then. But since when nothing was
                // repaired is not forgotten.
                let pieces = match is_same {
                    true => group.pieces,
                    false => pieces::unrepaired(&group.pieces),
                };
                groups.push(Group { tables, pieces });
            }
            groups.retain(|group| !group.tables.is_empty());
            for group in &mut groups {
                group.pieces = pieces::fit(&group.pieces, ranges, now);
            }
            groups.extend(left.into_iter().map(|(name, table)| {
                let since = match is_forgotten {
                    true => now.saturating_sub(table.grace.into()),
                    false => now,
                };
                let pieces = pieces::fit(&[], ranges, since);
                Group { tables: [(name, table)].into(), pieces }
            }));
            let (replication, ranges) = (keyspace.replication.clone(), ranges.clone());
            let history = History { replication, ranges, groups: alike(groups) };
            self.keyspaces.insert(name.clone(), history);
        }
    }

    /// What is known of the tables of a segment, by name.
    pub(super) fn tables_of<'a>(
        &'a self,
        segment: &'a Segment,
    ) -> impl Iterator<Item = (&'a String, &'a Table)> {
        let known = self.keyspaces.get(&segment.keyspace);
        let tables = known.into_iter().flat_map(|k| &k.groups).flat_map(|group| &group.tables);
        tables.filter(|(name, _)| segment.tables.contains(name))
    }

    /// A repair is about to begin.
    pub fn begin(&mut self, segment: &Segment, ring: &str, now: i64) {
        let meant = self.tables_of(segment);
        let ids = meant.map(|(name, table)| (name.clone(), table.id.clone())).collect();
        let segment = segment.clone();
        self.open = Some(Open { segment, ids, started: now, ring: ring.into(), number: None });
    }

    /// The server has begun it under this number.
    pub fn number(&mut self, number: i64) {
        if let Some(open) = &mut self.open {
            open.number = Some(number);
        }
    }

    /// The repair that was begun last, and that has no number, has done its work, in a
    /// ring of these members: does it count?
    pub fn finish(&mut self, ring: &str) -> bool {
        self.finish_numbered(ring, None)
    }

    /// The repair of this number has; another one that was begun last does not count.
    pub fn finish_numbered(&mut self, ring: &str, number: Option<i64>) -> bool {
        let Some(open) = self.open.take() else { return true };
        if open.ring != ring || open.number != number {
            return false;
        }
        self.note(&open);
        self.forget_failures(&open.segment);
        true
    }

    /// The newest of its times.
    pub fn newest(&self) -> Option<i64> {
        let groups = self.keyspaces.values().flat_map(|history| &history.groups);
        groups.flat_map(|group| &group.pieces).map(|piece| piece.at.unwrap_or(piece.since)).max()
    }

    /// Forget what was repaired at a time that is ahead of now.
    pub fn doubt(&mut self, now: i64) {
        for history in self.keyspaces.values_mut() {
            for group in &mut history.groups {
                group.pieces = pieces::doubt(&group.pieces, now);
            }
            history.groups = alike(std::mem::take(&mut history.groups));
        }
    }

    /// Its tables, if they are the same still, were repaired.
    fn note(&mut self, open: &Open) {
        let Some(history) = self.keyspaces.get_mut(&open.segment.keyspace) else { return };
        let mut groups = Vec::new();
        for mut group in std::mem::take(&mut history.groups) {
            let is_meant = |name: &String, table: &Table| open.ids.get(name) == Some(&table.id);
            let (meant, others) = group.tables.into_iter().partition(|(n, t)| is_meant(n, t));
            let pieces = group.pieces.clone();
            group.tables = others;
            groups.push(group);
            let spans = open.segment.ranges.iter().flat_map(|range| range.spans());
            let pieces =
                spans.fold(pieces, |pieces, span| pieces::note(&pieces, span, open.started));
            groups.push(Group { tables: meant, pieces });
        }
        groups.retain(|group| !group.tables.is_empty());
        history.groups = alike(groups);
    }
}

/// Groups with one history are one group, and there are not too many.
fn alike(groups: Vec<Group>) -> Vec<Group> {
    let mut all = together(groups);
    let mut step = MINUTE;
    while all.len() > GROUPS && all.iter().any(|group| step < longest_step(group)) {
        step *= 2;
        for group in &mut all {
            group.pieces = pieces::coarser(&group.pieces, step.min(longest_step(group)));
        }
        all = together(all);
    }
    all
}

fn together(groups: Vec<Group>) -> Vec<Group> {
    let mut all: Vec<Group> = Vec::new();
    for group in groups {
        match all.iter_mut().find(|known| pieces::are_alike(&known.pieces, &group.pieces)) {
            Some(known) => known.tables.extend(group.tables),
            None => all.push(group),
        }
    }
    all
}

/// Each step is twice another: a time that was made less exact stays as it is when
/// that is done again.
fn longest_step(group: &Group) -> i64 {
    let of = |table: &Table| interval(table.grace, &Coverage::default()) / EXACT / MINUTE;
    let minutes = group.tables.values().map(of).min().unwrap_or(1).max(1);
    MINUTE << minutes.ilog2()
}
