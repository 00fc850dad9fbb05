//! What is made of an order: tables of orders.

use super::*;
use crate::orders::OfRing;
use crate::orders::restore::Which;
use crate::words::stopped::Cause;
use palladion_api::backup::{TokensWork, Transfer, TransferTask};
use serde_json::json;

const HOST: &str = "5f3c2b1a-0000-4000-8000-000000000001";
const OTHER: &str = "5f3c2b1a-0000-4000-8000-000000000002";

fn order(work: Value) -> Transfer {
    let mut order = json!({
        "id": "uid-1-work", "epoch": 3, "hostID": HOST, "volumeID": "v1", "backup": "b1",
        "repository": {"id": "r1", "sealed": false},
        "store": {"at": "s3://bucket/prefix", "checksum": "Sha256", "transport": "Plain"},
        "credentialsSecretName": "demo-backup",
    });
    for (key, value) in work.as_object().unwrap() {
        order[key] = value.clone();
    }
    serde_json::from_value(order).unwrap()
}

fn sha() -> String {
    "ab".repeat(32)
}

fn every_work() -> [Value; 9] {
    let schema = json!({"object": "schema/a.cql", "sha256": sha(), "bytes": 9});
    let sent = json!([{"hostID": HOST, "checkpoint": 2, "sha256": sha()}]);
    let (from, to) = ("2026-11-28T00:00:00Z", "2026-11-28T00:01:00Z");
    [
        json!({"prepare": {}}),
        json!({"snapshot": {"tag": "palladion-b1-1", "ttlSeconds": 3600}}),
        json!({"describe": {}}),
        json!({"upload": {"tag": "palladion-b1-1", "schema": schema}}),
        json!({"finish": {"from": from, "to": to, "members": sent, "readAll": false}}),
        json!({"verify": {"readAll": true}}),
        json!({"discard": {"tags": ["palladion-b1-1"], "uploads": ["u"], "writeOutcome": true}}),
        json!({"expire": {"backups": ["b1", "b2"], "keep": 2}}),
        json!({"sweep": {"backups": ["b1"]}}),
    ]
}

fn own() -> Own {
    Own {
        parent: 7,
        ring: "ring".into(),
        datacenter: "dc1".into(),
        rack: "a".into(),
        version: "5.0.5".into(),
        credentials_secret: Some("demo-backup".into()),
        volume: "/v".into(),
        data: vec!["/v/data".into()],
        tables: Some("f".into()),
        keyspaces: Some(["shop".to_string()].into()),
        state: "/v/.palladion/transfers".into(),
    }
}

fn said(order: &Transfer) -> Said {
    match order.work.task().unwrap() {
        TransferTask::Describe(_) => Said::Schema("/v/schema".into()),
        TransferTask::Upload(_) => Said::Tokens(vec!["1".into()]),
        TransferTask::Finish(_) => Said::Ring(Ring {
            members: [(HOST.into(), vec!["1".into(), "2".into()])].into(),
            ..Ring::default()
        }),
        TransferTask::Prepare(_)
        | TransferTask::Snapshot(_)
        | TransferTask::Verify(_)
        | TransferTask::Discard(_)
        | TransferTask::Catalog(_)
        | TransferTask::Schema(_)
        | TransferTask::Load(_)
        | TransferTask::Settle(_)
        | TransferTask::Tokens(_)
        | TransferTask::Replay(_)
        | TransferTask::Open(_)
        | TransferTask::Expire(_)
        | TransferTask::Sweep(_) => Said::Nothing,
    }
}

#[test]
fn each_work_is_told_to_the_child_as_it_reads_it_but_the_snapshot() {
    for work in every_work() {
        let order = order(work.clone());
        fit(&order).unwrap();
        let settings = settings(&order, &own(), said(&order));
        if work.get("snapshot").is_some() {
            assert!(settings.is_err(), "the agent takes it");
            continue;
        }
        let line = serde_json::to_string(&settings.unwrap()).unwrap();
        let read: Settings = serde_json::from_str(&line).unwrap();
        assert_eq!((read.id.as_str(), read.parent), ("uid-1-work", Some(7)));
        assert_eq!(read.credentials, Some(BACKUP_CREDENTIALS.into()), "for a store of objects");
        assert_eq!((read.keys, read.repository.ring.as_str()), (None, "ring"));
    }
}

#[test]
fn a_directory_takes_no_credentials_and_a_sealed_repository_has_keys() {
    let mut order = order(json!({"prepare": {}}));
    order.store = TransferPlace { at: "/backups".into(), ..TransferPlace::default() };
    order.repository.sealed = true;
    let settings = settings(&order, &own(), Said::Nothing).unwrap();
    assert_eq!((settings.credentials, settings.keys), (None, Some(BACKUP_KEYS.into())));
}

#[test]
fn what_is_not_known_is_named_and_refused() {
    let checksum = |order: &mut Transfer| order.store.checksum = Some("Crc128".into());
    let transport = |order: &mut Transfer| order.store.transport = Some("Pigeon".into());
    let store = |order: &mut Transfer| order.store.at = "ftp://bucket".into();
    let backup = |order: &mut Transfer| order.backup = "B/1".into();
    let host = |order: &mut Transfer| order.host_id = "me".into();
    type Change = fn(&mut Transfer);
    let changes: [(Change, &str); 5] = [
        (checksum, "Crc128"),
        (transport, "Pigeon"),
        (store, "ftp://bucket"),
        (backup, "B/1"),
        (host, "me"),
    ];
    for (change, word) in changes {
        let mut order = order(json!({"prepare": {}}));
        change(&mut order);
        let why = fit(&order).unwrap_err().to_string();
        assert!(why.contains(word), "{why}");
    }
    for work in [json!({}), json!({"levitate": {}}), json!({"prepare": {}, "describe": {}})] {
        assert_eq!(fit(&order(work)), Err(Refusal::work()));
    }
    for tag in ["palladion-", "of-a-user", "palladion-a/b", ""] {
        let discard = json!({"discard": {"tags": [tag], "uploads": [], "writeOutcome": false}});
        assert!(fit(&order(discard)).is_err(), "{tag}");
        let snapshot = json!({"snapshot": {"tag": tag, "ttlSeconds": 60}});
        assert!(fit(&order(snapshot)).is_err(), "{tag}");
    }
}

#[test]
fn a_ring_that_is_not_the_one_of_the_order_is_not_finished() {
    let order = order(every_work()[4].clone());
    let tokens = |host: &str| (host.to_string(), vec!["1".to_string()]);
    for ring in [vec![], vec![tokens(OTHER)], vec![tokens(HOST), tokens(OTHER)]] {
        let ring = Ring { members: ring.into_iter().collect(), ..Ring::default() };
        let ring = Said::Ring(ring);
        match settings(&order, &own(), ring) {
            Err(Stopped::RingChanged { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    match settings(&order, &own(), said(&order)).unwrap().work {
        Work::Finish(finish) => {
            let reported = finish.members.values().next().unwrap();
            assert_eq!(reported.tokens, ["1", "2"], "as the ring has them");
            assert_eq!(finish.window.to - finish.window.from, 60);
            assert!(matches!(finish.depth, Depth::Sample { first: 0..100 }));
        }
        other => panic!("{other:?}"),
    }
}

const THIRD: &str = "5f3c2b1a-0000-4000-8000-000000000003";

/// A ring with these members, each with one token, in which `HOST` and `OTHER` have copies of shop.
fn a_ring(members: &[(&str, &str)]) -> Ring {
    let of = |(host, token): &(&str, &str)| (host.to_string(), vec![token.to_string()]);
    let hosts = [HOST, OTHER].map(|host| HostId::parse(host).unwrap());
    Ring {
        members: members.iter().map(of).collect(),
        replicas: vec![Replicas { keyspace: "shop".into(), hosts: hosts.into() }],
        schema_version: "s1".into(),
    }
}

/// What one finds that looks at this ring, all of whose members are in the backup but these.
fn described(ring: &Ring, out: &[&str]) -> Result<String, Stopped> {
    let there = ring.members.keys().filter(|host| !out.contains(&host.as_str()));
    let left_out: Vec<Value> =
        out.iter().map(|host| json!({ "hostID": host, "rack": "b" })).collect();
    let work = json!({ "describe": {
        "members": there.collect::<Vec<_>>(), "quorum": { "leftOut": left_out },
    } });
    let order = order(work);
    fit(&order).unwrap();
    let Some(TransferTask::Describe(work)) = order.work.task() else { panic!() };
    quorum::suffices((work, work.quorum.as_ref().unwrap()), ring)
}

/// What it comes to when a backup of `HOST` without these is finished in this ring.
fn finished(quorum: Value, by: Option<&str>, ring: Ring) -> Result<Finish, Stopped> {
    let mut work = every_work()[4].clone();
    work["finish"]["quorum"] = quorum;
    if let Some(by) = by {
        work["finish"]["members"][0]["replacedBy"] = json!(by);
    }
    let order = order(work);
    fit(&order).unwrap();
    match settings(&order, &own(), Said::Ring(ring))?.work {
        Work::Finish(finish) => Ok(finish),
        other => panic!("{other:?}"),
    }
}

fn without(hosts: &[&str], tokens: &str) -> Value {
    let all: Vec<Value> = hosts.iter().map(|host| json!({ "hostID": host, "rack": "b" })).collect();
    json!({ "leftOut": all, "tokensHash": tokens })
}

#[test]
fn a_member_that_is_left_out_is_named_and_any_other_one_ends_the_finish() {
    let ring = a_ring(&[(HOST, "1"), (OTHER, "2")]);
    let short = described(&ring, &[OTHER]).unwrap_err();
    assert_eq!(short.cause(), Cause::BackupFailed);
    assert!(short.to_string().contains("keyspace shop"), "{short}");
    let tokens = described(&ring, &[]).unwrap();
    let finish = finished(without(&[OTHER], &tokens), None, ring.clone()).unwrap();
    assert_eq!(finish.members.len(), 1);
    let [out] = &finish.left_out[..] else { panic!("{:?}", finish.left_out) };
    assert_eq!((out.host.as_str(), out.rack.as_str()), (OTHER, "b"));
    assert_eq!((out.datacenter.as_str(), &out.tokens[..]), ("dc1", &["2".to_string()][..]));
    assert!(matches!(finish.coverage, OfRing::QuorumOfEachRange(all) if all == ring.replicas));
    // It was replaced meanwhile, by one that has its tokens.
    let by_third = a_ring(&[(HOST, "1"), (THIRD, "2")]);
    let finish = finished(without(&[OTHER, THIRD], &tokens), None, by_third).unwrap();
    let places: Vec<_> = finish.left_out.iter().map(|o| (o.host.as_str(), &o.tokens[..])).collect();
    assert_eq!(places, [(THIRD, &["2".to_string()][..])]);
    for ring in [&[(OTHER, "2")][..], &[(HOST, "1"), (OTHER, "2"), (THIRD, "3")]] {
        let unnamed = json!({ "leftOut": [{ "hostID": OTHER, "rack": "b" }] });
        let ended = finished(unnamed, None, a_ring(ring)).unwrap_err();
        assert!(matches!(ended, Stopped::RingChanged { .. }), "{ended}");
    }
}

#[test]
fn no_place_of_the_ring_vanishes_from_a_backup_or_comes_to_it_since_its_members_sufficed() {
    let tokens = described(&a_ring(&[(HOST, "1"), (OTHER, "2")]), &[]).unwrap();
    let swapped = described(&a_ring(&[(HOST, "2"), (OTHER, "1")]), &[]).unwrap();
    assert_eq!(tokens, swapped, "whoever owns them");
    // Who was left out was removed; a member joined, which somebody has named.
    let removed = finished(without(&[OTHER], &tokens), None, a_ring(&[(HOST, "1")]));
    assert_eq!(removed.unwrap_err(), Stopped::OtherTokensNow);
    let joined = a_ring(&[(HOST, "1"), (OTHER, "2"), (THIRD, "3")]);
    let joined = finished(without(&[OTHER, THIRD], &tokens), None, joined).unwrap_err();
    assert_eq!((joined.cause(), &joined), (Cause::RingChanged, &Stopped::OtherTokensNow));
    // One that nobody has named is seen before anything is sent.
    let ring = a_ring(&[(HOST, "1"), (OTHER, "2"), (THIRD, "3")]);
    let mut work = json!({ "describe": { "members": [HOST, OTHER], "quorum": {} } });
    for ends in [true, false] {
        let order = order(work.clone());
        let Some(TransferTask::Describe(of)) = order.work.task() else { panic!() };
        let found = quorum::suffices((of, of.quorum.as_ref().unwrap()), &ring);
        assert_eq!(matches!(found, Err(Stopped::RingChanged { .. })), ends, "{found:?}");
        work["describe"]["quorum"]["leftOut"] = json!([{ "hostID": THIRD, "rack": "c" }]);
    }
}

#[test]
fn where_one_is_lost_after_the_members_sufficed_the_schema_is_still_the_same() {
    let ring = a_ring(&[(HOST, "1"), (OTHER, "2")]);
    let mut quorum = without(&[OTHER], &described(&ring, &[]).unwrap());
    quorum["schemaVersion"] = json!("s1");
    finished(quorum.clone(), None, ring.clone()).unwrap();
    let altered = Ring { schema_version: "s2".into(), ..ring };
    let ended = finished(quorum, None, altered).unwrap_err();
    assert_eq!((ended.cause(), &ended), (Cause::RingChanged, &Stopped::OtherSchemaNow));
}

#[test]
fn what_was_sent_counts_for_the_place_of_the_one_that_was_replaced_after_that() {
    let tokens = described(&a_ring(&[(HOST, "1"), (OTHER, "2")]), &[]).unwrap();
    let mut ring = a_ring(&[(THIRD, "1"), (OTHER, "2")]);
    let [third, other] = [THIRD, OTHER].map(|host| HostId::parse(host).unwrap());
    ring.replicas[0].hosts = [third, other].into();
    let finish = finished(without(&[OTHER], &tokens), Some(THIRD), ring.clone()).unwrap();
    let (host, reported) = finish.members.iter().next().unwrap();
    assert_eq!((host.as_str(), &reported.tokens[..]), (HOST, &["1".to_string()][..]));
    let places: Vec<&str> = finish.left_out.iter().map(|out| out.host.as_str()).collect();
    assert_eq!(places, [OTHER]);
    let OfRing::QuorumOfEachRange(all) = &finish.coverage else { panic!("{finish:?}") };
    let hosts = [HOST, OTHER].map(|host| HostId::parse(host).unwrap());
    assert_eq!(all[0].hosts, hosts.into(), "who has copies");
    // Nobody says who has its place.
    let unnamed = finished(without(&[OTHER], &tokens), None, ring).unwrap_err();
    assert!(matches!(unnamed, Stopped::RingChanged { .. }), "{unnamed}");
}

#[test]
fn credentials_go_to_no_store_that_they_were_not_given_for() {
    let mut order = order(json!({"prepare": {}}));
    let mounted =
        |secret: Option<&str>| Own { credentials_secret: secret.map(String::from), ..own() };
    settings(&order, &own(), Said::Nothing).unwrap();
    for other in [None, Some("another")] {
        let refused = settings(&order, &mounted(other), Said::Nothing).unwrap_err();
        assert_eq!(refused.cause(), Cause::StoreUnreachable, "{refused}");
        assert!(refused.to_string().contains("demo-backup"), "{refused}");
    }
    order.credentials_secret_name = None;
    assert!(settings(&order, &own(), Said::Nothing).is_err(), "an order that names none");
    // A volume needs none.
    order.store = TransferPlace { at: "/backups".into(), ..TransferPlace::default() };
    settings(&order, &mounted(None), Said::Nothing).unwrap();
}

fn restores() -> [Value; 9] {
    [
        json!({"catalog": {"manifestHash": sha(), "tables": [{"from": "shop"}]}}),
        json!({"schema": {"manifestHash": sha(), "truncate": ["shop.users"]}}),
        json!({"load": {"manifestHash": sha(), "source": OTHER}}),
        json!({"settle": {"own": [{"table": "shop.users", "gcGraceSeconds": 1}], "indexes": {"manifestHash": sha(), "created": ["shop.users"]}}}),
        json!({"catalog": {"wholeRing": true}}),
        json!({"tokens": {"manifestHash": sha(), "source": OTHER}}),
        json!({"load": {"manifestHash": sha(), "source": OTHER, "way": "Place"}}),
        json!({"load": {"manifestHash": sha(), "source": OTHER, "way": "Roles"}}),
        json!({"open": {}}),
    ]
}

#[test]
fn a_restore_is_told_step_by_step_with_the_credentials_that_are_ordered() {
    for work in restores() {
        fit(&order(work)).unwrap();
    }
    let mut order = order(restores()[2].clone());
    let Some(TransferTask::Load(work)) = order.work.task() else { panic!() };
    let load = work.clone();
    let which = Which::Auth(vec!["roles".into()]);
    let into = "/v/into".into();
    let next = restore::NextBatch { skip: 3, of: 9, limit: 100, room: 200, into, which };
    let told = restore::batch(&order, &own(), (&load, next.clone())).unwrap();
    let line = serde_json::to_string(&told).unwrap();
    let told: Settings = serde_json::from_str(&line).unwrap();
    assert_eq!(told.entries, Entries::Own);
    let Work::Batch(batch) = told.work else { panic!("{line}") };
    assert_eq!((batch.skip, batch.of, batch.limit), (3, 9, 100));
    assert_eq!(batch.source.as_str(), OTHER);
    assert_eq!(batch.which, Which::Auth(vec!["roles".into()]));
    order.source_credentials = true;
    let told = restore::read(&order, &own(), (None, &[], crate::orders::restore::Amounts::Leave));
    assert_eq!(told.unwrap().entries, Entries::Source);
    let work = TokensWork { manifest_hash: sha(), source: OTHER.into() };
    let told = restore::tokens(&order, &own(), &work).unwrap();
    let told: Settings = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
    let Work::Tokens(tokens) = told.work else { panic!() };
    assert_eq!((tokens.source.as_str(), tokens.manifest.as_str()), (OTHER, sha().as_str()));
    // Those of another Secret are not even looked at.
    let other = Own { credentials_secret: Some("another".into()), ..own() };
    assert!(restore::tokens(&order, &other, &work).is_err());
    assert!(restore::batch(&order, &other, (&load, next)).is_err());
}

#[test]
fn a_restore_with_a_word_that_is_none_is_refused() {
    for work in [
        json!({"catalog": {"manifestHash": "ab"}}),
        json!({"catalog": {"auth": "Levitate"}}),
        json!({"schema": {"manifestHash": sha(), "truncate": ["users"]}}),
        json!({"schema": {"manifestHash": sha(), "truncate": ["shop.a;b"]}}),
        json!({"load": {"manifestHash": sha(), "source": "me"}}),
        json!({"load": {"manifestHash": "", "source": OTHER}}),
        json!({"load": {"manifestHash": sha(), "source": OTHER, "way": "Levitate"}}),
        json!({"tokens": {"manifestHash": sha(), "source": "me"}}),
        json!({"tokens": {"manifestHash": "ab", "source": OTHER}}),
        json!({"settle": {"own": [{"table": "a.b.c", "gcGraceSeconds": 1}]}}),
        json!({"settle": {"indexes": {"manifestHash": sha(), "created": [""]}}}),
    ] {
        assert!(fit(&order(work.clone())).is_err(), "{work}");
    }
}
