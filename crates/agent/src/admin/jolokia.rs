//! A client of the Jolokia agent in the server's JVM: bulk reads and calls over
//! loopback HTTP, each answer with a status of its own.

use super::Error;
use crate::management::{Credentials, ORIGIN};
use crate::words::calls::{Answered, Doing};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

/// A JVM in a long collection answers late; a look must not hang for ever.
const READ_TIME: Duration = Duration::from_secs(5);
/// Connecting on loopback is immediate or not at all.
const CONNECT_TIME: Duration = Duration::from_secs(1);
/// How much of an unexpected body is worth telling.
const BODY_CHARACTERS: usize = 300;

/// One question or call.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Item {
    /// Read an attribute.
    Read {
        /// Of which MBean.
        mbean: &'static str,
        /// Which one.
        attribute: &'static str,
    },
    /// Set an attribute.
    Write {
        /// Of which MBean.
        mbean: &'static str,
        /// Which one.
        attribute: &'static str,
        /// Its new value.
        value: Value,
    },
    /// Call an operation.
    Exec {
        /// Of which MBean.
        mbean: &'static str,
        /// With its signature, where it is overloaded.
        operation: &'static str,
        /// Its arguments.
        arguments: Vec<Value>,
    },
}

#[derive(Deserialize)]
struct ItemAnswer {
    status: i64,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum BulkAnswer {
    Each(Vec<ItemAnswer>),
    Whole(ItemAnswer),
}

/// A client for one server.
pub struct Client {
    http: reqwest::Client,
    url: String,
    credentials: Credentials,
}

impl Client {
    /// For the server whose Jolokia listens here.
    pub fn new(address: SocketAddr, credentials: Credentials) -> Self {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .pool_max_idle_per_host(1)
            .build()
            .expect("should build: no TLS, no proxy, nothing that can fail");
        Self { http, url: format!("http://{address}/jolokia/"), credentials }
    }

    /// Read many attributes in one request. A part that is not there (an MBean
    /// that is not registered yet) is `None`.
    pub async fn read(&self, items: &[Item]) -> Result<Vec<Option<Value>>, Error> {
        let answers = match self.post(items, Some(READ_TIME)).await? {
            BulkAnswer::Each(answers) => answers,
            // What is wrong with the request as a whole is told once.
            BulkAnswer::Whole(refusal) => {
                return Err(Error::Status {
                    url: self.url.clone(),
                    status: u16::try_from(refusal.status).unwrap_or_default(),
                    body: refusal.error.unwrap_or_default(),
                });
            }
        };
        if answers.len() != items.len() {
            return Err(Error::Failed {
                operation: Doing::ReadAttributes.to_string(),
                message: Answered::AnswersMissing {
                    answers: answers.len(),
                    questions: items.len(),
                }
                .to_string(),
            });
        }
        Ok(answers
            .into_iter()
            .map(|a| (a.status == 200 && !a.value.is_null()).then_some(a.value))
            .collect())
    }

    /// Set an attribute, or call an operation and wait for its end, for as long as it takes.
    pub async fn exec(&self, item: &Item) -> Result<Value, Error> {
        self.exec_within(item, None).await
    }

    /// Call an operation that ends at once.
    pub async fn exec_soon(&self, item: &Item) -> Result<Value, Error> {
        self.exec_within(item, Some(READ_TIME)).await
    }

    async fn exec_within(&self, item: &Item, time: Option<Duration>) -> Result<Value, Error> {
        let answer: ItemAnswer = self.post(item, time).await?;
        if answer.status == 200 {
            return Ok(answer.value);
        }
        let operation = match item {
            Item::Exec { operation, .. } => {
                operation.split('(').next().unwrap_or(operation).to_string()
            }
            Item::Write { attribute, .. } => {
                Doing::SetAttribute { attribute: (*attribute).into() }.to_string()
            }
            Item::Read { .. } => Doing::ReadAttributes.to_string(),
        };
        let message = answer.error.unwrap_or_else(|| format!("status {}", answer.status));
        Err(Error::Failed { operation, message })
    }

    async fn post<T: serde::de::DeserializeOwned>(
        &self,
        body: &(impl Serialize + ?Sized),
        time: Option<Duration>,
    ) -> Result<T, Error> {
        let failed = |source| Error::Http { url: self.url.clone(), source };
        let mut request = self
            .http
            .post(&self.url)
            .basic_auth(&self.credentials.user, Some(&self.credentials.password))
            .header("Origin", ORIGIN)
            .json(body);
        if let Some(time) = time {
            request = request.timeout(time);
        }
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if !status.is_success() {
            let body = response.text().await.unwrap_or_default();
            let body = body.chars().take(BODY_CHARACTERS).collect();
            return Err(Error::Status { url: self.url.clone(), status: status.as_u16(), body });
        }
        response.json().await.map_err(failed)
    }
}
