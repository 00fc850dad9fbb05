//! The keys and certificates of one testbed, made anew at each start.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};

/// A directory with the authority and what it has signed.
#[derive(Debug, Clone)]
pub struct Pki {
    directory: PathBuf,
}

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// What a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Client,
    Server,
}

impl Pki {
    /// Makes the authority and the key of service accounts, unless they are
    /// there.
    pub fn create(directory: &Path) -> Result<Self> {
        let pki = Self::open(directory);
        fs::create_dir_all(directory)
            .with_context(|| format!("creating {}", directory.display()))?;
        if !pki.file("ca.crt").exists() {
            pki.make_authority("ca")?;
            // The aggregation layer trusts another authority: a client
            // certificate must never pass for the front proxy's.
            pki.make_authority("front-proxy-ca")?;
            let key = KeyPair::generate().context("making the key of service accounts")?;
            let public = pki.file("service-account.pub");
            fs::write(&public, key.public_key_pem())
                .with_context(|| format!("writing {}", public.display()))?;
            private(&pki.file("service-account.key"), &key.serialize_pem())?;
        }
        Ok(pki)
    }

    /// The keys of a testbed that runs.
    pub fn open(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf() }
    }

    /// The path of a file: `ca.crt`, `service-account.key`, `NAME.crt`, …
    pub fn path(&self, name: &str) -> String {
        self.file(name).to_string_lossy().into_owned()
    }

    /// The authority's certificate, as PEM.
    pub fn authority(&self) -> Result<String> {
        self.read("ca.crt")
    }

    /// A certificate that lets a client be this user in these groups.
    pub fn client(&self, user: &str, groups: &[&str]) -> Result<Pair> {
        let mut params = subject(user, groups);
        params.extended_key_usages = usages(Purpose::Client);
        self.sign("ca", params)
    }

    /// The same from the front proxy's authority, put into files of this name.
    pub fn front_proxy_files(&self, name: &str) -> Result<()> {
        let mut params = subject(name, &[]);
        params.extended_key_usages = usages(Purpose::Client);
        let pair = self.sign("front-proxy-ca", params)?;
        self.store(name, &pair)
    }

    /// A client's certificate, put into files of this name.
    pub fn client_files(&self, name: &str, user: &str, groups: &[&str]) -> Result<()> {
        let pair = self.client(user, groups)?;
        self.store(name, &pair)
    }

    /// A server's certificate for these names and addresses, put into files of
    /// this name.
    pub fn server_files(&self, name: &str, hosts: &[&str], addresses: &[IpAddr]) -> Result<()> {
        let mut params = subject(name, &[]);
        params.extended_key_usages = usages(Purpose::Server);
        for host in hosts {
            let host = (*host).try_into().with_context(|| format!("naming a server {host:?}"))?;
            params.subject_alt_names.push(SanType::DnsName(host));
        }
        let addresses = addresses.iter().map(|a| SanType::IpAddress(*a));
        params.subject_alt_names.extend(addresses);
        let pair = self.sign("ca", params)?;
        self.store(name, &pair)
    }

    fn make_authority(&self, name: &str) -> Result<()> {
        let mut params = subject(&format!("palladion-testbed-{name}"), &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().context("making an authority's key")?;
        let certificate = params.self_signed(&key).context("making an authority")?;
        let pair = Pair { certificate: certificate.pem(), key: key.serialize_pem() };
        self.store(name, &pair)
    }

    fn sign(&self, authority: &str, mut params: CertificateParams) -> Result<Pair> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let authority_key = KeyPair::from_pem(&self.read(&format!("{authority}.key"))?)
            .with_context(|| format!("reading the key of {authority}"))?;
        let authority_params = subject(&format!("palladion-testbed-{authority}"), &[]);
        let mut authority_params = authority_params;
        authority_params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = Issuer::from_params(&authority_params, &authority_key);
        let key = KeyPair::generate().context("making a key")?;
        let certificate = params.signed_by(&key, &issuer).context("signing a certificate")?;
        Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    fn store(&self, name: &str, pair: &Pair) -> Result<()> {
        let path = self.file(&format!("{name}.crt"));
        fs::write(&path, &pair.certificate)
            .with_context(|| format!("writing {}", path.display()))?;
        private(&self.file(&format!("{name}.key")), &pair.key)
    }

    fn read(&self, name: &str) -> Result<String> {
        let path = self.file(name);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

fn subject(user: &str, groups: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, user);
    for group in groups {
        params.distinguished_name.push(DnType::OrganizationName, *group);
    }
    // A testbed may run on a machine whose clock is anywhere.
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2120, 1, 1);
    params
}

fn usages(purpose: Purpose) -> Vec<ExtendedKeyUsagePurpose> {
    match purpose {
        Purpose::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
        Purpose::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
    }
}

fn private(path: &Path, content: &str) -> Result<()> {
    use std::io::Write;
    let writing = || format!("writing {}", path.display());
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path).with_context(writing)?;
    file.write_all(content.as_bytes()).with_context(writing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_authority_outlives_reopening_and_its_key_is_private() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let first = Pki::create(directory.path()).expect("should make");
        let before = first.authority().expect("should read");
        let second = Pki::create(directory.path()).expect("should open");
        assert_eq!(before, second.authority().expect("should read"));
        let mode = fs::metadata(second.path("ca.key")).expect("should exist").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        second.client("somebody", &["group"]).expect("should sign");
    }
}
