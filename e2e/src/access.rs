//! As whom the checker speaks to a ring that asks for a user, or for TLS.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::ring::Ring;

/// Files for the checker, in the directory of the run.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    directory: PathBuf,
}

impl Access {
    /// What the checker is told.
    pub(crate) fn tell(&self, command: &mut Command) {
        command.arg("--credentials").arg(&self.directory);
        command.arg("--authority").arg(self.directory.join(AUTHORITY));
    }
}

/// As a Secret of TLS has it.
const AUTHORITY: &str = "ca.crt";

impl Ring<'_> {
    /// The checker logs in as this user, over TLS with members of this authority (PEM).
    ///
    /// # Errors
    /// The files for it cannot be written.
    pub fn over_tls_as(mut self, user: &str, password: &str, authority: &str) -> Result<Self> {
        let directory =
            self.bed.cluster.site().run_dir().join(format!("access-{}", self.namespace));
        let writing = || format!("writing {}", directory.display());
        std::fs::create_dir_all(&directory).with_context(writing)?;
        for (name, text) in [("username", user), ("password", password), (AUTHORITY, authority)] {
            std::fs::write(directory.join(name), text).with_context(writing)?;
        }
        self.access = Some(Access { directory });
        Ok(self)
    }
}
