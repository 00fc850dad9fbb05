//! What a call needs and no mind sees: its credentials, and whom it trusts. Both are
//! read by name right before the call, so that what was renewed counts at once.

use crate::request::Api;
use crate::words::Unusable;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use palladion_plan::kinds::SECRET;
use palladion_plan::words::exchange::Failed;
use palladion_plan::{Captured, Exchange, FailureClass, ObjectKey, SecretRef};
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

/// Who calls, and what of it may stand in no answer that is quoted.
pub struct Credentials {
    /// The value of the header `Authorization`.
    pub header: String,
    hidden: Vec<String>,
}

/// A secret that is shorter is in too many words that are none.
const SHORTEST: usize = 4;
/// What stands in its place.
const HIDDEN: &str = "[hidden]";

impl Credentials {
    fn bearer(token: &str) -> Self {
        Self::new(format!("Bearer {token}"), [token])
    }

    fn basic(user: &str, password: &str) -> Self {
        let encoded = STANDARD.encode(format!("{user}:{password}"));
        Self::new(format!("Basic {encoded}"), [encoded.as_str(), password])
    }

    /// As they are, and as JSON writes them.
    fn new<'a>(header: String, secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let forms = secrets.into_iter().flat_map(|secret| {
            let quoted = serde_json::Value::from(secret).to_string();
            let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            [secret.to_string(), inner.unwrap_or_default().to_string()]
        });
        Self { header, hidden: forms.filter(|form| form.len() >= SHORTEST).collect() }
    }

    /// What an answer amounts to. A service may repeat what it was sent, and what is quoted or kept
    /// of it stands where everybody reads it.
    ///
    /// # Errors
    /// As [`Exchange::judge`].
    pub fn judge(&self, exchange: &Exchange, code: u16, body: &[u8]) -> Result<Captured, Failed> {
        if !exchange.accept.contains(&code) {
            return exchange.judge(code, &self.hidden_in(body));
        }
        let mut captured = exchange.judge(code, body)?;
        let is_secret = |value: &String| self.hidden.iter().any(|s| value.contains(s.as_str()));
        captured.values.retain(|_, value| !is_secret(value));
        Ok(captured)
    }

    fn hidden_in(&self, answer: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(answer);
        if !self.hidden.iter().any(|secret| text.contains(secret.as_str())) {
            return answer.to_vec();
        }
        let without = |text: String, secret: &String| text.replace(secret.as_str(), HIDDEN);
        self.hidden.iter().fold(text.into_owned(), without).into_bytes()
    }
}

/// Who calls, by this Secret.
///
/// # Errors
/// The Secret cannot be read, or has not what is needed.
pub async fn authorization(api: &Api, secret: &SecretRef) -> Result<Credentials, Missing> {
    let key = ObjectKey::new(SECRET, &secret.namespace, &secret.name);
    let missing = |why: String| Failed::NoCredentials { secret: secret.name.clone(), why };
    let secret: Secret = read(api, &key, missing).await?;
    credentials(&secret).map_err(|why| Missing::Fails(missing(why.to_string())))
}

fn credentials(secret: &Secret) -> Result<Credentials, Unusable> {
    let text = |key: &'static str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key));
        let bytes = &bytes.ok_or(Unusable::KeyMissing { key })?.0;
        let text = std::str::from_utf8(bytes).map_err(|_| Unusable::NotText { key })?;
        Ok(text.trim_end_matches(['\r', '\n']).to_string())
    };
    if let Ok(token) = text("token") {
        return Ok(Credentials::bearer(&token));
    }
    Ok(Credentials::basic(&text("username")?, &text("password")?))
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
        let found = credentials(&secret).map(|credentials| credentials.header);
        found.map_err(|why| why.to_string())
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

    #[test]
    fn an_answer_that_repeats_what_it_was_sent_shows_no_credentials() {
        let said = |credentials: &Credentials, answer: &str| {
            String::from_utf8(credentials.hidden_in(answer.as_bytes())).unwrap()
        };
        let basic = Credentials::basic("me", "a \"word\"");
        let sent = basic.header.clone();
        assert_eq!(said(&basic, &format!("you sent {sent}")), "you sent Basic [hidden]");
        assert_eq!(said(&basic, "no user me with a \"word\""), "no user me with [hidden]");
        assert_eq!(said(&basic, r#"{"password":"a \"word\""}"#), r#"{"password":"[hidden]"}"#);
        assert_eq!(said(&basic, "unauthorized"), "unauthorized");
        let bearer = Credentials::bearer("t0ken");
        assert_eq!(said(&bearer, "Bearer t0ken is over"), "Bearer [hidden] is over");
        let short = Credentials::bearer("ok");
        assert_eq!(said(&short, "not ok"), "not ok", "it is in too many words");
    }
}
