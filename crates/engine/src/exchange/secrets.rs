//! What a call needs and no mind sees: its credentials, and whom it trusts. Both are
//! read by name right before the call, so that what was renewed counts at once.

use crate::request::Api;
use crate::words::Unusable;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use palladion_plan::kinds::SECRET;
use palladion_plan::words::exchange::Failed;
use palladion_plan::{FailureClass, ObjectKey, SecretRef};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The key of a ConfigMap with the certificates of authorities.
const AUTHORITIES: &str = "ca.crt";

/// Why there is nothing to call with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The API server did not answer: it says nothing about the object.
    NotNow {
        /// Why.
        why: String,
    },
    /// The call fails for it.
    Fails(Failed),
}

/// The value of the header `Authorization`.
///
/// # Errors
/// The Secret cannot be read, or has not what is needed.
pub async fn authorization(api: &Api, secret: &SecretRef) -> Result<String, Missing> {
    let key = ObjectKey::new(SECRET, &secret.namespace, &secret.name);
    let missing = |why: String| Failed::NoCredentials { secret: secret.name.clone(), why };
    let secret: Secret = read(api, &key, missing).await?;
    header(&secret).map_err(|why| Missing::Fails(missing(why.to_string())))
}

fn header(secret: &Secret) -> Result<String, Unusable> {
    let text = |key: &'static str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key));
        let bytes = &bytes.ok_or(Unusable::KeyMissing { key })?.0;
        let text = std::str::from_utf8(bytes).map_err(|_| Unusable::NotText { key })?;
        Ok(text.trim_end_matches(['\r', '\n']).to_string())
    };
    if let Ok(token) = text("token") {
        return Ok(format!("Bearer {token}"));
    }
    let pair = format!("{}:{}", text("username")?, text("password")?);
    Ok(format!("Basic {}", STANDARD.encode(pair)))
}

/// A client of TLS that trusts the authorities of a ConfigMap, and no others.
///
/// # Errors
/// The ConfigMap cannot be read, or has no certificate.
pub async fn trust(api: &Api, ca: &ObjectKey) -> Result<Arc<ClientConfig>, Missing> {
    let missing = |why: String| Failed::NoAuthority { config_map: ca.name.clone(), why };
    let map: ConfigMap = read(api, ca, missing).await?;
    let text = map.data.unwrap_or_default().remove(AUTHORITIES);
    let text = text.ok_or_else(|| Unusable::KeyMissing { key: AUTHORITIES }.to_string());
    let config = text.and_then(|text| client(text.as_bytes()));
    config.map(Arc::new).map_err(|why| Missing::Fails(missing(why)))
}

fn client(authorities: &[u8]) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    }
    if roots.is_empty() {
        return Err(Unusable::NoCertificate { key: AUTHORITIES }.to_string());
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

async fn read<T: DeserializeOwned>(
    api: &Api,
    key: &ObjectKey,
    missing: impl Fn(String) -> Failed,
) -> Result<T, Missing> {
    let read = match api.get(key).await {
        Ok(Some(object)) => serde_json::from_value(object).map_err(|error| error.to_string()),
        Ok(None) => Err(Unusable::Absent.to_string()),
        Err(error) if error.class() == FailureClass::Transient => {
            return Err(Missing::NotNow { why: error.to_string() });
        }
        Err(error) => Err(error.to_string()),
    };
    read.map_err(|why| Missing::Fails(missing(why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(data: serde_json::Value) -> Result<String, String> {
        let secret: Secret = serde_json::from_value(json!({ "data": data })).unwrap();
        header(&secret).map_err(|why| why.to_string())
    }

    #[test]
    fn a_token_or_a_pair_becomes_a_header_and_what_is_missing_is_named() {
        // "t0ken\n", "me", "secret", 0xFF.
        assert_eq!(of(json!({ "token": "dDBrZW4K" })), Ok("Bearer t0ken".to_string()));
        let pair = json!({ "username": "bWU=", "password": "c2VjcmV0" });
        assert_eq!(of(pair), Ok("Basic bWU6c2VjcmV0".to_string()));
        assert_eq!(of(json!({ "username": "bWU=" })), Err("it has no key `password`".to_string()));
        let bytes = json!({ "username": "/w==", "password": "c2VjcmV0" });
        assert_eq!(of(bytes), Err("its key `username` is no text".to_string()));
    }
}
