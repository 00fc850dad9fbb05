//! The files of the Secret that the chart mounts: whom to trust, and who we are. They are read
//! again with each call, so that what was renewed counts at once.

use crate::words::BadSecret;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The certificates that the etcd is trusted by.
const AUTHORITY: &str = "ca.crt";
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const USER: &str = "username";
const PASSWORD: &str = "password";

/// A directory with these files; each but `ca.crt` can be missing.
#[derive(Clone, Debug)]
pub struct Credentials {
    directory: PathBuf,
}

/// A user of the etcd.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its password.
    pub password: String,
}

impl Credentials {
    /// Those of this directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The user, if there is one.
    ///
    /// # Errors
    /// A file cannot be read, or one of the two is missing.
    pub fn user(&self) -> Result<Option<User>, BadSecret> {
        match (self.text(USER)?, self.text(PASSWORD)?) {
            (Some(name), Some(password)) => Ok(Some(User { name, password })),
            (None, None) => Ok(None),
            (Some(_), None) | (None, Some(_)) => Err(BadSecret::HalfUser),
        }
    }

    /// A client of TLS that trusts `ca.crt` and nobody else.
    ///
    /// # Errors
    /// A file is missing or cannot be used.
    pub fn tls(&self) -> Result<Arc<ClientConfig>, BadSecret> {
        let mut roots = RootCertStore::empty();
        let authority = self.bytes(AUTHORITY)?.ok_or(BadSecret::NoAuthority)?;
        for certificate in certificates(AUTHORITY, &authority)? {
            roots.add(certificate).map_err(|error| BadSecret::Tls { why: error.to_string() })?;
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| BadSecret::Tls { why: error.to_string() })?
            .with_root_certificates(roots);
        let config = match (self.bytes(CERTIFICATE)?, self.bytes(KEY)?) {
            (None, None) => config.with_no_client_auth(),
            (Some(chain), Some(key)) => {
                let key = PrivateKeyDer::from_pem_slice(&key);
                let key = key.map_err(|_| BadSecret::NoKey { file: KEY })?;
                config
                    .with_client_auth_cert(certificates(CERTIFICATE, &chain)?, key)
                    .map_err(|error| BadSecret::Tls { why: error.to_string() })?
            }
            (Some(_), None) | (None, Some(_)) => return Err(BadSecret::HalfPair),
        };
        Ok(Arc::new(config))
    }

    fn text(&self, file: &str) -> Result<Option<String>, BadSecret> {
        let bytes = self.bytes(file)?;
        let text = bytes.map(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        let text = text.transpose().map_err(|why| BadSecret::File { file: file.into(), why })?;
        Ok(text.map(|text| text.trim_end_matches(['\r', '\n']).to_string()))
    }

    fn bytes(&self, file: &str) -> Result<Option<Vec<u8>>, BadSecret> {
        match std::fs::read(Path::new(&self.directory).join(file)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BadSecret::File { file: file.into(), why: error.to_string() }),
        }
    }
}

fn certificates(file: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, BadSecret> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) | Err(_) => Err(BadSecret::NoCertificate { file }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_with_half_of_a_pair_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let secret = Credentials::in_directory(directory.path());
        assert!(secret.user().unwrap().is_none());
        assert_eq!(secret.tls().unwrap_err(), BadSecret::NoAuthority);
        std::fs::write(directory.path().join(USER), "east\n").unwrap();
        assert_eq!(secret.user().err(), Some(BadSecret::HalfUser));
        std::fs::write(directory.path().join(PASSWORD), "p\n").unwrap();
        assert!(secret.user().unwrap().is_some_and(|u| u.name == "east" && u.password == "p"));
        std::fs::write(directory.path().join(AUTHORITY), "no PEM").unwrap();
        assert_eq!(secret.tls().unwrap_err(), BadSecret::NoCertificate { file: AUTHORITY });
    }
}
