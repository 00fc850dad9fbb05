//! How a store of objects is reached: which client, with which settings and
//! credentials. Nothing is asked of the store here.

use crate::address::{Address, Bucket, ObjectAddress};
use crate::clock::{Clock, Dated};
use crate::credentials::Credentials;
use object_store::aws::{AmazonS3Builder, Checksum as OfS3, S3ConditionalPut};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};
use std::sync::Arc;
use std::time::Duration;

/// Where no region is given; stores other than Amazon's take any.
const REGION: &str = "us-east-1";

/// Where the name of the bucket stands in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// In the name of the host.
    #[default]
    Virtual,
    /// In the path.
    Path,
}

/// The checksum that S3 compares with what arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The client of a store, and the clock that it shows.
///
/// # Errors
/// Credentials are missing or are of another kind of store, or settings do not fit.
pub fn client(
    address: &ObjectAddress,
    settings: &Settings,
    credentials: &Credentials,
) -> Result<(Arc<dyn ObjectStore>, Clock), String> {
    check(&Address::Objects(address.clone()), settings)?;
    let clock = Clock::default();
    let with =
        With { settings, credentials, options: options(settings, credentials)?, clock: &clock };
    let client = match &address.bucket {
        Bucket::S3 { bucket } => with.s3(bucket),
        Bucket::Gcs { bucket } => with.gcs(bucket),
        Bucket::Azure { account, container } => with.azure(account, container),
    };
    Ok((client?, clock))
}

fn options(settings: &Settings, credentials: &Credentials) -> Result<ClientOptions, String> {
    let patience = &settings.patience;
    let mut options = ClientOptions::new()
        .with_connect_timeout(patience.connect)
        .with_read_timeout(patience.silence)
        .with_timeout(patience.request)
        .with_allow_http(settings.transport == Some(Transport::Plain));
    if let Some(pem) = &credentials.ca {
        let all = Certificate::from_pem_bundle(pem)
            .map_err(|error| format!("ca.crt is not a certificate in PEM: {error}"))?;
        if all.is_empty() {
            return Err(
                "ca.crt has no certificate; write one in PEM, or remove the file".to_string()
            );
        }
        options = all.into_iter().fold(options, ClientOptions::with_root_certificate);
    }
    Ok(options)
}

struct With<'a> {
    settings: &'a Settings,
    credentials: &'a Credentials,
    options: ClientOptions,
    clock: &'a Clock,
}

type Client = Result<Arc<dyn ObjectStore>, String>;

impl With<'_> {
    fn retry(&self) -> RetryConfig {
        let Patience { retries, pause, request, .. } = &self.settings.patience;
        let backoff = BackoffConfig { init_backoff: *pause, ..BackoffConfig::default() };
        RetryConfig { backoff, max_retries: *retries, retry_timeout: *request }
    }

    fn s3(self, bucket: &str) -> Client {
        let id = given(&self.credentials.access_key_id, "accessKeyId")?;
        let secret = given(&self.credentials.secret_access_key, "secretAccessKey")?;
        let addressing = self.settings.addressing.unwrap_or_default();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(self.settings.region.as_deref().unwrap_or(REGION))
            .with_access_key_id(id)
            .with_secret_access_key(secret)
            .with_virtual_hosted_style_request(addressing == Addressing::Virtual)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            // One request an object, which every store knows: its answer is of that object.
            .with_disable_bulk_delete(true)
            .with_retry(self.retry())
            .with_http_connector(Dated(self.clock.clone()));
        if let Some(token) = &self.credentials.session_token {
            builder = builder.with_token(token);
        }
        if let Some(endpoint) = &self.settings.endpoint {
            builder = builder.with_endpoint(match (addressing, endpoint.split_once("://")) {
                (Addressing::Virtual, Some((scheme, host))) => {
                    format!("{scheme}://{bucket}.{host}")
                }
                (Addressing::Virtual, None) | (Addressing::Path, _) => endpoint.clone(),
            });
        }
        builder = match self.settings.checksum.unwrap_or_default() {
            Checksum::Crc64Nvme => builder.with_checksum_algorithm(OfS3::CRC64NVME),
            Checksum::Sha256 => builder.with_checksum_algorithm(OfS3::SHA256),
            Checksum::None => builder,
        };
        built(builder.with_client_options(self.options).build())
    }

    fn gcs(self, bucket: &str) -> Client {
        let account = given(&self.credentials.service_account, "serviceAccount.json")?;
        let mut builder = GoogleCloudStorageBuilder::new()
            .with_bucket_name(bucket)
            .with_service_account_key(account)
            .with_retry(self.retry())
            .with_http_connector(Dated(self.clock.clone()));
        if let Some(endpoint) = &self.settings.endpoint {
            builder = builder.with_base_url(endpoint);
        }
        built(builder.with_client_options(self.options).build())
    }

    fn azure(self, account: &str, container: &str) -> Client {
        let mut builder = MicrosoftAzureBuilder::new()
            .with_account(account)
            .with_container_name(container)
            .with_retry(self.retry())
            .with_http_connector(Dated(self.clock.clone()));
        builder = match (&self.credentials.account_key, &self.credentials.sas_token) {
            (Some(key), None) => builder.with_access_key(key),
            (None, Some(token)) => builder.with_config(AzureConfigKey::SasKey, token),
            (Some(_), Some(_)) => {
                return Err(
                    "there are accountKey and sasToken; remove one of both files".to_string()
                );
            }
            (None, None) => return Err(missing("accountKey or sasToken")),
        };
        if let Some(endpoint) = &self.settings.endpoint {
            builder = builder.with_endpoint(endpoint.clone());
        }
        built(builder.with_client_options(self.options).build())
    }
}

fn missing(name: &str) -> String {
    format!(
        "the directory of credentials has no file {name}; write the credential of this store into it"
    )
}

fn given<'c>(credential: &'c Option<String>, name: &str) -> Result<&'c str, String> {
    credential.as_deref().ok_or_else(|| missing(name))
}

fn built<T: ObjectStore>(client: object_store::Result<T>) -> Client {
    match client {
        Ok(client) => Ok(Arc::new(client)),
        Err(error) => Err(format!("these settings and credentials do not fit: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> ObjectAddress {
        match text.parse().unwrap() {
            Address::Objects(address) => address,
            Address::Directory(_) => unreachable!("{text}"),
        }
    }

    fn tried(text: &str, settings: &Settings, credentials: &Credentials) -> String {
        client(&address(text), settings, credentials).map(drop).err().unwrap_or_default()
    }

    #[test]
    fn each_kind_of_store_needs_its_own_credentials() {
        let all = Settings::default();
        let s3 = Credentials {
            access_key_id: Some("a".into()),
            secret_access_key: Some("b".into()),
            ..Credentials::default()
        };
        let azure = Credentials { account_key: Some("YWJj".into()), ..Credentials::default() };
        assert_eq!(tried("s3://bucket", &all, &s3), "");
        assert_eq!(tried("azure://account/container", &all, &azure), "");
        assert!(tried("s3://bucket", &all, &azure).contains("no file accessKeyId"));
        assert!(tried("gs://bucket", &all, &s3).contains("no file serviceAccount.json"));
        assert!(tried("azure://account/container", &all, &s3).contains("no file accountKey or"));
        let both = Credentials { sas_token: Some("sig=x".into()), ..azure };
        assert!(tried("azure://account/container", &all, &both).contains("remove one"));
        let wrong = Credentials { ca: Some(b"x".to_vec()), ..s3 };
        assert!(tried("s3://bucket", &all, &wrong).contains("ca.crt"));
        let text = Credentials { service_account: Some("{".into()), ..Credentials::default() };
        assert!(tried("gs://bucket", &all, &text).contains("do not fit"));
    }

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
