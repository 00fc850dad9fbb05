//! What a shelf calls news, and what it forgets.

use super::*;
use crate::watch::project::project;
use serde_json::{Value, json};

const KIND: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");
const LABEL: &str = "owner";

fn shelf() -> Shelf {
    let mut shelf = Shelf::new(KIND, "", Keep::Everything);
    shelf.subscribe(MindId(0), Route::Label(LABEL));
    shelf
}

fn record(name: &str, owner: &str, version: u32, data: Value) -> Record {
    let object = json!({
        "metadata": {
            "namespace": "n", "name": name, "uid": name,
            "resourceVersion": version.to_string(), "labels": {LABEL: owner},
        },
        "data": data,
    });
    project(&object, Keep::Everything, &[LABEL])
}

fn names(shelf: &Shelf, owner: &str) -> Vec<String> {
    shelf.labelled("n", LABEL, owner).map(|e| e.record.name.to_string()).collect()
}

#[test]
fn a_version_without_a_change_is_stored_and_is_no_news() {
    let mut shelf = shelf();
    assert!(shelf.put(FeedId(0), record("a", "o", 1, json!({}))).is_some());
    assert!(shelf.put(FeedId(0), record("a", "o", 2, json!({}))).is_none());
    assert_eq!(&*shelf.get("n", "a").unwrap().record.version, "2");
}

#[test]
fn an_object_that_changes_hands_is_news_for_both_owners() {
    let mut shelf = shelf();
    shelf.put(FeedId(0), record("a", "old", 1, json!({})));
    let change = shelf.put(FeedId(0), record("a", "new", 2, json!({}))).unwrap();
    assert_eq!(change.values, vec![(0, "old".into()), (0, "new".into())]);
    assert!(names(&shelf, "old").is_empty());
    assert_eq!(names(&shelf, "new"), ["a"]);
}

#[test]
fn a_new_list_takes_away_only_what_its_own_feed_had_brought() {
    let mut shelf = shelf();
    shelf.put(FeedId(0), record("a", "o", 1, json!({})));
    shelf.put(FeedId(0), record("b", "o", 1, json!({})));
    shelf.put(FeedId(1), record("c", "o", 1, json!({})));
    let changes = shelf.replace(FeedId(0), vec![record("b", "o", 1, json!({}))]);
    assert_eq!(changes.len(), 1, "b has not changed, c is of another feed");
    assert_eq!(names(&shelf, "o"), ["b", "c"]);
}

#[test]
fn re_creation_under_the_same_name_is_news_even_if_all_else_is_equal() {
    let mut shelf = shelf();
    let mut again = record("a", "o", 2, json!({}));
    shelf.put(FeedId(0), record("a", "o", 1, json!({})));
    again.uid = "other".into();
    assert_eq!(shelf.put(FeedId(0), again).unwrap().news, News::Spec);
}
