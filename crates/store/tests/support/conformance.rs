//! What every store of objects must do, whoever has written it.

#![allow(dead_code, reason = "each test takes what it needs")]

use palladion_backup::store::{Created, Store};

/// Bytes of an object.
pub fn body(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// In an empty store: what is created once stays, is listed as it is, and goes once.
pub fn objects_are_written_once_listed_and_deleted(store: &dyn Store) {
    assert_eq!(store.put_if_absent("a/b/c", b"one"), Ok(Created::Now));
    assert_eq!(store.put_if_absent("a/b/c", b"two"), Ok(Created::Before));
    assert_eq!(store.get("a/b/c"), Ok(Some(b"one".to_vec())), "what was written first stays");
    assert_eq!(store.put_if_absent("a/d~1", b"three"), Ok(Created::Now));
    assert_eq!((store.get("a/x"), store.head("a/x")), (Ok(None), Ok(None)));
    let names = |prefix: &str| {
        let all = store.list(prefix).unwrap();
        all.into_iter().map(|meta| (meta.name, meta.bytes)).collect::<Vec<_>>()
    };
    let expected = [("a/b/c".to_string(), 3), ("a/d~1".to_string(), 5)];
    assert_eq!(names("a/"), expected);
    assert_eq!((names(""), names("z/")), (expected.to_vec(), Vec::new()));
    assert_eq!((names("a/b/"), names("a/d")), (expected[..1].to_vec(), expected[1..].to_vec()));
    assert_eq!((store.folders("a/"), store.folders("z/")), (Ok(vec!["b".into()]), Ok(vec![])));
    let (now, head) = (store.now().unwrap(), store.head("a/d~1").unwrap().unwrap());
    assert!((0..60).contains(&(now - head.modified)), "{now} {head:?}");
    assert_eq!((store.delete("a/b/c"), store.delete("a/b/c")), (Ok(()), Ok(())));
    assert_eq!(names(""), expected[1..]);
    for name in ["../a", "/etc/passwd", "a/../b", "a//b"] {
        assert!(store.put_if_absent(name, b"").is_err() && store.get(name).is_err(), "{name}");
    }
}

/// Two stores whose prefixes begin alike, both empty.
pub fn prefixes_that_begin_alike_do_not_see_each_other(one: &dyn Store, other: &dyn Store) {
    one.put_if_absent("a", b"1").unwrap();
    other.put_if_absent("a", b"2").unwrap();
    assert_eq!(one.get("a").unwrap().unwrap(), b"1");
    assert_eq!((one.list("").unwrap().len(), other.list("").unwrap().len()), (1, 1));
}

/// A folder with the objects `many/00000`, `many/00001` and so on, and no others.
pub fn the_begin_of_a_folder_and_what_comes_after_a_name(store: &dyn Store) {
    let after = |after: &str, most: usize| {
        let all = store.after("many/", after, most).unwrap();
        all.into_iter().map(|meta| meta.name).collect::<Vec<_>>()
    };
    let last = store.list("many/").unwrap().len() - 1;
    let name = |number: usize| format!("many/{number:05}");
    assert_eq!(after("", 2), [name(0), name(1)]);
    assert_eq!(after(&name(998), 2), [name(999), name(1000)]);
    assert_eq!(after(&name(last - 1), 9), [name(last)]);
    assert_eq!(after(&name(last), 9), [""; 0]);
}
