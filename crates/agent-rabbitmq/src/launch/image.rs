//! Where RabbitMQ is in its image: the directory of `rabbitmq-server` and its sisters,
//! which is on the path.

use crate::words::files::Missing;
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The script that starts the server.
const SERVER: &str = "rabbitmq-server";

/// The programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    bin: PathBuf,
}

impl Image {
    /// In this directory.
    pub fn of(bin: &Path) -> Self {
        Self { bin: bin.to_path_buf() }
    }

    /// Find it: the named directory, or the first on the path that has the script.
    ///
    /// # Errors
    /// There is none.
    pub fn find(bin: Option<&Path>, path: Option<&OsStr>) -> Result<Self> {
        let on_path = || {
            let mut directories = path.map(std::env::split_paths).into_iter().flatten();
            directories.find(|directory| directory.join(SERVER).exists())
        };
        let bin = bin.map(Path::to_path_buf).or_else(on_path).context(Missing::Programs)?;
        Ok(Self { bin })
    }

    /// The directory.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// The script that starts the server.
    ///
    /// # Errors
    /// It is not there.
    pub fn server(&self) -> Result<PathBuf> {
        let path = self.bin.join(SERVER);
        if !path.exists() {
            bail!(Missing::Program { path: path.display().to_string() });
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_programs_are_found_by_the_path_and_what_is_named_counts() {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("sbin");
        fs::create_dir_all(&bin).unwrap();
        let path = std::env::join_paths([Path::new("/nowhere"), &bin]).unwrap();
        assert!(Image::find(None, Some(&path)).is_err());
        fs::write(bin.join(SERVER), "").unwrap();
        let image = Image::find(None, Some(&path)).unwrap();
        assert_eq!((image.bin(), image.server().unwrap()), (bin.as_path(), bin.join(SERVER)));
        let named = Image::find(Some(Path::new("/named")), Some(&path)).unwrap();
        assert!(format!("{:#}", named.server().unwrap_err()).contains("/named"));
    }
}
