//! The Secret with the credentials, as it is mounted: optional, so that a pod whose Secret
//! is missing says so instead of being stuck. Read when it is needed, and kept nowhere.

use crate::volume::Cookie;
use crate::volume::cookie::Comparison;
use crate::wire::http::Password;
use crate::words::files::Missing;
use anyhow::{Context, Result};
use palladion_agent_core::words::files::Doing;
use palladion_api::rabbitmq::{AGENT_PASSWORD_KEY, COOKIE_KEY, PASSWORD_KEY, USERNAME_KEY};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where the Secret is mounted.
#[derive(Clone, Debug)]
pub struct Credentials(PathBuf);

/// A user and its password.
#[derive(Clone, Debug)]
pub struct Login {
    /// Its name.
    pub name: String,
    /// Its password.
    pub password: Password,
}

/// What of the Secret there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Present {
    /// The cookie, beside that of the volume.
    pub cookie: Comparison,
    /// Users and passwords.
    pub logins: Logins,
}

/// Whether the Secret has all that a first start needs besides the cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logins {
    /// It has.
    Present,
    /// It lacks a key.
    Missing,
}

impl Credentials {
    /// In this directory.
    pub fn new(directory: &Path) -> Self {
        Self(directory.to_path_buf())
    }

    /// The file of the cookie.
    pub fn cookie(&self) -> PathBuf {
        self.0.join(COOKIE_KEY)
    }

    /// What of it there is.
    ///
    /// # Errors
    /// A part of it cannot be read.
    pub fn present(&self, cookie: &Cookie) -> Result<Present> {
        let cookie = cookie.compare(&self.cookie())?;
        let has = |key| Ok::<_, anyhow::Error>(self.read(key)?.is_some());
        let all = has(AGENT_PASSWORD_KEY)? && has(USERNAME_KEY)? && has(PASSWORD_KEY)?;
        let logins = if all { Logins::Present } else { Logins::Missing };
        Ok(Present { cookie, logins })
    }

    /// The password of the agent's own user.
    ///
    /// # Errors
    /// It is not there.
    pub fn agent_password(&self) -> Result<Password> {
        Ok(Password::new(self.key(AGENT_PASSWORD_KEY)?))
    }

    /// The user that is made with the cluster.
    ///
    /// # Errors
    /// It is not there.
    pub fn user(&self) -> Result<Login> {
        let password = Password::new(self.key(PASSWORD_KEY)?);
        Ok(Login { name: self.key(USERNAME_KEY)?, password })
    }

    fn key(&self, key: &str) -> Result<String> {
        self.read(key)?.with_context(|| Missing::Password { key: key.into() })
    }

    /// A key: without the end of the line that an editor leaves, and `None` where it is empty.
    fn read(&self, key: &str) -> Result<Option<String>> {
        let path = self.0.join(key);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let text = text.trim_end_matches(['\n', '\r']);
                Ok((!text.is_empty()).then(|| text.to_string()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| Doing::Read { path: path.display().to_string() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_not_there_or_lacks_a_key_is_told_and_shows_no_password() {
        let directory = tempfile::tempdir().unwrap();
        let (credentials, own) = (Credentials::new(directory.path()), directory.path().join("own"));
        let present = || credentials.present(&Cookie::new(own.clone())).unwrap();
        let none = Present { cookie: Comparison::Missing, logins: Logins::Missing };
        assert_eq!(present(), none);
        for (key, text) in [
            (COOKIE_KEY, "AAAA"),
            (AGENT_PASSWORD_KEY, "s3cret\n"),
            (USERNAME_KEY, "contrail"),
            (PASSWORD_KEY, ""),
        ] {
            fs::write(directory.path().join(key), text).unwrap();
        }
        assert_eq!(present().logins, Logins::Missing, "a password that is empty is none");
        fs::write(directory.path().join(PASSWORD_KEY), "pass word").unwrap();
        let all = Present { cookie: Comparison::Fits, logins: Logins::Present };
        assert_eq!(present(), all);
        let (agent, user) = (credentials.agent_password().unwrap(), credentials.user().unwrap());
        assert_eq!((agent.reveal(), user.password.reveal()), ("s3cret", "pass word"));
        assert!(!format!("{agent:?} {user:?}").contains("pass word"));
    }
}
