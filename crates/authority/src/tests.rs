//! The rules of the authority, also by properties; what it signs is verified by
//! the library that clients verify with.

use crate::words::Refused;
use crate::{Authority, Identity, Terms, check, key, request};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use rustls::RootCertStore;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use std::time::Duration;

const YEAR: SignedDuration = SignedDuration::from_hours(24 * 365);

fn now() -> Timestamp {
    "2026-11-26T12:00:00Z".parse().unwrap()
}

fn identity() -> Identity {
    Identity { namespace: "databases".into(), ring: "demo".into(), member: "demo-dc1-a-0".into() }
}

fn terms() -> Terms {
    Terms {
        names: vec!["demo-dc1-a-0".into(), "demo-client.databases.svc".into(), "localhost".into()],
        addresses: vec!["10.96.0.7".into(), "127.0.0.1".into()],
        life: YEAR,
    }
}

fn authority() -> Authority {
    Authority::make("demo client-1", now(), YEAR * 10).unwrap()
}

/// What a client says of it at that time, by that name.
fn verdict(trust: &str, certificate: &str, name: &str, at: Timestamp) -> Result<(), rustls::Error> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(trust.as_bytes()) {
        roots.add(authority.unwrap()).unwrap();
    }
    let der = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let leaf = ParsedCertificate::try_from(&der).unwrap();
    let at = UnixTime::since_unix_epoch(Duration::from_secs(at.as_second().unsigned_abs()));
    let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
    verify_server_cert_signed_by_trust_anchor(&leaf, &roots, &[], at, algorithms.all)?;
    verify_server_name(&leaf, &ServerName::try_from(name.to_string()).unwrap())
}

#[test]
fn clients_that_trust_the_authority_verify_the_member_by_each_of_its_names() {
    let (authority, key) = (authority(), key().unwrap());
    let asked = request(&key, "demo-dc1-a-0").unwrap();
    let signed = authority.sign(&asked, &identity(), &terms(), now()).unwrap();
    let all = terms();
    for name in all.names.iter().chain(&all.addresses) {
        verdict(&authority.certificate, &signed.certificate, name, now()).unwrap();
    }
    let other = verdict(&authority.certificate, &signed.certificate, "demo-dc1-a-1", now());
    assert!(other.is_err());
    let stranger = self::authority();
    let of_stranger = verdict(&stranger.certificate, &signed.certificate, "localhost", now());
    assert!(of_stranger.is_err(), "each authority signs for itself");
}

#[test]
fn a_certificate_counts_from_an_hour_ago_until_its_end_and_no_longer() {
    let (authority, key) = (authority(), key().unwrap());
    let asked = request(&key, "m").unwrap();
    let signed = authority.sign(&asked, &identity(), &terms(), now()).unwrap();
    let at = |time| verdict(&authority.certificate, &signed.certificate, "localhost", time);
    at(now() - SignedDuration::from_mins(59)).unwrap();
    assert!(at(now() - SignedDuration::from_mins(61)).is_err());
    at(now() + YEAR - SignedDuration::from_secs(1)).unwrap();
    assert!(at(now() + YEAR + SignedDuration::from_secs(1)).is_err());
    assert_eq!(signed.not_after, now() + YEAR);
}

#[test]
fn a_certificate_ends_with_its_authority_which_then_signs_nothing() {
    let (authority, key) = (authority(), key().unwrap());
    let asked = request(&key, "m").unwrap();
    let late = now() + YEAR * 10 - SignedDuration::from_hours(1);
    let signed = authority.sign(&asked, &identity(), &terms(), late).unwrap();
    assert_eq!(signed.not_after, authority.not_after);
    let over = authority.sign(&asked, &identity(), &terms(), authority.not_after);
    assert_eq!(over, Err(Refused::AuthorityExpired));
}

#[test]
fn an_authority_that_was_kept_goes_on_with_the_same_certificate() {
    let (made, key) = (authority(), key().unwrap());
    let kept = Authority::kept(&made.key(), &made.certificate).unwrap();
    assert_eq!((&kept.fingerprint, kept.not_after), (&made.fingerprint, made.not_after));
    let asked = request(&key, "m").unwrap();
    let signed = kept.sign(&asked, &identity(), &terms(), now()).unwrap();
    verdict(&made.certificate, &signed.certificate, "localhost", now()).unwrap();
    let mixed = Authority::kept(&authority().key(), &made.certificate);
    assert_eq!(mixed.unwrap_err(), Refused::OtherAuthority);
    let leaf = Authority::kept(&key, &signed.certificate);
    assert_eq!(leaf.unwrap_err(), Refused::NotAnAuthority);
    assert!(!format!("{made:?}").contains("PRIVATE"), "keys are not shown");
}

#[test]
fn a_request_is_signed_only_for_who_has_its_key() {
    let authority = authority();
    let sign = |asked: &str| authority.sign(asked, &identity(), &terms(), now()).unwrap_err();
    assert!(matches!(sign("nonsense"), Refused::Request { .. }));
    assert!(matches!(sign(&"x".repeat(5000)), Refused::TooLong { .. }));
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
    let asked = rcgen::CertificateParams::default().serialize_request(&pair).unwrap();
    assert_eq!(sign(&asked.pem().unwrap()), Refused::KeyKind);
    // One byte of the signature is another one.
    let asked = rcgen::CertificateParams::default();
    let pair = rcgen::KeyPair::generate().unwrap();
    let mut der = asked.serialize_request(&pair).unwrap().der().to_vec();
    *der.last_mut().unwrap() ^= 1;
    let forged = rcgen::CertificateSigningRequestParams::from_der(&der.as_slice().into());
    assert!(forged.is_err());
}

#[test]
fn what_a_request_says_of_names_and_powers_is_not_certified() {
    let authority = authority();
    let mut wish = rcgen::CertificateParams::new(vec!["evil.example".to_string()]).unwrap();
    wish.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let pair = rcgen::KeyPair::generate().unwrap();
    let asked = wish.serialize_request(&pair).unwrap().pem().unwrap();
    let signed = authority.sign(&asked, &identity(), &terms(), now()).unwrap();
    let by_name = verdict(&authority.certificate, &signed.certificate, "evil.example", now());
    assert!(by_name.is_err());
    let as_authority = Authority::kept(&pair.serialize_pem(), &signed.certificate);
    assert_eq!(as_authority.unwrap_err(), Refused::NotAnAuthority);
}

#[test]
fn names_of_others_are_refused() {
    let (authority, key) = (authority(), key().unwrap());
    let asked = request(&key, "m").unwrap();
    let sign = |name: &str| {
        let terms = Terms { names: vec![name.to_string()], addresses: Vec::new(), life: YEAR };
        authority.sign(&asked, &identity(), &terms, now()).map(drop)
    };
    for own in ["demo-dc1-a-0", "demo-dc1-a-0.databases", "demo-client.databases.svc", "localhost"]
    {
        assert_eq!(sign(own), Ok(()), "{own}");
    }
    for other in [
        "kubernetes.default.svc",
        "demo-client.other.svc",
        "demo.databases.svc",
        "other-client.databases.svc",
        "demo-eu-client.databases.svc",
        "demo-dc1-a-1",
        "*.databases.svc",
        "demo-*.databases.svc",
        "demo-client.databases.svc.example.com",
        "",
    ] {
        assert_eq!(sign(other), Err(Refused::Name { name: other.into() }), "{other}");
    }
}

#[test]
fn a_member_takes_only_what_was_signed_for_its_key_by_the_ordered_authority() {
    let (authority, own) = (authority(), key().unwrap());
    let asked = request(&own, "demo-dc1-a-0").unwrap();
    let signed = authority.sign(&asked, &identity(), &terms(), now()).unwrap();
    let of = |key: &str, trust: &str, by: &str, name: &str| {
        check(key, &signed.certificate, trust, by, name)
    };
    let (trust, by) = (authority.certificate.clone(), authority.fingerprint.clone());
    let held = of(&own, &trust, &by, "demo-dc1-a-0").unwrap();
    assert_eq!(held.not_after, signed.not_after);
    assert_eq!(held.not_before, now() - SignedDuration::from_hours(1));
    assert_eq!(of(&key().unwrap(), &trust, &by, "demo-dc1-a-0"), Err(Refused::OtherKey));
    let other = self::authority();
    let both = format!("{}{}", other.certificate, trust);
    of(&own, &both, &by, "demo-dc1-a-0").unwrap();
    assert_eq!(of(&own, &both, &other.fingerprint, "demo-dc1-a-0"), Err(Refused::Untrusted));
    assert_eq!(of(&own, &other.certificate, &by, "demo-dc1-a-0"), Err(Refused::Untrusted));
    let unnamed = Err(Refused::Unnamed { name: "demo-dc1-a-1".into() });
    assert_eq!(of(&own, &trust, &by, "demo-dc1-a-1"), unnamed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is asked: what is signed is valid no longer than asked and than
    /// its authority, begins at most an hour ago, and is of its key.
    #[test]
    fn no_certificate_outlives_what_was_asked_or_its_authority(
        life in -5_000_000_i64..500_000_000, after in 0_i64..400_000_000,
    ) {
        let (authority, key) = (authority(), key().unwrap());
        let asked = request(&key, "m").unwrap();
        let (life, at) = (SignedDuration::from_secs(life), now() + SignedDuration::from_secs(after));
        let terms = Terms { life, ..terms() };
        match authority.sign(&asked, &identity(), &terms, at) {
            Ok(signed) => {
                prop_assert!(signed.not_after <= at + life);
                prop_assert!(signed.not_after <= authority.not_after);
                let (trust, by) = (&authority.certificate, &authority.fingerprint);
                let held = check(&key, &signed.certificate, trust, by, "localhost");
                let held = held.unwrap();
                prop_assert_eq!(held.not_after, signed.not_after);
                prop_assert_eq!(held.not_before, at - SignedDuration::from_hours(1));
            }
            Err(refused) => {
                let is_over = at >= authority.not_after;
                prop_assert!(is_over || life <= SignedDuration::ZERO, "{}", refused);
            }
        }
    }

    /// A name is certified only if it is the host itself, the member or the ring's
    /// Service for clients, and lies in the ring's namespace.
    #[test]
    fn no_name_outside_ring_and_namespace_is_certified(name in "(demo|other|demo-client|\\PC{0,8})(\\.(databases|other|svc|[a-z]{1,4})){0,3}") {
        let (authority, key) = (authority(), key().unwrap());
        let asked = request(&key, "m").unwrap();
        let terms = Terms { names: vec![name.clone()], addresses: Vec::new(), life: YEAR };
        if authority.sign(&asked, &identity(), &terms, now()).is_ok() {
            let (label, domain) = name.split_once('.').unwrap_or((&name, ""));
            prop_assert!(["demo-client", "demo-dc1-a-0", "localhost"].contains(&label), "{}", name);
            prop_assert!(domain.is_empty() || domain.starts_with("databases"), "{}", name);
        }
    }

    /// Garbage is refused, and never ends the process.
    #[test]
    fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let text = String::from_utf8_lossy(&bytes).to_string();
        let framed = format!("-----BEGIN CERTIFICATE REQUEST-----\n{text}\n-----END CERTIFICATE REQUEST-----\n");
        for asked in [&text, &framed] {
            prop_assert!(authority().sign(asked, &identity(), &terms(), now()).is_err());
        }
        prop_assert!(Authority::kept(&text, &text).is_err());
        prop_assert!(check(&text, &text, &text, &text, &text).is_err());
    }
}
