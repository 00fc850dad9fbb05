//! From a decision to start to a command line for init: prepares the directories, writes
//! the files of the configuration.

pub mod conf;
pub mod credentials;
pub mod environment;
pub mod image;
pub mod name;
mod record;

pub use credentials::Credentials;
pub use image::Image;
pub use record::Record;

use crate::decide::{Entry, LeftOver, Start};
use crate::volume::Volume;
use anyhow::{Context, Result};
use environment::Place as Files;
use palladion_agent_core::init::protocol::Launch;
use palladion_agent_core::service::mounted;
use palladion_agent_core::volume::durable::write_text;
use palladion_agent_core::words::files::Doing;
use palladion_api::rabbitmq::{RABBITMQ_CONFIG_FILE, RabbitmqServerConfig};
use std::path::Path;

/// The operator's configuration as it is mounted.
pub type Mounted = mounted::Mounted<RabbitmqServerConfig>;

/// Read it from its directory.
///
/// # Errors
/// It is not there, or a newer operator has written it.
pub fn mounted(directory: &Path) -> Result<Mounted> {
    Mounted::read_file(directory, RABBITMQ_CONFIG_FILE)
}

/// Where things are in the container.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The volume.
    pub volume: &'a Volume,
    /// RabbitMQ.
    pub image: &'a Image,
    /// The Secret with the credentials.
    pub credentials: &'a Credentials,
    /// In memory: sockets, and what RabbitMQ makes of its configuration.
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
    let doors = start.entry.doors();
    let program = place.image.server()?;
    environment::check(std::env::vars_os(), &start.node)?;
    let settings = conf::rabbitmq_conf(config, doors)?;
    let plugins = conf::enabled_plugins(config, doors)?;
    let directory = volume.configuration();
    for path in [volume.data(), &directory] {
        std::fs::create_dir_all(path)
            .with_context(|| Doing::CreateDirectory { path: path.display().to_string() })?;
    }
    let (own, secret) = (volume.cookie(), place.credentials.cookie());
    match &start.entry {
        Entry::Plain | Entry::Joiner { left_over: LeftOver::Kept, .. } => own.keep(&secret)?,
        // Of what an earlier try has left nothing counts, and flags are taken by a blank node only.
        Entry::First | Entry::Joiner { left_over: LeftOver::Removed, .. } => {
            volume.wipe()?;
            own.begin(&secret)?;
        }
    }
    let files = Files {
        node: &start.node,
        data: volume.data(),
        conf: &directory.join(conf::CONF),
        plugins: &directory.join(conf::PLUGINS),
        run: place.run,
        tmp: place.tmp,
    };
    write_text(files.conf, &settings)?;
    write_text(files.plugins, &plugins)?;
    let tag = uuid::Uuid::new_v4().simple().to_string();
    let launch = Launch {
        tag: tag.clone(),
        program,
        arguments: Vec::new(),
        environment: environment::environment(&files, config, &start.entry),
        directory: place.tmp.to_path_buf(),
    };
    let password = place.credentials.agent_password().ok();
    Ok((launch, Record { tag, config_hash: mounted.hash.clone(), doors, password }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Cause, Doors};
    use palladion_api::rabbitmq::{
        COOKIE_KEY, MANAGEMENT_PLUGIN, NodeName, PartitionHandling, RabbitmqPorts,
        rabbitmq_settings,
    };
    use std::collections::BTreeMap;
    use std::fs;

    pub fn config() -> RabbitmqServerConfig {
        let ports = RabbitmqPorts::default();
        RabbitmqServerConfig {
            version: "3.10.8".into(),
            cluster: "c".into(),
            ports,
            settings: rabbitmq_settings(&BTreeMap::new(), ports, PartitionHandling::default()),
            plugins: vec![MANAGEMENT_PLUGIN.into(), "rabbitmq_shovel".into()],
            vhost: "/".into(),
            hand_over_seconds: 60,
        }
    }

    #[test]
    fn a_start_is_prepared_only_where_the_image_is_one_of_rabbitmq() {
        let disk = tempfile::tempdir().unwrap();
        let at = |name: &str| disk.path().join(name);
        let (volume, image) = (Volume::new(at("volume"), at("data")), Image::of(&at("bin")));
        for name in ["bin", "run", "secret"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("secret").join(COOKIE_KEY), "AAAA").unwrap();
        let (credentials, run, tmp) = (Credentials::new(&at("secret")), at("run"), at("tmp"));
        let place = Place {
            volume: &volume,
            image: &image,
            credentials: &credentials,
            run: &run,
            tmp: &tmp,
        };
        let mounted = Mounted { config: config(), hash: "h".into() };
        let start = |entry| Start {
            cause: Cause::Autonomous,
            node: NodeName::new("rabbit@a"),
            address: "10.96.0.11".into(),
            entry,
        };
        assert!(launch(&place, &mounted, &start(Entry::First)).is_err());
        assert!(!at("data").exists() && !at("volume").exists());
        fs::write(at("bin/rabbitmq-server"), "").unwrap();
        fs::create_dir_all(at("data/rabbit@a")).unwrap();
        fs::write(at("data/rabbit@a/schema.DAT"), "left over").unwrap();
        let (_, record) = launch(&place, &mounted, &start(Entry::First)).unwrap();
        assert_eq!((record.config_hash.as_str(), record.doors), ("h", Doors::Closed));
        assert!(!at("data/rabbit@a").exists(), "nothing of an earlier try counts");
        let plugins = || fs::read_to_string(at("volume/conf").join(conf::PLUGINS)).unwrap();
        assert_eq!(plugins(), "[rabbitmq_management].\n");
        fs::create_dir_all(at("data/rabbit@a")).unwrap();
        let cookie = || fs::read_to_string(at("data").join(crate::volume::data::COOKIE)).unwrap();
        fs::write(at("secret").join(COOKIE_KEY), "BBBB").unwrap();
        let (_, record) = launch(&place, &mounted, &start(Entry::Plain)).unwrap();
        assert_eq!(cookie(), "AAAA", "a member keeps its own");
        assert_eq!(record.doors, Doors::Open);
        assert!(at("data/rabbit@a").exists(), "a member keeps its data");
        assert_eq!(plugins(), "[rabbitmq_management,rabbitmq_shovel].\n");
        let joiner = |left_over| {
            let nodes = vec![NodeName::new("rabbit@b")];
            start(Entry::Joiner { nodes, flags: Vec::new(), left_over })
        };
        launch(&place, &mounted, &joiner(LeftOver::Kept)).unwrap();
        assert_eq!(cookie(), "AAAA", "the others may know it");
        launch(&place, &mounted, &joiner(LeftOver::Removed)).unwrap();
        assert_eq!(cookie(), "BBBB", "nothing on the volume counts");
    }
}
