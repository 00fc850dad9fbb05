//! Data: rows on the members that own them, streamed when the ring changes.

use super::ring::{Disks, Phase, Ring};
use palladion_api::ids::HostId;
use palladion_api::member::MemberState;
use palladion_plan::hash;
use serde_json::json;

impl Ring {
    /// Clients write rows; every owner that is up takes them.
    pub fn write(&mut self, rows: u32, disks: &mut Disks) {
        let Some(lineage) = self.seats.values().map(|s| s.lineage).min() else {
            return;
        };
        for row in self.rows..self.rows + rows {
            for host in self.owners(lineage, row) {
                let up = self
                    .servers
                    .values()
                    .any(|s| s.host_id.as_ref() == Some(&host) && s.phase == Phase::Normal);
                if up {
                    hold(disks, &host, row);
                }
            }
        }
        self.rows += rows;
    }

    /// The members that own a row: by rendezvous, so that a change of the ring
    /// moves no more than it must.
    fn owners(&self, lineage: usize, row: u32) -> Vec<HostId> {
        let mut hosts: Vec<(String, &HostId)> = self
            .seats
            .iter()
            .filter(|(_, s)| s.lineage == lineage && s.state != MemberState::Joining)
            .map(|(host, _)| (hash::of(&json!([row, host])), host))
            .collect();
        hosts.sort();
        hosts.into_iter().take(self.copies).map(|(_, host)| host.clone()).collect()
    }

    /// Owners get what they lack from members that hold it and are up.
    pub fn stream(&mut self, lineage: usize, disks: &mut Disks) {
        for row in 0..self.rows {
            let held = self.servers.values().filter(|s| s.lineage == Some(lineage)).any(|s| {
                disks
                    .get(&s.disk)
                    .and_then(|d| d.content.data.as_ref())
                    .is_some_and(|d| d.rows.contains(&row))
            });
            if held {
                for host in self.owners(lineage, row) {
                    hold(disks, &host, row);
                }
            }
        }
    }

    /// Rows that no owner holds.
    pub fn lost_rows(&self, disks: &Disks) -> Vec<u32> {
        let Some(lineage) = self.seats.values().map(|s| s.lineage).min() else {
            return Vec::new();
        };
        let holds = |host: &HostId, row: u32| {
            disks
                .values()
                .filter_map(|d| d.content.data.as_ref())
                .any(|d| d.host_id == *host && d.rows.contains(&row))
        };
        (0..self.rows)
            .filter(|row| !self.owners(lineage, *row).iter().any(|host| holds(host, *row)))
            .collect()
    }
}

fn hold(disks: &mut Disks, host: &HostId, row: u32) {
    for data in
        disks.values_mut().filter_map(|d| d.content.data.as_mut()).filter(|d| d.host_id == *host)
    {
        data.rows.insert(row);
    }
}
