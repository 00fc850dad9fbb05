//! What jobs of tasks say to Cassandra, and what its answers mean.

use super::fake::Fake;
use palladion_agent::admin::cassandra::Cassandra;
use palladion_agent::admin::jobs::{Compaction, Jobs, Rewrite, Rewritten};
use palladion_agent::admin::jobs::{Holders, Segment};
use palladion_agent::admin::jolokia::Client;
use palladion_agent::admin::{Error, RepairTicket};
use palladion_agent::capabilities;
use palladion_agent::management::Credentials;
use palladion_agent::management::beans::CALLS;
use palladion_agent::ranges::Range;
use palladion_api::task::{
    BeforeScrub, BeforeSnapshot, CleanupTask, CompactOutput, CompactTask, Corrupted,
    GarbageCollectTask, Granularity, OverflowedTtl, ScrubTask, ScrubValues, SnapshotTask,
    UpgradeSstablesTask, WhichSstables,
};
use serde_json::{Value, json};

fn admin(fake: &Fake, version: &str) -> Cassandra {
    let credentials = Credentials { user: "u".into(), password: "p".into() };
    Cassandra::new(Client::new(fake.address, credentials), capabilities::of(version).unwrap())
}

async fn answering(answer: Value) -> Fake {
    Fake::start(move |_| (200, answer.to_string())).await
}

/// Operation and arguments of the last call, which the policy must allow and whose
/// signature they must fit.
fn called(fake: &Fake) -> (String, Value) {
    let body: Value = serde_json::from_str(&fake.last().body).unwrap();
    let operation = body["operation"].as_str().unwrap().to_string();
    let bean = body["mbean"].as_str().unwrap();
    assert!(CALLS.contains(&(bean, &operation)), "{bean} {operation}");
    let types: Vec<&str> =
        operation.split(['(', ')', ',']).skip(1).filter(|t| !t.is_empty()).collect();
    let arguments = body["arguments"].as_array().unwrap();
    assert_eq!(arguments.len(), types.len(), "{operation}");
    for (kind, argument) in types.iter().zip(arguments) {
        let fits = match *kind {
            "int" | "long" => argument.is_i64(),
            "boolean" => argument.is_boolean(),
            "java.lang.String" => argument.is_string(),
            "java.util.Map" => argument.is_object(),
            "[Ljava.lang.String;" => argument.is_array(),
            other => panic!("{other}"),
        };
        assert!(fits, "{operation}: {argument} as {kind}");
    }
    (operation.split('(').next().unwrap().to_string(), body["arguments"].clone())
}

#[tokio::test]
async fn each_rewrite_has_the_call_of_its_version() {
    let fake = answering(json!({"status": 200, "value": 0})).await;
    let cleanup = CleanupTask { jobs: 2, ..Default::default() };
    let split = CompactTask { output: CompactOutput::Split, ..Default::default() };
    let cells =
        GarbageCollectTask { granularity: Granularity::Cell, jobs: 1, ..Default::default() };
    let plain = ScrubTask { jobs: 1, ..Default::default() };
    let reckless = ScrubTask {
        snapshot: BeforeScrub::Skip,
        corrupted: Corrupted::Skip,
        values: ScrubValues::Trust,
        overflowed_ttl: OverflowedTtl::Reinsert,
        ..Default::default()
    };
    let all = UpgradeSstablesTask { which: WhichSstables::All, jobs: 1, ..Default::default() };
    for (what, operation, arguments) in [
        (Rewrite::Cleanup(&cleanup), "forceKeyspaceCleanup", json!([2, "shop", ["orders"]])),
        (Rewrite::Compact(&split), "forceKeyspaceCompaction", json!([true, "shop", ["orders"]])),
        (Rewrite::GarbageCollect(&cells), "garbageCollect", json!(["CELL", 1, "shop", ["orders"]])),
        (
            Rewrite::Scrub(&plain),
            "scrub",
            json!([false, false, true, false, 1, "shop", ["orders"]]),
        ),
        (
            Rewrite::Scrub(&reckless),
            "scrub",
            json!([true, true, false, true, 0, "shop", ["orders"]]),
        ),
        (
            Rewrite::UpgradeSstables(&all),
            "upgradeSSTables",
            json!(["shop", false, i64::MAX, 1, ["orders"]]),
        ),
    ] {
        let answer = admin(&fake, "5.0.5").rewrite(what, "shop", "orders").await.unwrap();
        assert_eq!(answer, Rewritten::Done);
        assert_eq!(called(&fake), (operation.to_string(), arguments));
    }
    let older = Rewrite::UpgradeSstables(&all);
    admin(&fake, "4.0.18").rewrite(older, "shop", "orders").await.unwrap();
    assert_eq!(called(&fake).1, json!(["shop", false, 1, ["orders"]]));
}

/// Seen of 4.1.9 and 5.0.5: a call that was stopped ends with an error of status
/// 500, one that finds its table taken with the code 2, a compaction with nothing.
#[tokio::test]
async fn what_an_answer_means() {
    let interrupted = "java.lang.RuntimeException : java.util.concurrent.ExecutionException: org.apache.cassandra.db.compaction.CompactionInterruptedException: Compaction interrupted: Cleanup(1)";
    for (answer, expected) in [
        (json!({"status": 200, "value": 0}), Rewritten::Done),
        (json!({"status": 200, "value": null}), Rewritten::Done),
        (json!({"status": 200, "value": 1}), Rewritten::Stopped),
        (json!({"status": 200, "value": 2}), Rewritten::Busy),
        (json!({"status": 500, "error": interrupted}), Rewritten::Stopped),
    ] {
        let fake = answering(answer.clone()).await;
        let what = CleanupTask::default();
        let admin = admin(&fake, "4.1.9");
        let how = admin.rewrite(Rewrite::Cleanup(&what), "shop", "orders").await.unwrap();
        assert_eq!(how, expected, "{answer}");
    }
    let fake = answering(json!({"status": 500, "error": "Unknown keyspace nope"})).await;
    let what = CleanupTask::default();
    let admin = admin(&fake, "4.1.9");
    let error = admin.rewrite(Rewrite::Cleanup(&what), "nope", "t").await.unwrap_err();
    assert!(error.to_string().contains("Unknown keyspace nope"), "{error}");
}

#[tokio::test]
async fn tables_and_compactions_are_read() {
    let table = |keyspace: &str, table: &str| {
        format!(
            "org.apache.cassandra.metrics:keyspace={keyspace},name=LiveDiskSpaceUsed,scope={table},type=Table"
        )
    };
    let found = json!({
        table("shop", "orders"): {"Count": 18_894_052}, table("shop", "items"): {"Count": 0},
        table("system", "local"): {"Count": 7},
    });
    let fake = answering(json!([{"status": 200, "value": found}])).await;
    let tables = admin(&fake, "5.0.5").tables().await.unwrap();
    assert_eq!(tables["shop"], [("items".into(), 0), ("orders".into(), 18_894_052)].into());
    assert_eq!(tables["system"]["local"], 7);
    let entry = json!({
        "id": "5a1c", "keyspace": "shop", "columnfamily": "orders", "completed": "524288",
        "total": "18894052", "taskType": "Major compaction", "unit": "bytes",
        "compactionId": "c-1", "sstables": "a,b", "targetDirectory": "/data",
    });
    let fake = answering(json!([{"status": 200, "value": [entry]}])).await;
    let compactions = admin(&fake, "5.0.5").compactions().await.unwrap();
    let expected = Compaction {
        id: "c-1".into(),
        keyspace: "shop".into(),
        table: "orders".into(),
        name: "Major compaction".into(),
        done: 524_288,
        total: 18_894_052,
        unit: "bytes".into(),
    };
    assert_eq!(compactions, [expected]);
    // What could not be read is not an empty list.
    let fake = answering(json!([{"status": 403, "error": "forbidden"}])).await;
    admin(&fake, "5.0.5").compactions().await.unwrap_err();
    admin(&fake, "5.0.5").tables().await.unwrap_err();
}

#[tokio::test]
async fn snapshots_have_the_options_of_the_version() {
    let fake = answering(json!({"status": 200, "value": null})).await;
    let (five, four) = (admin(&fake, "5.0.5"), admin(&fake, "4.0.18"));
    let plain = SnapshotTask { name: "s".into(), ..Default::default() };
    four.take_snapshot(&plain, &["shop".into()]).await.unwrap();
    assert_eq!(called(&fake).1, json!(["s", {}, ["shop"]]));
    let short = SnapshotTask {
        name: "s".into(),
        flush: BeforeSnapshot::Skip,
        ttl_seconds: Some(60),
        ..Default::default()
    };
    five.take_snapshot(&short, &["shop.orders".into()]).await.unwrap();
    let options = json!({"skipFlush": "true", "ttl": "60s"});
    assert_eq!(called(&fake).1, json!(["s", options, ["shop.orders"]]));
    let before = fake.asked().len();
    let refused = four.take_snapshot(&short, &["shop".into()]).await.unwrap_err();
    assert!(matches!(refused, Error::Unsupported(_)), "{refused}");
    assert_eq!(fake.asked().len(), before, "nothing was called");
    five.clear_snapshot("s", &["shop".into()]).await.unwrap();
    assert_eq!(called(&fake), ("clearSnapshot".into(), json!(["s", ["shop"]])));
}

#[tokio::test]
async fn flushes_repairs_and_stops_name_what_they_are_for() {
    let fake = answering(json!({"status": 200, "value": 7})).await;
    let admin = admin(&fake, "4.1.9");
    admin.flush_tables("shop", &["orders".into()]).await.unwrap();
    assert_eq!(called(&fake).1, json!(["shop", ["orders"]]));
    let tables = ["orders".to_string(), "items".to_string()];
    let ticket = admin.repair_tables("shop", &tables).await.unwrap();
    assert_eq!(ticket, Some(RepairTicket { keyspace: "shop".into(), number: 7 }));
    assert_eq!(called(&fake).1[1]["columnFamilies"], "orders,items");
    admin.repair_tables("shop", &[]).await.unwrap();
    assert_eq!(called(&fake).1[1]["columnFamilies"], Value::Null);
    assert_eq!(called(&fake).1[1]["primaryRange"], "true");
    admin.stop_compaction("c-1").await.unwrap();
    assert_eq!(called(&fake), ("stopCompactionById".into(), json!(["c-1"])));
    admin.end_repairs().await.unwrap();
    assert_eq!(called(&fake), ("forceTerminateAllRepairSessions".into(), json!([])));
}

#[tokio::test]
async fn a_load_names_its_folder_and_what_was_sent_before_the_first_stream_is_nothing() {
    let fake = answering(json!({"status": 200, "value": null})).await;
    let folder = std::path::Path::new("/v/.palladion/restore/load-1/shop/orders");
    admin(&fake, "4.0.20").load(folder).await.unwrap();
    assert_eq!(called(&fake), ("bulkLoad".into(), json!([folder])));
    admin(&fake, "4.0.20").take_new("shop", "orders").await.unwrap();
    assert_eq!(called(&fake), ("loadNewSSTables".into(), json!(["shop", "orders"])));
    let absent = json!({"status": 404, "error": "javax.management.InstanceNotFoundException"});
    assert_eq!(admin(&answering(absent).await, "5.0.5").streamed().await.unwrap(), 0);
    let sent = answering(json!({"status": 200, "value": 1234})).await;
    assert_eq!(admin(&sent, "5.0.5").streamed().await.unwrap(), 1234);
    // What is not known is not nothing: all that was ever sent would be evidence then.
    for odd in
        [json!({"status": 500, "error": "java.lang.Error"}), json!({"status": 200, "value": "x"})]
    {
        admin(&answering(odd).await, "5.0.5").streamed().await.unwrap_err();
    }
    let error = "java.lang.RuntimeException : Streaming to the following hosts failed: [10.0.0.2]";
    let failed = answering(json!({"status": 500, "error": error})).await;
    let refused = admin(&failed, "5.0.5").load(folder).await.unwrap_err();
    assert!(matches!(&refused, Error::Failed { message, .. } if message == error), "{refused}");
}

#[tokio::test]
async fn a_segment_names_its_ranges_and_tables_and_never_the_primary_ranges() {
    let fake = answering(json!({"status": 200, "value": 8})).await;
    let segment = Segment {
        keyspace: "shop".into(),
        tables: vec!["orders".into(), "items".into()],
        ranges: vec![Range { start: -5, end: 7 }, Range { start: i64::MIN, end: -9 }],
    };
    let ticket = admin(&fake, "5.0.5").repair_segment(&segment).await.unwrap();
    assert_eq!(ticket, Some(RepairTicket { keyspace: "shop".into(), number: 8 }));
    let (operation, arguments) = called(&fake);
    assert_eq!(operation, "repairAsync");
    let options = json!({
        "ranges": "-5:7,-9223372036854775808:-9",
        "columnFamilies": "orders,items",
        "primaryRange": "false",
        "incremental": "false",
        "parallelism": "parallel",
    });
    assert_eq!(arguments, json!(["shop", options]));
}

#[tokio::test]
async fn ranges_come_with_their_holders_in_the_order_of_the_copies() {
    let ranges = json!({"[-3, 12]": ["10.0.0.2:7000", "10.0.0.1:7000"]});
    let fake = answering(json!({"status": 200, "value": ranges})).await;
    let found = admin(&fake, "4.1.9").ranges("shop").await.unwrap();
    let members = vec!["10.0.0.2".into(), "10.0.0.1".into()];
    assert_eq!(found, [Holders { start: "-3".into(), end: "12".into(), members }]);
}

/// Taken for none, they would be forgotten, and nothing of the keyspace would be due.
#[tokio::test]
async fn an_answer_that_lists_no_ranges_is_none() {
    for odd in [Value::Null, json!([]), json!("no"), json!({"[-3, 12]": "10.0.0.2"})] {
        let fake = answering(json!({"status": 200, "value": odd})).await;
        let refused = admin(&fake, "5.0.5").ranges("shop").await.unwrap_err();
        let expected = "getRangeToEndpointWithPortMap failed: unexpected response: ";
        assert!(refused.to_string().starts_with(expected), "{odd}: {refused}");
    }
    let fake = answering(json!({"status": 500, "error": "no such keyspace"})).await;
    let refused = admin(&fake, "5.0.5").ranges("shop").await.unwrap_err();
    let said = "getRangeToEndpointWithPortMap failed: no such keyspace";
    assert_eq!(refused.to_string(), said);
    let fake = Fake::start(|_| (200, "{\"status\": 200, \"value\": {".into())).await;
    let refused = admin(&fake, "5.0.5").ranges("shop").await.unwrap_err();
    assert!(refused.to_string().contains("unexpected response"), "{refused}");
}
