//! What is done about an order, as tables of facts.

mod begins;

use super::*;
use crate::settings::Tag;
use crate::tell::{Done, Progress};
use crate::words::stopped::Cause;
use palladion_api::backup::{TransferCause, TransferState};

fn host(number: u8) -> HostId {
    HostId::new(format!("5f3c2b1a-0000-4000-8000-0000000000{number:02x}"))
}

fn order(id: &str, epoch: i64) -> Order {
    Order {
        id: id.into(),
        epoch,
        host: host(1),
        volume: "v1".into(),
        repository: "r1".into(),
        backups: Backups::OfRing,
        backup: "b1".into(),
        snapshots: Snapshots::Stay,
        unfit: None,
    }
}

fn record(id: &str, epoch: i64) -> Record {
    Record {
        id: id.into(),
        epoch,
        failures: 0,
        failed_at: None,
        why: None,
        ended: None,
        ring: None,
        tokens: Vec::new(),
        kept: None,
    }
}

fn noted(record: Record) -> Noted {
    Noted::Record(Box::new(record))
}

fn facts() -> Facts {
    Facts {
        order: Some(order("t1", 3)),
        noted: noted(record("t1", 3)),
        child: Child::Absent,
        host: Some(host(1)),
        volume: "v1".into(),
        repository: Repository::Noted("r1".into()),
        now: 1000,
    }
}

fn runs(id: &str) -> Child {
    Child::Runs { id: id.into() }
}

fn said(id: &str, last: Option<Line>) -> Child {
    Child::Ended { id: id.into(), last }
}

fn stopped(cause: Cause) -> Option<Line> {
    Some(Line::Stopped { cause, message: "why".into() })
}

#[test]
fn an_order_is_noted_before_its_child_begins() {
    let mut facts = Facts { noted: Noted::Nothing, ..facts() };
    let Next::Note(noted) = next(&facts) else { panic!("{:?}", next(&facts)) };
    assert_eq!(*noted, record("t1", 3));
    facts.noted = Noted::Record(noted);
    assert_eq!(next(&facts), Next::Start);
    facts.child = runs("t1");
    assert_eq!(next(&facts), Next::Rest);
}

#[test]
fn who_is_not_meant_begins_nothing_and_ends_what_runs() {
    let other = Facts { host: Some(host(2)), ..facts() };
    let unknown = Facts { host: None, ..facts() };
    let volume = Facts { volume: "v2".into(), ..facts() };
    let unread = Facts { noted: Noted::Unread, ..facts() };
    let foreign = Facts { repository: Repository::Noted("r2".into()), ..facts() };
    let unnoted = Facts { repository: Repository::Unread, ..facts() };
    let unfit = Order { unfit: Some(Refusal::work()), ..order("t1", 3) };
    let unfit = Facts { order: Some(unfit), ..facts() };
    for facts in [other, unknown, volume, unread, foreign, unnoted, unfit] {
        assert!(matches!(next(&facts), Next::Refuse(_)), "{facts:?}");
        assert_eq!(next(&Facts { child: runs("t1"), ..facts }), Next::End);
    }
}

#[test]
fn a_restore_may_read_the_backups_of_any_ring_and_notes_nothing_of_them() {
    let restore = Order { backups: Backups::OfAny, ..order("t1", 3) };
    for repository in [Repository::Noted("r2".into()), Repository::None, Repository::Unread] {
        let facts = Facts { order: Some(restore.clone()), repository, ..facts() };
        assert_eq!(next(&facts), Next::Start, "{facts:?}");
    }
    let unfit = Order { unfit: Some(Refusal::work()), ..restore };
    let facts = Facts { order: Some(unfit), ..facts() };
    assert_eq!(next(&facts), Next::Refuse(Refusal::work()));
}

/// An agent of protocol 9 refuses a record with fields that it does not know, and this one reads
/// what that one has written.
#[test]
fn the_record_of_a_restore_has_the_fields_of_older_agents() {
    let text = r#"{"id":"t0","epoch":3,"failures":1,"failedAt":9,"why":{"cause":"ServerDown","message":"m"},"ended":null}"#;
    let old: Record = serde_json::from_str(text).unwrap();
    let restore = Order { backups: Backups::OfAny, ..order("r1-load-1", 3) };
    let facts = Facts { order: Some(restore), noted: noted(old), ..facts() };
    let Next::Note(new) = next(&facts) else { panic!() };
    let fields = serde_json::to_value(&new).unwrap();
    let fields: Vec<&String> = fields.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["ended", "epoch", "failedAt", "failures", "id"]);
}

#[test]
fn a_leader_that_was_superseded_orders_nothing_and_ends_nothing() {
    let old = Facts { order: Some(order("t0", 2)), child: runs("t1"), ..facts() };
    let refusal = Refusal::OlderEpoch { epoch: 2, newest: 3 };
    assert_eq!(next(&old), Next::Refuse(refusal));
    // The next leader goes on with the same transfer, and what had failed is kept.
    let failed = Record { failures: 2, failed_at: Some(990), ..record("t1", 3) };
    let new = Facts { order: Some(order("t1", 4)), noted: noted(failed), ..facts() };
    let Next::Note(noted) = next(&new) else { panic!("{:?}", next(&new)) };
    assert_eq!((noted.epoch, noted.failures), (4, 2));
}

#[test]
fn an_order_that_is_withdrawn_or_replaced_ends_the_child() {
    assert_eq!(next(&Facts { order: None, child: runs("t1"), ..facts() }), Next::End);
    assert_eq!(next(&Facts { order: None, ..facts() }), Next::Rest);
    let other = Facts { order: Some(order("t2", 3)), child: runs("t1"), ..facts() };
    assert_eq!(next(&other), Next::End);
    let then = Facts { child: said("t1", None), ..other };
    assert_eq!(
        next(&then),
        Next::Note(Box::new(record("t2", 3))),
        "and the other one is no failure of it"
    );
}

#[test]
fn what_was_done_is_noted_and_answered_and_never_begun_again() {
    let done = Some(Line::Done(Done::Prepared));
    let mut facts = Facts { child: said("t1", done), ..facts() };
    let Next::Note(noted) = next(&facts) else { panic!("{:?}", next(&facts)) };
    assert_eq!((noted.ended.clone(), noted.failures), (Some(Ended::Done(Done::Prepared)), 0));
    facts.noted = Noted::Record(noted);
    for child in [Child::Absent, said("t1", None)] {
        facts.child = child;
        assert_eq!(next(&facts), Next::Answer(Box::new(Ended::Done(Done::Prepared))));
    }
    let text = serde_json::to_string(&facts_record(&facts)).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), facts_record(&facts));
}

fn facts_record(facts: &Facts) -> Record {
    match &facts.noted {
        Noted::Record(record) => (**record).clone(),
        Noted::Nothing | Noted::Unread => panic!("there is a record"),
    }
}

#[test]
fn what_can_come_right_is_tried_again_ever_later_and_what_cannot_is_given_up() {
    let again =
        [Cause::StoreUnreachable, Cause::EncryptionKeyMissing, Cause::ServerDown, Cause::Refused];
    let again = again.into_iter().chain([Cause::LoadFailed, Cause::RingUnsettled]);
    let lines = again.map(stopped).chain([None]);
    for last in lines {
        let mut facts = Facts { child: said("t1", last.clone()), ..facts() };
        for wait in [5, 10, 20, 40, 80, 160, 300, 300] {
            let Next::Note(noted) = next(&facts) else { panic!("{last:?}: {:?}", next(&facts)) };
            assert_eq!((&noted.ended, noted.failed_at), (&None, Some(facts.now)));
            facts.noted = Noted::Record(noted);
            facts.child = Child::Absent;
            assert_eq!(next(&facts), Next::Wait { until: facts.now + wait });
            facts.now += wait;
            assert_eq!(next(&facts), Next::Start);
            facts.child = said("t1", last.clone());
        }
    }
    let never = [
        Cause::StoreUnsuited,
        Cause::RepositoryForeign,
        Cause::RepositoryDamaged,
        Cause::NotEnoughSpace,
        Cause::RingChanged,
        Cause::RestoreFailed,
        Cause::BackupFailed,
    ];
    for cause in never {
        let facts = Facts { child: said("t1", stopped(cause)), ..facts() };
        let Next::Note(noted) = next(&facts) else { panic!("{cause:?}: {:?}", next(&facts)) };
        let failed = Ended::Failed { cause, message: "why".into() };
        assert_eq!(noted.ended, Some(failed));
    }
}

#[test]
fn a_clock_that_was_set_back_makes_nobody_wait_for_years() {
    let failed = Record { failures: 3, failed_at: Some(1_000_000), ..record("t1", 3) };
    let facts = Facts { noted: noted(failed), ..facts() };
    assert_eq!(next(&facts), Next::Wait { until: 1020 });
}

fn tag(text: &str) -> Tag {
    Tag::try_from(text.to_string()).unwrap()
}

/// The record that is noted of an order.
fn noted_of(order: Order, before: Noted) -> Record {
    match next(&Facts { order: Some(order), noted: before, ..facts() }) {
        Next::Note(record) => *record,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_snapshot_of_a_backup_is_kept_until_it_is_discarded_or_another_one_is_taken() {
    let take =
        |id: &str, text: &str| Order { snapshots: Snapshots::Take(tag(text)), ..order(id, 3) };
    let first = noted_of(take("t2", "palladion-b1-1"), facts().noted);
    let kept = first.kept.clone().unwrap();
    assert_eq!((kept.backup.as_str(), kept.tag.as_str()), ("b1", "palladion-b1-1"));
    let described = noted_of(order("t3", 3), noted(first.clone()));
    assert_eq!(described.kept, first.kept, "another order of its backup");
    let again = noted_of(take("t4", "palladion-b1-2"), noted(described.clone()));
    assert_eq!(again.kept.unwrap().tag, tag("palladion-b1-2"));
    let of =
        |backup: &str| Order { backup: backup.into(), snapshots: Snapshots::Go, ..order("t5", 3) };
    assert_eq!(noted_of(of("b1"), noted(described.clone())).kept, None);
    assert_eq!(noted_of(of("b0"), noted(described.clone())).kept, described.kept);
}

fn told(facts: &Facts) -> Option<palladion_api::backup::TransferStatus> {
    let progress = Progress { files: 1, of: 3, ..Progress::default() };
    status(facts, &next(facts), Some(progress))
}

#[test]
fn what_is_told_is_of_the_order_that_stands() {
    let running = told(&Facts { child: runs("t1"), ..facts() }).unwrap();
    assert_eq!((running.state, running.progress), (TransferState::Running, Some(33)));
    let mut failed = record("t1", 3);
    failed = failed.after(stopped(Cause::ServerDown).as_ref(), 990);
    let waits = Facts { noted: noted(failed), ..facts() };
    let waiting = told(&waits).unwrap();
    assert_eq!(waiting.state, TransferState::Waiting);
    assert_eq!(waiting.cause, Some(TransferCause::ServerDown));
    assert_eq!(waiting.message.as_deref(), Some("why"), "of the try that failed");
    let volume = told(&Facts { volume: "v2".into(), ..facts() }).unwrap();
    assert_eq!(volume.state, TransferState::Refused);
    assert_eq!(volume.cause, Some(TransferCause::NotForUs));
    let foreign = Facts { repository: Repository::Noted("r2".into()), ..facts() };
    assert_eq!(told(&foreign).unwrap().cause, Some(TransferCause::RepositoryForeign));
    let again = Facts { child: runs("t1"), ..waits.clone() };
    let begun = status(&again, &next(&again), Some(Progress::default())).unwrap();
    assert_eq!((begun.state, begun.cause), (waiting.state, waiting.cause), "it gets on first");
    assert_eq!(told(&again).unwrap().state, TransferState::Running);
    assert_eq!(told(&Facts { order: None, ..waits }), None, "withdrawn, and not ended");
    let done = record("t1", 3).after(Some(&Line::Done(Done::Prepared)), 990);
    let last = Facts { order: None, noted: noted(done), ..facts() };
    assert_eq!(told(&last).unwrap().state, TransferState::Done);
}
