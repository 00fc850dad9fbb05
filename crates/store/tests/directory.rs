//! A store in a directory, as it is on a volume: whole objects, written once,
//! and nothing left behind.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use palladion_backup::fetch::Target;
use palladion_backup::hash::Hash;
use palladion_backup::names::BackupId;
use palladion_backup::store::memory::Seeded;
use palladion_backup::store::{Created, Store};
use palladion_store::directory::Directory;
use palladion_store::target::Folder;
use std::path::Path;

fn files(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            all.push(path.strip_prefix(root).unwrap().display().to_string());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    all.sort();
    all
}

#[test]
fn objects_are_written_once_listed_and_deleted() {
    let root = tempfile::tempdir().unwrap();
    let random = Seeded::new(1);
    let store = Directory::open(root.path(), &random).unwrap();
    assert_eq!(store.put_if_absent("a/b/c", b"one"), Ok(Created::Now));
    assert_eq!(store.put_if_absent("a/b/c", b"two"), Ok(Created::Before));
    assert_eq!(store.put_if_absent("a/d", b"three"), Ok(Created::Now));
    assert_eq!(store.get("a/b/c"), Ok(Some(b"one".to_vec())));
    assert_eq!((store.get("a/x"), store.head("a/x")), (Ok(None), Ok(None)));
    let names = |prefix: &str| {
        let all = store.list(prefix).unwrap();
        all.into_iter().map(|meta| (meta.name, meta.bytes)).collect::<Vec<_>>()
    };
    let expected = [("a/b/c".to_string(), 3), ("a/d".to_string(), 5)];
    assert_eq!(names("a/"), expected);
    assert_eq!(names(""), expected, "nothing that is not whole is listed");
    assert_eq!(names("a/b/"), expected[..1]);
    assert_eq!(names("z/"), []);
    assert_eq!((store.folders("a/"), store.folders("z/")), (Ok(vec!["b".into()]), Ok(vec![])));
    let after = store.after("a/", "a/b/c", 9).unwrap();
    assert_eq!((after.len(), after[0].name.as_str()), (1, "a/d"));
    assert_eq!(store.after("a/", "", 1).unwrap()[0].name, "a/b/c");
    let now = store.now().unwrap();
    let modified = store.head("a/d").unwrap().unwrap().modified;
    assert!((0..60).contains(&(now - modified)), "{now} {modified}");
    assert_eq!((store.delete("a/b/c"), store.delete("a/b/c")), (Ok(()), Ok(())));
    drop(store);
    assert_eq!(files(root.path()), [".new", "a", "a/d"], "empty folders go");
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_links_are_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let random = Seeded::new(1);
    let store = Directory::open(root.path(), &random).unwrap();
    for name in ["../a", "/etc/passwd", "a/../b", ".new/a", "a//b"] {
        assert!(store.put_if_absent(name, b"").is_err(), "{name}");
        assert!(store.get(name).is_err() && store.delete(name).is_err(), "{name}");
    }
    std::os::unix::fs::symlink("/etc/hostname", root.path().join("link")).unwrap();
    assert!(store.get("link").is_err());
    assert_eq!(store.list("").unwrap(), []);
}

#[test]
fn what_a_killed_run_has_left_is_removed_by_the_next_and_nothing_of_a_living_one() {
    let root = tempfile::tempdir().unwrap();
    let (dead, living, next) = (Seeded::new(1), Seeded::new(2), Seeded::new(3));
    let new = root.path().join(".new");
    std::fs::create_dir_all(new.join("killed")).unwrap();
    std::fs::write(new.join("killed.lock"), "").unwrap();
    std::fs::write(new.join("killed/0"), "half").unwrap();
    let alive = Directory::open(root.path(), &living).unwrap();
    alive.put_if_absent("a", b"").unwrap();
    assert_eq!(files(&new).iter().filter(|name| name.starts_with("killed")).count(), 0);
    let held = files(&new);
    assert_eq!(held.len(), 2, "its folder and its lock: {held:?}");
    let other = Directory::open(root.path(), &next).unwrap();
    other.put_if_absent("b", b"").unwrap();
    assert!(held.iter().all(|name| files(&new).contains(name)), "the living one keeps its own");
    alive.put_if_absent("c", b"").unwrap();
    drop((alive, other, dead));
    assert_eq!(files(&new), Vec::<String>::new());
}

#[test]
fn who_only_reads_writes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let random = Seeded::new(1);
    std::fs::write(root.path().join("a"), "text").unwrap();
    let store = Directory::open(root.path(), &random).unwrap();
    store.get("a").unwrap();
    store.list("").unwrap();
    store.head("a").unwrap();
    assert_eq!(files(root.path()), ["a"]);
    let missing = Directory::open(&root.path().join("x"), &random).map(drop);
    assert!(missing.unwrap_err().contains("cannot read the store"));
}

#[test]
fn many_writers_of_one_name_leave_one_whole_object() {
    let root = tempfile::tempdir().unwrap();
    let created = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8_u8)
            .map(|number| {
                let root = root.path();
                scope.spawn(move || {
                    let random = Seeded::new(u64::from(number));
                    let store = Directory::open(root, &random).unwrap();
                    let put = store.put_if_absent("a/b", &vec![number; 100_000]).unwrap();
                    let whole = store.get("a/b").unwrap().unwrap();
                    assert!(whole.len() == 100_000 && whole.iter().all(|byte| *byte == whole[0]));
                    u8::from(put == Created::Now)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum::<u8>()
    });
    assert_eq!(created, 1);
}

#[test]
fn a_directory_holds_files_of_one_backup() {
    let root = tempfile::tempdir().unwrap();
    let (into, id) = (root.path().join("into"), |text: &str| BackupId::parse(text).unwrap());
    let folder = Folder::of(&into, "r1", &id("a")).unwrap();
    let mut sink = folder.begin("h/k/t/nb-1-big-Data.db").unwrap();
    sink.write(b"te").unwrap();
    assert!(!into.join("h/k/t/nb-1-big-Data.db").exists(), "it is not whole yet");
    sink.write(b"xt").unwrap();
    sink.commit().unwrap();
    drop(folder.begin("h/k/t/other").unwrap());
    let expected = [".palladion-backup", "h", "h/k", "h/k/t", "h/k/t/nb-1-big-Data.db"];
    assert_eq!(files(&into), expected, "what was not committed is gone");
    let has =
        |bytes: &[u8]| folder.has("h/k/t/nb-1-big-Data.db", bytes.len() as u64, &Hash::of(bytes));
    assert_eq!(has(b"text"), Ok(true));
    assert!(has(b"TEXT").unwrap_err().contains("move it away"));
    assert_eq!(folder.has("x", 0, &Hash::of(b"")), Ok(false));
    // Again, but for no other backup and no other repository.
    assert!(Folder::of(&into, "r1", &id("a")).is_ok());
    let other = Folder::of(&into, "r1", &id("b")).map(drop).unwrap_err();
    assert!(other.contains("another backup (a)"), "{other}");
    assert!(Folder::of(&into, "r2", &id("a")).is_err());
    let strange = root.path().join("strange");
    std::fs::create_dir(&strange).unwrap();
    std::fs::write(strange.join("file"), "").unwrap();
    assert!(Folder::of(&strange, "r1", &id("a")).map(drop).unwrap_err().contains("not empty"));
}
