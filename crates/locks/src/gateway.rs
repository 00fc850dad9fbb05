//! The JSON gateway of etcd: numbers of 64 bits are texts in it, keys and values base64. One
//! call asks each endpoint until one answers; a user logs in once and again when its token is
//! not known any more.

use crate::credentials::Credentials;
use crate::http::{Endpoint, post};
use crate::words::Away;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use palladion_plan::lock::StoreAway;
use serde_json::{Value, json};
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// How long one endpoint may take. The lease of a lock is at least 60 s, and a renewal is tried
/// several times within it.
const PATIENCE: Duration = Duration::from_secs(3);
/// gRPC's code for a token that is not known: expired, or of an etcd that was restarted.
const UNAUTHENTICATED: i64 = 16;
/// etcd says the same with this code where the token is of an older state of its users.
const INVALID_ARGUMENT: i64 = 3;

/// An etcd, by its endpoints.
pub struct Gateway {
    endpoints: Vec<String>,
    credentials: Credentials,
    session: Mutex<Option<String>>,
    /// Which endpoint answered last.
    answers: AtomicUsize,
}

enum Failed {
    /// Nothing is known of what it did.
    Away(Away),
    /// The token is not known any more.
    LoggedOut(Away),
}

impl Gateway {
    pub fn new(endpoints: Vec<String>, credentials: Credentials) -> Self {
        Self { endpoints, credentials, session: Mutex::new(None), answers: AtomicUsize::new(0) }
    }

    /// Call it; the answer is what the first endpoint said that could be reached.
    pub async fn call(&self, path: &str, body: &Value) -> Result<Value, StoreAway> {
        let mut why = away(Away::NoEndpoint);
        let (count, first) = (self.endpoints.len(), self.answers.load(Ordering::Relaxed));
        // The one that answered last comes first: one that is dead costs its time once.
        for at in (0..count).map(|next| (first + next) % count) {
            match self.ask(&self.endpoints[at], path, body).await {
                Ok(answer) => {
                    self.answers.store(at, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    async fn ask(&self, endpoint: &str, path: &str, body: &Value) -> Result<Value, StoreAway> {
        let endpoint = Endpoint::parse(endpoint).map_err(away)?;
        let known = self.session();
        let token = match known {
            Some(_) if !endpoint.is_encrypted => {
                return Err(away(Away::InTheClear { endpoint: endpoint.text.clone() }));
            }
            Some(token) => Some(token),
            None => self.log_in(&endpoint).await?,
        };
        match self.send(&endpoint, path, token.as_deref(), body).await {
            Ok(answer) => Ok(answer),
            Err(Failed::Away(why)) => Err(away(why)),
            Err(Failed::LoggedOut(why)) => {
                self.keep(None);
                let Some(token) = self.log_in(&endpoint).await? else { return Err(away(why)) };
                let again = self.send(&endpoint, path, Some(&token), body).await;
                again.map_err(|failed| match failed {
                    Failed::Away(why) | Failed::LoggedOut(why) => away(why),
                })
            }
        }
    }

    /// A token for the user of the Secret, where there is one.
    async fn log_in(&self, endpoint: &Endpoint) -> Result<Option<String>, StoreAway> {
        let Some(user) = self.credentials.user().map_err(away)? else { return Ok(None) };
        if !endpoint.is_encrypted {
            return Err(away(Away::InTheClear { endpoint: endpoint.text.clone() }));
        }
        let body = json!({ "name": user.name, "password": user.password });
        let answer = self.send(endpoint, "/v3/auth/authenticate", None, &body).await;
        let answer = answer.map_err(|failed| match failed {
            Failed::Away(why) | Failed::LoggedOut(why) => away(why),
        })?;
        let token = answer["token"].as_str().map(str::to_string);
        self.keep(token.clone());
        Ok(token)
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> Result<Value, Failed> {
        let tls = match endpoint.is_encrypted {
            true => Some(self.credentials.tls()).transpose(),
            false => Ok(None),
        };
        let text = || endpoint.text.clone();
        let refused = |why: String| Away::Refused { endpoint: text(), why };
        let tls = tls.map_err(|why| Failed::Away(refused(why.to_string())))?;
        let asked = timeout(PATIENCE, post(endpoint, path, token, body.to_string(), tls)).await;
        let late = Away::Late { endpoint: text(), seconds: PATIENCE.as_secs() };
        let (code, bytes) = asked.unwrap_or(Err(late)).map_err(Failed::Away)?;
        let unreadable = |why: String| Away::Unreadable { endpoint: text(), why };
        let answer: Result<Value, _> = serde_json::from_slice(&bytes);
        match (code, answer) {
            (200, Ok(answer)) => Ok(answer),
            (200, Err(error)) => Err(Failed::Away(unreadable(error.to_string()))),
            (_, Ok(answer)) => Err(refusal(&answer, code, refused, token.is_some())),
            (_, Err(_)) => Err(Failed::Away(refused(format!("HTTP status {code}")))),
        }
    }

    fn session(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, token: Option<String>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

fn refusal(
    answer: &Value,
    code: u16,
    refused: impl Fn(String) -> Away,
    with_token: bool,
) -> Failed {
    let said = answer["message"].as_str().or(answer["error"].as_str());
    let said = said.map_or_else(|| format!("HTTP status {code}"), str::to_string);
    let is_of_token = match answer["code"].as_i64() {
        Some(UNAUTHENTICATED) => true,
        Some(INVALID_ARGUMENT) => said.contains("auth"),
        Some(_) | None => false,
    };
    match is_of_token && (with_token || said.contains("user name is empty")) {
        true => Failed::LoggedOut(refused(said)),
        false => Failed::Away(refused(said)),
    }
}

/// As the callers of a store hear of it.
pub fn away(why: impl Display) -> StoreAway {
    StoreAway(why.to_string())
}

/// Bytes as the gateway has them.
pub fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// The same read.
pub fn decoded(value: &Value) -> Option<Vec<u8>> {
    STANDARD.decode(value.as_str()?).ok()
}

/// A number of 64 bits, which is a text; one that is missing is 0.
pub fn number(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).or(value.as_u64()).unwrap_or_default()
}
