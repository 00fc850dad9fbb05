//! Orders for a member whose ring begins with a backup.

use super::*;
use palladion_api::backup::NEVER_STARTED;
use serde_json::json;

/// An order of the operator with this work, for this host.
fn written(host: &str, work: &serde_json::Value) -> Order {
    let mut order = json!({
        "id": "t1", "epoch": 3, "hostID": host, "volumeID": "v1", "backup": "b1",
        "repository": {"id": "r9", "sealed": false}, "store": {"at": "/backups"},
    });
    for (key, value) in work.as_object().unwrap() {
        order[key] = value.clone();
    }
    Order::of(&serde_json::from_value(order).unwrap())
}

#[test]
fn before_its_first_start_a_member_reads_a_backup_and_notes_tokens_and_nothing_else() {
    let sha = "ab".repeat(32);
    let of = |member: Option<HostId>, ordered: &str, work: serde_json::Value| {
        let order = Some(written(ordered, &work));
        next(&Facts { order, host: member, noted: Noted::Nothing, ..facts() })
    };
    let catalog = || json!({"catalog": {"wholeRing": true}});
    let tokens = || json!({"tokens": {"manifestHash": sha, "source": host(9).as_str()}});
    for work in [catalog(), tokens()] {
        let begun = of(None, NEVER_STARTED, work.clone());
        assert!(matches!(begun, Next::Note(_)), "{work} {begun:?}");
        // One that has a host ID is not meant by it.
        let other = of(Some(host(1)), NEVER_STARTED, work.clone());
        assert!(matches!(other, Next::Refuse(Refusal::OtherMember { .. })), "{work} {other:?}");
        let other = of(None, host(1).as_str(), work.clone());
        assert!(matches!(other, Next::Refuse(_)), "{work} {other:?}");
    }
    assert!(matches!(of(Some(host(1)), host(1).as_str(), catalog()), Next::Note(_)));
    let kept = of(Some(host(1)), host(1).as_str(), tokens());
    assert_eq!(kept, Next::Refuse(Refusal::HasStarted { host: host(1) }));
    for work in [
        json!({"catalog": {}}),
        json!({"schema": {"manifestHash": sha}}),
        json!({"load": {"manifestHash": sha, "source": host(9).as_str(), "way": "Place"}}),
        json!({"open": {}}),
        json!({"settle": {}}),
    ] {
        let refused = of(None, NEVER_STARTED, work.clone());
        assert_eq!(refused, Next::Refuse(Refusal::NeverStarted), "{work}");
    }
    let mut prepare = written(NEVER_STARTED, &json!({"prepare": {}}));
    prepare.repository = "r1".into();
    let refused = next(&Facts { order: Some(prepare), host: None, ..facts() });
    assert_eq!(refused, Next::Refuse(Refusal::NeverStarted));
}

#[test]
fn what_is_noted_of_tokens_is_told() {
    let done = Done::Noted { source: host(9), tokens_hash: "cd".into() };
    let noted = noted(Record { ended: Some(Ended::Done(done)), ..record("t1", 3) });
    let facts = Facts { noted, ..facts() };
    let told = status(&facts, &next(&facts), None).unwrap();
    assert_eq!(told.state, TransferState::Done);
    let tokens = told.noted_tokens.unwrap();
    assert_eq!((tokens.source, tokens.tokens_hash.as_str()), (host(9), "cd"));
}
