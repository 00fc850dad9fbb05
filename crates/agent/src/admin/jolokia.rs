//! A client of the Jolokia agent in the server's JVM: bulk reads and calls over
//! loopback HTTP, each answer with a status of its own.

use super::Error;
use crate::management::{Credentials, ORIGIN};
use crate::words::calls::{Answered, Doing};
use palladion_agent_core::loopback;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

/// A JVM in a long collection answers late; a look must not hang for ever.
const READ_TIME: Duration = Duration::from_secs(5);
/// Connecting on loopback is immediate or not at all.
const CONNECT_TIME: Duration = Duration::from_secs(1);
/// What a server lists of all ranges of a large ring takes it some seconds.
const LIST_TIME: Duration = Duration::from_secs(30);
/// How much of an unexpected body is worth telling.
const BODY_CHARACTERS: usize = 300;

/// Status of a part of which there is no MBean.
const NOT_FOUND: i64 = 404;

/// What a server says of one attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Its value.
    Value(Value),
    /// There is no such MBean, or not yet.
    Absent,
    /// Neither.
    Nothing,
}

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

/// The same, where it is known what its value must be.
#[derive(Deserialize)]
struct ListAnswer<T> {
    status: i64,
    value: Option<T>,
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
        let http = loopback::client(CONNECT_TIME)
            .build()
            .expect("should build: no certificates, no proxy, nothing that can fail");
        Self { http, url: format!("http://{address}/jolokia/"), credentials }
    }

    /// Read many attributes in one request. A part that is not there (an MBean
    /// that is not registered yet) is `None`.
    pub async fn read(&self, items: &[Item]) -> Result<Vec<Option<Value>>, Error> {
        let told = self.ask(items).await?.into_iter();
        Ok(told
            .map(|told| match told {
                Told::Value(value) => Some(value),
                Told::Absent | Told::Nothing => None,
            })
            .collect())
    }

    /// The same, with what the server says of each part.
    pub async fn ask(&self, items: &[Item]) -> Result<Vec<Told>, Error> {
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
            .map(|answer| match answer.status {
                200 if !answer.value.is_null() => Told::Value(answer.value),
                NOT_FOUND => Told::Absent,
                _ => Told::Nothing,
            })
            .collect())
    }

    /// Read one attribute; `None` only where the server says that there is no such MBean.
    pub async fn read_or_absent(&self, item: &Item) -> Result<Option<Value>, Error> {
        let answer: ItemAnswer = self.post(item, Some(READ_TIME)).await?;
        match answer.status {
            200 => Ok(Some(answer.value).filter(|value| !value.is_null())),
            NOT_FOUND => Ok(None),
            status => Err(refused(item, status, answer.error)),
        }
    }

    /// Set an attribute, or call an operation and wait for its end, for as long as it takes.
    pub async fn exec(&self, item: &Item) -> Result<Value, Error> {
        self.exec_within(item, None).await
    }

    /// Call an operation that ends at once.
    pub async fn exec_soon(&self, item: &Item) -> Result<Value, Error> {
        self.exec_within(item, Some(READ_TIME)).await
    }

    /// Call an operation that lists what may be very much. It is parsed into what is wanted of
    /// it, without all of it as JSON in between; an answer that is something else is none.
    pub async fn list<T: DeserializeOwned>(&self, item: &Item) -> Result<T, Error> {
        let failed = |source| Error::Http { url: self.url.clone(), source };
        let response = self.send(item, Some(LIST_TIME)).await?;
        let body = response.bytes().await.map_err(failed)?;
        let unexpected = || {
            let answer = String::from_utf8_lossy(&body).chars().take(BODY_CHARACTERS).collect();
            let message = Answered::Unexpected { answer }.to_string();
            Error::Failed { operation: operation(item), message }
        };
        match serde_json::from_slice(&body) {
            Ok(ListAnswer { status: 200, value: Some(value), .. }) => Ok(value),
            Ok(ListAnswer { status: 200, value: None, .. }) | Err(_) => Err(unexpected()),
            Ok(ListAnswer { status, error, .. }) => Err(refused(item, status, error)),
        }
    }

    async fn exec_within(&self, item: &Item, time: Option<Duration>) -> Result<Value, Error> {
        let answer: ItemAnswer = self.post(item, time).await?;
        if answer.status == 200 {
            return Ok(answer.value);
        }
        Err(refused(item, answer.status, answer.error))
    }

    async fn post<T: DeserializeOwned>(
        &self,
        body: &(impl Serialize + ?Sized),
        time: Option<Duration>,
    ) -> Result<T, Error> {
        let failed = |source| Error::Http { url: self.url.clone(), source };
        self.send(body, time).await?.json().await.map_err(failed)
    }

    async fn send(
        &self,
        body: &(impl Serialize + ?Sized),
        time: Option<Duration>,
    ) -> Result<reqwest::Response, Error> {
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
        Ok(response)
    }
}

fn operation(item: &Item) -> String {
    match item {
        Item::Exec { operation, .. } => {
            operation.split('(').next().unwrap_or(operation).to_string()
        }
        Item::Write { attribute, .. } => {
            Doing::SetAttribute { attribute: (*attribute).into() }.to_string()
        }
        Item::Read { .. } => Doing::ReadAttributes.to_string(),
    }
}

fn refused(item: &Item, status: i64, error: Option<String>) -> Error {
    let message = error.unwrap_or_else(|| format!("status {status}"));
    Error::Failed { operation: operation(item), message }
}
