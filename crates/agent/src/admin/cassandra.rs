//! [`ServerAdmin`] for Apache Cassandra 4.0 to 5.0, over Jolokia.

use super::cassandra_owners::lacking;
use super::cassandra_reading::{name, reading};
use super::jobs::{Holders, Jobs};
use super::jolokia::{Client, Item, Told};
use super::json::strings;
use super::{
    Answer, ByDatacenter, DownReplicas, Error, Reading, RepairScope, RepairState, RepairTicket,
    RuntimeChange, ServerAdmin, TooFewCopies, runtime,
};
use crate::capabilities::{Capabilities, UpgradeSstables};
use crate::management::beans::*;
use crate::words::calls::{Answered, Doing};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::RepairRanges;
use palladion_api::runtime::RuntimeSettings;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// A Cassandra server.
pub struct Cassandra {
    pub(super) client: Client,
    pub(super) capabilities: Capabilities,
    /// A full member's tokens do not change while its server runs.
    tokens: OnceLock<Vec<String>>,
}

impl Cassandra {
    /// Behind this client.
    pub fn new(client: Client, capabilities: Capabilities) -> Self {
        Self { client, capabilities, tokens: OnceLock::new() }
    }

    pub(super) async fn call(
        &self,
        mbean: &'static str,
        operation: &'static str,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        self.client.exec(&Item::Exec { mbean, operation, arguments }).await
    }

    /// Of an operation that ends at once.
    async fn call_soon(
        &self,
        mbean: &'static str,
        operation: &'static str,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        self.client.exec_soon(&Item::Exec { mbean, operation, arguments }).await
    }

    async fn tokens(&self) -> Option<Vec<String>> {
        if let Some(known) = self.tokens.get() {
            return Some(known.clone());
        }
        let item = Item::Read { mbean: STORAGE_SERVICE, attribute: "Tokens" };
        // Of no weight: the next look tries again.
        let value = self.client.read(&[item]).await.ok()?.into_iter().next().flatten()?;
        Some(self.tokens.get_or_init(|| strings(&value)).clone())
    }

    /// The server streams no range again that an earlier try has streamed, whatever
    /// was written since, and nothing but this makes it forget (4.0 to 5.0). It goes
    /// to all members and is refused while one is down, so it is done only where
    /// something is noted: by a leave of ours, or by one that a person has tried.
    async fn forget_streamed_ranges(&self) -> Result<(), Error> {
        let items = STREAMED_RANGES.map(|mbean| Item::Read { mbean, attribute: "Value" });
        // What cannot be read is taken for something.
        let noted = self.client.read(&items).await.unwrap_or_default();
        let noted: Vec<_> = noted.iter().flatten().filter_map(Value::as_i64).collect();
        if noted == NOTHING_STREAMED {
            return Ok(());
        }
        let table = vec![json!("system"), json!(STREAMED)];
        self.call(STORAGE_SERVICE, TRUNCATE, table).await.map(drop)
    }

    /// Begin a repair; `None` where there is nothing to repair.
    pub(super) async fn begin(
        &self,
        keyspace: &str,
        options: Value,
    ) -> Result<Option<RepairTicket>, Error> {
        let answer =
            self.call(STORAGE_SERVICE, BEGIN_REPAIR, vec![json!(keyspace), options]).await?;
        match answer.as_i64() {
            Some(0) => Ok(None),
            Some(number) => Ok(Some(RepairTicket { keyspace: keyspace.into(), number })),
            None => Err(Error::Failed {
                operation: "repairAsync".into(),
                message: Answered::Unexpected { answer: answer.to_string() }.to_string(),
            }),
        }
    }

    /// Operations that answer 0 for success, 1 for "stopped by a person", 2 for "could not begin".
    async fn rewrite(&self, operation: &'static str, arguments: Vec<Value>) -> Result<(), Error> {
        let answer = self.call(STORAGE_SERVICE, operation, arguments).await?;
        let message = match answer.as_i64() {
            Some(0) => return Ok(()),
            Some(1) => Answered::Stopped.to_string(),
            Some(2) => Answered::CompactionsNotPaused.to_string(),
            Some(_) | None => Answered::Unexpected { answer: answer.to_string() }.to_string(),
        };
        Err(Error::Failed {
            operation: operation.split('(').next().unwrap_or(operation).into(),
            message,
        })
    }
}

/// How a server calls the streams of a rebuild (`StreamOperation.REBUILD`, 4.0 to 5.0).
const REBUILDS: &str = "Rebuild";

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a percentage, cut to its range"
)]
fn whole(percent: f64) -> u8 {
    percent.clamp(0.0, 100.0) as u8
}

/// The largest number of members of each datacenter that hold one range, and whether all ranges
/// have as many.
fn by_datacenter(
    ranges: &[Holders],
    datacenters: &BTreeMap<StaticAddress, String>,
) -> Result<(BTreeMap<String, u32>, bool), Error> {
    let mut most: BTreeMap<String, u32> = BTreeMap::new();
    let mut first: Option<BTreeMap<&String, u32>> = None;
    let mut is_even = true;
    for range in ranges {
        let mut here: BTreeMap<&String, u32> = BTreeMap::new();
        for member in &range.members {
            let datacenter = datacenters.get(member).ok_or_else(|| Error::Failed {
                operation: Doing::CountCopies.to_string(),
                message: Answered::NoDatacenter { address: member.clone() }.to_string(),
            })?;
            *here.entry(datacenter).or_default() += 1;
        }
        for (datacenter, copies) in &here {
            let known = most.entry((*datacenter).clone()).or_default();
            *known = (*copies).max(*known);
        }
        is_even &= *first.get_or_insert_with(|| here.clone()) == here;
    }
    Ok((most, is_even))
}

impl ServerAdmin for Cassandra {
    fn read(&self) -> Answer<'_, Reading> {
        Box::pin(async {
            let items: Vec<Item> =
                LOOK.iter().map(|(mbean, attribute)| Item::Read { mbean, attribute }).collect();
            let (mut found, mut absent) = (BTreeMap::new(), BTreeSet::new());
            for ((mbean, attribute), told) in LOOK.iter().zip(self.client.ask(&items).await?) {
                match told {
                    Told::Value(value) => drop(found.insert(name(mbean, attribute), value)),
                    Told::Absent => drop(absent.insert(name(mbean, attribute))),
                    Told::Nothing => {}
                }
            }
            let mut reading = reading(&found, &absent);
            if reading.is(super::NORMAL) {
                reading.tokens = self.tokens().await;
            }
            Ok(reading)
        })
    }

    fn drain(&self) -> Answer<'_, ()> {
        Box::pin(async { self.call(STORAGE_SERVICE, DRAIN, vec![]).await.map(drop) })
    }

    fn decommission(&self, copies: TooFewCopies) -> Answer<'_, ()> {
        Box::pin(async move {
            self.forget_streamed_ranges().await?;
            // Not forced: a keyspace with more replicas than remain is a refusal that people must
            // see. With the whole datacenter its caller has looked at them.
            let is_forced = copies == TooFewCopies::Allowed;
            self.call(STORAGE_SERVICE, DECOMMISSION, vec![json!(is_forced)]).await.map(drop)
        })
    }

    fn reload_seeds(&self) -> Answer<'_, ()> {
        Box::pin(async { self.call_soon(GOSSIPER, RELOAD_SEEDS, vec![]).await.map(drop) })
    }

    fn runtime(&self) -> Answer<'_, RuntimeSettings> {
        Box::pin(runtime::read(&self.client, self.capabilities))
    }

    fn change_runtime<'a>(&'a self, change: &'a RuntimeChange) -> Answer<'a, ()> {
        Box::pin(runtime::change(&self.client, self.capabilities, change))
    }

    fn keyspaces(&self) -> Answer<'_, Vec<String>> {
        Box::pin(async {
            let item =
                Item::Read { mbean: STORAGE_SERVICE, attribute: "NonLocalStrategyKeyspaces" };
            let value = self.client.read(&[item]).await?.into_iter().next().flatten();
            value.map(|v| strings(&v)).ok_or_else(|| Error::Failed {
                operation: Doing::ReadAttributes.to_string(),
                message: Answered::NotYetReported.to_string(),
            })
        })
    }

    fn copies(&self) -> Answer<'_, BTreeMap<String, u32>> {
        Box::pin(async {
            let mut copies = BTreeMap::new();
            for keyspace in self.keyspaces().await? {
                let most = self.most_holders(&keyspace).await?;
                copies.insert(keyspace, most);
            }
            Ok(copies)
        })
    }

    fn copies_by_datacenter<'a>(
        &'a self,
        datacenters: &'a BTreeMap<StaticAddress, String>,
        of: Option<&'a str>,
    ) -> Answer<'a, ByDatacenter> {
        Box::pin(async move {
            let mut counted = ByDatacenter::default();
            let keyspaces = match of {
                Some(keyspace) => vec![keyspace.to_string()],
                None => self.keyspaces().await?,
            };
            for keyspace in keyspaces {
                let ranges = self.all_ranges(&keyspace).await?;
                let (copies, is_even) = by_datacenter(&ranges, datacenters)?;
                if !is_even {
                    counted.uneven.push(keyspace.clone());
                }
                counted.copies.insert(keyspace, copies);
            }
            counted.uneven.sort();
            Ok(counted)
        })
    }

    fn rebuild<'a>(&'a self, source: &'a str, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let arguments = vec![json!(source), json!(keyspace), Value::Null, Value::Null];
            self.call(STORAGE_SERVICE, REBUILD, arguments).await.map(drop)
        })
    }

    fn rebuilding(&self) -> Answer<'_, Option<u8>> {
        Box::pin(async {
            let item = Item::Read { mbean: STREAM_MANAGER, attribute: STREAMS };
            let streams = self.client.read(&[item]).await?.into_iter().next().flatten();
            let streams = streams.ok_or_else(|| lacking(STREAMS))?;
            let all = streams.as_array().into_iter().flatten();
            let ours = all.filter(|stream| stream["description"].as_str() == Some(REBUILDS));
            let percents = ours.map(|stream| stream["rxPercentage"].as_f64().unwrap_or(0.0));
            Ok(percents.reduce(f64::min).map(whole))
        })
    }

    fn start_native_transport(&self) -> Answer<'_, ()> {
        Box::pin(async {
            self.call_soon(STORAGE_SERVICE, START_NATIVE_TRANSPORT, vec![]).await.map(drop)
        })
    }

    fn stop_native_transport(&self) -> Answer<'_, ()> {
        Box::pin(async {
            self.call_soon(STORAGE_SERVICE, STOP_NATIVE_TRANSPORT, vec![]).await.map(drop)
        })
    }

    fn cleanup<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        let arguments = vec![json!(0), json!(keyspace), json!([])];
        Box::pin(self.rewrite(CLEANUP, arguments))
    }

    fn flush<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            self.call(STORAGE_SERVICE, FLUSH, vec![json!(keyspace), json!([])]).await.map(drop)
        })
    }

    fn upgrade_sstables<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()> {
        let (operation, arguments) = match self.capabilities.upgrade_sstables {
            UpgradeSstables::ByVersion => {
                (UPGRADE, vec![json!(keyspace), json!(true), json!(0), json!([])])
            }
            UpgradeSstables::ByVersionAndAge => (
                UPGRADE_BY_AGE,
                vec![json!(keyspace), json!(true), json!(i64::MAX), json!(0), json!([])],
            ),
        };
        Box::pin(self.rewrite(operation, arguments))
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        Some(self)
    }

    fn remove_node<'a>(&'a self, host_id: &'a HostId) -> Answer<'a, ()> {
        Box::pin(async move {
            self.call(STORAGE_SERVICE, REMOVE_NODE, vec![json!(host_id)]).await.map(drop)
        })
    }

    fn begin_repair<'a>(
        &'a self,
        keyspace: &'a str,
        what: RepairScope,
    ) -> Answer<'a, Option<RepairTicket>> {
        Box::pin(async move {
            let primary = what.ranges == RepairRanges::Primary;
            let mut options = json!({"primaryRange": primary.to_string(), "incremental": "false", "parallelism": "parallel"});
            if what.down == DownReplicas::LeaveOut {
                options["forceRepair"] = json!("true");
            }
            self.begin(keyspace, options).await
        })
    }

    fn repair_state<'a>(&'a self, ticket: &'a RepairTicket) -> Answer<'a, RepairState> {
        Box::pin(async move {
            let answer =
                self.call_soon(STORAGE_SERVICE, REPAIR_STATE, vec![json!(ticket.number)]).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> StaticAddress {
        StaticAddress::new(format!("10.0.0.{number}"))
    }

    fn range(members: &[u8]) -> Holders {
        let members = members.iter().map(|number| address(*number)).collect();
        Holders { start: "0".into(), end: "1".into(), members }
    }

    /// Of SimpleStrategy the next members hold a range, wherever they are.
    #[test]
    fn copies_are_uneven_where_ranges_differ_in_a_datacenter() {
        let of = [(1, "dc1"), (2, "dc1"), (3, "dc2"), (4, "dc2")];
        let datacenters = of.map(|(number, name)| (address(number), name.to_string())).into();
        let counted = |ranges: &[Holders]| by_datacenter(ranges, &datacenters).unwrap();
        let copies = |dc1, dc2| [("dc1".to_string(), dc1), ("dc2".to_string(), dc2)].into();
        let even = [range(&[1, 3, 4]), range(&[2, 4, 3]), range(&[3, 4, 1])];
        assert_eq!(counted(&even), (copies(1, 2), true));
        let simple = [range(&[1, 2]), range(&[2, 3]), range(&[3, 4])];
        assert_eq!(counted(&simple), (copies(2, 2), false));
        assert!(by_datacenter(&[range(&[9])], &datacenters).is_err());
    }
}
