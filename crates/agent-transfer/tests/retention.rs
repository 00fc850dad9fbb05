//! Backups expire by two children, a day apart: what others need stays, what is read is not
//! touched, and an order that is carried out again does no harm.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_agent_transfer::orders::retention::Sweep;
use palladion_agent_transfer::retention::sweep;
use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::words::stopped::Cause;
use palladion_api::backup::{Expired, Swept};
use palladion_backup::names::BackupId;
use palladion_backup::pins::Pin;
use palladion_backup::store::memory::Seeded;
use palladion_backup::store::{Created, Failure, Meta, Store, Undeleted};
use palladion_backup::vault::Vault;
use palladion_store::directory::Directory;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use support::{Member, repository, run, tree};

const DAY: u64 = 86_400;

struct Place {
    root: tempfile::TempDir,
    member: Member,
}

impl Place {
    /// A member, and where its backups go.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let store = root.path().join("store");
        std::fs::create_dir_all(&store).unwrap();
        let base = json!({"repository": repository("Plain"), "store": {"at": store}});
        let member = Member::new(root.path(), 1, base);
        assert_eq!(run(&member.prepare()).done(), Done::Prepared);
        Self { root, member }
    }

    fn store(&self) -> PathBuf {
        self.root.path().join("store")
    }

    /// A backup of a table with these SSTables and no others.
    fn back_up(&self, backup: &str, generations: &[&str]) {
        let _ = std::fs::remove_dir_all(self.member.root.join("data/shop"));
        for generation in generations {
            self.member.write("users", generation, 5000);
        }
        self.member.write("orders", "1", 500);
        self.back_up_again(backup);
    }

    /// A backup of the files as they are.
    fn back_up_again(&self, backup: &str) {
        let tag = format!("palladion-{backup}-1");
        self.member.take_snapshot(&tag);
        let schema = self.member.describe();
        let ended = run(&self.member.upload(backup, &tag, &schema));
        ended.done();
        let finish = self.member.finish(backup, &[(1, &ended)]);
        assert!(matches!(run(&finish).done(), Done::Finished { .. }));
    }

    /// Every object is so many seconds older than it was.
    fn age(&self, seconds: u64) {
        let random = Seeded::new(0);
        let store = Directory::open(&self.store(), &random).unwrap();
        for meta in store.list("").unwrap() {
            let file = std::fs::File::options().write(true).open(self.store().join(&meta.name));
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(meta.modified as u64);
            file.unwrap().set_modified(time - Duration::from_secs(seconds)).unwrap();
        }
    }

    fn pin(&self, backup: &str) -> Pin {
        let random = Seeded::new(7);
        let store = Directory::open(&self.store(), &random).unwrap();
        let vault = Vault::open(&store, None, &random).unwrap();
        let id = BackupId::parse(backup).unwrap();
        Pin::write(&vault, &id, "restore-back", 0).unwrap()
    }

    fn unpin(&self, pin: Pin) {
        let random = Seeded::new(8);
        let store = Directory::open(&self.store(), &random).unwrap();
        pin.end(&Vault::open(&store, None, &random).unwrap());
    }

    fn ordered(&self, work: Value) -> Done {
        run(&self.member.settings(work)).done()
    }

    fn expire(&self, backups: &[&str], keep: u32) -> Expired {
        match self.ordered(json!({"kind": "Expire", "backups": backups, "keep": keep})) {
            Done::Expired { expired } => *expired,
            other => panic!("{other:?}"),
        }
    }

    fn sweep(&self, backups: &[&str]) -> Swept {
        match self.ordered(json!({"kind": "Sweep", "backups": backups})) {
            Done::Swept { swept } => *swept,
            other => panic!("{other:?}"),
        }
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        tree(&self.store()).into_iter().filter(|(name, _)| !name.starts_with(".new")).collect()
    }

    #[track_caller]
    fn comes_back_whole(&self, backup: &str) {
        let verify = json!({"kind": "Verify", "backup": backup, "depth": "Read"});
        match self.ordered(verify) {
            Done::Verified { damaged, .. } => assert!(damaged.is_empty(), "{damaged:?}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Three backups of which each has something of the one before, four days old.
fn three() -> Place {
    let place = Place::new();
    place.back_up("a", &["1", "2"]);
    place.back_up("b", &["2", "3"]);
    place.back_up("c", &["3", "4"]);
    place.age(4 * DAY);
    place
}

#[test]
fn what_expires_is_condemned_and_a_day_later_gone_but_for_what_others_need() {
    let place = three();
    let before = place.objects();
    let expired = place.expire(&["a", "b"], 1);
    assert_eq!(
        (expired.condemned.as_slice(), expired.stay.len()),
        (&["a", "b"].map(String::from)[..], 0)
    );
    assert!(expired.objects > 0 && expired.bytes > 5000, "{expired:?}");
    let kept =
        |objects: &BTreeMap<String, Vec<u8>>| before.keys().all(|name| objects.contains_key(name));
    assert!(kept(&place.objects()), "the first phase deletes nothing");
    // Nobody begins to read it.
    let fetch = place.member.fetch("a", &place.root.path().join("into"));
    let (_, said) = run(&fetch).stopped();
    assert!(said.contains("is condemned by entry 1"), "{said}");
    let young = place.sweep(&["a", "b"]);
    assert_eq!((young.objects, young.again_in_hours), (0, Some(24)), "{young:?}");
    assert!(young.stay[0].why.contains("can be swept in 24 h"), "{young:?}");
    assert_eq!((young.vetoed, young.refused), (None, None));
    assert!(kept(&place.objects()));
    place.age(DAY);
    let swept = place.sweep(&["a", "b", "never"]);
    assert_eq!(swept.backups, ["a", "b"]);
    assert_eq!((swept.unknown, swept.again_in_hours), (vec!["never".to_string()], None));
    assert!(swept.objects > 0 && swept.bytes > 5000);
    let left = place.objects();
    assert!(
        !left.keys().any(|name| name.starts_with("backups/a/") || name.starts_with("backups/b/"))
    );
    assert!(left.keys().any(|name| name.contains("/nb-3-big/")), "c has it of b");
    assert!(
        !left.keys().any(|name| name.contains("/nb-1-big/") && name.contains("aa/")),
        "{left:?}"
    );
    place.comes_back_whole("c");
}

#[test]
fn orders_that_are_carried_out_again_do_no_harm() {
    let place = three();
    let first = place.expire(&["a", "b"], 1);
    let objects = place.objects();
    for _ in 0..2 {
        let again = place.expire(&["a", "b"], 1);
        assert_eq!((again.condemned, again.objects), (first.condemned.clone(), 0));
    }
    // A part of it, and one that was never there.
    let part = place.expire(&["b", "never"], 1);
    assert_eq!((part.condemned, part.absent), (vec!["b".to_string()], vec!["never".to_string()]));
    assert!(place.objects() == objects, "nothing was written");
    place.age(DAY);
    let swept = place.sweep(&["a", "b"]);
    let objects = place.objects();
    let again = place.sweep(&["a", "b"]);
    assert_eq!((again.backups, again.objects, again.again_in_hours), (swept.backups, 0, None));
    assert_eq!(place.expire(&["a"], 1).condemned, ["a"], "it stays condemned");
    assert!(place.objects() == objects, "nothing was written");
    place.comes_back_whole("c");
}

#[test]
fn what_is_read_stays_and_the_others_go() {
    let place = three();
    let pin = place.pin("a");
    let expired = place.expire(&["a", "b"], 1);
    assert_eq!(expired.condemned, ["b"]);
    assert_eq!(expired.stay[0].backup, "a");
    assert!(expired.stay[0].why.contains("is read by restore-back"), "{expired:?}");
    place.comes_back_whole("a");
    place.unpin(pin);
    assert_eq!(place.expire(&["a", "b"], 1).condemned, ["a", "b"]);
    // A reader that had begun before, and renews its pin.
    place.age(DAY);
    let pin = place.pin("a");
    let vetoed = place.sweep(&["a", "b"]);
    assert_eq!((vetoed.backups, vetoed.again_in_hours), (vec!["b".to_string()], Some(24)));
    let why = vetoed.vetoed.unwrap();
    assert!(why.contains("backup a is read by restore-back"), "{why}");
    assert_eq!(vetoed.stay[0].why, why);
    assert!(place.objects().contains_key("backups/a/outcome.json"));
    place.unpin(pin);
    assert_eq!(place.sweep(&["a"]).backups, ["a"]);
    place.comes_back_whole("c");
}

#[test]
fn so_many_as_are_asked_for_stay_and_can_be_read() {
    let place = three();
    let few = place.expire(&["a", "b"], 2);
    assert!(few.condemned.is_empty() && few.stay.len() == 2, "{few:?}");
    assert!(few.stay[0].why.contains("1 complete backups would be left"), "{few:?}");
    // The last one never goes, whatever is asked for.
    let last = place.expire(&["a", "b", "c"], 1);
    assert!(last.condemned.is_empty() && last.stay.len() == 3, "{last:?}");
    // One whose manifest is gone does not count.
    std::fs::remove_dir_all(place.store().join("backups/c/members")).unwrap();
    let last = place.expire(&["a", "b"], 1);
    assert!(last.condemned.is_empty(), "{last:?}");
    assert_eq!(place.expire(&["a"], 1).condemned, ["a"]);
}

/// A store in which nothing is deleted, for this reason.
struct Undeletable<'a>(Directory<'a>, Undeleted);

impl Store for Undeletable<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        self.0.put_if_absent(name, bytes)
    }
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.0.get(name)
    }
    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        self.0.head(name)
    }
    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        self.0.list(prefix)
    }
    fn delete(&self, _: &str) -> Result<(), Undeleted> {
        Err(self.1.clone())
    }
    fn now(&self) -> Result<i64, Failure> {
        self.0.now()
    }
}

#[test]
fn a_store_that_lets_nothing_be_deleted_is_an_answer_and_no_failure() {
    let place = three();
    assert_eq!(place.expire(&["a"], 1).condemned, ["a"]);
    place.age(DAY);
    let before = place.objects();
    let random = Seeded::new(9);
    let forbidden = Undeleted::Refused(Failure("403 Forbidden: AccessDenied".into()));
    let store = Undeletable(Directory::open(&place.store(), &random).unwrap(), forbidden);
    let vault = Vault::open(&store, None, &random).unwrap();
    let order = Sweep { backups: [BackupId::parse("a").unwrap()].into() };
    let Done::Swept { swept } = sweep(&vault, &order).unwrap() else { panic!("another answer") };
    let why = swept.refused.unwrap();
    assert!(why.contains("cannot delete object backups/a/outcome.json: 403"), "{why}");
    assert_eq!((swept.again_in_hours, swept.stay[0].why.as_str()), (Some(24), why.as_str()));
    assert_eq!((swept.objects, swept.vetoed), (0, None));
    assert!(place.objects() == before, "nothing is written");
    assert_eq!(place.sweep(&["a"]).backups, ["a"]);
    place.comes_back_whole("c");
}

#[test]
fn a_deletion_that_breaks_off_is_no_missing_right_and_is_tried_again() {
    let place = three();
    assert_eq!(place.expire(&["a"], 1).condemned, ["a"]);
    place.age(DAY);
    let random = Seeded::new(9);
    let broken = Undeleted::Unknown(Failure("connection reset by peer".into()));
    let store = Undeletable(Directory::open(&place.store(), &random).unwrap(), broken);
    let vault = Vault::open(&store, None, &random).unwrap();
    let order = Sweep { backups: [BackupId::parse("a").unwrap()].into() };
    let stopped = sweep(&vault, &order).unwrap_err();
    assert_eq!(stopped.cause(), Cause::StoreUnreachable, "{stopped}");
    assert!(stopped.to_string().contains("connection reset"), "{stopped}");
    assert_eq!(place.sweep(&["a"]).backups, ["a"]);
    place.comes_back_whole("c");
}

#[test]
fn a_list_that_cannot_be_read_is_named_where_its_backup_stays() {
    let place = three();
    assert_eq!(place.expire(&["a"], 1).condemned, ["a"]);
    place.age(DAY);
    let mut lists = place.objects().into_keys().filter(|name| name.contains(".objects~"));
    let list = lists.next_back().unwrap();
    let bytes = std::fs::read(place.store().join(&list)).unwrap();
    std::fs::remove_file(place.store().join(&list)).unwrap();
    let swept = place.sweep(&["a"]);
    assert_eq!((swept.objects, swept.again_in_hours), (0, Some(24)), "{swept:?}");
    let why = swept.vetoed.unwrap();
    assert!(why.contains(&list) && why.contains("bring the object back"), "{why}");
    assert_eq!(swept.stay[0].why, why);
    std::fs::write(place.store().join(&list), bytes).unwrap();
    place.age(2 * DAY);
    assert_eq!(place.sweep(&["a"]).backups, ["a"]);
    place.comes_back_whole("c");
}

#[test]
fn what_a_member_finds_damaged_the_next_backup_sends_again() {
    let place = Place::new();
    place.back_up("one", &["1", "2"]);
    let sent = || place.objects().into_keys().filter(|name| name.starts_with("sstables/")).count();
    let (objects, rotten) = (sent(), place.objects().into_keys().find(|n| n.contains("/pack~")));
    let path = place.store().join(rotten.unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let verify = || match place.ordered(json!({"kind": "Verify", "backup": "one", "depth": "Read"}))
    {
        Done::Verified { damaged, .. } => damaged.len(),
        other => panic!("{other:?}"),
    };
    // Ordered again after a crash it says the same.
    assert_eq!((verify(), verify()), (1, 1));
    let notes = || place.objects().into_keys().filter(|name| name.starts_with("damaged/")).count();
    assert_eq!(notes(), 1);
    place.back_up_again("two");
    assert_eq!(sent(), objects + 1, "what is damaged, and nothing else");
    place.comes_back_whole("two");
    // The damaged one takes the place of none.
    place.age(3 * DAY);
    let expired = place.expire(&["two"], 1);
    let [stays] = &expired.stay[..] else { panic!("{expired:?}") };
    assert!(stays.why.contains("one cannot, as objects of theirs are damaged"), "{}", stays.why);
    assert_eq!(place.expire(&["one"], 1).condemned, ["one"]);
    place.age(2 * DAY);
    assert_eq!(place.sweep(&["one"]).backups, ["one"]);
    assert_eq!(notes(), 0, "nobody names what it names");
    place.comes_back_whole("two");
}
