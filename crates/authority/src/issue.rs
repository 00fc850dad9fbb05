//! The authority of a ring: it is made once, and signs under rules. A
//! certificate names only what belongs to the member that it is for, lives no
//! longer than is asked and than the authority itself, and signs nothing.

use crate::words::Refused;
use crate::{key, pem, request};
use jiff::{SignedDuration, Timestamp};
use palladion_api::names;
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Clocks may differ by this: a certificate is valid from so long ago.
pub const SLACK: SignedDuration = SignedDuration::from_hours(1);
/// The same of an authority, which is checked by many.
const SLACK_OF_AUTHORITY: SignedDuration = SignedDuration::from_hours(24);
/// The longest common name that X.509 allows.
const LONGEST_NAME: usize = 64;
/// Of the fingerprint of a key, in the name of an authority.
const DIGITS: usize = 8;

/// An authority that can sign. It holds a secret.
pub struct Authority {
    key: KeyPair,
    /// Its certificate (PEM).
    pub certificate: String,
    /// SHA-256 of its certificate.
    pub fingerprint: String,
    /// When it expires.
    pub not_after: Timestamp,
}

/// Whom a certificate is for, as it is on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The namespace of member and ring.
    pub namespace: String,
    /// The object that is the ring.
    pub ring: String,
    /// The object that is the member.
    pub member: String,
}

/// What is to be certified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// DNS names.
    pub names: Vec<String>,
    /// IP addresses.
    pub addresses: Vec<String>,
    /// How long it is valid.
    pub life: SignedDuration,
}

/// A certificate that was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The certificate (PEM).
    pub certificate: String,
    /// When it expires.
    pub not_after: Timestamp,
}

impl Authority {
    /// Make one. `name` is its own, within the ring.
    ///
    /// # Errors
    /// There is no randomness, or the life is not positive.
    pub fn make(name: &str, now: Timestamp, life: SignedDuration) -> Result<Self, Refused> {
        let key = key::pair()?;
        let not_after = end(now, life)?;
        let of_key: String =
            hex(&Sha256::digest(key.public_key_raw())).chars().take(DIGITS).collect();
        let mut params = params(now - SLACK_OF_AUTHORITY, not_after);
        params.distinguished_name.push(DnType::OrganizationName, "Palladion");
        params.distinguished_name.push(DnType::CommonName, short(&format!("{name} {of_key}")));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(unsigned)?;
        Ok(Self {
            fingerprint: pem::fingerprint(certificate.der()),
            certificate: certificate.pem(),
            key,
            not_after,
        })
    }

    /// The one that was kept.
    ///
    /// # Errors
    /// Key and certificate cannot be read, or do not belong together.
    pub fn kept(key: &str, certificate: &str) -> Result<Self, Refused> {
        let key = key::read(key)?;
        let all = pem::certificates(certificate)?;
        let der = all.first().ok_or_else(|| unreadable("it is missing"))?;
        let (_, read) = X509Certificate::from_der(der).map_err(|e| unreadable(&e.to_string()))?;
        if !read.is_ca() {
            return Err(Refused::NotAnAuthority);
        }
        if *read.public_key().subject_public_key.data != *key.public_key_raw() {
            return Err(Refused::OtherAuthority);
        }
        let not_after = Timestamp::from_second(read.validity().not_after.timestamp())
            .map_err(|e| unreadable(&e.to_string()))?;
        let (certificate, fingerprint) = (certificate.to_string(), pem::fingerprint(der));
        Ok(Self { key, certificate, fingerprint, not_after })
    }

    /// Its key (PKCS#8, PEM). It is a secret.
    pub fn key(&self) -> String {
        self.key.serialize_pem()
    }

    /// Sign a request for a member.
    ///
    /// # Errors
    /// A rule of this module is not kept.
    pub fn sign(
        &self,
        request: &str,
        of: &Identity,
        terms: &Terms,
        now: Timestamp,
    ) -> Result<Signed, Refused> {
        if now >= self.not_after {
            return Err(Refused::AuthorityExpired);
        }
        let public_key = request::read(request)?;
        let not_after = end(now, terms.life)?.min(self.not_after);
        let mut params = params(now - SLACK, not_after);
        params.distinguished_name.push(DnType::CommonName, short(&of.member));
        params.subject_alt_names = subject_names(of, terms)?;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = self.signed(params, &public_key)?;
        Ok(Signed { certificate: certificate.pem(), not_after })
    }

    fn signed(
        &self,
        params: CertificateParams,
        key: &rcgen::PublicKey,
    ) -> Result<Certificate, Refused> {
        let issuer = Issuer::from_ca_cert_pem(&self.certificate, &self.key)
            .map_err(|error| Refused::Authority { why: error.to_string() })?;
        params.signed_by(key, &issuer).map_err(unsigned)
    }
}

/// Secrets are not shown.
impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// All names, if they are the member's.
fn subject_names(of: &Identity, terms: &Terms) -> Result<Vec<SanType>, Refused> {
    let mut all = Vec::new();
    for name in &terms.names {
        let text = Ia5String::try_from(name.as_str()).ok().filter(|_| is_its_own(of, name));
        all.push(SanType::DnsName(text.ok_or_else(|| Refused::Name { name: name.clone() })?));
    }
    for address in &terms.addresses {
        let ip: Option<IpAddr> = address.parse().ok();
        let ip = ip.ok_or_else(|| Refused::Address { address: address.clone() })?;
        all.push(SanType::IpAddress(ip));
    }
    if all.is_empty() {
        return Err(Refused::NoName);
    }
    let uri = format!("spiffe://palladion.dev/{}/{}/{}", of.namespace, of.ring, of.member);
    all.push(SanType::URI(Ia5String::try_from(uri.as_str()).map_err(unsigned)?));
    Ok(all)
}

/// The host itself, the member, and the ring's Service for clients, by their names in
/// this namespace and no other. What only begins with the ring's name may be of another
/// ring, or of another member.
fn is_its_own(of: &Identity, name: &str) -> bool {
    if name == "localhost" {
        return true;
    }
    let (label, domain) = name.split_once('.').unwrap_or((name, ""));
    let is_ours = label == of.member || label == names::client_service(&of.ring);
    let namespace = &of.namespace;
    let domains = [
        String::new(),
        namespace.clone(),
        format!("{namespace}.svc"),
        format!("{namespace}.svc.cluster.local"),
    ];
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    is_ours && is_plain && domains.iter().any(|known| known == domain)
}

fn params(not_before: Timestamp, not_after: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let at = |time: Timestamp| {
        let seconds = u64::try_from(time.as_second()).unwrap_or_default();
        epoch + std::time::Duration::from_secs(seconds)
    };
    (params.not_before, params.not_after) = (at(not_before), at(not_after));
    params
}

/// Whole seconds, as certificates have them.
fn end(now: Timestamp, life: SignedDuration) -> Result<Timestamp, Refused> {
    if life <= SignedDuration::ZERO {
        return Err(Refused::Life);
    }
    let end = now.checked_add(life).map_err(|_| Refused::Life)?;
    Timestamp::from_second(end.as_second()).map_err(|_| Refused::Life)
}

fn short(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unsigned(error: rcgen::Error) -> Refused {
    Refused::Signing { why: error.to_string() }
}

fn unreadable(why: &str) -> Refused {
    Refused::Authority { why: why.to_string() }
}
