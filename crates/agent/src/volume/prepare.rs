//! What a permit may ask to be done with data before a start. Nothing else in
//! the agent removes or moves a file of the server.

use super::ledger::Ledger;
use super::{NOT_DATA, Volume, durable};
use anyhow::{Context, Result};
use palladion_agent_core::words::files::{Doing, Missing};
use palladion_api::member::DataBeforeStart;
use std::fs;
use std::path::{Path, PathBuf};

/// Data of a host ID that is proven gone is kept here.
pub const RETIRED: &str = "retired";

impl Volume {
    /// Carry out what the permit says about data. The ledger is the caller's to save.
    pub fn prepare(&self, what: DataBeforeStart, ledger: &mut Ledger) -> Result<()> {
        match what {
            DataBeforeStart::MustBeEmpty | DataBeforeStart::Keep | DataBeforeStart::Unknown(_) => {}
            DataBeforeStart::Wipe => self.wipe(ledger)?,
            DataBeforeStart::Retire => self.retire(ledger)?,
        }
        ledger.data_prepared(what);
        Ok(())
    }

    /// How many members of the past have their data kept here. What cannot be
    /// read counts as none: it is a hint for people.
    pub fn retired(&self) -> u32 {
        let entries = fs::read_dir(self.root().join(RETIRED)).into_iter().flatten().flatten();
        let kept = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
        u32::try_from(kept.count()).unwrap_or(u32::MAX)
    }

    /// Remove the left-overs of a join that did not finish. The data of a
    /// member that has joined is not ours to remove, whatever a permit says.
    fn wipe(&self, ledger: &Ledger) -> Result<()> {
        ledger.check_wipe(self.data()?).map_err(anyhow::Error::msg)?;
        for path in self.data_entries()? {
            remove(&path)?;
        }
        durable::sync_directory(self.root())?;
        Ok(())
    }

    fn retire(&self, ledger: &Ledger) -> Result<()> {
        let used: u64 = self.data_entries()?.iter().map(|p| size(p)).sum();
        let space = rustix::fs::statvfs(self.root())
            .with_context(|| Doing::ReadFreeSpace { path: self.root().display().to_string() })?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let host_id = ledger.check_retire(used, free).map_err(anyhow::Error::msg)?;
        let target = self.root().join(RETIRED).join(host_id.as_str());
        fs::create_dir_all(&target)
            .with_context(|| Doing::CreateDirectory { path: target.display().to_string() })?;
        for path in self.data_entries()? {
            let name = path
                .file_name()
                .with_context(|| Missing::FileName { path: path.display().to_string() })?;
            let to = target.join(name);
            fs::rename(&path, &to).with_context(|| Doing::Move {
                from: path.display().to_string(),
                to: to.display().to_string(),
            })?;
        }
        durable::sync_directory(&target)?;
        durable::sync_directory(self.root())?;
        Ok(())
    }

    fn data_entries(&self) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(self.root())
            .with_context(|| Doing::List { path: self.root().display().to_string() })?
        {
            let entry =
                entry.with_context(|| Doing::List { path: self.root().display().to_string() })?;
            if !NOT_DATA.iter().any(|name| entry.file_name() == *name) {
                paths.push(entry.path());
            }
        }
        Ok(paths)
    }
}

fn remove(path: &Path) -> Result<()> {
    let kind = fs::symlink_metadata(path)
        .with_context(|| Doing::Inspect { path: path.display().to_string() })?;
    let removed = if kind.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.with_context(|| Doing::Remove { path: path.display().to_string() })
}

/// Bytes below a path; what cannot be read counts as nothing.
fn size(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|e| size(&e.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::ledger::Membership;
    use palladion_api::cluster::Mode;
    use palladion_api::member::PermitKind;

    fn with_data(membership: Membership) -> (tempfile::TempDir, Volume, Ledger) {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        let mut ledger = volume.take(&"m-0".into(), None).unwrap();
        ledger.membership = membership;
        ledger.host_id = Some("h1".into());
        fs::create_dir_all(volume.root().join("data/system")).unwrap();
        fs::write(volume.root().join("data/system/x.db"), "data").unwrap();
        (directory, volume, ledger)
    }

    #[test]
    fn wipe_removes_left_overs_and_keeps_marker_and_ledger() {
        let joining = Membership::Joining { kind: PermitKind::Join, nonce: "n".into() };
        let (_d, volume, mut ledger) = with_data(joining);
        volume.prepare(DataBeforeStart::Wipe, &mut ledger).unwrap();
        let found = volume.inspect().unwrap();
        assert_eq!(found.data, super::super::Data::Absent);
        assert_eq!(found.marker, Some(ledger.volume_id.clone()));
        assert_eq!(ledger.membership, Membership::Empty);
    }

    #[test]
    fn wipe_refuses_the_data_of_a_member_that_has_joined() {
        for membership in
            [Membership::Joined, Membership::Leaving { nonce: "n".into() }, Membership::Left]
        {
            let (_d, volume, mut ledger) = with_data(membership);
            let error = volume.prepare(DataBeforeStart::Wipe, &mut ledger).unwrap_err();
            assert!(error.to_string().contains("h1"));
            assert!(volume.root().join("data/system/x.db").exists());
        }
    }

    #[test]
    fn what_a_reader_has_still_to_read_stays_in_its_place() {
        let joining = Membership::Joining { kind: PermitKind::Join, nonce: "n".into() };
        for (membership, what) in
            [(joining, DataBeforeStart::Wipe), (Membership::Left, DataBeforeStart::Retire)]
        {
            let (_d, volume, mut ledger) = with_data(membership);
            fs::create_dir_all(volume.cdc()).unwrap();
            fs::write(volume.cdc().join("CommitLog-7-1.log"), "x").unwrap();
            volume.prepare(what, &mut ledger).unwrap();
            assert!(volume.cdc().join("CommitLog-7-1.log").exists(), "{what:?}");
            assert_eq!(volume.inspect().unwrap().data, super::super::Data::Absent);
        }
    }

    #[test]
    fn wipe_clears_the_empty_directories_of_a_lost_member() {
        let (_d, volume, mut ledger) = with_data(Membership::Joined);
        fs::remove_file(volume.root().join("data/system/x.db")).unwrap();
        volume.prepare(DataBeforeStart::Wipe, &mut ledger).unwrap();
        assert_eq!(ledger.membership, Membership::Empty);
    }

    #[test]
    fn retire_moves_the_data_below_its_host_id() {
        let (_d, volume, mut ledger) = with_data(Membership::Left);
        volume.prepare(DataBeforeStart::Retire, &mut ledger).unwrap();
        assert!(volume.root().join("retired/h1/data/system/x.db").exists());
        assert_eq!(volume.retired(), 1);
        assert!(!volume.root().join("data").exists());
        assert_eq!(ledger.membership, Membership::Empty);
        assert_eq!(ledger.host_id, None);
    }
}
