//! What a member checks before it takes a certificate: that it is of its own
//! key, of the authority that was ordered, and for its names. Whether the dates
//! suit is for the caller, who has a clock.

use crate::words::Refused;
use crate::{key, pem};
use jiff::Timestamp;
use rcgen::PublicKeyData;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// A certificate that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// SHA-256 of the certificate.
    pub fingerprint: String,
    /// From when it is valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
}

/// Is this certificate of this key, signed by the authority with this
/// fingerprint, which is among those that clients trust, and for this name?
///
/// # Errors
/// What of it is not so.
pub fn check(
    key: &str,
    certificate: &str,
    trust: &str,
    authority: &str,
    name: &str,
) -> Result<Held, Refused> {
    let own = key::read(key)?;
    let leaves = pem::certificates(certificate)?;
    let der = leaves.first().ok_or_else(|| unreadable("it is missing"))?;
    let leaf = parsed(der)?;
    if leaf.public_key().raw != own.subject_public_key_info() {
        return Err(Refused::OtherKey);
    }
    let authorities = pem::certificates(trust)?;
    let issuer = authorities.iter().find(|der| pem::fingerprint(der) == authority);
    let issuer = parsed(issuer.ok_or(Refused::Untrusted)?)?;
    if leaf.verify_signature(Some(issuer.public_key())).is_err() {
        return Err(Refused::Untrusted);
    }
    if !names(&leaf, name) {
        return Err(Refused::Unnamed { name: name.to_string() });
    }
    let time = |seconds| Timestamp::from_second(seconds).map_err(|e| unreadable(&e.to_string()));
    Ok(Held {
        fingerprint: pem::fingerprint(der),
        not_before: time(leaf.validity().not_before.timestamp())?,
        not_after: time(leaf.validity().not_after.timestamp())?,
    })
}

fn names(leaf: &X509Certificate<'_>, name: &str) -> bool {
    let Ok(Some(all)) = leaf.subject_alternative_name() else {
        return false;
    };
    let is_it = |known: &GeneralName<'_>| matches!(known, GeneralName::DNSName(n) if *n == name);
    all.value.general_names.iter().any(is_it)
}

fn parsed(der: &[u8]) -> Result<X509Certificate<'_>, Refused> {
    X509Certificate::from_der(der).map(|(_, read)| read).map_err(|e| unreadable(&e.to_string()))
}

fn unreadable(why: &str) -> Refused {
    Refused::Unreadable { why: why.to_string() }
}
