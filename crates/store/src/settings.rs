//! What may be set of a store of objects, and which settings a place takes.

use crate::address::{Address, Bucket, ObjectAddress};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Where the name of the bucket stands in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addressing {
    /// In the name of the host.
    #[default]
    Virtual,
    /// In the path.
    Path,
}

/// The checksum that S3 compares with what arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Checksum {
    /// CRC-64/NVME.
    #[default]
    Crc64Nvme,
    /// SHA-256.
    Sha256,
    /// None: for stores that know neither.
    None,
}

/// How requests travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// Encrypted.
    #[default]
    Tls,
    /// In the clear.
    Plain,
}

/// What may be set of a store of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// S3: its region.
    pub region: Option<String>,
    /// Another server than the provider's: `https://host:port`.
    pub endpoint: Option<String>,
    /// S3: see [`Addressing`].
    pub addressing: Option<Addressing>,
    /// S3: see [`Checksum`].
    pub checksum: Option<Checksum>,
    /// See [`Transport`].
    pub transport: Option<Transport>,
    /// How long answers are waited for.
    pub patience: Patience,
}

/// How long answers are waited for, and how often it is asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte.
    pub silence: Duration,
    /// For one request, from the first byte to the last: 32 MiB in it are 110 KiB a second.
    pub request: Duration,
    /// It is asked again so often, where the store says that it is overloaded or broken.
    pub retries: usize,
    /// The first pause before it is asked again; later ones are longer.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            request: Duration::from_secs(300),
            retries: 5,
            pause: Duration::from_millis(200),
        }
    }
}

/// The settings that a place does not take, by their flags.
///
/// # Errors
/// The first that does not fit, and what to do.
pub fn check(address: &Address, settings: &Settings) -> Result<(), String> {
    let given = [
        ("--region", settings.region.is_some()),
        ("--addressing", settings.addressing.is_some()),
        ("--checksum", settings.checksum.is_some()),
        ("--endpoint", settings.endpoint.is_some()),
        ("--transport", settings.transport.is_some()),
    ];
    let takes = match address {
        Address::Directory(_) => [false; 5],
        Address::Objects(ObjectAddress { bucket, .. }) => {
            let is_s3 = matches!(bucket, Bucket::S3 { .. });
            [is_s3, is_s3, is_s3, true, true]
        }
    };
    let stray = given.iter().zip(takes).find(|((_, is_given), takes)| *is_given && !takes);
    if let Some(((flag, _), _)) = stray {
        return Err(format!("{flag} does not apply to {address}; leave it out"));
    }
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if let Some(region) = settings.region.as_ref().filter(|region| !region.chars().all(is_plain)) {
        // It becomes a part of a host name, to which credentials go.
        return Err(format!("--region {region}: a region has lower-case letters, digits and `-`"));
    }
    match &settings.endpoint {
        Some(endpoint) => check_endpoint(endpoint, settings.transport.unwrap_or_default()),
        None if settings.transport == Some(Transport::Plain) => Err(
            "the provider's own servers take TLS only; leave --transport out, or give --endpoint"
                .to_string(),
        ),
        None => Ok(()),
    }
}

fn check_endpoint(endpoint: &str, transport: Transport) -> Result<(), String> {
    let wrong = |why: &str| format!("--endpoint {endpoint}: {why}");
    let host = match (endpoint.split_once("://"), transport) {
        (Some(("https", host)), Transport::Tls) | (Some(("http", host)), Transport::Plain) => host,
        (Some(("http", _)), Transport::Tls) => {
            return Err(wrong("it is not encrypted; write https://, or add --transport plain"));
        }
        (Some(("https", _)), Transport::Plain) => {
            return Err(wrong("it is encrypted; leave --transport plain out, or write http://"));
        }
        (Some(_) | None, _) => return Err(wrong("write https://HOST or https://HOST:PORT")),
    };
    match host.is_empty() || host.contains(['/', '@', '?', '#', ' ']) {
        true => {
            Err(wrong("write the host and its port alone, without path, user or slash at the end"))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_apply_are_refused_with_what_to_do() {
        let check = |text: &str, settings: Settings| {
            check(&text.parse().unwrap(), &settings).err().unwrap_or_default()
        };
        let region = Settings { region: Some("r".into()), ..Settings::default() };
        assert_eq!(check("s3://bucket", region.clone()), "");
        assert!(check("/backups", region.clone()).contains("--region does not apply to /backups"));
        assert!(check("gs://bucket", region).contains("leave it out"));
        let at = |endpoint: &str, transport| Settings {
            endpoint: Some(endpoint.into()),
            transport,
            ..Settings::default()
        };
        assert_eq!(check("s3://bucket", at("https://host:9000", None)), "");
        assert_eq!(check("s3://bucket", at("http://host", Some(Transport::Plain))), "");
        for (endpoint, transport, says) in [
            ("http://host", None, "--transport plain"),
            ("https://host", Some(Transport::Plain), "write http://"),
            ("host:9000", None, "https://HOST"),
            ("https://host/path", None, "without path"),
            ("https://user@host", None, "without path, user"),
        ] {
            let said = check("s3://bucket", at(endpoint, transport));
            assert!(said.contains(says), "{endpoint}: {said}");
        }
        let plain = Settings { transport: Some(Transport::Plain), ..Settings::default() };
        assert!(check("s3://bucket", plain).contains("TLS only"));
    }
}
