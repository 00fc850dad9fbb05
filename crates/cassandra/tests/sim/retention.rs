//! Backups that expire: what the store makes of it, as the two phases of `palladion-backup` do,
//! and what must hold of it at any time.

use super::transfers::{Outcome, Store};
use super::world::World;
use jiff::{SignedDuration, Timestamp};
use palladion_agent_transfer::tell::{Done, Line};
use palladion_api::backup::{ExpireWork, Expired, StayingBackup, SweepWork, Swept};
use palladion_cassandra::resources as kinds;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// So long after it was condemned something can be deleted.
const GRACE: SignedDuration = SignedDuration::from_hours(24);

fn staying(backup: &str, why: &str) -> StayingBackup {
    StayingBackup { backup: backup.into(), why: why.into() }
}

impl Store {
    fn is_complete(&self, id: &str) -> bool {
        matches!(self.outcomes.get(id), Some(Outcome::Complete(_)))
            && !self.condemned.contains_key(id)
    }

    fn is_whole(&self, id: &str) -> bool {
        self.left_out.get(id).is_none_or(BTreeSet::is_empty)
    }

    /// The first phase.
    pub(super) fn expire(&mut self, of: &ExpireWork, now: Timestamp) -> Line {
        let (mut told, mut rest) = (Expired::default(), Vec::new());
        for id in &of.backups {
            match (self.condemned.contains_key(id), self.outcomes.contains_key(id)) {
                (true, _) => told.condemned.push(id.clone()),
                (false, false) => told.absent.push(id.clone()),
                (false, true) => match self.pins.get(id) {
                    Some(holder) => told.stay.push(staying(id, &format!("it is read by {holder}"))),
                    None => rest.push(id.clone()),
                },
            }
        }
        // One without a member takes no place of one with all.
        let goes_whole = rest.iter().any(|id| self.is_complete(id) && self.is_whole(id));
        let left = self.outcomes.keys().filter(|id| {
            self.is_complete(id) && !rest.contains(id) && (self.is_whole(id) || !goes_whole)
        });
        let left = left.count();
        if rest.iter().any(|id| self.is_complete(id)) && left < of.keep as usize {
            let why = format!("{left} complete backups would be left, and {} must stay", of.keep);
            told.stay.extend(rest.iter().map(|id| staying(id, &why)));
            return Line::Done(Done::Expired { expired: Box::new(told) });
        }
        told.objects = rest.len() as u64;
        told.bytes = 300 * told.objects;
        self.condemned.extend(rest.iter().map(|id| (id.clone(), now)));
        told.condemned.extend(rest);
        Line::Done(Done::Expired { expired: Box::new(told) })
    }

    /// The second phase.
    pub(super) fn sweep(&mut self, of: &SweepWork, now: Timestamp) -> Line {
        let mut told = Swept::default();
        let mut why: BTreeMap<String, String> = BTreeMap::new();
        for (id, at) in self.condemned.clone() {
            if self.swept.contains_key(&id) {
                continue;
            }
            let hours = match (at + GRACE > now, self.pins.get(&id), self.forbids_deletes) {
                (true, _, _) => {
                    why.insert(id, "it can be swept later".into());
                    1 + (at + GRACE).duration_since(now).as_hours()
                }
                (false, Some(holder), _) => {
                    let veto = format!("backup {id} is read by {holder}");
                    told.vetoed = Some(veto.clone());
                    why.insert(id, veto);
                    24
                }
                (false, None, true) => {
                    told.refused = Some("403 Forbidden".into());
                    why.insert(id, "403 Forbidden".into());
                    24
                }
                (false, None, false) => {
                    told.objects += 1;
                    told.bytes += 300;
                    self.swept.insert(id, now);
                    continue;
                }
            };
            let hours = u32::try_from(hours).unwrap_or(24);
            told.again_in_hours = Some(told.again_in_hours.map_or(hours, |of| of.min(hours)));
        }
        for id in &of.backups {
            match (self.condemned.contains_key(id), self.swept.contains_key(id)) {
                (false, _) => told.unknown.push(id.clone()),
                (true, true) => told.backups.push(id.clone()),
                (true, false) => {
                    told.stay.push(staying(id, why.get(id).map_or("", String::as_str)));
                }
            }
        }
        Line::Done(Done::Swept { swept: Box::new(told) })
    }
}

impl World {
    /// Only what was condemned a day ago is gone; what a restore that is under way reads is not
    /// condemned, and neither is the newest complete backup of a schedule.
    pub(super) fn what_must_stay_stays(&self) -> Result<(), String> {
        let store = &self.ring.store;
        for (id, at) in &store.swept {
            match store.condemned.get(id) {
                Some(condemned) if *condemned + GRACE <= *at => {}
                other => return Err(format!("{id} was deleted at {at}, condemned: {other:?}")),
            }
        }
        for (key, restore) in self.store.list(kinds::RESTORE) {
            let is_over = ["Complete", "Failed", "Aborted"]
                .contains(&restore["status"]["phase"].as_str().unwrap_or_default());
            let id = restore["status"]["source"]["backupID"].as_str().unwrap_or_default();
            if !is_over && store.condemned.contains_key(id) {
                return Err(format!("{id} is condemned, and restore {} reads it", key.name));
            }
        }
        for (key, _) in self.store.list(kinds::BACKUP_SCHEDULE) {
            let newest = self.newest_of(&key.name);
            if let Some(id) = newest.filter(|id| store.condemned.contains_key(id)) {
                return Err(format!("{id} is condemned, the newest complete one of {}", key.name));
            }
        }
        Ok(())
    }

    /// The newest backup of a schedule that was complete, by its name in the repository.
    fn newest_of(&self, schedule: &str) -> Option<String> {
        let was_complete = |status: &Value| {
            let ended = status["expiry"]["after"].as_str().or(status["phase"].as_str());
            ended == Some("Complete")
        };
        let all = self.store.list(kinds::BACKUP).map(|(_, backup)| backup);
        let of_it = all.filter(|backup| {
            backup["metadata"]["labels"]["palladion.dev/schedule"] == schedule
                && was_complete(&backup["status"])
        });
        let newest = of_it.max_by_key(|b| b["status"]["window"]["from"].to_string())?;
        newest["status"]["id"].as_str().map(str::to_string)
    }
}
