//! What a member of a datacenter that was added to a ring has of its data, and whether it takes
//! clients. A file of its own, as with jobs. Without it, or where it cannot be read, the member has
//! nothing and takes nobody: then it is rebuilt once more.

use super::{Volume, durable};
use anyhow::Result;
use serde::{Deserialize, Serialize};
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
    /// Keyspaces that were rebuilt, or streamed by a join of a datacenter that had them; sorted.
    #[serde(default)]
    pub keyspaces: Vec<String>,
}

impl Rebuilt {
    /// This keyspace was rebuilt.
    pub fn note(&mut self, keyspace: &str) {
        if let Err(at) = self.keyspaces.binary_search_by(|known| known.as_str().cmp(keyspace)) {
            self.keyspaces.insert(at, keyspace.into());
        }
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
                Rebuilt::default()
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
        for keyspace in ["shop", "auth", "shop"] {
            volume.change_rebuilt(|rebuilt| rebuilt.note(keyspace)).unwrap();
        }
        let noted = volume.change_rebuilt(|rebuilt| rebuilt.open = true).unwrap();
        let expected = Rebuilt { open: true, keyspaces: vec!["auth".into(), "shop".into()] };
        assert_eq!((&noted, volume.inspect().unwrap().rebuilt), (&expected, expected.clone()));
        fs::write(volume.own(FILE), "{").unwrap();
        assert_eq!(volume.inspect().unwrap().rebuilt, Rebuilt::default());
    }
}
