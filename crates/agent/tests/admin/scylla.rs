//! Scylla over its REST API, by the paths, parameters and answers of its API
//! description.

use super::contract;
use super::fake::{Asked, Fake};
use palladion_agent::admin::scylla::Scylla;
use palladion_agent::admin::{Error, ServerAdmin};
use serde_json::{Value, json};

fn answers(asked: &Asked) -> (u16, String) {
    let pairs: Vec<Value> =
        contract::HOSTS.iter().map(|(a, id)| json!({"key": a, "value": id})).collect();
    let value = match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/storage_service/operation_mode") => json!("NORMAL"),
        ("GET", "/storage_service/native_transport" | "/storage_service/gossiping") => json!(true),
        ("GET", "/storage_service/hostid/local") => json!("h1"),
        ("GET", "/storage_service/schema_version") => json!("s1"),
        ("GET", "/storage_service/scylla_release_version") => json!("6.2.0"),
        ("GET", "/storage_proxy/schema_versions") => {
            json!([{"key": "s1", "value": ["10.0.0.1"]}, {"key": "UNREACHABLE", "value": ["10.0.0.3"]}])
        }
        ("GET", "/storage_service/tokens") => json!(["-1", "1"]),
        ("GET", "/storage_service/load") => json!(117_191),
        ("GET", "/gossiper/endpoint/live") => json!(["10.0.0.1", "10.0.0.2"]),
        ("GET", "/gossiper/endpoint/down") => json!(["10.0.0.3"]),
        ("GET", "/storage_service/nodes/leaving") => json!(["10.0.0.2"]),
        ("GET", "/storage_service/nodes/joining" | "/storage_service/nodes/moving") => json!([]),
        ("GET", "/storage_service/host_id") => json!(pairs),
        ("GET", "/storage_service/keyspaces?type=non_local_strategy") => {
            json!(["system_auth", "shop"])
        }
        ("GET", path) if path.starts_with("/storage_service/range_to_endpoint_map/") => {
            json!([{"key": ["1", "2"], "value": ["10.0.0.1", "10.0.0.2"]}, {"key": ["2", "1"], "value": ["10.0.0.1"]}])
        }
        ("POST", "/storage_service/drain" | "/storage_service/remove_node?host_id=h3") => {
            Value::Null
        }
        (
            "POST",
            "/storage_service/keyspace_flush/shop" | "/storage_service/keyspace_cleanup/shop",
        ) => json!(0),
        ("GET", "/storage_service/keyspace_upgrade_sstables/shop?exclude_current_version=true") => {
            json!(0)
        }
        ("POST", "/storage_service/repair_async/shop?primaryRange=true") => json!(7),
        ("POST", "/storage_service/repair_async/system_auth?primaryRange=true") => json!(0),
        ("GET", "/storage_service/repair_async/shop?id=7") => json!("SUCCESSFUL"),
        ("POST", "/storage_service/decommission") => {
            return (
                500,
                json!({"message": "Not enough live nodes to maintain RF", "code": 500}).to_string(),
            );
        }
        _ => {
            return (404, json!({"message": "Not found", "code": 404}).to_string());
        }
    };
    (200, value.to_string())
}

#[tokio::test]
async fn keeps_the_contract() {
    let fake = Fake::start(answers).await;
    let admin = Scylla::new(fake.address);
    contract::a_look_tells_all(&admin).await;
    contract::work_is_done_or_refused_in_the_servers_words(&admin).await;
    contract::a_repair_is_followed_by_its_number(&admin).await;
}

#[tokio::test]
async fn its_bootstrap_is_a_join() {
    let fake = Fake::start(|asked| match asked.path.as_str() {
        "/storage_service/operation_mode" => (200, json!("BOOTSTRAP").to_string()),
        _ => (404, "{}".into()),
    })
    .await;
    let reading = Scylla::new(fake.address).read().await.unwrap();
    assert_eq!(reading.mode.as_deref(), Some("JOINING"));
    assert_eq!(reading.members, None, "a ring that was not told as a whole is not told");
}

#[tokio::test]
async fn seeds_are_read_at_the_first_start_only() {
    let fake = Fake::start(answers).await;
    let error = Scylla::new(fake.address).reload_seeds().await.unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)));
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert!(matches!(Scylla::new(address).read().await.unwrap_err(), Error::Http { .. }));
}
