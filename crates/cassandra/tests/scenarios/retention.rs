//! Backups that expire, by the rules of their schedule or because a user lets them: they are
//! condemned and a day later deleted, the newest and what is restored from stays, and a store that
//! is away or lets nothing be deleted holds up no backup.

use crate::backup_schedules::{backups, condition, go_on, scheduled};
use crate::backups::{a_ring, ask, orders, patch, phase, status};
use crate::every::{all_end_alike, before_each_write, in_flight};
use crate::restores;
use crate::sim::World;
use crate::sim::compare::End;
use crate::sim::world::cluster_key;
use palladion_agent_transfer::words::stopped::Cause;
use palladion_api::backup::BackupPhase;
use palladion_api::cluster::ClusterRetention;
use palladion_api::reasons::Reason;
use palladion_api::restore::RestorePhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::Subresource;
use palladion_plan::sim::Fault;
use serde_json::json;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn record(world: &World) -> ClusterRetention {
    let cluster = world.store.get(&cluster_key()).expect("a cluster");
    serde_json::from_value(cluster["status"]["retention"].clone()).unwrap_or_default()
}

/// Reason and message of the condition `Expired` of a backup.
fn said(world: &World, name: &str) -> String {
    let status = status(world, name);
    let expired = status.conditions.iter().find(|c| c.type_ == "Expired");
    expired.map(|c| format!("{} {}: {}", c.status, c.reason, c.message)).unwrap_or_default()
}

#[track_caller]
fn expect_said(world: &World, name: &str, truth: &str, reason: Reason, words: &str) {
    let said = said(world, name);
    let begins = format!("{truth} {}: ", reason.as_str());
    assert!(said.starts_with(&begins) && said.contains(words), "{said}\n{}", world.last_words());
}

fn id(world: &World, name: &str) -> String {
    status(world, name).id.expect("it has begun")
}

fn is_condemned(world: &World, name: &str) -> bool {
    world.ring.store.condemned.contains_key(&id(world, name))
}

fn is_swept(world: &World, name: &str) -> bool {
    world.ring.store.swept.contains_key(&id(world, name))
}

#[track_caller]
fn is_left_alone(world: &World) {
    let of = record(world);
    assert!(of.id.is_none() && of.work.is_none() && of.backups.is_empty(), "{of:?}");
    assert_eq!(orders(world), 0, "an order is left");
}

/// A ring with two complete backups.
fn two() -> World {
    static MADE: std::sync::OnceLock<World> = std::sync::OnceLock::new();
    let make = || {
        let mut world = a_ring();
        for name in ["one", "two"] {
            ask(&mut world, name, &json!({}));
            world.settle();
            assert_eq!(phase(&world, name), Some(BackupPhase::Complete));
        }
        world.story.clear();
        world.writes.clear();
        world
    };
    MADE.get_or_init(make).clone()
}

/// Go on until what was condemned by now is deleted.
fn a_day_passes(world: &mut World) {
    world.settle();
    go_on(world, 26 * HOUR);
    world.settle();
}

fn expire(world: &mut World, name: &str) {
    patch(world, name, &json!({ "expire": true }));
}

#[test]
fn a_backup_that_a_user_lets_expire_is_condemned_and_a_day_later_deleted() {
    let mut world = two();
    expire(&mut world, "one");
    world.until(|w| phase(w, "one") == Some(BackupPhase::Expiring));
    expect_said(&world, "one", "False", Reason::BackupExpiring, "about to be condemned");
    assert!(!is_condemned(&world, "one"), "its object says so before");
    world.settle();
    assert!(is_condemned(&world, "one") && !is_swept(&world, "one"));
    expect_said(&world, "one", "False", Reason::BackupExpiring, "are deleted after");
    is_left_alone(&world);
    go_on(&mut world, 24 * HOUR);
    assert!(!is_swept(&world, "one"));
    go_on(&mut world, 2 * HOUR);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired), "{}", world.last_words());
    assert!(is_swept(&world, "one") && !is_condemned(&world, "two"));
    expect_said(&world, "one", "True", Reason::BackupExpired, "is deleted in the store");
    let of = status(&world, "one");
    let complete = of.conditions.iter().find(|c| c.type_ == "Complete").unwrap();
    assert_eq!((complete.status.as_str(), complete.reason.as_str()), ("False", "BackupExpired"));
    let failed = of.conditions.iter().find(|c| c.type_ == "Failed").unwrap();
    assert_eq!(failed.status, "False");
    assert_eq!(of.expiry.unwrap().after, BackupPhase::Complete);
    let kept = record(&world);
    assert!(kept.swept_bytes == Some(300) && kept.sweep_at.is_none(), "{kept:?}");
    assert!(kept.swept_at > kept.condemned_at && kept.message.is_none(), "{kept:?}");
    is_left_alone(&world);
    for reason in [Reason::BackupExpiring, Reason::BackupExpired] {
        assert!(world.events.contains(&reason), "{reason:?}");
    }
    let writes = world.writes.len();
    go_on(&mut world, 2 * DAY);
    assert_eq!(world.writes.len(), writes, "at rest nothing is written: {}", world.last_words());
}

#[test]
fn what_no_rule_of_its_schedule_keeps_expires_and_its_object_stays_until_then() {
    let mut world = scheduled(&json!({
        "schedule": "0 */6 * * *", "retention": { "last": 2 }, "historyLimit": 1,
    }));
    assert!(condition(&world, "RetentionDelayed").starts_with("False UpToDate"));
    go_on(&mut world, 3 * DAY + HOUR);
    let all = backups(&world);
    let of =
        |wanted: BackupPhase| all.iter().filter(|name| phase(&world, name) == Some(wanted)).count();
    assert_eq!(of(BackupPhase::Complete), 2, "{all:?}");
    assert_eq!(world.ring.store.outcomes.len(), 12);
    assert_eq!(world.ring.store.condemned.len(), 10, "{}", world.last_words());
    let (swept, expiring) = (world.ring.store.swept.len(), of(BackupPhase::Expiring));
    assert!((5..=7).contains(&swept) && expiring == 10 - swept, "{swept} {expiring}");
    assert_eq!(of(BackupPhase::Expired), 1, "`historyLimit` counts these");
    let expiring = all.iter().find(|n| phase(&world, n) == Some(BackupPhase::Expiring)).unwrap();
    let expiry = status(&world, expiring).expiry.unwrap();
    assert_eq!(expiry.by, palladion_api::backup::ExpiredBy::Schedule);
    assert!(condition(&world, "RetentionDelayed").starts_with("False UpToDate"));
}

#[test]
fn of_each_day_one_stays_and_without_retention_none_expires() {
    let mut world = scheduled(&json!({ "schedule": "0 */6 * * *", "historyLimit": 20 }));
    go_on(&mut world, 2 * DAY + HOUR);
    assert_eq!((backups(&world).len(), world.ring.store.condemned.len()), (8, 0));
    let rules = json!({ "spec": { "retention": { "last": 1, "days": 2 } } });
    world.store.merge(&crate::backup_schedules::key(), &rules, Subresource::None).unwrap();
    go_on(&mut world, HOUR);
    let complete = |world: &World| {
        let all = backups(world);
        let of = all.into_iter().filter(|name| phase(world, name) == Some(BackupPhase::Complete));
        of.count()
    };
    assert_eq!((complete(&world), world.ring.store.condemned.len()), (2, 6));
    let none = json!({ "spec": { "retention": null } });
    world.store.merge(&crate::backup_schedules::key(), &none, Subresource::None).unwrap();
    go_on(&mut world, DAY);
    assert_eq!(world.ring.store.condemned.len(), 6);
    assert_eq!(condition(&world, "RetentionDelayed"), "");
}

#[test]
fn a_rule_that_is_corrected_before_anything_is_condemned_lets_nothing_go() {
    let mut world = scheduled(&json!({ "schedule": "0 */6 * * *", "historyLimit": 20 }));
    go_on(&mut world, 2 * DAY + HOUR);
    let rules = json!({ "spec": { "retention": { "last": 1 } } });
    world.store.merge(&crate::backup_schedules::key(), &rules, Subresource::None).unwrap();
    world.until(|world| !record(world).backups.is_empty());
    let rules = json!({ "spec": { "retention": { "last": 20 } } });
    world.store.merge(&crate::backup_schedules::key(), &rules, Subresource::None).unwrap();
    go_on(&mut world, HOUR);
    assert_eq!(world.ring.store.condemned.len(), 0, "{}", world.last_words());
    assert!(record(&world).backups.is_empty(), "nothing is under way");
}

#[test]
fn the_newest_complete_one_of_a_schedule_stays_until_there_is_another() {
    let mut world = scheduled(&json!({ "schedule": "0 */6 * * *" }));
    go_on(&mut world, 6 * HOUR + 600);
    let first = backups(&world)[0].clone();
    expire(&mut world, &first);
    world.pass(HOUR);
    assert_eq!(phase(&world, &first), Some(BackupPhase::Complete));
    expect_said(&world, &first, "False", Reason::ExpiryWaits, "is the newest complete one");
    assert!(!is_condemned(&world, &first));
    go_on(&mut world, 6 * HOUR);
    assert_eq!(phase(&world, &first), Some(BackupPhase::Expiring), "{}", world.last_words());
    assert!(is_condemned(&world, &first));
}

#[test]
fn what_a_restore_names_stays_until_that_has_ended() {
    let mut world = two();
    restores::ask(&mut world, "back", &json!({ "source": { "backup": "one" } }));
    expire(&mut world, "one");
    let waited = std::cell::Cell::new(false);
    world.until(|w| {
        waited.set(waited.get() || said(w, "one").contains("CassandraRestore back"));
        restores::phase(w, "back").is_some_and(RestorePhase::is_final)
    });
    assert!(waited.get(), "it is said for which restore");
    assert_eq!(restores::phase(&world, "back"), Some(RestorePhase::Complete));
    a_day_passes(&mut world);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired), "{}", world.last_words());
    // One that waits for a yes names it, too; and one that was deleted meanwhile.
    restores::ask(
        &mut world,
        "over",
        &json!({ "source": { "backup": "two" }, "existing": "Truncate" }),
    );
    world.until(|w| restores::phase(w, "over") == Some(RestorePhase::Confirming));
    ask(&mut world, "three", &json!({}));
    expire(&mut world, "two");
    world.pass(HOUR);
    expect_said(&world, "two", "False", Reason::ExpiryWaits, "CassandraRestore over");
    assert_eq!(phase(&world, "two"), Some(BackupPhase::Complete));
    restores::patch(&mut world, "over", &json!({ "abort": true }));
    a_day_passes(&mut world);
    assert_eq!(phase(&world, "two"), Some(BackupPhase::Expired), "{}", world.last_words());
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Complete));
}

#[test]
fn nothing_is_restored_from_a_backup_that_expires() {
    let mut world = two();
    expire(&mut world, "one");
    world.until(|w| phase(w, "one") == Some(BackupPhase::Expiring));
    restores::ask(&mut world, "back", &json!({ "source": { "backup": "one" } }));
    world.pass(HOUR);
    assert_eq!(restores::phase(&world, "back"), Some(RestorePhase::Failed));
    restores::expect_said(&world, "back", Reason::RestoreRefused, "expires, or has expired");
    assert!(is_condemned(&world, "one"));
    let to = json!([{ "from": "shop.orders", "to": "shop.again" }]);
    restores::ask(&mut world, "other", &json!({ "source": { "backup": "two" }, "tables": to }));
    a_day_passes(&mut world);
    assert_eq!(restores::phase(&world, "other"), Some(RestorePhase::Complete));
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired));
}

#[test]
fn a_restore_and_what_expires_end_alike_whichever_comes_first() {
    for restore_first in [true, false] {
        let mut world = two();
        let restore = |world: &mut World| {
            restores::ask(world, "back", &json!({ "source": { "backup": "two" } }));
        };
        if restore_first {
            restore(&mut world);
            world.until(|w| restores::phase(w, "back") == Some(RestorePhase::Loading));
            expire(&mut world, "one");
            world.pass(20);
            assert!(!is_condemned(&world, "one"), "not beside a restore");
        } else {
            expire(&mut world, "one");
            world.until(|w| orders(w) > 0);
            restore(&mut world);
            world.pass(1);
            restores::expect_said(&world, "back", Reason::RestorePending, "backups that expire");
        }
        a_day_passes(&mut world);
        assert_eq!(restores::phase(&world, "back"), Some(RestorePhase::Complete));
        assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired), "{}", world.last_words());
        is_left_alone(&world);
    }
}

#[test]
fn a_store_that_is_away_holds_up_no_backup_and_is_asked_again() {
    let mut world = two();
    world.ring.store.is_away = true;
    expire(&mut world, "one");
    world.pass(300);
    expect_said(&world, "one", "False", Reason::StoreUnreachable, "the store does not answer");
    assert_eq!(record(&world).reason.as_deref(), Some("StoreUnreachable"));
    ask(&mut world, "three", &json!({}));
    world.pass(60);
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Preparing), "it gives way");
    assert!(record(&world).id.is_none());
    world.ring.store.is_away = false;
    world.pass(1200);
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Complete));
    go_on(&mut world, 2 * HOUR);
    assert!(is_condemned(&world, "one"), "{}", world.last_words());
    // The same of what is to be deleted; nobody waits for it meanwhile.
    world.ring.store.is_away = true;
    go_on(&mut world, 28 * HOUR);
    assert!(!is_swept(&world, "one"));
    assert_eq!(record(&world).reason.as_deref(), Some("StoreUnreachable"), "{:?}", record(&world));
    world.ring.store.is_away = false;
    go_on(&mut world, 2 * HOUR);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired), "{}", world.last_words());
    assert_eq!(record(&world).reason, None);
    is_left_alone(&world);
}

#[test]
fn members_that_may_not_delete_say_so_and_are_asked_once_a_day() {
    let mut world = scheduled(&json!({ "schedule": "0 */6 * * *", "retention": { "last": 1 } }));
    world.ring.store.forbids_deletes = true;
    go_on(&mut world, 3 * DAY + HOUR);
    assert!(world.ring.store.condemned.len() > 8 && world.ring.store.swept.is_empty());
    let delayed = condition(&world, "RetentionDelayed");
    let words = "kubectl palladion backup sweep";
    assert!(delayed.starts_with("True StoreRefused") && delayed.contains(words), "{delayed}");
    let first = backups(&world)[0].clone();
    expect_said(&world, &first, "False", Reason::BackupExpiring, "not deleted yet: 403");
    let complete = status_of_last(&world);
    assert_eq!(complete, Some(BackupPhase::Complete), "backups are taken all the same");
    let sweeps = world.story.iter().filter(|line| line.contains("is to be deleted")).count();
    assert!((1..=5).contains(&sweeps), "{sweeps} in three days");
    // Somebody else deletes it, by `kubectl palladion backup sweep`.
    let now = world.now();
    let grace = jiff::SignedDuration::from_hours(24);
    let due = world.ring.store.condemned.clone().into_iter().filter(|(_, at)| *at + grace <= now);
    world.ring.store.swept.extend(due.map(|(id, _)| (id, now)));
    go_on(&mut world, 25 * HOUR);
    assert_eq!(phase(&world, &first), Some(BackupPhase::Expired), "{}", world.last_words());
}

fn status_of_last(world: &World) -> Option<BackupPhase> {
    phase(world, backups(world).last().expect("a backup"))
}

#[test]
fn what_somebody_reads_is_not_deleted_and_it_is_said_who_reads_it() {
    let mut world = scheduled(&json!({ "schedule": "0 */6 * * *", "retention": { "last": 1 } }));
    go_on(&mut world, 13 * HOUR);
    let first = backups(&world)[0].clone();
    assert!(is_condemned(&world, &first));
    let id = id(&world, &first);
    world.ring.store.pins.insert(id.clone(), "laptop".into());
    go_on(&mut world, 30 * HOUR);
    assert!(!is_swept(&world, &first));
    let delayed = condition(&world, "RetentionDelayed");
    let words = format!("backup {id} is read by laptop");
    assert!(delayed.starts_with("True RetentionVetoed") && delayed.contains(&words), "{delayed}");
    expect_said(&world, &first, "False", Reason::BackupExpiring, &words);
    world.ring.store.pins.clear();
    go_on(&mut world, 26 * HOUR);
    assert_eq!(phase(&world, &first), Some(BackupPhase::Expired), "{}", world.last_words());
    assert!(condition(&world, "RetentionDelayed").starts_with("False UpToDate"));
}

#[test]
fn what_is_read_when_it_is_to_be_condemned_stays_for_a_day_and_the_others_go() {
    let mut world = two();
    ask(&mut world, "three", &json!({}));
    world.settle();
    let pinned = id(&world, "one");
    world.ring.store.pins.insert(pinned, "laptop".into());
    expire(&mut world, "one");
    expire(&mut world, "two");
    world.pass(HOUR);
    assert!(!is_condemned(&world, "one") && is_condemned(&world, "two"));
    // Who needs it may restore from it: it is what it was.
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Complete));
    expect_said(&world, "one", "False", Reason::ExpiryWaits, "it is read by laptop");
    assert_eq!(record(&world).reason.as_deref(), Some("ExpiryWaits"));
    world.ring.store.pins.clear();
    go_on(&mut world, 22 * HOUR);
    assert!(!is_condemned(&world, "one"), "asked once a day");
    go_on(&mut world, 30 * HOUR);
    for name in ["one", "two"] {
        assert_eq!(phase(&world, name), Some(BackupPhase::Expired), "{}", world.last_words());
    }
}

#[test]
fn the_last_complete_one_in_the_repository_stays_whoever_lets_it_expire() {
    let mut world = two();
    expire(&mut world, "one");
    expire(&mut world, "two");
    world.pass(HOUR);
    assert!(world.ring.store.condemned.is_empty());
    expect_said(&world, "one", "False", Reason::ExpiryWaits, "1 must stay");
    ask(&mut world, "three", &json!({}));
    world.settle();
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Complete));
    go_on(&mut world, 52 * HOUR);
    for name in ["one", "two"] {
        assert_eq!(phase(&world, name), Some(BackupPhase::Expired), "{}", world.last_words());
    }
}

#[test]
fn what_failed_expires_too_and_what_never_began_at_once() {
    let mut world = two();
    ask(&mut world, "never", &json!({ "abort": true, "expire": true }));
    world.settle();
    assert_eq!(phase(&world, "never"), Some(BackupPhase::Expired));
    expect_said(&world, "never", "True", Reason::BackupExpired, "never began");
    ask(&mut world, "aborted", &json!({ "expire": true }));
    world.until(|w| phase(w, "aborted") == Some(BackupPhase::Uploading));
    world.pass(10);
    assert_eq!(said(&world, "aborted"), "", "it takes effect when it has ended");
    patch(&mut world, "aborted", &json!({ "abort": true }));
    a_day_passes(&mut world);
    assert_eq!(phase(&world, "aborted"), Some(BackupPhase::Expired), "{}", world.last_words());
    let of = status(&world, "aborted");
    let failed = of.conditions.iter().find(|c| c.type_ == "Failed").unwrap();
    let failed = (failed.status.as_str(), failed.reason.as_str());
    assert_eq!(failed, ("True", "BackupAborted"), "why it had ended stays to be read");
    assert!(is_swept(&world, "aborted"));
}

#[test]
fn a_backup_in_another_store_is_not_condemned_in_this_one() {
    let mut world = two();
    world.patch_spec(&json!({ "backup": { "store": { "s3": { "bucket": "another" } } } }));
    world.settle();
    expire(&mut world, "one");
    world.settle();
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Complete));
    let words = format!("kubectl palladion backup expire {}", id(&world, "one"));
    expect_said(&world, "one", "False", Reason::ExpiryWaits, &words);
    assert!(world.ring.store.condemned.is_empty());
}

#[test]
fn what_the_store_answers_for_good_is_said_and_asked_again_after_a_day() {
    let mut world = two();
    world.ring.store.fault = Some(Cause::RepositoryDamaged);
    expire(&mut world, "one");
    world.pass(HOUR);
    assert_eq!(record(&world).reason.as_deref(), Some("RepositoryDamaged"));
    expect_said(&world, "one", "False", Reason::ExpiryWaits, "a fault of the store");
    is_left_alone(&world);
    world.ring.store.fault = None;
    go_on(&mut world, 20 * HOUR);
    assert!(!is_condemned(&world, "one"));
    go_on(&mut world, 32 * HOUR);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired), "{}", world.last_words());
    assert_eq!(record(&world).reason, None);
}

#[test]
fn an_object_that_is_deleted_while_it_expires_leaves_nothing_condemned_behind() {
    let mut world = two();
    expire(&mut world, "one");
    world.settle();
    let id = id(&world, "one");
    world.delete(kinds::BACKUP, "one");
    a_day_passes(&mut world);
    assert!(world.ring.store.swept.contains_key(&id), "{}", world.last_words());
    is_left_alone(&world);
    // One whose object goes before the order is given stays in the store.
    let mut world = two();
    expire(&mut world, "one");
    let id = self::id(&world, "one");
    world.until(|w| record(w).id.is_some());
    world.delete(kinds::BACKUP, "one");
    world.settle();
    assert!(!world.ring.store.condemned.contains_key(&id), "{}", world.last_words());
    is_left_alone(&world);
}

#[test]
fn a_paused_ring_lets_nothing_expire() {
    let mut world = two();
    world.patch_spec(&json!({ "paused": true }));
    expire(&mut world, "one");
    go_on(&mut world, DAY);
    assert!(world.ring.store.condemned.is_empty());
    world.patch_spec(&json!({ "paused": false }));
    a_day_passes(&mut world);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired));
}

/// A leader ends, or is frozen, at every write of a history that ends so.
fn end_alike(world: World, expected_phase: BackupPhase) -> World {
    let (worlds, end) = before_each_write(world);
    assert!(worlds.len() > 4, "{}", worlds.len());
    let expected = end.end();
    let gone = |world: &mut World, _: &End| {
        // What an answer was lost of is tried again within the hour.
        go_on(world, 2 * HOUR);
        let is_gone = |name: &&str| phase(world, name) == Some(expected_phase);
        let is_whole = ["one", "two"].iter().all(is_gone)
            && ["one", "two"].iter().all(|name| is_condemned(world, name))
            && orders(world) == 0;
        match is_whole && phase(world, "three") == Some(BackupPhase::Complete) {
            true if record(world).id.is_none() => Ok(()),
            _ => Err(format!("{:?} {}", record(world), said(world, "one"))),
        }
    };
    gone(&mut end.clone(), &expected).unwrap();
    for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        // Short enough for every write.
        let every = worlds.clone();
        all_end_alike("a leader ends", every, &expected, disturb, gone);
    }
    all_end_alike("a leader is frozen", worlds, &expected, in_flight, gone);
    end
}

#[test]
fn backups_expire_alike_wherever_the_leader_ends() {
    let mut world = two();
    ask(&mut world, "three", &json!({}));
    world.settle();
    expire(&mut world, "one");
    expire(&mut world, "two");
    let mut world = end_alike(world, BackupPhase::Expiring);
    go_on(&mut world, 25 * HOUR - 660);
    assert!(world.ring.store.swept.is_empty());
    let due = record(&world).sweep_at.unwrap().0;
    let left = due.duration_since(world.now()).as_secs();
    world.pass(left - 2);
    end_alike(world, BackupPhase::Expired);
}

#[test]
fn a_backup_that_comes_while_others_are_condemned_waits_for_that() {
    let mut world = two();
    expire(&mut world, "one");
    world.until(|w| orders(w) > 0);
    ask(&mut world, "three", &json!({}));
    world.pass(1);
    let of = status(&world, "three");
    let said = &of.conditions.iter().find(|c| c.type_ == "Complete").unwrap().message;
    assert!(said.contains("backups that expire"), "{said}");
    world.settle();
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Complete));
    assert!(is_condemned(&world, "one"));
    a_day_passes(&mut world);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired));
}

#[test]
fn a_member_that_goes_down_is_followed_by_another_one() {
    let mut world = two();
    expire(&mut world, "one");
    world.until(|w| orders(w) > 0);
    let ordered = |w: &World| {
        let mut all = w.store.list(kinds::MEMBER);
        all.find(|(_, m)| m["spec"]["transfer"].is_object()).map(|(key, _)| key.name.clone())
    };
    let first = ordered(&world).unwrap();
    let node = world.node_of(&first);
    world.set_machine(&node, palladion_plan::sim::kubernetes::Machine::Down);
    world.pass(2 * HOUR);
    assert!(is_condemned(&world, "one"), "{}", world.last_words());
}

#[test]
fn a_sweep_that_takes_long_lets_a_backup_that_waits_go_first() {
    let mut world = two();
    expire(&mut world, "one");
    world.settle();
    world.ring.store.sweep_takes = Some(jiff::SignedDuration::from_hours(5));
    go_on(&mut world, 25 * HOUR);
    world.until(|w| orders(w) > 0);
    ask(&mut world, "three", &json!({}));
    go_on(&mut world, HOUR / 2);
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Pending));
    go_on(&mut world, HOUR);
    assert_eq!(phase(&world, "three"), Some(BackupPhase::Complete), "{}", world.last_words());
    assert!(!is_swept(&world, "one"));
    go_on(&mut world, 6 * HOUR);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Expired), "{}", world.last_words());
}

#[test]
fn a_restore_of_another_ring_of_the_namespace_keeps_what_it_names() {
    let mut world = two();
    restores::ask(
        &mut world,
        "elsewhere",
        &json!({ "cluster": "another", "source": { "backup": "one" } }),
    );
    expire(&mut world, "one");
    go_on(&mut world, 2 * HOUR);
    assert_eq!(phase(&world, "one"), Some(BackupPhase::Complete));
    expect_said(&world, "one", "False", Reason::ExpiryWaits, "CassandraRestore elsewhere");
    world.delete(kinds::RESTORE, "elsewhere");
    world.settle();
    assert!(is_condemned(&world, "one"), "{}", world.last_words());
}

#[test]
fn an_agent_that_says_nothing_holds_up_no_backup_for_ever() {
    let mut world = two();
    expire(&mut world, "one");
    world.until(|w| phase(w, "one") == Some(BackupPhase::Expiring));
    for name in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"] {
        world.agent_is_cut(name, crate::sim::world::Link::Cut);
    }
    go_on(&mut world, HOUR);
    assert!(record(&world).id.is_none() && record(&world).again_at.is_some());
    world.agents_are_back();
    go_on(&mut world, 2 * HOUR);
    assert!(is_condemned(&world, "one"), "{}", world.last_words());
    is_left_alone(&world);
}

#[test]
fn that_a_rule_reaches_no_backup_in_a_store_of_another_spelling_is_said() {
    let mut world = scheduled(&json!({ "schedule": "0 */6 * * *", "historyLimit": 20 }));
    go_on(&mut world, 13 * HOUR);
    assert_eq!(backups(&world).len(), 2);
    let first = backups(&world)[0].clone();
    world.patch_spec(&json!({ "backup": { "store": { "s3": { "prefix": "demo/again" } } } }));
    let rules = json!({ "spec": { "retention": { "last": 1 } } });
    world.store.merge(&crate::backup_schedules::key(), &rules, Subresource::None).unwrap();
    world.pass(HOUR);
    let delayed = condition(&world, "RetentionDelayed");
    assert!(delayed.starts_with("True ExpiryWaits") && delayed.contains(&first), "{delayed}");
    assert!(world.ring.store.condemned.is_empty());
    world.patch_spec(&json!({ "backup": { "store": { "s3": { "prefix": "demo" } } } }));
    world.pass(HOUR);
    assert!(condition(&world, "RetentionDelayed").starts_with("False UpToDate"));
    assert!(is_condemned(&world, &first), "{}", world.last_words());
}
