//! Data that is older than tombstones are kept.

use super::super::clock::Times;
use super::super::testing::*;
use super::super::*;
use crate::volume::heartbeat::{Heartbeat, Known};
use crate::volume::ledger::Membership;
use crate::volume::seconds;
use palladion_api::member::{Missed, RingDown};

/// For so many seconds tombstones are kept.
const GC_GRACE: i64 = 10 * 24 * 3600;

/// A full member whose server ran last so long ago, in seconds.
fn down_for(seconds: i64) -> World {
    a_joined_member().with(|w| {
        w.now = Timestamp::from_second(seconds).unwrap();
        w.found.heartbeat = Known::At(Heartbeat::at(Timestamp::UNIX_EPOCH));
    })
}

#[test]
fn what_was_down_for_longer_than_tombstones_are_kept_does_not_start_by_itself() {
    assert_eq!(down_for(GC_GRACE).start().cause, Cause::Autonomous);
    let too_old = down_for(GC_GRACE + 1);
    too_old.waits(Reason::DataTooOld);
    let message = too_old.decide().message.unwrap().to_string();
    assert!(message.contains("1970-01-01T00:00:00Z"), "{message}");
    too_old.with(|w| w.source = Source::Saved).waits(Reason::DataTooOld);
}

/// A table whose tombstones go earlier than by default.
#[test]
fn the_smallest_time_of_a_table_counts_where_it_is_known() {
    const HOUR: i64 = 3600;
    let kept_for = |seconds: u32, down: i64| {
        down_for(down).with(|w| {
            let last = Heartbeat::at(Timestamp::UNIX_EPOCH);
            let smallest_gc_grace_seconds = Some(seconds);
            w.found.heartbeat = Known::At(Heartbeat { smallest_gc_grace_seconds, ..last });
        })
    };
    assert_eq!(kept_for(24 * 3600, 24 * HOUR).start().cause, Cause::Autonomous);
    let too_old = kept_for(24 * 3600, 24 * HOUR + 1);
    too_old.waits(Reason::DataTooOld);
    let message = too_old.decide().message.unwrap().to_string();
    assert!(message.contains("more than 24 hours ago"), "{message}");
    // A longer time than the default is one too.
    assert_eq!(kept_for(3_456_000, GC_GRACE + 1).start().cause, Cause::Autonomous);
    // A ring that was stopped for a day comes back, whatever its tables have.
    assert_eq!(kept_for(60, 24 * HOUR).start().cause, Cause::Autonomous);
    kept_for(60, 24 * HOUR + 1).waits(Reason::DataTooOld);
}

/// It would stream deleted rows to those that stay.
#[test]
fn a_leaver_that_was_down_for_too_long_does_not_come_back_to_leave() {
    let leaving = Membership::Leaving { nonce: "n0".into() };
    let leaver = |down: i64| {
        let world = down_for(down).membership(leaving.clone());
        world.permit(PermitKind::ResumeLeave, DataBeforeStart::Keep)
    };
    assert!(matches!(leaver(GC_GRACE).action(), Action::Start(_)));
    leaver(GC_GRACE + 1).waits(Reason::DataTooOld);
    let allowed = leaver(GC_GRACE + 1)
        .with(|w| w.spec().allow_stale_start = Some(seconds(Timestamp::UNIX_EPOCH)));
    assert!(matches!(allowed.action(), Action::Start(_)));
}

#[test]
fn a_start_after_a_long_time_is_allowed_by_the_time_at_which_the_server_ran_last() {
    let allow = |at: Timestamp| {
        down_for(GC_GRACE + 1).with(|w| w.spec().allow_stale_start = Some(seconds(at)))
    };
    assert_eq!(allow(Timestamp::UNIX_EPOCH).start().cause, Cause::Autonomous);
    allow(Timestamp::from_second(1).unwrap()).waits(Reason::DataTooOld);
}

/// Whoever comes up long after the rest of a ring that was down lacks what was deleted since.
#[test]
fn that_the_whole_ring_was_down_counts_until_it_was_started_again() {
    const UNTIL: i64 = 3 * GC_GRACE;
    let at = |second| seconds(Timestamp::from_second(second).unwrap());
    let stood = |since: i64, now: i64| {
        down_for(now).with(|w| {
            w.spec().allow_stale_start = Some(at(since));
            w.spec().ring_down = Some(RingDown { since: at(since), until: at(UNTIL) });
        })
    };
    assert_eq!(stood(0, UNTIL).start().cause, Cause::Autonomous);
    assert_eq!(stood(0, UNTIL + GC_GRACE).start().cause, Cause::Autonomous);
    stood(0, UNTIL + GC_GRACE + 1).waits(Reason::DataTooOld);
    // What is on record is about another absence.
    stood(1, UNTIL).waits(Reason::DataTooOld);
    // A person answers for the member: of the ring nothing is on record then.
    let answered = stood(0, UNTIL + GC_GRACE + 1).with(|w| w.spec().ring_down = None);
    assert_eq!(answered.start().cause, Cause::Autonomous);
}

#[test]
fn a_start_that_became_normal_counts_before_its_first_sign_of_life_is_written() {
    let mut world = down_for(GC_GRACE + 1);
    world.ledger().begin_start("t", "Autonomous", &[], Timestamp::UNIX_EPOCH);
    world.waits(Reason::DataTooOld);
    world.ledger().starts[0].record.normal_at = Some(seconds(Timestamp::from_second(60).unwrap()));
    assert_eq!(world.start().cause, Cause::Autonomous);
}

#[test]
fn a_sign_of_life_that_cannot_be_read_leaves_what_the_ledger_knows() {
    let mut world = down_for(GC_GRACE + 1).with(|w| w.found.heartbeat = Known::Unreadable);
    assert_eq!(world.start().cause, Cause::Autonomous);
    world.ledger().begin_start("t", "Autonomous", &[], Timestamp::UNIX_EPOCH);
    world.ledger().starts[0].record.normal_at = Some(seconds(Timestamp::UNIX_EPOCH));
    world.waits(Reason::DataTooOld);
}

/// A full member that was up for a while until `ran`, and has missed what was
/// written from the beginning on.
fn not_repaired(ran: i64, now: i64) -> World {
    down_for(now).with(|w| {
        let at = |second| seconds(Timestamp::from_second(second).unwrap());
        let missed = Missed { since: at(0), until: at(100), absences: 1, ran_until: None };
        let last = Heartbeat::at(Timestamp::from_second(ran).unwrap());
        w.ledger().begin_start("t", "Autonomous", &[], Timestamp::from_second(100).unwrap());
        w.ledger().starts[0].record.normal_at = Some(at(100));
        w.found.heartbeat = Known::At(Heartbeat { missed: Some(missed), ..last });
    })
}

#[test]
fn what_was_missed_counts_until_the_member_is_repaired() {
    assert_eq!(not_repaired(GC_GRACE / 2, GC_GRACE).start().cause, Cause::Autonomous);
    let too_old = not_repaired(GC_GRACE / 2, GC_GRACE + 1);
    too_old.waits(Reason::DataTooOld);
    let message = too_old.decide().message.unwrap().to_string();
    assert!(message.contains("has not been repaired since"), "{message}");
    let allowed =
        too_old.with(|w| w.spec().allow_stale_start = Some(seconds(Timestamp::UNIX_EPOCH)));
    assert_eq!(allowed.start().cause, Cause::Autonomous);
}

#[test]
fn a_server_that_ran_on_with_such_data_until_a_moment_ago_is_restarted() {
    let ran = GC_GRACE + 100;
    assert_eq!(not_repaired(ran, ran + 60).start().cause, Cause::Autonomous);
    // Also where the time ran out between its end and its start.
    assert_eq!(not_repaired(GC_GRACE - 60, GC_GRACE + 60).start().cause, Cause::Autonomous);
    not_repaired(ran, ran + 4 * 3600).waits(Reason::DataTooOld);
    // The clock was ahead when that was written, and it may have been down since.
    not_repaired(3 * GC_GRACE, 2 * GC_GRACE).waits(Reason::DataTooOld);
}

#[test]
fn without_a_sign_of_life_nothing_is_too_old() {
    let unknown = down_for(GC_GRACE + 1).with(|w| w.found.heartbeat = Known::Never);
    assert_eq!(unknown.start().cause, Cause::Autonomous);
}

/// Its machine was off for long, and has the time at which it was shut down.
#[test]
fn a_clock_that_is_behind_does_not_make_old_data_new() {
    let at = |second| Timestamp::from_second(second).unwrap();
    let after = |now: i64, written: i64, down_since: i64| {
        let times = Times { written: Some(at(written)), down_since: Some(at(down_since)) };
        down_for(now).with(|w| w.times = times)
    };
    // The note of the absence was written later than it is here.
    let doubted = after(120, 630, 30);
    doubted.waits(Reason::DataTooOld);
    let message = doubted.decide().message.unwrap().to_string();
    assert!(message.contains("the clock of this Node is behind"), "{message}");
    assert!(message.contains("1970-01-01T00:10:30Z"), "{message}");
    let allowed = doubted.with(|w| w.spec().allow_stale_start = Some(seconds(at(0))));
    assert_eq!(allowed.start().cause, Cause::Autonomous);
    // Our own report is in it: that late it is.
    let reported = after(120, GC_GRACE + 1, 30);
    reported.waits(Reason::DataTooOld);
    after(3600, GC_GRACE + 1, 30).waits(Reason::DataTooOld);
    assert_eq!(after(3600, GC_GRACE, 30).start().cause, Cause::Autonomous);
    // Clocks differ a little, and that of the API server may be the wrong one.
    assert_eq!(after(580, 630, 30).start().cause, Cause::Autonomous);
    assert_eq!(after(700, 7200, 30).start().cause, Cause::Autonomous);
    let serves = after(120, 630, 30).with(|w| w.times.down_since = None);
    assert_eq!(serves.start().cause, Cause::Autonomous);
}

#[test]
fn a_server_that_ran_later_than_it_is_now_waits_where_somebody_can_be_asked() {
    let at = |second| Timestamp::from_second(second).unwrap();
    let ran = |ran: i64, now: i64| {
        down_for(now).with(|w| w.found.heartbeat = Known::At(Heartbeat::at(at(ran))))
    };
    let ahead = ran(3600, 3000);
    ahead.waits(Reason::DataTooOld);
    let message = ahead.decide().message.unwrap().to_string();
    assert!(message.contains("the clock of this Node is behind"), "{message}");
    assert_eq!(ran(3600, 3540).start().cause, Cause::Autonomous);
    let saved = ran(3600, 3000).with(|w| w.source = Source::Saved);
    assert_eq!(saved.start().cause, Cause::Autonomous);
    // By the clock of the API server it is later.
    let reported = ran(3600, 3000).with(|w| w.times.written = Some(at(3700)));
    assert_eq!(reported.start().cause, Cause::Autonomous);
}
