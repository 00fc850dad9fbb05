//! Cassandra over Jolokia.

use super::contract;
use super::fake::{Asked, Fake};
use palladion_agent::admin::cassandra::Cassandra;
use palladion_agent::admin::jolokia::Client;
use palladion_agent::admin::{DownReplicas, Error, RepairScope, ServerAdmin, TooFewCopies};
use palladion_agent::capabilities;
use palladion_agent::management::{Credentials, ORIGIN};
use palladion_api::member::RepairRanges;
use serde_json::{Map, Value, json};

fn admin(fake: &Fake, version: &str) -> Cassandra {
    let credentials = Credentials { user: "u".into(), password: "p".into() };
    Cassandra::new(Client::new(fake.address, credentials), capabilities::of(version).unwrap())
}

/// Every item has a status of its own, and the whole answers 200.
fn answers(asked: &Asked) -> (u16, String) {
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    let answer = match body {
        Value::Array(items) => items.iter().map(item).collect(),
        single => item(&single),
    };
    (200, answer.to_string())
}

fn item(item: &Value) -> Value {
    let keyspace = item["arguments"][0].as_str().unwrap_or_default();
    let endpoints =
        |list: &[&str]| json!(list.iter().map(|a| format!("{a}:7000")).collect::<Vec<_>>());
    let ids: Map<String, Value> = contract::HOSTS
        .iter()
        .map(|(address, id)| (format!("{address}:7000"), json!(id)))
        .collect();
    let name = item["attribute"].as_str().or(item["operation"].as_str()).unwrap();
    let value = match name.split('(').next().unwrap() {
        "OperationMode" => json!("NORMAL"),
        "NativeTransportRunning" | "GossipRunning" => json!(true),
        "ReleaseVersion" => json!("5.0.5"),
        "LocalHostId" => json!("h1"),
        "SchemaVersion" => json!("s1"),
        "AllEndpointStatesWithPort" => {
            json!("/10.0.0.1:7000\n  SCHEMA:17:s1\n/10.0.0.3:7000\n  SCHEMA:9:s0\n")
        }
        "Tokens" => json!(["-1", "1"]),
        "Seeds" => json!(["/10.0.0.1:7000"]),
        "LiveNodesWithPort" => endpoints(&["10.0.0.1", "10.0.0.2"]),
        "UnreachableNodesWithPort" => endpoints(&["10.0.0.3"]),
        "LeavingNodesWithPort" => endpoints(&["10.0.0.2"]),
        "JoiningNodesWithPort" | "MovingNodesWithPort" => endpoints(&[]),
        "EndpointWithPortToHostId" => Value::Object(ids),
        "NonLocalStrategyKeyspaces" => json!(["system_auth", "shop"]),
        "Count" => json!(117_191),
        "HeapMemoryUsage" => json!({"used": 5, "max": 10}),
        "getRangeToEndpointWithPortMap" => json!({"[1, 2]": ["a", "b"], "[2, 1]": ["a"]}),
        "forceKeyspaceCleanup" | "upgradeSSTables" => json!(0),
        "drain" | "forceKeyspaceFlush" | "removeNode" | "truncate" => Value::Null,
        "repairAsync" => json!(if keyspace == "shop" { 7 } else { 0 }),
        "getParentRepairStatus" => json!(["COMPLETED", "Repair completed"]),
        "decommission" => {
            let error = "java.lang.UnsupportedOperationException : Not enough live nodes to maintain replication factor";
            return json!({"status": 500, "error_type": "java.lang.UnsupportedOperationException", "error": error});
        }
        _ => {
            return json!({"status": 404, "error_type": "javax.management.InstanceNotFoundException", "error": name});
        }
    };
    json!({"status": 200, "value": value, "timestamp": 1})
}

#[tokio::test]
async fn keeps_the_contract() {
    let fake = Fake::start(answers).await;
    let admin = admin(&fake, "5.0.5");
    contract::a_look_tells_all(&admin).await;
    assert_eq!(admin.read().await.unwrap().seeds, Some(vec!["10.0.0.1".into()]));
    contract::work_is_done_or_refused_in_the_servers_words(&admin).await;
    contract::a_repair_is_followed_by_its_number(&admin).await;
}

/// What is called, in order, with its arguments.
fn calls(fake: &Fake) -> Vec<(Value, Value)> {
    let bodies = fake.asked().into_iter();
    bodies
        .filter_map(|asked| serde_json::from_str::<Value>(&asked.body).ok())
        .filter(|item| item.is_object())
        .map(|item| (item["operation"].clone(), item["arguments"].clone()))
        .collect()
}

/// A server that has noted so many ranges as streamed, in so many files.
fn with_streamed(entries: i64, files: i64) -> impl Fn(&Asked) -> (u16, String) {
    move |asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let value = |one: &Value| match one["mbean"].as_str() {
            Some(name) if name.ends_with("v2,name=EstimatedPartitionCount") => {
                json!({"status": 200, "value": entries})
            }
            Some(name) if name.ends_with("v2,name=LiveSSTableCount") => {
                json!({"status": 200, "value": files})
            }
            Some(_) | None => item(one),
        };
        let answer = match body {
            Value::Array(items) => items.iter().map(value).collect(),
            single => value(&single),
        };
        (200, answer.to_string())
    }
}

#[tokio::test]
async fn a_leave_that_is_tried_again_streams_everything_again() {
    let forgets = (
        json!("truncate(java.lang.String,java.lang.String)"),
        json!(["system", "transferred_ranges_v2"]),
    );
    let leaves = (json!("decommission(boolean)"), json!([false]));
    // Without files the server counts from -1: one entry in memory makes 0.
    for (entries, files) in [(3, 0), (0, 1), (0, 0), (-1, 1)] {
        let fake = Fake::start(with_streamed(entries, files)).await;
        admin(&fake, "5.0.5").decommission(TooFewCopies::Refused).await.unwrap_err();
        assert_eq!(calls(&fake), [forgets.clone(), leaves.clone()]);
    }
    // It cannot be read.
    let fake = Fake::start(answers).await;
    admin(&fake, "5.0.5").decommission(TooFewCopies::Refused).await.unwrap_err();
    assert_eq!(calls(&fake), [forgets, leaves]);
}

#[tokio::test]
async fn a_first_leave_truncates_nothing() {
    let fake = Fake::start(with_streamed(-1, 0)).await;
    admin(&fake, "4.1.9").decommission(TooFewCopies::Refused).await.unwrap_err();
    assert_eq!(calls(&fake), [(json!("decommission(boolean)"), json!([false]))]);
}

#[tokio::test]
async fn a_repair_covers_what_it_should_and_leaves_out_who_is_dead_only_where_it_may() {
    let fake = Fake::start(answers).await;
    let admin = admin(&fake, "5.0.5");
    let options = || {
        let asked: Value = serde_json::from_str(&fake.last().body).unwrap();
        asked["arguments"][1].clone()
    };
    admin.begin_repair("shop", contract::PRIMARY).await.unwrap();
    let primary =
        json!({"primaryRange": "true", "incremental": "false", "parallelism": "parallel"});
    assert_eq!(options(), primary);
    let all = RepairScope { ranges: RepairRanges::All, down: DownReplicas::LeaveOut };
    admin.begin_repair("shop", all).await.unwrap();
    let all = json!({"primaryRange": "false", "incremental": "false", "parallelism": "parallel", "forceRepair": "true"});
    assert_eq!(options(), all);
}

#[tokio::test]
async fn a_look_is_one_request_once_the_tokens_are_known() {
    let fake = Fake::start(answers).await;
    let admin = admin(&fake, "5.0.5");
    admin.read().await.unwrap();
    let before = fake.asked().len();
    admin.read().await.unwrap();
    assert_eq!(fake.asked().len(), before + 1);
}

#[tokio::test]
async fn each_request_is_a_post_with_credentials_and_our_origin() {
    let fake = Fake::start(answers).await;
    admin(&fake, "5.0.5").read().await.unwrap();
    let asked = fake.last();
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/jolokia/"));
    assert_eq!(asked.headers["authorization"], "Basic dTpw");
    assert_eq!(asked.headers["origin"], ORIGIN);
}

#[tokio::test]
async fn a_part_that_is_missing_is_absent_and_the_rest_is_told() {
    let fake = Fake::start(|asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let missing =
            json!({"status": 404, "error_type": "javax.management.InstanceNotFoundException"});
        let heap = |i: &Value| {
            if i["attribute"] == "HeapMemoryUsage" { item(i) } else { missing.clone() }
        };
        (200, body.as_array().unwrap().iter().map(heap).collect::<Value>().to_string())
    })
    .await;
    let reading = admin(&fake, "5.0.5").read().await.unwrap();
    assert_eq!((reading.mode.clone(), reading.members.clone()), (None, None));
    assert_eq!(reading.figures.heap_used, Some(5.0));
}

#[tokio::test]
async fn a_refusal_of_the_whole_request_is_an_error() {
    let policy = Fake::start(|_| {
        (200, json!({"status": 403, "error": "No access from client"}).to_string())
    })
    .await;
    let error = admin(&policy, "5.0.5").read().await.unwrap_err();
    assert!(matches!(error, Error::Status { status: 403, .. }), "{error}");
    let credentials = Fake::start(|_| (401, "no".into())).await;
    let error = admin(&credentials, "5.0.5").read().await.unwrap_err();
    assert!(matches!(error, Error::Status { status: 401, .. }), "{error}");
}

#[tokio::test]
async fn upgrading_sstables_has_the_signature_of_the_version() {
    for (version, signature) in [
        ("4.0.18", "upgradeSSTables(java.lang.String,boolean,int,[Ljava.lang.String;)"),
        ("4.1.9", "upgradeSSTables(java.lang.String,boolean,long,int,[Ljava.lang.String;)"),
    ] {
        let fake = Fake::start(answers).await;
        admin(&fake, version).upgrade_sstables("shop").await.unwrap();
        let body: Value = serde_json::from_str(&fake.last().body).unwrap();
        assert_eq!(body["operation"], signature);
        let arguments = body["arguments"].as_array().unwrap().len();
        assert_eq!(arguments, signature.matches(',').count() + 1);
    }
}

#[tokio::test]
async fn a_rewrite_that_was_stopped_is_a_failure() {
    let fake = Fake::start(|_| (200, json!({"status": 200, "value": 1}).to_string())).await;
    let error = admin(&fake, "5.0.5").cleanup("shop").await.unwrap_err().to_string();
    assert!(error.contains("aborted for at least one table"), "{error}");
}
