//! Authorities of members that are described elsewhere: each is one certificate that may sign
//! others, and none is named twice.

use crate::words::refusal::{BadTrust, Refusal};
use palladion_api::cluster::{AdditionalTrust, CassandraClusterSpec, MOST_ADDITIONAL};
use palladion_plan::words::{Count, Quoted};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The label of certificates.
const CERTIFICATE: &str = "CERTIFICATE";

/// An authority that members trust besides their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted {
    /// SHA-256 of the certificate.
    pub fingerprint: String,
    /// The certificate (PEM), without space around it.
    pub certificate: String,
}

/// Those of the spec, in its order.
pub fn of(spec: &CassandraClusterSpec) -> Result<Vec<Trusted>, Refusal> {
    let internode = spec.tls.as_ref().and_then(|tls| tls.internode.as_ref());
    let all = internode.map_or(&[] as &[AdditionalTrust], |tls| &tls.additional_trust);
    if all.len() > MOST_ADDITIONAL {
        let (all, most) = (Count::of(all.len(), "entry"), MOST_ADDITIONAL);
        return Err(Refusal::TooMuchTrust { all, most });
    }
    let (mut names, mut known) = (BTreeSet::new(), BTreeSet::new());
    let mut trusted = Vec::new();
    for entry in all {
        let name = || Quoted(entry.name.clone());
        let one = read(&entry.certificate).map_err(|why| Refusal::Trust { name: name(), why })?;
        if !names.insert(&entry.name) || !known.insert(one.fingerprint.clone()) {
            return Err(Refusal::Trust { name: name(), why: BadTrust::Twice });
        }
        trusted.push(one);
    }
    Ok(trusted)
}

/// One certificate of an authority, and nothing else.
fn read(text: &str) -> Result<Trusted, BadTrust> {
    let text = text.trim();
    let mut blocks = Pem::iter_from_buffer(text.as_bytes());
    let unreadable = |why: String| BadTrust::Unreadable { why };
    let block = blocks.next().ok_or(BadTrust::NotPem)?.map_err(|e| unreadable(e.to_string()))?;
    if block.label != CERTIFICATE || blocks.next().is_some() || !text.starts_with("-----BEGIN") {
        return Err(BadTrust::NotPem);
    }
    let (rest, read) =
        X509Certificate::from_der(&block.contents).map_err(|e| unreadable(e.to_string()))?;
    let may_sign = read.basic_constraints().ok().flatten().is_some_and(|known| known.value.ca);
    if !rest.is_empty() || !may_sign {
        return Err(BadTrust::NotAnAuthority);
    }
    let digest = Sha256::digest(&block.contents);
    let fingerprint = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Trusted { fingerprint, certificate: text.to_string() })
}
