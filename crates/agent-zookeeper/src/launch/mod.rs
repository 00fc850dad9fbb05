//! From a decision to start to a command line for init: prepares the directories,
//! writes the files of the configuration.

pub mod image;
pub mod java;
pub mod password;
pub mod prepare;
mod record;
mod zoo_cfg;

pub use image::Image;
pub use password::Password;
pub use record::Record;
pub use zoo_cfg::zoo_cfg;

use crate::decide::Start;
use crate::volume::Volume;
use anyhow::Result;
use palladion_agent_core::init::protocol::Launch;
use palladion_agent_core::service::mounted;
use palladion_api::zookeeper::{ZOOKEEPER_CONFIG_FILE, ZookeeperServerConfig};
use std::collections::BTreeMap;
use std::path::Path;

/// The operator's configuration as it is mounted.
pub type Mounted = mounted::Mounted<ZookeeperServerConfig>;

/// Read it from its directory.
///
/// # Errors
/// It is not there, or a newer operator has written it.
pub fn mounted(directory: &Path) -> Result<Mounted> {
    Mounted::read_file(directory, ZOOKEEPER_CONFIG_FILE)
}

/// Where things are in the container.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The volume.
    pub volume: &'a Volume,
    /// ZooKeeper.
    pub image: &'a Image,
    /// The `java` program.
    pub java: &'a Path,
    /// In memory: sockets and secrets.
    pub run: &'a Path,
    /// Scratch space; also the working directory.
    pub tmp: &'a Path,
}

/// Prepare a start, and make the command line. The ledger is the caller's to write,
/// before init is asked to launch.
///
/// # Errors
/// Something is missing, or cannot be written. What may be wrong with image and
/// configuration is found before a file on the volume is touched.
pub fn launch(place: &Place<'_>, mounted: &Mounted, start: &Start) -> Result<(Launch, Record)> {
    let (volume, config) = (place.volume, &mounted.config);
    let class_path = place.image.class_path()?;
    let settings = zoo_cfg(config, volume.data(), volume.logs())?;
    prepare::prepare(volume, start, &config.ports)?;
    let zoo_cfg = volume.files().write_zoo_cfg(&settings)?;
    let password = Password::random();
    let secrets = java::write_secrets(place.run, &password)?;
    let options = java::Options {
        class_path: &class_path,
        heap_mib: config.heap_mib,
        person: &config.jvm_options,
        tmp: place.tmp,
        zoo_cfg: &zoo_cfg,
    };
    let tag = uuid::Uuid::new_v4().simple().to_string();
    let launch = Launch {
        tag: tag.clone(),
        program: place.java.to_path_buf(),
        arguments: java::arguments(&options, &secrets),
        environment: BTreeMap::new(),
        directory: place.tmp.to_path_buf(),
    };
    Ok((launch, Record { tag, config_hash: mounted.hash.clone(), password }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Cause, Entry};
    use palladion_api::zookeeper::{self, ServerId, ZookeeperPorts};
    use std::fs;

    fn a_mount(directory: &Path) -> Mounted {
        let config = ZookeeperServerConfig {
            version: "3.9.3".into(),
            cluster: "zk".into(),
            ports: ZookeeperPorts::default(),
            heap_mib: 512,
            settings: zookeeper::settings(&BTreeMap::new()),
            jvm_options: Vec::new(),
        };
        fs::create_dir_all(directory).unwrap();
        let text = serde_json::to_string(&config).unwrap();
        fs::write(directory.join(ZOOKEEPER_CONFIG_FILE), text).unwrap();
        super::mounted(directory).unwrap()
    }

    #[test]
    fn a_start_is_prepared_only_where_the_image_is_one_of_zookeeper() {
        let disk = tempfile::tempdir().unwrap();
        let at = |name: &str| disk.path().join(name);
        let mounted = a_mount(&at("config"));
        let volume = Volume::new(at("volume"), at("data"), at("datalog"));
        let image = Image { home: at("home"), conf: at("home/conf") };
        fs::create_dir_all(at("home/lib")).unwrap();
        fs::create_dir_all(at("run")).unwrap();
        let (java, run, tmp) = (Path::new("java"), at("run"), at("tmp"));
        let place = Place { volume: &volume, image: &image, java, run: &run, tmp: &tmp };
        let (server_id, address) = (ServerId::new(1), "10.96.0.11".into());
        let start = Start { cause: Cause::Autonomous, server_id, address, entry: Entry::First };
        assert!(launch(&place, &mounted, &start).is_err());
        assert!(!at("data").exists() && !at("datalog").exists());
        fs::write(at("home/lib/zookeeper-3.9.3.jar"), "").unwrap();
        let (launch, record) = launch(&place, &mounted, &start).unwrap();
        assert_eq!((launch.tag, record.config_hash), (record.tag, mounted.hash));
        let zoo_cfg = at("volume/conf/zoo.cfg").display().to_string();
        assert_eq!(launch.arguments.last(), Some(&zoo_cfg));
        assert!(!launch.arguments.iter().any(|a| a.contains(record.password.reveal())));
    }
}
