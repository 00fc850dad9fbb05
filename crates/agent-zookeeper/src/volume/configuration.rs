//! The files of the configuration. The server owns them: with each change of the
//! ensemble it writes `zoo.cfg.dynamic.<version>`, and names that file in
//! `zoo.cfg`. The agent writes a dynamic file only for a permit; a file of its own
//! making in the place of the server's would put an ensemble of before in force.

use crate::read::Config;
use crate::words::files::Missing;
use anyhow::{Context, Result, bail};
use palladion_agent_core::volume::{durable, names};
use palladion_agent_core::words::files::Doing;
use palladion_api::zookeeper::Zxid;
use std::fs;
use std::path::PathBuf;

/// The static file.
const STATIC: &str = "zoo.cfg";
/// How the names of dynamic files begin; the version follows after a dot.
pub const DYNAMIC: &str = "zoo.cfg.dynamic";
/// The configuration that was proposed last, as long as it is not in force.
const NEXT: &str = "next";

/// The directory of the configuration.
#[derive(Clone, Debug)]
pub struct Files(PathBuf);

impl Files {
    /// In this directory.
    pub fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// The static file.
    pub fn zoo_cfg(&self) -> PathBuf {
        self.0.join(STATIC)
    }

    /// The dynamic files, by version, oldest first. A server writes one before it names
    /// it in `zoo.cfg`: the newest is in force, whatever stands there.
    fn versions(&self) -> Result<Vec<(Zxid, PathBuf)>> {
        let mut found: Vec<(Zxid, PathBuf)> = names(&self.0)?
            .iter()
            .filter_map(|name| Some((version_of(name)?, self.0.join(name))))
            .collect();
        found.sort();
        Ok(found)
    }

    /// The newest dynamic file.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn newest_path(&self) -> Result<Option<PathBuf>> {
        Ok(self.versions()?.pop().map(|(_, path)| path))
    }

    /// The newest configuration.
    ///
    /// # Errors
    /// It cannot be read, which is not the same as none.
    pub fn newest(&self) -> Result<Option<Config>> {
        let Some((version, path)) = self.versions()?.pop() else {
            return Ok(None);
        };
        let shown = || path.display().to_string();
        let text = fs::read_to_string(&path).with_context(|| Doing::Read { path: shown() })?;
        let config = Config::of_file(&text, version).map_err(anyhow::Error::msg);
        config.map(Some).with_context(|| Doing::Parse { path: shown() })
    }

    /// Put a configuration in the place of all that are there.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub fn replace(&self, config: &Config) -> Result<()> {
        fs::create_dir_all(&self.0)
            .with_context(|| Doing::CreateDirectory { path: self.0.display().to_string() })?;
        // The new one first: without any the data would count as lost.
        let path = self.0.join(format!("{DYNAMIC}.{}", config.version));
        durable::write_text(&path, &config.file())?;
        for name in names(&self.0)? {
            let other = self.0.join(&name);
            if name.starts_with(DYNAMIC) && other != path {
                fs::remove_file(&other)
                    .with_context(|| Doing::Remove { path: other.display().to_string() })?;
            }
        }
        durable::sync_directory(&self.0)
    }

    /// Write the static file, with the name of the dynamic one that is in force.
    ///
    /// # Errors
    /// It cannot be written, or there is no dynamic file.
    pub fn write_zoo_cfg(&self, settings: &str) -> Result<PathBuf> {
        let Some(dynamic) = self.newest_path()? else {
            bail!(Missing::Configuration);
        };
        let path = self.zoo_cfg();
        let text = format!("{settings}dynamicConfigFile={}\n", dynamic.display());
        durable::write_text(&path, &text)?;
        Ok(path)
    }
}

/// The version that the name of a dynamic file tells; one without is version 0
/// (`QuorumPeerConfig.getVersionFromFilename`).
fn version_of(name: &str) -> Option<Zxid> {
    match name.strip_prefix(DYNAMIC)? {
        "" => Some(Zxid::new(0)),
        rest => {
            let version = rest.strip_prefix('.').filter(|v| *v != NEXT)?;
            Zxid::parse(version).ok()
        }
    }
}

/// Is it the name of a dynamic file that is in force, or was?
#[cfg(test)]
fn is_dynamic(path: &std::path::Path) -> bool {
    path.file_name().and_then(|n| n.to_str()).is_some_and(|name| version_of(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Server;
    use palladion_api::service_member::ServerRole;
    use palladion_api::zookeeper::{ServerId, ZookeeperPorts};

    fn files() -> (tempfile::TempDir, Files) {
        let directory = tempfile::tempdir().unwrap();
        let files = Files::new(directory.path().join("conf"));
        (directory, files)
    }

    fn config(version: u64, id: i64) -> Config {
        let ports = ZookeeperPorts::default();
        let server = Server::new(&"10.96.0.11".into(), &ports, ServerRole::Participant);
        Config { version: Zxid::new(version), servers: [(ServerId::new(id), server)].into() }
    }

    #[test]
    fn the_newest_file_counts_and_not_the_one_that_is_proposed() {
        let (_directory, files) = files();
        assert_eq!(files.newest().unwrap(), None);
        files.replace(&config(0, 1)).unwrap();
        assert_eq!(files.newest().unwrap(), Some(config(0, 1)));
        // As the server does it; the number is hexadecimal.
        for (name, id) in [("9", 1), ("10000000a", 2), ("next", 3)] {
            fs::write(files.0.join(format!("{DYNAMIC}.{name}")), config(0, id).file()).unwrap();
        }
        assert_eq!(files.newest().unwrap(), Some(config(0x1_0000_000a, 2)));
    }

    #[test]
    fn a_configuration_of_ours_takes_the_place_of_all_others() {
        let (_directory, files) = files();
        files.replace(&config(0x1_0000_0000, 1)).unwrap();
        fs::write(files.0.join("zoo.cfg.dynamic.next"), "").unwrap();
        files.replace(&config(0, 2)).unwrap();
        assert_eq!(files.newest().unwrap(), Some(config(0, 2)));
        let left = names(&files.0).unwrap();
        assert_eq!(left.iter().filter(|n| is_dynamic(std::path::Path::new(n))).count(), 1);
        assert!(!left.iter().any(|n| n.ends_with(NEXT)), "{left:?}");
    }

    #[test]
    fn the_static_file_names_the_newest_dynamic_one() {
        let (_directory, files) = files();
        assert!(files.write_zoo_cfg("tickTime=2000\n").is_err());
        files.replace(&config(0x1_0000_0000, 1)).unwrap();
        let path = files.write_zoo_cfg("tickTime=2000\n").unwrap();
        let text = fs::read_to_string(path).unwrap();
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(first, "tickTime=2000");
        assert!(second.trim().ends_with("/zoo.cfg.dynamic.100000000"), "{second}");
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_an_error_and_not_none() {
        let (_directory, files) = files();
        files.replace(&config(0, 1)).unwrap();
        fs::write(files.0.join("zoo.cfg.dynamic.5"), "nonsense").unwrap();
        assert!(format!("{:#}", files.newest().unwrap_err()).contains("nonsense"));
    }
}
