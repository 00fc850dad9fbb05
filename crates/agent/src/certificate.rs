//! Certificate and key that clients are served with: read from the mounted
//! Secret, checked, and put where the server reads them. A server reads changed
//! files by itself, within ten minutes; what cannot be used never replaces what
//! can.

use crate::render::encryption::{AUTHORITIES, PAIR};
use crate::settings::Settings;
use crate::volume::Volume;
use crate::volume::durable::write_secret;
use crate::words::files::Doing;
use crate::words::job::BadCertificate;
use anyhow::{Context, Result, bail};
use palladion_api::server_config::CLIENT_TLS_FOLDER;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, RootCertStore, SignatureAlgorithm};
use std::fs;
use std::path::Path;

/// How a key that Cassandra can read begins; it refuses the others.
const PKCS8: &str = "-----BEGIN PRIVATE KEY-----";

/// The authorities of the Secret.
pub fn authorities(settings: &Settings) -> Result<String> {
    read(settings, "ca.crt")
}

/// The authorities that the running server was given.
pub fn placed_authorities(settings: &Settings) -> Result<String> {
    let path = settings.tls_dir().join(AUTHORITIES);
    fs::read_to_string(&path).with_context(|| Doing::Read { path: path.display().to_string() })
}

/// What a start needs: the pair of the Secret, or else the one that was last
/// good. A member that has joined starts by itself whatever is missing (safety
/// rule 2.2); what is wrong with the Secret is reported while its server runs.
///
/// # Errors
/// There has never been a pair that a server could use.
pub fn stand_ready(settings: &Settings, volume: &Volume) -> Result<()> {
    let Err(wrong) = follow(settings, volume) else {
        return Ok(());
    };
    let (placed, kept) = (settings.tls_dir(), volume.tls());
    if !stands(&placed) {
        if !stands(&kept) {
            return Err(wrong);
        }
        let text = |name: &str| {
            let from = kept.join(name);
            fs::read_to_string(&from)
                .with_context(|| Doing::Read { path: from.display().to_string() })
        };
        put(&placed, &[(AUTHORITIES, &text(AUTHORITIES)?), (PAIR, &text(PAIR)?)])?;
    }
    tracing::warn!(why = format!("{wrong:#}"), "the server starts with the former certificate");
    Ok(())
}

/// Are both files there?
fn stands(directory: &Path) -> bool {
    [AUTHORITIES, PAIR].iter().all(|name| directory.join(name).is_file())
}

/// Bring the server's files up to date with the Secret, and keep them on the
/// volume for a pod that is recreated while the Secret is not what it was.
///
/// # Errors
/// The Secret is not there, or holds nothing that a server could use: its files stay.
pub fn follow(settings: &Settings, volume: &Volume) -> Result<()> {
    let (chain, key) = (read(settings, "tls.crt")?, read(settings, "tls.key")?);
    let authorities = authorities(settings)?;
    let pair = format!("{}\n{}\n", key.trim_end(), chain.trim_end());
    let files = [(AUTHORITIES, authorities.as_str()), (PAIR, pair.as_str())];
    let (placed, kept) = (settings.tls_dir(), volume.tls());
    let is_placed = holds(&placed, &files);
    if is_placed && holds(&kept, &files) {
        return Ok(());
    }
    check(&chain, &key)?;
    if !is_placed {
        put(&placed, &files)?;
        tracing::info!("the certificate for clients is in place");
    }
    put(&kept, &files)
}

fn holds(directory: &Path, files: &[(&str, &str)]) -> bool {
    let is_there = |name: &str, text: &str| {
        fs::read_to_string(directory.join(name)).is_ok_and(|known| known == text)
    };
    files.iter().all(|(name, text)| is_there(name, text))
}

fn put(directory: &Path, files: &[(&str, &str)]) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| Doing::CreateDirectory { path: directory.display().to_string() })?;
    for (name, text) in files {
        write_secret(&directory.join(name), text.as_bytes())?;
    }
    Ok(())
}

fn read(settings: &Settings, name: &'static str) -> Result<String> {
    let path = settings.secrets_dir.join(CLIENT_TLS_FOLDER).join(name);
    let Ok(text) = fs::read_to_string(path) else {
        bail!(BadCertificate::Missing { key: name });
    };
    Ok(text)
}

fn check(chain: &str, key: &str) -> Result<()> {
    if !key.trim_start().starts_with(PKCS8) {
        bail!(BadCertificate::NotPkcs8);
    }
    let unreadable = |why: String| anyhow::Error::msg(BadCertificate::Unusable { why });
    let key = PrivatePkcs8KeyDer::from_pem_slice(key.as_bytes())
        .map_err(|e| unreadable(e.to_string()))?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|e| unreadable(e.to_string()))?;
    if chain.is_empty() {
        bail!(BadCertificate::Missing { key: "tls.crt" });
    }
    let provider = aws_lc_rs::default_provider();
    let pair = CertifiedKey::from_der(chain, PrivateKeyDer::Pkcs8(key), &provider)
        .map_err(|e| unreadable(e.to_string()))?;
    match pair.key.algorithm() {
        SignatureAlgorithm::RSA | SignatureAlgorithm::ECDSA => {}
        other => bail!(BadCertificate::KeyOf { algorithm: format!("{other:?}") }),
    }
    match pair.end_entity_cert().map(has_expired) {
        Ok(true) => bail!(BadCertificate::Expired),
        Ok(false) => Ok(()),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// Dates are looked at before the issuer: it may be any.
fn has_expired(leaf: &CertificateDer<'_>) -> bool {
    let Ok(leaf) = ParsedCertificate::try_from(leaf) else {
        return false;
    };
    let (none, now) = (RootCertStore::empty(), UnixTime::now());
    let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
    matches!(
        verify_server_cert_signed_by_trust_anchor(&leaf, &none, &[], now, algorithms.all),
        Err(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. }
        ))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (String, String) {
        let pair = rcgen::generate_simple_self_signed(vec!["m-0".into()]).unwrap();
        (pair.cert.pem(), pair.signing_key.serialize_pem())
    }

    fn why(chain: &str, key: &str) -> String {
        check(chain, key).unwrap_err().to_string()
    }

    #[test]
    fn only_a_pair_that_a_server_can_use_is_taken() {
        let ((chain, key), (_, other)) = (pair(), pair());
        check(&chain, &key).unwrap();
        assert!(why(&chain, &other).contains("cannot be used"));
        assert!(why("", &key).contains("tls.crt"));
        assert!(why(&chain, &key.replace("PRIVATE KEY", "EC PRIVATE KEY")).contains("PKCS#8"));
    }

    #[test]
    fn a_key_that_cassandra_does_not_know_and_an_expired_certificate_are_not_taken() {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let of = rcgen::CertificateParams::new(vec!["m-0".into()]).unwrap();
        let chain = of.self_signed(&key).unwrap().pem();
        assert!(why(&chain, &key.serialize_pem()).contains("RSA and EC"));
        let key = rcgen::KeyPair::generate().unwrap();
        let mut of = rcgen::CertificateParams::new(vec!["m-0".into()]).unwrap();
        of.not_after = rcgen::date_time_ymd(2020, 1, 1);
        let chain = of.self_signed(&key).unwrap().pem();
        assert!(why(&chain, &key.serialize_pem()).contains("expired"));
    }
}
