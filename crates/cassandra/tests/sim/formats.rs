//! Formats of SSTables: a server writes that of its own version, reads that of the one
//! before, and does not start on anything older.

use super::ring::{Disks, Ring};
use super::volume::Data;

/// The format that a server of this version writes, by the first number of the version.
pub fn of(version: &str) -> u32 {
    version.split('.').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

/// What a server of this version says to SSTables that it cannot read, in Cassandra's words.
pub fn unreadable(version: &str, data: &Data) -> Option<String> {
    let oldest = data.formats.first()?;
    (oldest + 1 < of(version)).then(|| {
        "Detected unreadable sstables, please check NEWS.txt and ensure that you have upgraded through all required intermediate versions, running upgradesstables".to_string()
    })
}

impl Ring {
    /// `nodetool upgradesstables`: all that is not in its own format the server writes again.
    pub fn rewrite(&self, pod: &str, disks: &mut Disks) -> Result<String, String> {
        let Some(server) = self.servers.get(pod) else {
            return Err("the connection to the server was closed".into());
        };
        if let Some(data) = disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut()) {
            data.formats = [of(&server.version)].into();
        }
        Ok("done".into())
    }
}
