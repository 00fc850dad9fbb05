//! From the attributes of a look to a [`Reading`].

use super::json::strings;
use super::ring::{Lists, Place};
use super::{Felt, Figures, Reading, whole};
use crate::management::beans::{
    AUTO_REPAIR_DISABLED, AUTO_REPAIR_ENABLED, CLIENT_READS, CLIENT_WRITES, CLIENTS, DROPPED, LOAD,
    P99, PENDING_COMPACTIONS, STREAMED_IN, STREAMED_OUT,
};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::RingMember;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Attributes of one name differ only in metrics: those go by their MBean.
pub(super) fn name(mbean: &'static str, attribute: &'static str) -> &'static str {
    match attribute {
        "Value" | "Count" | P99 => mbean,
        _ => attribute,
    }
}

/// What was found, and what the server says that it has not got.
pub(super) fn reading(found: &BTreeMap<&str, Value>, absent: &BTreeSet<&str>) -> Reading {
    let text = |key: &str| found.get(key).and_then(Value::as_str).map(str::to_string);
    let number = |key: &str| found.get(key).and_then(Value::as_f64);
    Reading {
        mode: text("OperationMode"),
        native_transport: found.get("NativeTransportRunning").and_then(Value::as_bool),
        gossip: found.get("GossipRunning").and_then(Value::as_bool),
        version: text("ReleaseVersion"),
        host_id: text("LocalHostId").map(HostId::new),
        schema_version: text("SchemaVersion"),
        schema_agreed: schema_agreed(found),
        tokens: None,
        seeds: found.get("Seeds").map(|v| strings(v).iter().map(|a| address(a)).collect()),
        members: members(found),
        auto_repair: auto_repair(found),
        figures: Figures {
            load: number(LOAD),
            pending_compactions: number(PENDING_COMPACTIONS),
            heap_used: found
                .get("HeapMemoryUsage")
                .and_then(|v| v.get("used"))
                .and_then(Value::as_f64),
            clients: number(CLIENTS),
            dropped_writes: found.get(DROPPED).map(dropped_writes),
            write_p99: number(CLIENT_WRITES),
            felt: Felt {
                reads: felt(found, absent, CLIENT_READS),
                writes: felt(found, absent, CLIENT_WRITES),
            },
            // Not counted before the first stream.
            streamed: Some([STREAMED_IN, STREAMED_OUT].into_iter().filter_map(number).sum()),
        },
    }
}

/// Without a client nobody waits; what was not answered is not known.
fn felt(found: &BTreeMap<&str, Value>, absent: &BTreeSet<&str>, mbean: &str) -> Option<u64> {
    match found.get(mbean) {
        Some(percentile) => percentile.as_f64().map(whole),
        None => absent.contains(mbean).then_some(0),
    }
}

/// Is the scheduler enabled? The MBean has had two names for the attribute.
fn auto_repair(found: &BTreeMap<&str, Value>) -> Option<bool> {
    let says = |name: &str| found.get(name).and_then(Value::as_bool);
    says(AUTO_REPAIR_ENABLED).or_else(|| says(AUTO_REPAIR_DISABLED).map(|disabled| !disabled))
}

/// Of all kinds of messages those that carry writes: `MUTATION`, `MUTATION_REQ`.
fn dropped_writes(counts: &Value) -> f64 {
    let all = counts.as_object().into_iter().flatten();
    let writes = all.filter(|(kind, _)| kind.starts_with("MUTATION"));
    writes.filter_map(|(_, count)| count.as_f64()).sum()
}

/// Do all members that are up have one schema version, as gossip has it? A
/// member that has not told one yet (it is just joining) does not count.
fn schema_agreed(found: &BTreeMap<&str, Value>) -> Option<bool> {
    let live: BTreeSet<StaticAddress> =
        strings(found.get("LiveNodesWithPort")?).iter().map(|a| address(a)).collect();
    let mut versions = BTreeSet::new();
    let mut of_live = false;
    for line in found.get("AllEndpointStatesWithPort")?.as_str()?.lines() {
        match line.strip_prefix("  ") {
            None => of_live = live.contains(&address(line.trim())),
            Some(state) if of_live => {
                let version = state.strip_prefix("SCHEMA:").and_then(|s| s.split_once(':'));
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
    let list = |key: &str| -> Option<BTreeSet<StaticAddress>> {
        Some(strings(found.get(key)?).iter().map(|a| address(a)).collect())
    };
    let host_ids = found.get("EndpointWithPortToHostId")?.as_object()?;
    let states = found.get("AllEndpointStatesWithPort")?.as_str()?;
    let lists = Lists {
        live: list("LiveNodesWithPort")?,
        down: list("UnreachableNodesWithPort")?,
        joining: list("JoiningNodesWithPort")?,
        leaving: list("LeavingNodesWithPort")?,
        moving: list("MovingNodesWithPort")?,
        gossiped: gossiped(states),
        places: places(states),
        host_ids: host_ids
            .iter()
            .filter_map(|(e, id)| Some((address(e), HostId::new(id.as_str()?))))
            .collect(),
    };
    Some(lists.members())
}

/// Addresses of which gossip says something else than that they have left or
/// were removed.
fn gossiped(states: &str) -> BTreeSet<StaticAddress> {
    let mut gossiped = BTreeSet::new();
    let mut current = StaticAddress::default();
    for line in states.lines() {
        match line.strip_prefix("  ") {
            None => {
                current = address(line.trim());
                gossiped.insert(current.clone());
            }
            Some(state) if has_left(state) => {
                gossiped.remove(&current);
            }
            Some(_) => {}
        }
    }
    gossiped
}

/// `DC:8:dc1` and `RELEASE_VERSION:4:5.0.5`, as gossip tells them of each address.
fn places(states: &str) -> BTreeMap<StaticAddress, Place> {
    let mut places: BTreeMap<StaticAddress, Place> = BTreeMap::new();
    let mut current = StaticAddress::default();
    for line in states.lines() {
        let Some(state) = line.strip_prefix("  ") else {
            current = address(line.trim());
            continue;
        };
        let mut parts = state.splitn(3, ':');
        let (key, value) = (parts.next(), parts.nth(1).map(str::trim));
        let value = value.filter(|value| !value.is_empty()).map(str::to_string);
        match key {
            Some("DC") => places.entry(current.clone()).or_default().datacenter = value,
            Some("RELEASE_VERSION") => places.entry(current.clone()).or_default().version = value,
            Some(_) | None => {}
        }
    }
    places
}

/// `STATUS_WITH_PORT:40:LEFT,token,expiry`, as gossip tells it.
fn has_left(state: &str) -> bool {
    let mut parts = state.splitn(3, ':');
    let status = matches!(parts.next(), Some("STATUS" | "STATUS_WITH_PORT"));
    let value = parts.nth(1).unwrap_or_default();
    let word = value.split(',').next().unwrap_or_default();
    status && matches!(word, "LEFT" | "removed")
}

/// The address in `10.0.0.1:7000`, `/10.0.0.1:7000`, `[::1]:7000` or a bare one.
pub(super) fn address(endpoint: &str) -> StaticAddress {
    let endpoint = endpoint.rsplit('/').next().unwrap_or(endpoint);
    if let Ok(socket) = endpoint.parse::<std::net::SocketAddr>() {
        return StaticAddress::new(socket.ip().to_string());
    }
    StaticAddress::new(endpoint.trim_matches(['[', ']']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn endpoints_lose_their_ports_in_every_spelling() {
        for endpoint in ["10.0.0.1:7000", "/10.0.0.1:7000", "10.0.0.1", "host/10.0.0.1:7000"] {
            assert_eq!(address(endpoint).as_str(), "10.0.0.1", "{endpoint}");
        }
        assert_eq!(address("[fd00::1]:7000").as_str(), "fd00::1");
    }

    fn lists() -> BTreeMap<&'static str, Value> {
        BTreeMap::from([
            ("LiveNodesWithPort", json!(["10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.4:7000"])),
            ("UnreachableNodesWithPort", json!(["10.0.0.3:7000"])),
            ("JoiningNodesWithPort", json!([])),
            ("LeavingNodesWithPort", json!(["10.0.0.2:7000"])),
            ("MovingNodesWithPort", json!([])),
            (
                "EndpointWithPortToHostId",
                json!({"10.0.0.1:7000": "h1", "10.0.0.2:7000": "h2", "10.0.0.3:7000": "h3"}),
            ),
            ("AllEndpointStatesWithPort", json!("")),
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
    fn an_address_that_gossip_keeps_of_a_member_that_left_is_nobody() {
        let told = |state: &str, joining: &str| {
            let mut found = lists();
            found.insert("UnreachableNodesWithPort", json!(["10.0.0.3:7000", "10.0.0.9:7000"]));
            found.insert("JoiningNodesWithPort", json!([joining]));
            let states =
                format!("/10.0.0.9:7000\n  generation:1\n  {state}\n  TOKENS:9:<hidden>\n");
            found.insert("AllEndpointStatesWithPort", json!(states));
            let members = members(&found).unwrap();
            members.iter().any(|m| m.address == "10.0.0.9".into())
        };
        assert!(!told("STATUS_WITH_PORT:40:LEFT,-39726,1795515344", ""));
        assert!(!told("STATUS_WITH_PORT:40:removed,h9,1795515344", ""));
        assert!(told("STATUS_WITH_PORT:40:LEFT,-39726,1", "10.0.0.9:7000"));
        assert!(told("STATUS_WITH_PORT:40:LEAVING,-39726", ""));
        assert!(told("STATUS_WITH_PORT:40:BOOT,-39726", ""));
        assert!(told("HOST_ID:2:LEFT", ""), "that is no status");
        assert!(told("SCHEMA:2:v1", ""), "no status says nothing");
        let mut unheard = lists();
        unheard.insert("UnreachableNodesWithPort", json!(["10.0.0.9:7000"]));
        let members = members(&unheard).unwrap();
        assert!(members.iter().all(|m| m.address != "10.0.0.9".into()));
        assert!(members.iter().any(|m| m.host_id == "h3".into()), "a host ID counts");
    }

    /// As 4.0, 4.1 and 5.0 write them.
    #[test]
    fn where_a_member_is_it_says_itself_by_gossip() {
        let mut found = lists();
        let states = "/10.0.0.1:7000\n  generation:1\n  heartbeat:9\n  DC:8:dc1\n  RACK:10:a\n  \
                      RELEASE_VERSION:4:5.0.5\n  TOKENS:9:<hidden>\n/10.0.0.2:7000\n  generation:1\n  \
                      DC:8:west:1\n/10.0.0.3:7000\n  generation:0\n  heartbeat:0\n";
        found.insert("AllEndpointStatesWithPort", json!(states));
        let members = members(&found).unwrap();
        let of = |at: usize| (members[at].datacenter.as_deref(), members[at].version.as_deref());
        assert_eq!(of(0), (Some("dc1"), Some("5.0.5")));
        assert_eq!(of(1), (Some("west:1"), None));
        assert_eq!(of(2), (None, None), "it has been down since before this server was started");
        assert_eq!(of(3), (None, None), "gossip has no word of it");
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
    fn a_server_that_repairs_itself_says_so_in_either_version_of_its_mbean() {
        let told = |name: &'static str, value: bool| {
            reading(&BTreeMap::from([(name, json!(value))]), &BTreeSet::new()).auto_repair
        };
        assert_eq!(told("AutoRepairDisabled", false), Some(true));
        assert_eq!(told("AutoRepairDisabled", true), Some(false));
        assert_eq!(told("Enabled", true), Some(true));
        let nothing = reading(&BTreeMap::new(), &BTreeSet::new());
        assert_eq!(nothing.auto_repair, None, "it has no such MBean");
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
        let agreed = |found: &BTreeMap<&str, Value>| reading(found, &BTreeSet::new()).schema_agreed;
        let mut found = lists();
        found.remove("AllEndpointStatesWithPort");
        assert_eq!(agreed(&found), None);
        found.insert("AllEndpointStatesWithPort", states("v1"));
        assert_eq!(agreed(&found), Some(true), "10.0.0.3 is down, 10.0.0.4 has told none");
        found.insert("AllEndpointStatesWithPort", states("v2"));
        assert_eq!(agreed(&found), Some(false));
    }

    #[test]
    fn where_there_are_no_clients_nobody_waits_and_what_was_not_answered_is_not_known() {
        let found = BTreeMap::from([(CLIENT_WRITES, json!(1234.5))]);
        let felt = |absent: &[&'static str]| {
            reading(&found, &absent.iter().copied().collect()).figures.felt
        };
        assert_eq!(felt(&[CLIENT_READS]), Felt { reads: Some(0), writes: Some(1234) });
        assert_eq!(felt(&[]).reads, None);
        let odd = BTreeMap::from([(CLIENT_WRITES, json!("NaN"))]);
        assert_eq!(reading(&odd, &BTreeSet::from([CLIENT_WRITES])).figures.felt.writes, None);
    }
}
