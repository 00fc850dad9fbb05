//! [`ServerAdmin`] for ScyllaDB, over its REST API on loopback. Scylla keeps
//! schema agreement and topology changes itself (Raft).

use super::jobs::Jobs;
use super::json::strings;
use super::{
    Answer, ByDatacenter, Error, Reading, RepairScope, RepairState, RepairTicket, RuntimeChange,
    ServerAdmin, TooFewCopies,
};
use crate::words::calls::{Answered, Doing};
use palladion_agent_core::loopback;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::RepairRanges;
use palladion_api::runtime::RuntimeSettings;
use reqwest::Method;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

const READ_TIME: Duration = Duration::from_secs(5);
const CONNECT_TIME: Duration = Duration::from_secs(1);
const BODY_CHARACTERS: usize = 300;

/// A Scylla server.
pub struct Scylla {
    http: reqwest::Client,
    url: String,
}

impl Scylla {
    /// Behind this API address.
    pub fn new(address: SocketAddr) -> Self {
        let http = loopback::client(CONNECT_TIME)
            .build()
            .expect("should build: no certificates, no proxy, nothing that can fail");
        Self { http, url: format!("http://{address}") }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        time: Option<Duration>,
    ) -> Result<Value, Error> {
        let url = format!("{}{path}", self.url);
        let failed = |source| Error::Http { url: url.clone(), source };
        let mut address =
            reqwest::Url::parse(&url).expect("should parse: an address and a constant path");
        for (name, value) in query {
            address.query_pairs_mut().append_pair(name, value);
        }
        let mut request = self.http.request(method, address);
        if let Some(time) = time {
            request = request.timeout(time);
        }
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let text = response.text().await.map_err(failed)?;
        if !status.is_success() {
            let words: Option<Value> = serde_json::from_str(&text).ok();
            let message = words.as_ref().and_then(|w| w.get("message")).and_then(Value::as_str);
            return Err(match message {
                Some(message) => Error::Failed { operation: path.into(), message: message.into() },
                None => Error::Status {
                    url,
                    status: status.as_u16(),
                    body: text.chars().take(BODY_CHARACTERS).collect(),
                },
            });
        }
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    async fn get(&self, path: &str) -> Result<Value, Error> {
        self.send(Method::GET, path, &[], Some(READ_TIME)).await
    }

    /// A part that is not there is absent; a server that is not there is an error.
    pub(super) async fn part(&self, path: &str) -> Result<Option<Value>, Error> {
        match self.get(path).await {
            Ok(value) => Ok(Some(value)),
            Err(Error::Http { url, source }) => Err(Error::Http { url, source }),
            Err(Error::Status { .. } | Error::Failed { .. } | Error::Unsupported(_)) => Ok(None),
        }
    }

    async fn post(&self, path: &str, query: &[(&str, &str)]) -> Result<(), Error> {
        self.send(Method::POST, path, query, None).await.map(drop)
    }
}

impl ServerAdmin for Scylla {
    fn read(&self) -> Answer<'_, Reading> {
        Box::pin(self.look())
    }

    fn drain(&self) -> Answer<'_, ()> {
        Box::pin(self.post("/storage_service/drain", &[]))
    }

    // A ring of it has one datacenter, which does not leave.
    fn decommission(&self, _: TooFewCopies) -> Answer<'_, ()> {
        Box::pin(self.post("/storage_service/decommission", &[]))
    }

    fn reload_seeds(&self) -> Answer<'_, ()> {
        Box::pin(async { Err(Error::Unsupported(Doing::ReloadSeeds)) })
    }

    fn runtime(&self) -> Answer<'_, RuntimeSettings> {
        Box::pin(async { Err(Error::Unsupported(Doing::ReadRuntimeSettings)) })
    }

    fn change_runtime<'a>(&'a self, _: &'a RuntimeChange) -> Answer<'a, ()> {
        Box::pin(async { Err(Error::Unsupported(Doing::ChangeRuntimeSettings)) })
    }

    fn keyspaces(&self) -> Answer<'_, Vec<String>> {
        Box::pin(async {
            let value = self
                .send(
                    Method::GET,
                    "/storage_service/keyspaces",
                    &[("type", "non_local_strategy")],
                    Some(READ_TIME),
                )
                .await?;
            Ok(strings(&value))
        })
    }

    fn copies(&self) -> Answer<'_, BTreeMap<String, u32>> {
        Box::pin(async {
            let mut copies = BTreeMap::new();
            for keyspace in self.keyspaces().await? {
                // Keyspaces of tablets have no ranges of their own; they are left out.
                let path = format!("/storage_service/range_to_endpoint_map/{keyspace}");
                let Some(ranges) = self.part(&path).await? else {
                    continue;
                };
                let holders = |range: &Value| {
                    range.get("value").and_then(Value::as_array).map_or(0, Vec::len)
                };
                let longest = ranges.as_array().into_iter().flatten().map(holders).max();
                copies.insert(keyspace, u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX));
            }
            Ok(copies)
        })
    }

    // A ring of it has one datacenter.
    fn copies_by_datacenter<'a>(
        &'a self,
        _: &'a BTreeMap<StaticAddress, String>,
        _: Option<&'a str>,
    ) -> Answer<'a, ByDatacenter> {
        Box::pin(async { Err(Error::Unsupported(Doing::CountCopies)) })
    }

    fn rebuild<'a>(&'a self, _: &'a str, keyspace: &'a str) -> Answer<'a, ()> {
        let keyspace = keyspace.to_string();
        Box::pin(async { Err(Error::Unsupported(Doing::Rebuild { keyspace })) })
    }

    fn rebuilding(&self) -> Answer<'_, Option<u8>> {
        Box::pin(async { Ok(None) })
    }

    fn start_native_transport(&self) -> Answer<'_, ()> {
        Box::pin(async { Err(Error::Unsupported(Doing::StartNativeTransport)) })
    }

    fn stop_native_transport(&self) -> Answer<'_, ()> {
        Box::pin(async { Err(Error::Unsupported(Doing::StopNativeTransport)) })
    }

    fn cleanup<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.post(&format!("/storage_service/keyspace_cleanup/{keyspace}"), &[]).await
        })
    }

    fn flush<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.post(&format!("/storage_service/keyspace_flush/{keyspace}"), &[]).await
        })
    }

    fn upgrade_sstables<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let path = format!("/storage_service/keyspace_upgrade_sstables/{keyspace}");
            self.send(Method::GET, &path, &[("exclude_current_version", "true")], None)
                .await
                .map(drop)
        })
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        None
    }

    fn remove_node<'a>(&'a self, host_id: &'a HostId) -> Answer<'a, ()> {
        Box::pin(async move {
            self.post("/storage_service/remove_node", &[("host_id", host_id.as_str())]).await
        })
    }

    fn begin_repair<'a>(
        &'a self,
        keyspace: &'a str,
        what: RepairScope,
    ) -> Answer<'a, Option<RepairTicket>> {
        Box::pin(async move {
            // Replicas that are down are left out by address only; the operator asks for that
            // of Cassandra alone.
            let path = format!("/storage_service/repair_async/{keyspace}");
            let options: &[(&str, &str)] = match what.ranges {
                RepairRanges::Primary => &[("primaryRange", "true")],
                // One that is not known was refused before.
                RepairRanges::All | RepairRanges::Unknown(_) => &[],
            };
            let answer = self.send(Method::POST, &path, options, Some(READ_TIME)).await?;
            match answer.as_i64() {
                Some(0) => Ok(None),
                Some(number) => Ok(Some(RepairTicket { keyspace: keyspace.into(), number })),
                None => Err(Error::Failed {
                    operation: path,
                    message: Answered::Unexpected { answer: answer.to_string() }.to_string(),
                }),
            }
        })
    }

    fn repair_state<'a>(&'a self, ticket: &'a RepairTicket) -> Answer<'a, RepairState> {
        Box::pin(async move {
            let path = format!("/storage_service/repair_async/{}", ticket.keyspace);
            let number = ticket.number.to_string();
            let answer = self.send(Method::GET, &path, &[("id", &number)], Some(READ_TIME)).await?;
            Ok(match answer.as_str() {
                Some("SUCCESSFUL") => RepairState::Completed,
                Some("FAILED") => RepairState::Failed(Answered::RepairFailed.to_string()),
                Some(_) => RepairState::Running,
                None => RepairState::Unknown,
            })
        })
    }
}
