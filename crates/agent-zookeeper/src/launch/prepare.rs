//! What a start needs on the volume: the number of the server, its configuration,
//! and the right to begin without data, which only the first server of an ensemble
//! has. Nothing else in the agent writes or removes a file of the server.

use crate::decide::LeftOver;
use crate::decide::{Entry, Start};
use crate::read::{Config, Server};
use crate::volume::Volume;
use crate::volume::data::{INITIALIZE, MY_ID, VERSION};
use crate::words::files::Missing;
use anyhow::{Context, Result};
use palladion_agent_core::volume::durable;
use palladion_agent_core::words::files::Doing;
use palladion_api::service_member::{Peer, ServerRole};
use palladion_api::zookeeper::{ZookeeperPorts, Zxid};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Prepare the volume for a start. Each step can be repeated after a crash: what a
/// server may begin with is written last, and taken away first.
///
/// # Errors
/// A file cannot be written or removed; no server may be started then.
pub fn prepare(volume: &Volume, start: &Start, ports: &ZookeeperPorts) -> Result<()> {
    let initialize = volume.logs().join(INITIALIZE);
    remove(&initialize)?;
    for directory in [volume.data(), volume.logs()] {
        fs::create_dir_all(directory)
            .with_context(|| Doing::CreateDirectory { path: directory.display().to_string() })?;
    }
    durable::write_text(&volume.data().join(MY_ID), &format!("{}\n", start.server_id))?;
    match &start.entry {
        Entry::Plain => {}
        Entry::First => {
            wipe(volume)?;
            volume.files().replace(&alone(start, ports, Zxid::default()))?;
            durable::write_text(&initialize, "")?;
        }
        Entry::Observer { peers, left_over } => {
            match left_over {
                LeftOver::Kept => {}
                LeftOver::Removed => wipe(volume)?,
            }
            volume.files().replace(&observer(start, peers, ports))?;
        }
        Entry::Alone => {
            let newest = volume.files().newest()?.context(Missing::Configuration)?;
            volume.files().replace(&alone(start, ports, newest.version))?;
        }
    }
    Ok(())
}

/// A configuration of this server alone.
fn alone(start: &Start, ports: &ZookeeperPorts, version: Zxid) -> Config {
    let own = Server::new(&start.address, ports, ServerRole::Participant);
    Config { version, servers: [(start.server_id, own)].into() }
}

/// The members, and this server as an observer: it synchronizes, and counts for nothing
/// until it is added.
fn observer(start: &Start, peers: &[Peer], ports: &ZookeeperPorts) -> Config {
    let member =
        |peer: &Peer| (peer.server_id, Server::new(&peer.address, ports, ServerRole::Participant));
    let mut servers: std::collections::BTreeMap<_, _> = peers.iter().map(member).collect();
    let own = Server::new(&start.address, ports, ServerRole::Observer);
    servers.insert(start.server_id, own);
    Config { version: Zxid::default(), servers }
}

/// Remove snapshots, logs and epochs. A server that was started once without the right
/// to begin has left epochs by which it would never begin.
fn wipe(volume: &Volume) -> Result<()> {
    for directory in [volume.logs(), volume.data()] {
        let path = directory.join(VERSION);
        match fs::remove_dir_all(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error)
                    .with_context(|| Doing::Remove { path: path.display().to_string() });
            }
        }
        durable::sync_directory(directory)?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => {
            let directory = path.parent().unwrap_or(Path::new("/"));
            durable::sync_directory(directory)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => {
            Err(error).with_context(|| Doing::Remove { path: path.display().to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Cause;
    use crate::volume::Data;
    use palladion_api::zookeeper::ServerId;

    fn volume() -> (tempfile::TempDir, Volume) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_path_buf();
        let volume = Volume::new(root.clone(), root.join("data"), root.join("datalog"));
        (directory, volume)
    }

    fn start(entry: Entry) -> Start {
        let (server_id, address) = (ServerId::new(2), "10.96.0.12".into());
        Start { cause: Cause::Autonomous, server_id, address, entry }
    }

    fn prepared(volume: &Volume, entry: Entry) -> Config {
        prepare(volume, &start(entry), &ZookeeperPorts::default()).unwrap();
        volume.files().newest().unwrap().unwrap()
    }

    fn may_begin(volume: &Volume) -> bool {
        volume.logs().join(INITIALIZE).exists()
    }

    fn put_data(volume: &Volume) {
        for path in [
            volume.data().join(VERSION).join("snapshot.0"),
            volume.data().join(VERSION).join("currentEpoch"),
            volume.logs().join(VERSION).join("log.1"),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "1").unwrap();
        }
    }

    #[test]
    fn the_first_may_begin_alone_on_empty_directories() {
        let (_directory, volume) = volume();
        // Started once without the right to begin: its epochs would forbid it for ever.
        put_data(&volume);
        let config = prepared(&volume, Entry::First);
        assert_eq!(config.file(), "server.2=10.96.0.12:2888:3888:participant;2181\n");
        assert!(may_begin(&volume), "beside the logs, and not beside the snapshots");
        assert!(!volume.data().join(VERSION).exists() && !volume.logs().join(VERSION).exists());
        assert_eq!(fs::read_to_string(volume.data().join(MY_ID)).unwrap(), "2\n");
    }

    #[test]
    fn a_joiner_observes_and_a_right_to_begin_that_is_left_over_is_gone() {
        let (_directory, volume) = volume();
        prepared(&volume, Entry::First);
        put_data(&volume);
        let peers = vec![Peer { server_id: ServerId::new(1), address: "10.96.0.11".into() }];
        let observer = |left_over| Entry::Observer { peers: peers.clone(), left_over };
        let config = prepared(&volume, observer(LeftOver::Kept));
        let expected = "server.1=10.96.0.11:2888:3888:participant;2181\n\
            server.2=10.96.0.12:2888:3888:observer;2181\n";
        assert_eq!(config.file(), expected);
        assert!(!may_begin(&volume));
        assert_ne!(volume.inspect().unwrap().data, Data::Absent);
        prepared(&volume, observer(LeftOver::Removed));
        assert_eq!(volume.inspect().unwrap().data, Data::Absent);
    }

    #[test]
    fn a_member_starts_with_what_its_server_has_written() {
        let (_directory, volume) = volume();
        let peers = vec![Peer { server_id: ServerId::new(1), address: "10.96.0.11".into() }];
        let written = observer(&start(Entry::Plain), &peers, &ZookeeperPorts::default());
        let written = Config { version: Zxid::new(7 << 32), ..written };
        volume.files().replace(&written).unwrap();
        put_data(&volume);
        fs::write(volume.logs().join(INITIALIZE), "").unwrap();
        assert_eq!(prepared(&volume, Entry::Plain), written);
        assert!(!may_begin(&volume));
        assert!(volume.logs().join(VERSION).join("log.1").exists());
    }

    /// The version stays: one that is newer than that of the others would draw in those
    /// that come back.
    #[test]
    fn who_goes_on_alone_keeps_data_and_version() {
        let (_directory, volume) = volume();
        assert!(prepare(&volume, &start(Entry::Alone), &ZookeeperPorts::default()).is_err());
        let peers = vec![Peer { server_id: ServerId::new(1), address: "10.96.0.11".into() }];
        let ports = ZookeeperPorts::default();
        let of_before = observer(&start(Entry::Plain), &peers, &ports);
        let of_before = Config { version: Zxid::new(7 << 32), ..of_before };
        volume.files().replace(&of_before).unwrap();
        put_data(&volume);
        let config = prepared(&volume, Entry::Alone);
        assert_eq!(config, alone(&start(Entry::Alone), &ports, Zxid::new(7 << 32)));
        assert!(!may_begin(&volume));
        assert!(volume.data().join(VERSION).join("snapshot.0").exists());
    }
}
