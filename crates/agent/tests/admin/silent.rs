//! A server whose JVM takes connections and does not answer calls any more: what the
//! agent's loop waits for ends all the same.

use axum::Router;
use axum::routing::post;
use palladion_agent::admin::cassandra::Cassandra;
use palladion_agent::admin::jobs::Jobs;
use palladion_agent::admin::jolokia::Client;
use palladion_agent::admin::{Error, RepairTicket, RuntimeChange, ServerAdmin};
use palladion_agent::capabilities;
use palladion_agent::management::Credentials;
use serde_json::json;
use std::time::Duration;

/// A server that answers reads, and nothing else.
async fn silent() -> Cassandra {
    let answer = |body: String| async move {
        if !body.starts_with('[') {
            std::future::pending::<()>().await;
        }
        json!([{"status": 200, "value": ["shop"]}]).to_string()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let credentials = Credentials { user: "u".into(), password: "p".into() };
    Cassandra::new(Client::new(address, credentials), capabilities::of("5.0.5").unwrap())
}

/// Nobody waits for longer.
const LONG: Duration = Duration::from_secs(40);

async fn ends<T>(call: impl Future<Output = Result<T, Error>>) -> bool {
    matches!(tokio::time::timeout(LONG, call).await, Ok(Err(Error::Http { .. })))
}

#[tokio::test]
async fn what_the_loop_calls_ends_without_an_answer() {
    let admin = silent().await;
    let limits = RuntimeChange { compaction_throughput: Some(8), ..RuntimeChange::default() };
    let levels = RuntimeChange { log_levels: vec![("a".into(), None)], ..RuntimeChange::default() };
    let ticket = RepairTicket { keyspace: "shop".into(), number: 1 };
    let ended = tokio::join!(
        ends(admin.reload_seeds()),
        ends(admin.change_runtime(&limits)),
        ends(admin.change_runtime(&levels)),
        ends(admin.copies()),
        ends(admin.ranges("shop")),
        ends(admin.repair_state(&ticket)),
    );
    assert_eq!(ended, (true, true, true, true, true, true));
}
