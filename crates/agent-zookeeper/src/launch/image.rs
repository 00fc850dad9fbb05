//! Where ZooKeeper is in its image. The stock images unpack the distribution to a
//! directory with its version in the name, which is on the path; the directory with
//! `logback.xml` is another.

use crate::words::files::Missing;
use anyhow::{Context, Result, bail};
use palladion_agent_core::volume::names;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The script that every distribution has on the path of its image.
const SCRIPT: &str = "zkServer.sh";

/// The distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its home.
    pub home: PathBuf,
    /// Where `logback.xml` is.
    pub conf: PathBuf,
}

impl Image {
    /// Find it: the named home, or the one above the directory of the script on the path.
    /// `conf` is the directory that the image names (`ZOOCFGDIR`), if it does.
    ///
    /// # Errors
    /// There is none.
    pub fn find(home: Option<&Path>, conf: Option<&Path>, path: Option<&OsStr>) -> Result<Self> {
        let on_path = || {
            let directories = path.map(std::env::split_paths).into_iter().flatten();
            let found = directories.into_iter().find(|d| d.join(SCRIPT).exists());
            found.and_then(|bin| bin.parent().map(Path::to_path_buf))
        };
        let home = home.map(Path::to_path_buf).or_else(on_path).context(Missing::Home)?;
        let own = home.join("conf");
        let conf = conf.filter(|dir| dir.is_dir()).map_or(own, Path::to_path_buf);
        Ok(Self { home, conf })
    }

    /// The class path: the directory of `logback.xml`, then all jars. Each by its name:
    /// a pattern would take what somebody puts there while the server runs.
    ///
    /// # Errors
    /// The directory of the jars cannot be read, or has none of ZooKeeper.
    pub fn class_path(&self) -> Result<String> {
        let library = self.home.join("lib");
        let mut jars = names(&library)?;
        jars.retain(|name| name.ends_with(".jar"));
        jars.sort();
        if !jars.iter().any(|name| name.starts_with("zookeeper-")) {
            bail!(Missing::Library { path: library.display().to_string() });
        }
        let jars = jars.iter().map(|name| library.join(name));
        let all = std::iter::once(self.conf.clone()).chain(jars);
        Ok(all.map(|path| path.display().to_string()).collect::<Vec<_>>().join(":"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn image() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("apache-zookeeper-3.9.3-bin");
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::create_dir_all(home.join("lib")).unwrap();
        fs::write(home.join("bin").join(SCRIPT), "").unwrap();
        (directory, home)
    }

    #[test]
    fn the_home_is_found_by_the_path_and_the_class_path_names_every_jar() {
        let (_directory, home) = image();
        let path = std::env::join_paths([Path::new("/nowhere"), &home.join("bin")]).unwrap();
        let image = Image::find(None, None, Some(&path)).unwrap();
        assert_eq!(image.home, home);
        assert!(format!("{:#}", image.class_path().unwrap_err()).contains("no zookeeper-*.jar"));
        for jar in ["zookeeper-3.9.3.jar", "netty.jar", "NOTICE"] {
            fs::write(home.join("lib").join(jar), "").unwrap();
        }
        let (conf, lib) = (home.join("conf"), home.join("lib"));
        let expected = format!(
            "{}:{}:{}",
            conf.display(),
            lib.join("netty.jar").display(),
            lib.join("zookeeper-3.9.3.jar").display()
        );
        assert_eq!(image.class_path().unwrap(), expected);
    }

    #[test]
    fn what_is_named_counts_and_an_image_without_zookeeper_is_told() {
        let (_directory, home) = image();
        let conf = home.join("bin");
        let image = Image::find(Some(&home), Some(&conf), None).unwrap();
        assert_eq!((image.home, image.conf), (home.clone(), conf));
        let gone = Image::find(Some(&home), Some(Path::new("/nowhere")), None).unwrap();
        assert_eq!(gone.conf, home.join("conf"));
        assert!(Image::find(None, None, None).is_err());
    }
}
