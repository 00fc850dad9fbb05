//! [`ServerAdmin`] for ScyllaDB, over its REST API on loopback. Scylla keeps
//! schema agreement and topology changes itself (Raft).

use super::ring::Lists;
use super::{Answer, Error, Figures, Reading, RepairState, RepairTicket, ServerAdmin};
use palladion_api::member::RingMember;
use reqwest::Method;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
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
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .pool_max_idle_per_host(1)
            .build()
            .expect("should build: no TLS, no proxy, nothing that can fail");
        Self {
            http,
            url: format!("http://{address}"),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        time: Option<Duration>,
    ) -> Result<Value, Error> {
        let url = format!("{}{path}", self.url);
        let failed = |source| Error::Http {
            url: url.clone(),
            source,
        };
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
            let message = words
                .as_ref()
                .and_then(|w| w.get("message"))
                .and_then(Value::as_str);
            return Err(match message {
                Some(message) => Error::Failed {
                    operation: path.into(),
                    message: message.into(),
                },
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
    async fn part(&self, path: &str) -> Result<Option<Value>, Error> {
        match self.get(path).await {
            Ok(value) => Ok(Some(value)),
            Err(Error::Http { url, source }) => Err(Error::Http { url, source }),
            Err(Error::Status { .. } | Error::Failed { .. } | Error::Unsupported(_)) => Ok(None),
        }
    }

    async fn post(&self, path: &str, query: &[(&str, &str)]) -> Result<(), Error> {
        self.send(Method::POST, path, query, None).await.map(drop)
    }

    async fn look(&self) -> Result<Reading, Error> {
        let text = |v: Option<Value>| v.and_then(|v| v.as_str().map(str::to_string));
        let mode = text(self.part("/storage_service/operation_mode").await?);
        let native = self
            .part("/storage_service/native_transport")
            .await?
            .and_then(|v| v.as_bool());
        let host_id = text(self.part("/storage_service/hostid/local").await?);
        let versions = self.part("/storage_proxy/schema_versions").await?;
        let load = self
            .part("/storage_service/load")
            .await?
            .and_then(|v| v.as_f64());
        Ok(Reading {
            // A joining Scylla says BOOTSTRAP; for the ring that is joining.
            mode: mode.map(|m| {
                if m == "BOOTSTRAP" {
                    "JOINING".into()
                } else {
                    m
                }
            }),
            native_transport: native,
            version: text(self.part("/storage_service/scylla_release_version").await?),
            host_id,
            schema_version: text(self.part("/storage_service/schema_version").await?),
            schema_agreed: versions.as_ref().and_then(Value::as_array).map(|all| {
                all.iter()
                    .filter(|v| v.get("key").and_then(Value::as_str) != Some("UNREACHABLE"))
                    .count()
                    <= 1
            }),
            tokens: self
                .part("/storage_service/tokens")
                .await?
                .map(|v| strings(&v)),
            seeds: self.part("/gossiper/seeds").await?.map(|v| strings(&v)),
            members: self.members().await?,
            figures: Figures {
                load,
                ..Figures::default()
            },
        })
    }

    async fn members(&self) -> Result<Option<Vec<RingMember>>, Error> {
        let live = self.part("/gossiper/endpoint/live").await?;
        let down = self.part("/gossiper/endpoint/down").await?;
        let joining = self.part("/storage_service/nodes/joining").await?;
        let leaving = self.part("/storage_service/nodes/leaving").await?;
        let moving = self.part("/storage_service/nodes/moving").await?;
        let host_ids = self.part("/storage_service/host_id").await?;
        Ok(ring(
            &[live, down, joining, leaving, moving],
            host_ids.as_ref(),
        ))
    }
}

/// Absent if any of the lists is: a short list would be a lie.
fn ring(lists: &[Option<Value>; 5], host_ids: Option<&Value>) -> Option<Vec<RingMember>> {
    let set = |v: &Option<Value>| -> Option<BTreeSet<String>> {
        Some(strings(v.as_ref()?).into_iter().collect())
    };
    let [live, down, joining, leaving, moving] = lists;
    let pair = |pair: &Value| {
        Some((
            pair.get("key")?.as_str()?.into(),
            pair.get("value")?.as_str()?.into(),
        ))
    };
    let lists = Lists {
        live: set(live)?,
        down: set(down)?,
        joining: set(joining)?,
        leaving: set(leaving)?,
        moving: set(moving)?,
        host_ids: host_ids?.as_array()?.iter().filter_map(pair).collect(),
    };
    Some(lists.members())
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect()
}

impl ServerAdmin for Scylla {
    fn read(&self) -> Answer<'_, Reading> {
        Box::pin(self.look())
    }

    fn drain(&self) -> Answer<'_, ()> {
        Box::pin(self.post("/storage_service/drain", &[]))
    }

    fn decommission(&self) -> Answer<'_, ()> {
        Box::pin(self.post("/storage_service/decommission", &[]))
    }

    fn reload_seeds(&self) -> Answer<'_, ()> {
        Box::pin(async { Err(Error::Unsupported("reloading the seeds")) })
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
                let ranges = self
                    .get(&format!(
                        "/storage_service/range_to_endpoint_map/{keyspace}"
                    ))
                    .await?;
                let holders = |range: &Value| {
                    range
                        .get("value")
                        .and_then(Value::as_array)
                        .map_or(0, Vec::len)
                };
                let longest = ranges.as_array().into_iter().flatten().map(holders).max();
                copies.insert(
                    keyspace,
                    u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX),
                );
            }
            Ok(copies)
        })
    }

    fn cleanup<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.post(
                &format!("/storage_service/keyspace_cleanup/{keyspace}"),
                &[],
            )
            .await
        })
    }

    fn flush<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.post(&format!("/storage_service/keyspace_flush/{keyspace}"), &[])
                .await
        })
    }

    fn upgrade_sstables<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let path = format!("/storage_service/keyspace_upgrade_sstables/{keyspace}");
            self.send(
                Method::GET,
                &path,
                &[("exclude_current_version", "true")],
                None,
            )
            .await
            .map(drop)
        })
    }

    fn remove_node<'a>(&'a self, host_id: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.post("/storage_service/remove_node", &[("host_id", host_id)])
                .await
        })
    }

    fn begin_repair<'a>(&'a self, keyspace: &'a str) -> Answer<'a, Option<RepairTicket>> {
        Box::pin(async move {
            let path = format!("/storage_service/repair_async/{keyspace}");
            let answer = self
                .send(
                    Method::POST,
                    &path,
                    &[("primaryRange", "true")],
                    Some(READ_TIME),
                )
                .await?;
            match answer.as_i64() {
                Some(0) => Ok(None),
                Some(number) => Ok(Some(RepairTicket {
                    keyspace: keyspace.into(),
                    number,
                })),
                None => Err(Error::Failed {
                    operation: path,
                    message: format!("unexpected answer {answer}"),
                }),
            }
        })
    }

    fn repair_state<'a>(&'a self, ticket: &'a RepairTicket) -> Answer<'a, RepairState> {
        Box::pin(async move {
            let path = format!("/storage_service/repair_async/{}", ticket.keyspace);
            let number = ticket.number.to_string();
            let answer = self
                .send(Method::GET, &path, &[("id", &number)], Some(READ_TIME))
                .await?;
            Ok(match answer.as_str() {
                Some("SUCCESSFUL") => RepairState::Completed,
                Some("FAILED") => RepairState::Failed("the server says FAILED".into()),
                Some(_) => RepairState::Running,
                None => RepairState::Unknown,
            })
        })
    }
}
