//! The Erlang cookie, by which nodes of a cluster know each other. A volume keeps the one
//! that it began with: another one in the Secret would cut the node off from the others,
//! so it is reported and changes nothing. It begins with each start for which nothing on the
//! volume counts: a cookie with which nobody was reached is no reason to keep it.

use crate::words::files::{Missing, Odd};
use anyhow::{Context, Result, bail};
use palladion_agent_core::volume::durable::write_secret;
use palladion_agent_core::words::files::Doing;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Erlang takes 255 characters.
const LONGEST: usize = 255;

/// Where a volume keeps its cookie.
#[derive(Clone, Debug)]
pub struct Cookie(PathBuf);

/// The cookie of a volume beside that of the Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Neither has one.
    Missing,
    /// The Secret has none, or the same, or the volume has none yet.
    Fits,
    /// They are different.
    Differs,
}

impl Cookie {
    /// In this file.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Compare it with that of the Secret.
    ///
    /// # Errors
    /// One cannot be read, or is none.
    pub fn compare(&self, secret: &Path) -> Result<Comparison> {
        Ok(match (read(&self.0)?, read(secret)?) {
            (None, None) => Comparison::Missing,
            (Some(own), Some(other)) if own != other => Comparison::Differs,
            (Some(_), Some(_) | None) | (None, Some(_)) => Comparison::Fits,
        })
    }

    /// Take that of the Secret, or keep what the volume has where the Secret has none.
    ///
    /// # Errors
    /// There is none, or it cannot be written.
    pub fn begin(&self, secret: &Path) -> Result<()> {
        match self.compare(secret)? {
            Comparison::Differs => {
                let cookie = read(secret)?.context(Missing::Cookie)?;
                write_secret(&self.0, cookie.as_bytes())
            }
            Comparison::Fits | Comparison::Missing => self.keep(secret),
        }
    }

    /// Make sure that the volume has one, for its user alone, as Erlang demands.
    ///
    /// # Errors
    /// There is none, or it cannot be written.
    pub fn keep(&self, secret: &Path) -> Result<()> {
        let Some(kept) = read(&self.0)? else {
            let cookie = read(secret)?.context(Missing::Cookie)?;
            return write_secret(&self.0, cookie.as_bytes());
        };
        let shown = || self.0.display().to_string();
        let mode = fs::metadata(&self.0).with_context(|| Doing::Inspect { path: shown() })?;
        if mode.permissions().mode() & 0o777 == 0o600 {
            return Ok(());
        }
        // A volume's group may have been given rights to all files on it.
        write_secret(&self.0, kept.as_bytes())
    }
}

/// A cookie; `None` where there is no file. An empty one, as a power cut leaves it, is an
/// error: nobody knows which it was.
fn read(path: &Path) -> Result<Option<String>> {
    let shown = || path.display().to_string();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error).with_context(|| Doing::Read { path: shown() }),
    };
    let cookie = text.trim();
    let is_one = !cookie.is_empty()
        && cookie.len() <= LONGEST
        && cookie.chars().all(|c| c.is_ascii_graphic());
    if !is_one {
        bail!(Odd::Cookie { path: shown() });
    }
    Ok(Some(cookie.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Cookie, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let (own, secret) = (directory.path().join("own"), directory.path().join("secret"));
        (directory, Cookie::new(own), secret)
    }

    fn mode(cookie: &Cookie) -> u32 {
        fs::metadata(&cookie.0).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_volume_takes_the_cookie_of_the_secret_once_and_keeps_it() {
        let (_directory, cookie, secret) = place();
        assert_eq!(cookie.compare(&secret).unwrap(), Comparison::Missing);
        assert!(cookie.keep(&secret).is_err());
        fs::write(&secret, "AAAA\n").unwrap();
        cookie.keep(&secret).unwrap();
        assert_eq!(
            (fs::read_to_string(&cookie.0).unwrap().as_str(), mode(&cookie)),
            ("AAAA", 0o600)
        );
        assert_eq!(cookie.compare(&secret).unwrap(), Comparison::Fits);
        fs::write(&secret, "BBBB").unwrap();
        cookie.keep(&secret).unwrap();
        assert_eq!(fs::read_to_string(&cookie.0).unwrap(), "AAAA");
        assert_eq!(cookie.compare(&secret).unwrap(), Comparison::Differs);
        fs::remove_file(&secret).unwrap();
        assert_eq!(cookie.compare(&secret).unwrap(), Comparison::Fits, "it has its own");
    }

    #[test]
    fn a_volume_on_which_nothing_counts_takes_the_cookie_of_the_secret_again() {
        let (_directory, cookie, secret) = place();
        assert!(cookie.begin(&secret).is_err());
        fs::write(&secret, "MISTYPED").unwrap();
        cookie.begin(&secret).unwrap();
        fs::write(&secret, "AAAA").unwrap();
        cookie.begin(&secret).unwrap();
        assert_eq!(cookie.compare(&secret).unwrap(), Comparison::Fits);
        assert_eq!(
            (fs::read_to_string(&cookie.0).unwrap().as_str(), mode(&cookie)),
            ("AAAA", 0o600)
        );
        fs::remove_file(&secret).unwrap();
        cookie.begin(&secret).unwrap();
        assert_eq!(fs::read_to_string(&cookie.0).unwrap(), "AAAA", "no other one is known");
    }

    #[test]
    fn a_cookie_that_others_may_read_is_closed_and_what_is_none_is_told() {
        let (_directory, cookie, secret) = place();
        fs::write(&cookie.0, "AAAA").unwrap();
        fs::set_permissions(&cookie.0, fs::Permissions::from_mode(0o660)).unwrap();
        cookie.keep(&secret).unwrap();
        assert_eq!(mode(&cookie), 0o600);
        for text in ["", "two words", "a\nb"] {
            fs::write(&secret, text).unwrap();
            assert!(cookie.compare(&secret).is_err(), "{text:?}");
        }
    }
}
