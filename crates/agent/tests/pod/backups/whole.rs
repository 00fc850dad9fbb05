//! What is ordered is done, or refused with a reason.

use super::super::cases::Case;
use super::super::fake_backup::OTHER;
use super::super::fake_cql::SCHEMA;
use super::super::fake_server::ELSEWHERE;
use super::super::processes::signal;
use super::*;

pub const ALL: &[Case] = &[
    ("a_backup_is_complete_and_its_snapshot_gone", a_backup_is_complete),
    ("an_order_that_is_not_for_us_is_refused", an_order_that_is_not_for_us),
    ("a_ring_that_has_changed_is_not_finished", a_ring_that_has_changed),
    ("a_member_is_left_out_where_the_others_have_a_majority", a_member_is_left_out),
];

fn a_backup_is_complete() {
    let pod = a_pod();
    assert!(pod.api.status("m-0")["repositoryID"].is_null());
    let upload = until_upload(&pod);
    let status = pod.api.status("m-0");
    assert_eq!(status["repositoryID"], "repository-1");
    let described = &status["transfer"];
    assert_eq!(described["before"], described["after"]);
    assert_eq!(described["before"]["schemaVersion"], "s1");
    let schema = pod.path("store").join(described["schema"]["object"].as_str().unwrap());
    let text = fs::read_to_string(schema).unwrap();
    assert!(SCHEMA.iter().all(|statement| text.contains(statement)), "both pages: {text}");
    let options = json!([TAG, {"ttl": "3600s"}, ["system_auth", "shop"]]);
    assert!(pod.told().contains(&format!("snapshot {options}")), "{:?}", pod.told());
    let sent = done(&pod, "upload-1", upload)["uploaded"].clone();
    assert_eq!(sent["files"], 5 * SSTABLES);
    assert_eq!(sent["reusedBytes"], 0);
    assert!(sent["sentBytes"].as_u64().unwrap() >= (SSTABLES * DATA_BYTES) as u64, "{sent}");
    assert!(!folder(&pod, TAG).exists(), "nothing is left of the snapshot");
    let finished = done(&pod, "finish-1", finish_of(&pod, &sent));
    let looked = done(&pod, "verify-1", json!({"verify": {"readAll": true}}));
    assert_eq!(looked["manifestHash"], finished["manifestHash"]);
    assert_eq!(looked["manifestHash"].as_str().unwrap().len(), 64);
    assert!(looked["damaged"].is_null());
    assert!(verified(&pod, "b1").unwrap() > SSTABLES as u64);
    // What an object of the store has lost is told by who looks.
    let lost = files(&pod.path("store/sstables")).pop().unwrap();
    fs::remove_file(&lost).unwrap();
    let looked = done(&pod, "verify-2", json!({"verify": {"readAll": false}}));
    assert_eq!(looked["damaged"][0]["tables"], json!(["shop.users"]));
    // The next backup takes its place.
    let journals = || files(&pod.path("data/.palladion/transfers"));
    assert!(journals().iter().any(|path| path.ends_with("upload-1.journal")));
    let next = json!({"backup": "b2", "snapshot": {"tag": "palladion-b2-1", "ttlSeconds": 60}});
    done(&pod, "snapshot-2", next);
    assert!(journals().is_empty(), "{:?}", journals());
}

fn an_order_that_is_not_for_us() {
    let pod = a_pod();
    let refused = |id: &str, work: Value| {
        order(&pod, id, work);
        let status = ended(&pod, id);
        assert_eq!(status["state"], "Refused", "{status:#}");
        (status["cause"].clone(), status["message"].as_str().unwrap().to_string())
    };
    let other = refused("t1", json!({"prepare": {}, "volumeID": "another"}));
    assert!(other.0 == "NotForUs" && other.1.contains("another"), "{other:?}");
    let host = "5f3c2b1a-0000-4000-8000-ffffffffffff";
    let other = refused("t2", json!({"prepare": {}, "hostID": host}));
    assert!(other.0 == "NotForUs" && other.1.contains(host), "{other:?}");
    let word = json!({"at": "s3://bucket/prefix", "checksum": "Crc128"});
    let unknown = refused("t3", json!({"prepare": {}, "store": word}));
    assert!(unknown.0 == "NotSupported" && unknown.1.contains("Crc128"), "{unknown:?}");
    pod.api.change_spec("m-0", json!({ "transfer": null }));
    assert_eq!(refused("t4", json!({"levitate": {}})).0, "NotSupported");
    assert!(!pod.path("data/.palladion/transfer.json").exists(), "nothing was begun");
    assert!(!pod.path("store/repository.json").exists());
    done(&pod, "t5", json!({"prepare": {}, "epoch": 3}));
    let stale = refused("t6", json!({"prepare": {}, "epoch": 2}));
    assert!(stale.0 == "NotForUs" && stale.1.contains("epoch 2"), "{stale:?}");
    let foreign = json!({"id": "repository-2", "sealed": false});
    let foreign = refused("t7", json!({"prepare": {}, "epoch": 3, "repository": foreign}));
    assert!(foreign.0 == "RepositoryForeign" && foreign.1.contains("repository-2"), "{foreign:?}");
    // Nor where the note cannot be read, and it is read when it can be.
    fs::write(pod.path("data/.palladion/transfer.json"), "{").unwrap();
    signal(pod.agent().unwrap(), "KILL");
    let unread = refused("t8", json!({"prepare": {}, "epoch": 3}));
    assert!(unread.1.contains("transfer.json"), "{unread:?}");
    fs::remove_file(pod.path("data/.palladion/transfer.json")).unwrap();
    pod.wait_for("its end", |s| s["transfer"]["state"] == "Done");
}

fn a_ring_that_has_changed() {
    let pod = a_pod();
    let upload = until_upload(&pod);
    let first = pod.api.status("m-0")["transfer"]["before"].clone();
    let sent = done(&pod, "upload-1", upload)["uploaded"].clone();
    let other = "5f3c2b1a-0000-4000-8000-ffffffffffff";
    fs::write(pod.path("tmp").join(OTHER), other).unwrap();
    order(&pod, "finish-1", finish_of(&pod, &sent));
    let status = ended(&pod, "finish-1");
    assert_eq!((&status["state"], &status["cause"]), (&json!("Failed"), &json!("RingChanged")));
    assert!(status["message"].as_str().unwrap().contains(other), "{status}");
    assert!(verified(&pod, "b1").is_err());
    let again = json!({"backup": "b2", "snapshot": {"tag": "palladion-b2-1", "ttlSeconds": 60}});
    let second = done(&pod, "snapshot-2", again);
    assert_ne!(second["before"]["tokensHash"], first["tokensHash"]);
}

fn a_member_is_left_out() {
    let pod = a_pod();
    let other = "5f3c2b1a-0000-4000-8000-ffffffffffff";
    fs::write(pod.path("tmp").join(OTHER), other).unwrap();
    done(&pod, "prepare-1", json!({"prepare": {}}));
    done(&pod, "snapshot-1", snapshot());
    let quorum = json!({"leftOut": [{"hostID": other, "rack": "b"}]});
    let own = pod.api.status("m-0")["hostID"].clone();
    let describe = json!({"describe": {"quorum": quorum, "members": [own]}});
    // Where both have a copy of everything, one is no majority.
    fs::write(pod.path("tmp").join(ELSEWHERE), "").unwrap();
    order(&pod, "describe-1", describe.clone());
    let short = ended(&pod, "describe-1");
    assert_eq!((&short["state"], &short["cause"]), (&json!("Failed"), &json!("BackupFailed")));
    assert!(short["message"].as_str().unwrap().contains("keyspace"), "{short}");
    fs::remove_file(pod.path("tmp").join(ELSEWHERE)).unwrap();
    let described = done(&pod, "describe-2", describe);
    let schema = described["schema"].clone();
    let upload = json!({"upload": {"tag": TAG, "schema": schema}});
    let sent = done(&pod, "upload-1", upload)["uploaded"].clone();
    let mut finish = finish_of(&pod, &sent);
    finish["finish"]["quorum"] = quorum;
    let mut other_tokens = finish.clone();
    other_tokens["finish"]["quorum"]["tokensHash"] = json!("ab".repeat(32));
    order(&pod, "finish-0", other_tokens);
    let changed = ended(&pod, "finish-0");
    assert_eq!((&changed["state"], &changed["cause"]), (&json!("Failed"), &json!("RingChanged")));
    finish["finish"]["quorum"]["tokensHash"] = described["tokensHash"].clone();
    assert!(described["tokensHash"].is_string(), "{described}");
    done(&pod, "finish-1", finish);
    verified(&pod, "b1").unwrap();
    let outcome = fs::read_to_string(pod.path("store/backups/b1/outcome.json")).unwrap();
    assert!(outcome.contains(&format!("\"leftOut\":[{{\"hostID\":\"{other}\"")), "{outcome}");
}
