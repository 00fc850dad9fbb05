//! How a store of objects is reached: which client, with which settings and
//! credentials. Nothing is asked of the store here.

use crate::address::{Address, Bucket, ObjectAddress};
use crate::clock::{Clock, Dated};
use crate::credentials::Credentials;
use crate::settings::{Addressing, Checksum, Patience, Settings, Transport, check};
use object_store::aws::{AmazonS3Builder, Checksum as OfS3, S3ConditionalPut};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};
use std::sync::Arc;

/// Where no region is given; stores other than Amazon's take any.
const REGION: &str = "us-east-1";

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
    // What the image trusts is asked only where it is needed: one without certificates serves
    // where nothing is encrypted, or where ca.crt says whom to trust.
    let is_plain = settings.transport == Some(Transport::Plain);
    let mut options = ClientOptions::new()
        .with_no_system_certificates(is_plain || credentials.ca.is_some())
        .with_connect_timeout(patience.connect)
        .with_read_timeout(patience.silence)
        .with_timeout(patience.request)
        .with_allow_http(is_plain);
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
}
