//! What is done about an order, as tables of facts.

use super::*;

fn host(number: u8) -> HostId {
    HostId::parse(&format!("5f3c2b1a-0000-4000-8000-0000000000{number:02x}")).unwrap()
}

fn order(id: &str, epoch: u64) -> Order {
    Order { id: id.into(), epoch, host: host(1), volume: "v1".into() }
}

fn record(id: &str, epoch: u64) -> Record {
    Record { id: id.into(), epoch, failures: 0, failed_at: None, ended: None }
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
    for facts in [other, unknown, volume, unread] {
        assert!(matches!(next(&facts), Next::Refuse(_)), "{facts:?}");
        assert_eq!(next(&Facts { child: runs("t1"), ..facts }), Next::End);
    }
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
    let again = [Cause::StoreUnreachable, Cause::EncryptionKeyMissing, Cause::Refused];
    let lines = again.map(stopped).into_iter().chain([None]);
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
