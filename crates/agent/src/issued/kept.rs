//! What is kept on the volume, each in one file that is replaced as a whole: the
//! key with the request that was made with it, and the key with the certificate
//! that was taken. Both are secrets (0600).

use crate::volume::durable::write_secret;
use crate::words::files::Doing;
use crate::words::job::Unsuited;
use anyhow::{Context, Result};
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_api::member::{CertificateProblemKind as Kind, MemberCertificate};
use palladion_authority as authority;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const ASKED: &str = "own-asked.json";
const HELD: &str = "own-held.json";

/// A key and the request that was made with it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The authority that is asked.
    pub authority: String,
    /// The key.
    pub key: String,
    /// The request.
    pub request: String,
}

/// A certificate and its key.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq)]
pub struct Held {
    /// The authority that signed it.
    pub authority: String,
    /// The key.
    pub key: String,
    /// The certificate.
    pub certificate: String,
    /// What clients trust.
    pub trust: String,
    /// SHA-256 of the certificate.
    pub fingerprint: String,
    /// From when it is valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
}

impl Held {
    /// Is it what the order says already, with the key that was asked with?
    pub fn answers(&self, asked: &Asked, order: &MemberCertificate) -> bool {
        self.key == asked.key
            && self.authority == order.authority
            && self.trust == order.trust
            && order.certificate.as_ref() == Some(&self.certificate)
    }

    /// Do its dates not suit this clock? Its words have the time when that was seen `first`:
    /// what is reported does not change with every second.
    pub fn unsuited(
        &self,
        now: Timestamp,
        first: impl FnOnce() -> Timestamp,
    ) -> Option<(Kind, Unsuited)> {
        let (from, end) = (self.not_before, self.not_after);
        if now < from {
            return Some((Kind::NotYetValid, Unsuited::NotYetValid { from, first: first() }));
        }
        (now >= end).then(|| (Kind::Expired, Unsuited::Expired { end, first: first() }))
    }

    /// Could a server be started with it that clients accept by this clock?
    pub fn is_good(&self, order: &MemberCertificate, member: &MemberName, now: Timestamp) -> bool {
        self.unsuited(now, || now).is_none() && self.is_trusted(order, member)
    }

    /// Is it of an authority that the order trusts, and for this member?
    pub fn is_trusted(&self, order: &MemberCertificate, member: &MemberName) -> bool {
        let (key, certificate, by) = (&self.key, &self.certificate, &self.authority);
        authority::check(key, certificate, &order.trust, by, member.as_str()).is_ok()
    }
}

/// What is on the volume.
///
/// # Errors
/// A file is there and cannot be read.
pub fn read(directory: &Path) -> Result<(Option<Asked>, Option<Held>)> {
    Ok((file(directory, ASKED)?, file(directory, HELD)?))
}

/// A file that holds something else is as good as none: what is needed is made anew.
fn file<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<Option<T>> {
    let path = directory.join(name);
    match fs::read(&path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)
            .inspect_err(|error| {
                let path = path.display().to_string();
                tracing::warn!(path, %error, "the file is damaged, and not used");
            })
            .ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| Doing::Read { path: path.display().to_string() }),
    }
}

/// Make a key and a request to this authority.
///
/// # Errors
/// The volume does not take it.
pub fn ask(directory: &Path, member: &MemberName, authority: &str) -> Result<Asked> {
    let key = authority::key()?;
    let request = authority::request(&key, member.as_str())?;
    let asked = Asked { authority: authority.to_string(), key, request };
    write(directory, ASKED, &asked)?;
    tracing::info!(authority, "a key was made; the operator is asked for a certificate");
    Ok(asked)
}

/// Keep a certificate.
///
/// # Errors
/// The volume does not take it.
pub fn hold(directory: &Path, held: &Held) -> Result<()> {
    write(directory, HELD, held)
}

fn write(directory: &Path, name: &str, what: &impl Serialize) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| Doing::CreateDirectory { path: directory.display().to_string() })?;
    write_secret(&directory.join(name), &serde_json::to_vec(what)?)
}

/// Remove what is of this module; what was kept of a Secret is not.
///
/// # Errors
/// Something cannot be removed.
pub fn wipe(directory: &Path) -> Result<()> {
    for name in [ASKED, HELD] {
        let path = directory.join(name);
        match fs::remove_file(&path) {
            Ok(()) => tracing::info!(name, "the member has left; its key is removed"),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error)
                    .with_context(|| Doing::Remove { path: path.display().to_string() });
            }
        }
    }
    Ok(())
}
