//! What a member of a datacenter that was added to a ring has of its data, and whether it takes
//! clients. A file of its own, as with jobs. Without it, or where it cannot be read, the member has
//! nothing and takes nobody: then it is rebuilt once more. It is written before the first start
//! without clients, and keeps later ones closed whatever the configuration says.

use super::{Volume, durable};
use anyhow::Result;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const FILE: &str = "rebuild.json";

/// The loop and the operation beside it both change the file.
static CHANGING: Mutex<()> = Mutex::new(());

/// The file.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    /// Does it take clients, also after a restart?
    #[serde(default)]
    pub open: bool,
    /// Was it started without clients because it lacks something? It stays so until it is open,
    /// also under a configuration that does not ask for it.
    #[serde(default)]
    pub closed: bool,
    /// When its server was last closed because its datacenter leaves.
    #[serde(default)]
    pub closed_at: Option<Timestamp>,
    /// Keyspaces that were rebuilt, or streamed by a join of a datacenter that had them.
    #[serde(default)]
    pub keyspaces: BTreeMap<String, Had>,
}

/// Under which replication a keyspace was rebuilt, or was seen to be since.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Had {
    /// Copies in the datacenter of the member.
    pub copies: u32,
    /// Had each member there a copy of every range? More copies are then no more ranges: such a
    /// keyspace has more copies only because there are more members.
    #[serde(default)]
    pub all: bool,
}

impl Rebuilt {
    /// This keyspace was rebuilt while the datacenter had so many copies of it.
    pub fn note(&mut self, keyspace: &str, copies: u32) {
        self.keyspaces.insert(keyspace.into(), Had { copies, all: false });
    }

    /// It takes clients from now on.
    pub fn opened(&mut self) {
        (self.open, self.closed, self.closed_at) = (true, false, None);
    }

    /// It takes no clients from now on, and has what it has. A member whose datacenter was not added
    /// has so many copies of these keyspaces: it goes on from here, if it is opened again.
    pub fn shut(&mut self, has: Option<&BTreeMap<String, u32>>, at: Timestamp) {
        (self.open, self.closed) = (false, true);
        self.close_at(at);
        if let Some(has) = has {
            self.keyspaces.clear();
            let held = has.iter().filter(|(_, copies)| **copies > 0);
            held.for_each(|(keyspace, copies)| self.note(keyspace, *copies));
        }
    }

    /// It is closed at this time, to the second, as it is reported; a second time is a later one.
    pub fn close_at(&mut self, at: Timestamp) {
        let next = self.closed_at.map_or(0, |before| before.as_second() + 1);
        let at = Timestamp::from_second(at.as_second().max(next));
        self.closed_at = at.ok().or(self.closed_at);
    }

    /// How many copies of each keyspace there were.
    pub fn copies(&self) -> BTreeMap<String, u32> {
        self.keyspaces.iter().map(|(name, had)| (name.clone(), had.copies)).collect()
    }

    /// What was counted now: copies of each keyspace in the datacenter, which has so many members.
    /// A keyspace that has none here, or is there no more, is forgotten: what is written until it
    /// has some again does not reach this member. So is one with more copies: this member has more
    /// ranges than were rebuilt. Fewer copies are noted, so that more are seen later.
    pub fn forget(&mut self, counted: &BTreeMap<String, u32>, members: u32) {
        self.keyspaces.retain(|name, had| {
            let here = counted.get(name).copied().unwrap_or(0);
            let stays = here > 0 && (here <= had.copies || had.all);
            *had = Had { copies: here, all: here >= members };
            stays
        });
    }
}

impl Volume {
    /// What is noted.
    pub fn rebuilt(&self) -> Rebuilt {
        match durable::read_json::<Rebuilt>(&self.own(FILE)) {
            Ok(read) => read.unwrap_or_default(),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "cannot read what was rebuilt; it is rebuilt again");
                Rebuilt { closed: true, ..Rebuilt::default() }
            }
        }
    }

    /// Change it; on return it survives a power cut.
    pub fn change_rebuilt(&self, change: impl FnOnce(&mut Rebuilt)) -> Result<Rebuilt> {
        let _one_at_a_time = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.rebuilt();
        let mut rebuilt = before.clone();
        change(&mut rebuilt);
        if rebuilt != before {
            durable::write_json(&self.own(FILE), &rebuilt)?;
        }
        Ok(rebuilt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::cluster::Mode;
    use std::fs;

    #[test]
    fn what_is_torn_or_missing_is_a_member_that_has_nothing_and_takes_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        volume.take(&"m-0".into(), None).unwrap();
        assert_eq!(volume.inspect().unwrap().rebuilt, Rebuilt::default());
        for (keyspace, copies) in [("shop", 1), ("auth", 2), ("shop", 3)] {
            volume.change_rebuilt(|rebuilt| rebuilt.note(keyspace, copies)).unwrap();
        }
        let noted = volume.change_rebuilt(Rebuilt::opened).unwrap();
        let had = |copies| Had { copies, all: false };
        let keyspaces = [("auth".into(), had(2)), ("shop".into(), had(3))].into();
        let expected = Rebuilt { open: true, closed: false, closed_at: None, keyspaces };
        assert_eq!((&noted, volume.inspect().unwrap().rebuilt), (&expected, expected.clone()));
        fs::write(volume.own(FILE), "{").unwrap();
        let torn = Rebuilt { closed: true, ..Rebuilt::default() };
        assert_eq!(volume.inspect().unwrap().rebuilt, torn);
    }

    /// The operator compares the times as they are reported, to the second.
    #[test]
    fn who_is_closed_again_within_a_second_is_closed_at_a_later_one() {
        let mut rebuilt = Rebuilt::default();
        rebuilt.shut(None, Timestamp::UNIX_EPOCH);
        let first = rebuilt.closed_at;
        rebuilt.close_at(Timestamp::UNIX_EPOCH);
        assert!(rebuilt.closed_at > first && first.is_some());
    }

    fn counted(all: &[(&str, u32)]) -> BTreeMap<String, u32> {
        all.iter().map(|(name, copies)| ((*name).to_string(), *copies)).collect()
    }

    /// Ranges that this member has now and did not have then were never streamed to it, and writes
    /// of the time in between went past it.
    #[test]
    fn a_keyspace_is_forgotten_that_has_more_copies_none_or_is_gone() {
        let mut rebuilt = Rebuilt::default();
        for keyspace in ["dropped", "fewer", "more", "none", "same"] {
            rebuilt.note(keyspace, 2);
        }
        let now = [("fewer", 1), ("more", 3), ("none", 0), ("same", 2), ("new", 2)];
        rebuilt.forget(&counted(&now), 5);
        assert_eq!(rebuilt.copies(), counted(&[("fewer", 1), ("same", 2)]));
        rebuilt.forget(&counted(&[("fewer", 2), ("same", 2)]), 5);
        assert_eq!(rebuilt.copies(), counted(&[("same", 2)]), "it had one copy in between");
    }

    /// Three copies are wanted of two members: the third member adds a copy, and no range to them.
    #[test]
    fn whoever_has_all_ranges_has_them_also_with_more_members() {
        let mut rebuilt = Rebuilt::default();
        rebuilt.note("shop", 3);
        rebuilt.forget(&counted(&[("shop", 2)]), 2);
        rebuilt.forget(&counted(&[("shop", 3)]), 3);
        assert_eq!(rebuilt.copies(), counted(&[("shop", 3)]));
        rebuilt.forget(&counted(&[("shop", 3)]), 4);
        rebuilt.forget(&counted(&[("shop", 4)]), 4);
        assert!(rebuilt.keyspaces.is_empty(), "a fourth copy of what it had in part");
    }
}
