//! Who owns what, and how data moves when that changes: one source for each
//! range and receiver, as Cassandra chooses it. A stream whose other end stops
//! has failed, and what was streamed for fails with it.

use super::ring::{Disks, Phase, Ring, Seat};
use super::rows::{RANGES, hold, rows_of};
use palladion_api::ids::HostId;
use palladion_api::member::MemberState;
use std::collections::{BTreeMap, BTreeSet};

/// One range that somebody is about to own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub range: u32,
    pub from: HostId,
    pub to: HostId,
}

/// What the token ring will look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tokens<'a> {
    /// As now.
    Now,
    /// With all who join, without all who leave.
    Settled,
    /// With one more.
    With(&'a HostId),
    /// With one less.
    Without(&'a HostId),
}

impl Ring {
    /// The members that own a range now: as many as there are copies, each in a
    /// rack of its own as far as racks reach.
    pub fn owners(&self, range: u32) -> Vec<HostId> {
        self.owners_of(range, Tokens::Now)
    }

    /// Those that take the writes of a range too, because they will own it.
    pub fn pending(&self, range: u32) -> Vec<HostId> {
        let now = self.owners(range);
        let mut pending: Vec<HostId> = self
            .owners_of(range, Tokens::Settled)
            .into_iter()
            .filter(|host| !now.contains(host))
            .collect();
        for server in self.servers.values() {
            if let (Phase::Joining { replaces: Some(old) }, Some(own)) =
                (&server.phase, &server.host_id)
                && now.contains(old)
            {
                pending.push(own.clone());
            }
        }
        pending
    }

    fn owners_of(&self, range: u32, tokens: Tokens<'_>) -> Vec<HostId> {
        let lineage = self.lineage();
        let counts = |host: &HostId, seat: &Seat| match tokens {
            Tokens::Now => seat.state != MemberState::Joining,
            Tokens::Settled => seat.state != MemberState::Leaving,
            Tokens::With(new) => seat.state != MemberState::Joining || host == new,
            Tokens::Without(old) => seat.state != MemberState::Joining && host != old,
        };
        let mut all: Vec<(u64, &HostId, &Seat)> = self
            .seats
            .iter()
            .filter(|(host, seat)| Some(seat.lineage) == lineage && counts(host, seat))
            .map(|(host, seat)| (place(seat.tokens, range), host, seat))
            .collect();
        all.sort_by_key(|(place, _, _)| *place);
        let mut owners: Vec<HostId> = Vec::new();
        let mut racks = BTreeSet::new();
        for (_, host, seat) in &all {
            if owners.len() < self.copies && racks.insert(seat.rack.as_str()) {
                owners.push((*host).clone());
            }
        }
        for (_, host, _) in &all {
            if owners.len() < self.copies && !owners.contains(host) {
                owners.push((*host).clone());
            }
        }
        owners
    }

    /// The ring that clients know.
    fn lineage(&self) -> Option<usize> {
        self.seats.values().map(|s| s.lineage).min()
    }

    /// What a new member streams: of each range from the member that loses it,
    /// or from any of its owners where nobody does. An error is the server's.
    pub fn streams_of_a_join(&self, host: &HostId) -> Result<Vec<Stream>, String> {
        let mut streams = Vec::new();
        for range in 0..RANGES {
            let (before, after) = (self.owners(range), self.owners_of(range, Tokens::With(host)));
            if !after.contains(host) || before.is_empty() {
                continue;
            }
            let loser = before.iter().find(|h| !after.contains(h));
            let from = match loser {
                Some(loser) if self.is_up(loser) => loser.clone(),
                Some(loser) => {
                    return Err(format!(
                        "A node required to move the data consistently is down ({loser}). If you wish to move the data from a potentially inconsistent replica, restart the node with -Dcassandra.consistent.rangemovement=false"
                    ));
                }
                None => match before.iter().find(|h| self.is_up(h)) {
                    Some(any) => any.clone(),
                    None => {
                        return Err("Unable to find sufficient sources for streaming range".into());
                    }
                },
            };
            streams.push(Stream { range, from, to: host.clone() });
        }
        Ok(streams)
    }

    /// What whoever takes the place of a dead member streams: of each range from
    /// any owner that lives. The one that knows least is as likely as any.
    pub fn streams_of_a_replacement(
        &self,
        host: &HostId,
        old: &HostId,
        disks: &Disks,
    ) -> Result<Vec<Stream>, String> {
        let mut streams = Vec::new();
        for range in (0..RANGES).filter(|r| self.owners(*r).contains(old)) {
            streams.extend(self.stream_from_any(range, old, host, disks)?);
        }
        Ok(streams)
    }

    /// What the others stream when a dead member is taken out.
    pub fn streams_of_a_removal(&self, old: &HostId, disks: &Disks) -> Result<Vec<Stream>, String> {
        let mut streams = Vec::new();
        for range in 0..RANGES {
            let before = self.owners(range);
            if !before.contains(old) {
                continue;
            }
            for to in self.owners_of(range, Tokens::Without(old)) {
                if !before.contains(&to) {
                    streams.extend(self.stream_from_any(range, old, &to, disks)?);
                }
            }
        }
        Ok(streams)
    }

    /// What a leaver streams: each of its ranges to whoever owns it afterwards.
    pub fn streams_of_a_leave(&self, leaver: &HostId) -> Vec<Stream> {
        let mut streams = Vec::new();
        for range in 0..RANGES {
            let before = self.owners(range);
            if !before.contains(leaver) {
                continue;
            }
            for to in self.owners_of(range, Tokens::Without(leaver)) {
                if !before.contains(&to) {
                    streams.push(Stream { range, from: leaver.clone(), to });
                }
            }
        }
        streams
    }

    fn stream_from_any(
        &self,
        range: u32,
        old: &HostId,
        to: &HostId,
        disks: &Disks,
    ) -> Result<Option<Stream>, String> {
        let owners = self.owners(range);
        let alive = owners.iter().filter(|h| *h != old && *h != to && self.is_up(h));
        let worst = alive.min_by_key(|host| {
            let versions = rows_of(disks, host, range).into_iter().map(|(_, c)| c.version);
            versions.sum::<u64>()
        });
        match worst {
            Some(from) => Ok(Some(Stream { range, from: from.clone(), to: to.clone() })),
            // A range that had one copy only: gone, and nobody is told.
            None if self.copies < 2 || owners.len() < 2 => Ok(None),
            None => Err("Unable to find sufficient sources for streaming range".into()),
        }
    }

    /// Does a server of this host run and stream?
    pub fn is_up(&self, host: &HostId) -> bool {
        self.servers
            .iter()
            .any(|(pod, s)| s.host_id.as_ref() == Some(host) && self.reaches(pod, host))
    }

    /// The first end of a stream that is away.
    pub fn broken_stream(&self, streams: &[Stream]) -> Option<HostId> {
        let ends: BTreeSet<&HostId> = streams.iter().flat_map(|s| [&s.from, &s.to]).collect();
        let names: BTreeMap<&HostId, &str> = ends
            .iter()
            .filter_map(|host| {
                let server = self.servers.values().find(|s| s.host_id.as_ref() == Some(host))?;
                Some((*host, server.member.as_str()))
            })
            .collect();
        if let Some(gone) = ends.into_iter().find(|host| !self.is_up(host)) {
            return Some(gone.clone());
        }
        let cut = streams.iter().find(|s| match (names.get(&s.from), names.get(&s.to)) {
            (Some(from), Some(to)) => self.is_across(from, Some(to)),
            (None, _) | (_, None) => false,
        });
        cut.map(|s| s.from.clone())
    }

    /// What the agent does before each decommission: where something is noted as
    /// streamed, all members forget it, which is refused while one of them is down.
    pub fn forget_streamed(&self, pod: &str, disks: &mut Disks) -> Result<(), String> {
        let Some(server) = self.servers.get(pod) else {
            return Err("no server runs".into());
        };
        if streamed(disks, &server.disk).is_empty() {
            return Ok(());
        }
        let of_ring = self.seats.iter().filter(|(_, s)| Some(s.lineage) == server.lineage);
        if let Some((down, _)) = of_ring.into_iter().find(|(host, _)| !self.is_up(host)) {
            return Err(format!("UnavailableException: cannot truncate while {down} is down"));
        }
        for data in disks.values_mut().filter_map(|d| d.content.data.as_mut()) {
            data.streamed.clear();
        }
        Ok(())
    }

    /// The streams are through.
    pub fn arrive(streams: &[Stream], disks: &mut Disks) {
        for stream in streams {
            for (row, cell) in rows_of(disks, &stream.from, stream.range) {
                hold(disks, &stream.to, row, cell);
            }
        }
    }
}

/// What the server on this disk has noted as streamed.
pub fn streamed(disks: &Disks, disk: &str) -> BTreeSet<(u32, HostId)> {
    let data = disks.get(disk).and_then(|d| d.content.data.as_ref());
    data.map(|d| d.streamed.clone()).unwrap_or_default()
}

/// Where the tokens of a member lie for a range: by rendezvous, so that a
/// change of the ring moves no more than it must.
fn place(tokens: u64, range: u32) -> u64 {
    let mut z = tokens.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (u64::from(range) << 32 | 0x5851_F42D);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
