//! What is kept on the volume, each in one file that is replaced as a whole: the
//! key with the request that was made with it, and the key with the certificate
//! that was taken. Both are secrets (0600).

use crate::volume::durable::write_secret;
use crate::words::files::Doing;
use crate::words::job::Unsuited;
use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::MemberName;
use palladion_api::member::{CertificateProblemKind as Kind, MemberCertificate, Purpose};
use palladion_authority as authority;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The files of key and request, and of key and certificate.
const fn files(purpose: Purpose) -> (&'static str, &'static str) {
    match purpose {
        Purpose::Client => ("own-asked.json", "own-held.json"),
        Purpose::Internode => ("internode-asked.json", "internode-held.json"),
    }
}

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
    /// What is trusted.
    pub trust: String,
    /// SHA-256 of the certificate.
    pub fingerprint: String,
    /// From when it is valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
    /// What others may still show certificates of, although the order names it no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<Former>,
}

/// Authorities that are trusted for some time more: those of a ring that was made anew while its
/// servers run, or came up again, with what they had.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq)]
pub struct Former {
    /// Their certificates.
    trust: String,
    /// Until when; `None` while this member shows a certificate of them itself.
    until: Option<Timestamp>,
}

/// So long after this member has another certificate: others get theirs within seconds, and
/// servers read it within ten minutes.
const FORMER_COUNTS: SignedDuration = SignedDuration::from_hours(1);

impl Held {
    /// All that is trusted.
    pub fn trusted(&self) -> String {
        let former = self.former.as_ref().map_or("", |former| former.trust.as_str());
        format!("{}{former}", self.trust)
    }

    /// The same with what is to be trusted now, where that differs. Nobody drops the authority
    /// of what it shows: others have it from the same hand.
    pub fn trusting(
        &self,
        order: &MemberCertificate,
        member: &MemberName,
        now: Timestamp,
    ) -> Option<Self> {
        let mut next = Held { trust: order.trust.clone(), ..self.clone() };
        let is_over = |former: &Former| former.until.is_some_and(|until| until <= now);
        if self.former.as_ref().is_some_and(is_over) {
            next.former = None;
        }
        if next.former.is_none() && !self.is_trusted(order, member) {
            next.former = Some(Former { trust: self.trust.clone(), until: None });
        }
        (next != *self).then_some(next)
    }

    /// This one, where `before` was there before.
    #[must_use]
    pub fn after(mut self, before: Option<&Self>, now: Timestamp) -> Self {
        let until = now.checked_add(FORMER_COUNTS).ok();
        let former = before.and_then(|before| before.former.clone());
        self.former =
            former.map(|former| Former { until: former.until.or(until), trust: former.trust });
        self
    }

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
pub fn read(directory: &Path, purpose: Purpose) -> Result<(Option<Asked>, Option<Held>)> {
    let (asked, held) = files(purpose);
    Ok((file(directory, asked)?, file(directory, held)?))
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
pub fn ask(
    directory: &Path,
    purpose: Purpose,
    member: &MemberName,
    authority: &str,
) -> Result<Asked> {
    let key = authority::key()?;
    let request = authority::request(&key, member.as_str())?;
    let asked = Asked { authority: authority.to_string(), key, request };
    write(directory, files(purpose).0, &asked)?;
    let of = purpose.name();
    tracing::info!(of, authority, "a key was made; the operator is asked for a certificate");
    Ok(asked)
}

/// Keep a certificate.
///
/// # Errors
/// The volume does not take it.
pub fn hold(directory: &Path, purpose: Purpose, held: &Held) -> Result<()> {
    write(directory, files(purpose).1, held)
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
pub fn wipe(directory: &Path, purpose: Purpose) -> Result<()> {
    for name in <[&str; 2]>::from(files(purpose)) {
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
