//! [`ServerAdmin`] for Apache Cassandra 4.0 to 5.0, over Jolokia.

use super::jolokia::{Client, Item};
use super::{Answer, Error, Figures, Reading, RepairState, RepairTicket, ServerAdmin};
use crate::render::capabilities::{Capabilities, UpgradeSstables};
use palladion_api::member::{Liveness, MemberState, RingMember};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

const STORAGE_SERVICE: &str = "org.apache.cassandra.db:type=StorageService";
const FAILURE_DETECTOR: &str = "org.apache.cassandra.net:type=FailureDetector";
const GOSSIPER: &str = "org.apache.cassandra.net:type=Gossiper";
const LOAD: &str = "org.apache.cassandra.metrics:type=Storage,name=Load";
const PENDING_COMPACTIONS: &str = "org.apache.cassandra.metrics:type=Compaction,name=PendingTasks";
const CLIENTS: &str = "org.apache.cassandra.metrics:type=Client,name=connectedNativeClients";
const MEMORY: &str = "java.lang:type=Memory";

/// What a look reads. All of it can be asked of a server at any time: one
/// attribute that throws an error would take the whole answer with it.
const LOOK: [(&str, &str); 17] = [
    (STORAGE_SERVICE, "OperationMode"),
    (STORAGE_SERVICE, "NativeTransportRunning"),
    (STORAGE_SERVICE, "ReleaseVersion"),
    (STORAGE_SERVICE, "LocalHostId"),
    (STORAGE_SERVICE, "SchemaVersion"),
    // What gossip says of schemas; StorageProxy's own answer asks every member
    // and takes ten seconds where one of them is silent.
    (FAILURE_DETECTOR, "AllEndpointStatesWithPort"),
    (GOSSIPER, "Seeds"),
    (STORAGE_SERVICE, "LiveNodesWithPort"),
    (STORAGE_SERVICE, "UnreachableNodesWithPort"),
    (STORAGE_SERVICE, "JoiningNodesWithPort"),
    (STORAGE_SERVICE, "LeavingNodesWithPort"),
    (STORAGE_SERVICE, "MovingNodesWithPort"),
    (STORAGE_SERVICE, "EndpointWithPortToHostId"),
    (LOAD, "Count"),
    (PENDING_COMPACTIONS, "Value"),
    (MEMORY, "HeapMemoryUsage"),
    (CLIENTS, "Value"),
];

/// What is read only of a full member: the server asserts that it has tokens.
const READ_WHEN_NORMAL: [(&str, &str); 2] = [
    (STORAGE_SERVICE, "Tokens"),
    (STORAGE_SERVICE, "NonLocalStrategyKeyspaces"),
];

/// Every attribute that Jolokia's policy must allow.
pub fn reads() -> impl Iterator<Item = (&'static str, &'static str)> {
    LOOK.into_iter().chain(READ_WHEN_NORMAL)
}

const DRAIN: &str = "drain()";
const DECOMMISSION: &str = "decommission(boolean)";
const CLEANUP: &str = "forceKeyspaceCleanup(int,java.lang.String,[Ljava.lang.String;)";
const FLUSH: &str = "forceKeyspaceFlush(java.lang.String,[Ljava.lang.String;)";
const UPGRADE: &str = "upgradeSSTables(java.lang.String,boolean,int,[Ljava.lang.String;)";
const UPGRADE_BY_AGE: &str =
    "upgradeSSTables(java.lang.String,boolean,long,int,[Ljava.lang.String;)";
const REMOVE_NODE: &str = "removeNode(java.lang.String)";
const BEGIN_REPAIR: &str = "repairAsync(java.lang.String,java.util.Map)";
const REPAIR_STATE: &str = "getParentRepairStatus(int)";
const RANGES: &str = "getRangeToEndpointWithPortMap(java.lang.String)";
const RELOAD_SEEDS: &str = "reloadSeeds()";

/// What the agent calls: every operation, with its signature, that Jolokia's policy must allow.
pub const CALLS: [(&str, &str); 11] = [
    (STORAGE_SERVICE, DRAIN),
    (STORAGE_SERVICE, DECOMMISSION),
    (STORAGE_SERVICE, CLEANUP),
    (STORAGE_SERVICE, FLUSH),
    (STORAGE_SERVICE, UPGRADE),
    (STORAGE_SERVICE, UPGRADE_BY_AGE),
    (STORAGE_SERVICE, REMOVE_NODE),
    (STORAGE_SERVICE, BEGIN_REPAIR),
    (STORAGE_SERVICE, REPAIR_STATE),
    (STORAGE_SERVICE, RANGES),
    (GOSSIPER, RELOAD_SEEDS),
];

/// A Cassandra server.
pub struct Cassandra {
    client: Client,
    capabilities: Capabilities,
    /// A full member's tokens do not change while its server runs.
    tokens: OnceLock<Vec<String>>,
}

impl Cassandra {
    /// Behind this client.
    pub fn new(client: Client, capabilities: Capabilities) -> Self {
        Self {
            client,
            capabilities,
            tokens: OnceLock::new(),
        }
    }

    async fn call(
        &self,
        mbean: &'static str,
        operation: &'static str,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        self.client
            .exec(&Item::Exec {
                mbean,
                operation,
                arguments,
            })
            .await
    }

    async fn tokens(&self) -> Option<Vec<String>> {
        if let Some(known) = self.tokens.get() {
            return Some(known.clone());
        }
        let item = Item::Read {
            mbean: STORAGE_SERVICE,
            attribute: "Tokens",
        };
        // Of no weight: the next look tries again.
        let value = self
            .client
            .read(&[item])
            .await
            .ok()?
            .into_iter()
            .next()
            .flatten()?;
        Some(self.tokens.get_or_init(|| strings(&value)).clone())
    }

    /// Operations that answer 0 for success, 1 for "stopped by a person", 2 for "could not begin".
    async fn rewrite(&self, operation: &'static str, arguments: Vec<Value>) -> Result<(), Error> {
        let answer = self.call(STORAGE_SERVICE, operation, arguments).await?;
        let message = match answer.as_i64() {
            Some(0) => return Ok(()),
            Some(1) => "it was stopped before its end".to_string(),
            Some(2) => "other compactions could not be paused".to_string(),
            Some(_) | None => format!("unexpected answer {answer}"),
        };
        Err(Error::Failed {
            operation: operation.split('(').next().unwrap_or(operation).into(),
            message,
        })
    }
}

impl ServerAdmin for Cassandra {
    fn read(&self) -> Answer<'_, Reading> {
        Box::pin(async {
            let items: Vec<Item> = LOOK
                .iter()
                .map(|(mbean, attribute)| Item::Read { mbean, attribute })
                .collect();
            let values = self.client.read(&items).await?;
            let found: BTreeMap<&str, Value> = LOOK
                .iter()
                .zip(values)
                .filter_map(|((mbean, attribute), value)| Some((name(mbean, attribute), value?)))
                .collect();
            let mut reading = reading(&found);
            if reading.is(super::NORMAL) {
                reading.tokens = self.tokens().await;
            }
            Ok(reading)
        })
    }

    fn drain(&self) -> Answer<'_, ()> {
        Box::pin(async { self.call(STORAGE_SERVICE, DRAIN, vec![]).await.map(drop) })
    }

    fn decommission(&self) -> Answer<'_, ()> {
        // Not forced: a keyspace with more replicas than remain is a refusal that people must see.
        Box::pin(async {
            self.call(STORAGE_SERVICE, DECOMMISSION, vec![json!(false)])
                .await
                .map(drop)
        })
    }

    fn reload_seeds(&self) -> Answer<'_, ()> {
        Box::pin(async { self.call(GOSSIPER, RELOAD_SEEDS, vec![]).await.map(drop) })
    }

    fn keyspaces(&self) -> Answer<'_, Vec<String>> {
        Box::pin(async {
            let item = Item::Read {
                mbean: STORAGE_SERVICE,
                attribute: "NonLocalStrategyKeyspaces",
            };
            let value = self
                .client
                .read(&[item])
                .await?
                .into_iter()
                .next()
                .flatten();
            value.map(|v| strings(&v)).ok_or_else(|| Error::Failed {
                operation: "listing keyspaces".into(),
                message: "the server does not tell them yet".into(),
            })
        })
    }

    fn copies(&self) -> Answer<'_, BTreeMap<String, u32>> {
        Box::pin(async {
            let mut copies = BTreeMap::new();
            for keyspace in self.keyspaces().await? {
                let ranges = self
                    .call(STORAGE_SERVICE, RANGES, vec![json!(keyspace)])
                    .await?;
                copies.insert(
                    keyspace,
                    most_holders(ranges.as_object().into_iter().flat_map(|r| r.values())),
                );
            }
            Ok(copies)
        })
    }

    fn cleanup<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        let arguments = vec![json!(0), json!(keyspace), json!([])];
        Box::pin(self.rewrite(CLEANUP, arguments))
    }

    fn flush<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.call(STORAGE_SERVICE, FLUSH, vec![json!(keyspace), json!([])])
                .await
                .map(drop)
        })
    }

    fn upgrade_sstables<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        let (operation, arguments) = match self.capabilities.upgrade_sstables {
            UpgradeSstables::ByVersion => (
                UPGRADE,
                vec![json!(keyspace), json!(true), json!(0), json!([])],
            ),
            UpgradeSstables::ByVersionAndAge => (
                UPGRADE_BY_AGE,
                vec![
                    json!(keyspace),
                    json!(true),
                    json!(i64::MAX),
                    json!(0),
                    json!([]),
                ],
            ),
        };
        Box::pin(self.rewrite(operation, arguments))
    }

    fn remove_node<'a>(&'a self, host_id: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.call(STORAGE_SERVICE, REMOVE_NODE, vec![json!(host_id)])
                .await
                .map(drop)
        })
    }

    fn begin_repair<'a>(&'a self, keyspace: &'a str) -> Answer<'a, Option<RepairTicket>> {
        Box::pin(async move {
            let options =
                json!({"primaryRange": "true", "incremental": "false", "parallelism": "parallel"});
            let answer = self
                .call(
                    STORAGE_SERVICE,
                    BEGIN_REPAIR,
                    vec![json!(keyspace), options],
                )
                .await?;
            match answer.as_i64() {
                Some(0) => Ok(None),
                Some(number) => Ok(Some(RepairTicket {
                    keyspace: keyspace.into(),
                    number,
                })),
                None => Err(Error::Failed {
                    operation: "repairAsync".into(),
                    message: format!("unexpected answer {answer}"),
                }),
            }
        })
    }

    fn repair_state<'a>(&'a self, ticket: &'a RepairTicket) -> Answer<'a, RepairState> {
        Box::pin(async move {
            let answer = self
                .call(STORAGE_SERVICE, REPAIR_STATE, vec![json!(ticket.number)])
                .await?;
            let words = strings(&answer);
            Ok(match words.first().map(String::as_str) {
                Some("COMPLETED") => RepairState::Completed,
                Some("FAILED") => RepairState::Failed(words[1..].join("; ")),
                Some(_) => RepairState::Running,
                None => RepairState::Unknown,
            })
        })
    }
}

/// Attributes of one name differ only in metrics: those go by their MBean.
fn name(mbean: &'static str, attribute: &'static str) -> &'static str {
    match attribute {
        "Value" | "Count" => mbean,
        _ => attribute,
    }
}

fn reading(found: &BTreeMap<&str, Value>) -> Reading {
    let text = |key: &str| found.get(key).and_then(Value::as_str).map(str::to_string);
    let number = |key: &str| found.get(key).and_then(Value::as_f64);
    Reading {
        mode: text("OperationMode"),
        native_transport: found.get("NativeTransportRunning").and_then(Value::as_bool),
        version: text("ReleaseVersion"),
        host_id: text("LocalHostId"),
        schema_version: text("SchemaVersion"),
        schema_agreed: schema_agreed(found),
        tokens: None,
        seeds: found
            .get("Seeds")
            .map(|v| strings(v).iter().map(|a| address(a)).collect()),
        members: members(found),
        figures: Figures {
            load: number(LOAD),
            pending_compactions: number(PENDING_COMPACTIONS),
            heap_used: found
                .get("HeapMemoryUsage")
                .and_then(|v| v.get("used"))
                .and_then(Value::as_f64),
            clients: number(CLIENTS),
        },
    }
}

/// Do all members that are up have one schema version, as gossip has it? A
/// member that has not told one yet (it is just joining) does not count.
fn schema_agreed(found: &BTreeMap<&str, Value>) -> Option<bool> {
    let live: BTreeSet<String> = strings(found.get("LiveNodesWithPort")?)
        .iter()
        .map(|a| address(a))
        .collect();
    let mut versions = BTreeSet::new();
    let mut of_live = false;
    for line in found.get("AllEndpointStatesWithPort")?.as_str()?.lines() {
        match line.strip_prefix("  ") {
            None => of_live = live.contains(&address(line.trim())),
            Some(state) if of_live => {
                let version = state
                    .strip_prefix("SCHEMA:")
                    .and_then(|s| s.split_once(':'));
                versions.extend(version.map(|(_, version)| version.trim().to_string()));
            }
            Some(_) => {}
        }
    }
    Some(versions.len() <= 1)
}

/// Every member that the server knows; absent if any of the lists is, because
/// a short list would be a lie.
fn members(found: &BTreeMap<&str, Value>) -> Option<Vec<RingMember>> {
    let list = |key: &str| -> Option<BTreeSet<String>> {
        Some(
            strings(found.get(key)?)
                .iter()
                .map(|a| address(a))
                .collect(),
        )
    };
    let live = list("LiveNodesWithPort")?;
    let down = list("UnreachableNodesWithPort")?;
    let joining = list("JoiningNodesWithPort")?;
    let leaving = list("LeavingNodesWithPort")?;
    let moving = list("MovingNodesWithPort")?;
    let host_ids: BTreeMap<String, String> = found
        .get("EndpointWithPortToHostId")?
        .as_object()?
        .iter()
        .filter_map(|(endpoint, id)| Some((address(endpoint), id.as_str()?.to_string())))
        .collect();
    let all: BTreeSet<&String> = live.iter().chain(&down).chain(host_ids.keys()).collect();
    let member = |endpoint: &String| {
        let host_id = host_ids.get(endpoint).cloned().unwrap_or_default();
        RingMember {
            liveness: if live.contains(endpoint) {
                Liveness::Up
            } else {
                Liveness::Down
            },
            state: match () {
                () if leaving.contains(endpoint) => MemberState::Leaving,
                () if moving.contains(endpoint) => MemberState::Moving,
                // An address without a host ID is not a member yet, or not any more.
                () if joining.contains(endpoint) || host_id.is_empty() => MemberState::Joining,
                () => MemberState::Normal,
            },
            host_id,
            address: endpoint.clone(),
        }
    };
    Some(all.into_iter().map(member).collect())
}

/// The longest of the lists of members that hold a range.
fn most_holders<'a>(lists: impl Iterator<Item = &'a Value>) -> u32 {
    let longest = lists
        .map(|holders| holders.as_array().map_or(0, Vec::len))
        .max();
    u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX)
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

/// The address in `10.0.0.1:7000`, `/10.0.0.1:7000`, `[::1]:7000` or a bare one.
fn address(endpoint: &str) -> String {
    let endpoint = endpoint.rsplit('/').next().unwrap_or(endpoint);
    if let Ok(socket) = endpoint.parse::<std::net::SocketAddr>() {
        return socket.ip().to_string();
    }
    endpoint.trim_matches(['[', ']']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_lose_their_ports_in_every_spelling() {
        for endpoint in [
            "10.0.0.1:7000",
            "/10.0.0.1:7000",
            "10.0.0.1",
            "host/10.0.0.1:7000",
        ] {
            assert_eq!(address(endpoint), "10.0.0.1", "{endpoint}");
        }
        assert_eq!(address("[fd00::1]:7000"), "fd00::1");
    }

    fn lists() -> BTreeMap<&'static str, Value> {
        BTreeMap::from([
            (
                "LiveNodesWithPort",
                json!(["10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.4:7000"]),
            ),
            ("UnreachableNodesWithPort", json!(["10.0.0.3:7000"])),
            ("JoiningNodesWithPort", json!([])),
            ("LeavingNodesWithPort", json!(["10.0.0.2:7000"])),
            ("MovingNodesWithPort", json!([])),
            (
                "EndpointWithPortToHostId",
                json!({"10.0.0.1:7000": "h1", "10.0.0.2:7000": "h2", "10.0.0.3:7000": "h3"}),
            ),
        ])
    }

    #[test]
    fn the_ring_is_the_union_of_all_lists() {
        let members = members(&lists()).unwrap();
        let words: Vec<String> = members
            .iter()
            .map(|m| format!("{} {} {:?} {:?}", m.address, m.host_id, m.liveness, m.state))
            .collect();
        assert_eq!(
            words,
            [
                "10.0.0.1 h1 Up Normal",
                "10.0.0.2 h2 Up Leaving",
                "10.0.0.3 h3 Down Normal",
                "10.0.0.4  Up Joining",
            ]
        );
    }

    #[test]
    fn a_missing_list_makes_the_whole_ring_unknown() {
        for key in lists().keys() {
            let mut short = lists();
            short.remove(key);
            assert_eq!(members(&short), None, "{key}");
        }
    }

    #[test]
    fn schemas_agree_as_far_as_members_are_up() {
        let states = |second: &str| {
            json!(format!(
                "/10.0.0.1:7000\n  generation:1\n  SCHEMA:17:v1\n  TOKENS:9:<hidden>\n\
                 /10.0.0.2:7000\n  generation:1\n  SCHEMA:18:{second}\n/10.0.0.3:7000\n  SCHEMA:19:v9\n\
                 /10.0.0.4:7000\n  generation:1\n"
            ))
        };
        let mut found = lists();
        assert_eq!(reading(&found).schema_agreed, None);
        found.insert("AllEndpointStatesWithPort", states("v1"));
        assert_eq!(
            reading(&found).schema_agreed,
            Some(true),
            "10.0.0.3 is down, 10.0.0.4 has told none"
        );
        found.insert("AllEndpointStatesWithPort", states("v2"));
        assert_eq!(reading(&found).schema_agreed, Some(false));
    }
}
