//! Which feeds will bring back an own write, and whether they have.

use crate::expect::Expectation;
use crate::ids::FeedId;
use crate::watch::world::{Feed, Target, World};
use palladion_plan::ObjectKey;
use serde_json::Value;

impl World {
    /// Have all of these own writes come back?
    pub fn caught_up(&self, expectations: &[Expectation]) -> bool {
        expectations.iter().all(|expectation| match expectation {
            Expectation::Version { feed, version } => {
                self.feeds.get(feed).is_none_or(|f| f.high >= *version)
            }
            Expectation::Gone { feed, namespace, name, uid } => {
                let found = self.targets(*feed).into_iter().find_map(|target| match target {
                    Target::Shelf(shelf) => {
                        self.shelves[shelf].get(namespace, name).map(|e| e.record.clone())
                    }
                    Target::Reference(key) => self.references.record(&key).cloned(),
                });
                found.is_none_or(|r| *r.uid != **uid || r.object().meta.is_terminating())
            }
        })
    }

    /// Expectations for an object as the server answered it.
    pub fn expect_version(&self, key: &ObjectKey, answer: &Value) -> Vec<Expectation> {
        let Some(version) =
            answer["metadata"]["resourceVersion"].as_str().and_then(|v| v.parse().ok())
        else {
            return Vec::new();
        };
        let brings = |feed: &&Feed| selects(feed, key, &answer["metadata"]["labels"]);
        self.matching(brings).map(|feed| Expectation::Version { feed, version }).collect()
    }

    /// Expectations for an object that was deleted.
    pub fn expect_gone(&self, key: &ObjectKey, uid: &str) -> Vec<Expectation> {
        let stored = self.stored(key);
        if stored.is_none_or(|(record, _)| *record.uid != *uid) {
            return Vec::new();
        }
        let brings =
            |feed: &&Feed| feed.selection.resource == key.resource && in_namespace(feed, key);
        self.matching(brings)
            .map(|feed| Expectation::Gone {
                feed,
                namespace: key.namespace.as_str().into(),
                name: key.name.as_str().into(),
                uid: uid.into(),
            })
            .collect()
    }

    fn matching<'a>(
        &'a self,
        brings: impl Fn(&&'a Feed) -> bool + 'a,
    ) -> impl Iterator<Item = FeedId> + 'a {
        self.feeds.iter().filter(move |(_, feed)| brings(feed)).map(|(id, _)| *id)
    }
}

fn in_namespace(feed: &Feed, key: &ObjectKey) -> bool {
    feed.selection.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
}

fn selects(feed: &Feed, key: &ObjectKey, labels: &Value) -> bool {
    let selection = &feed.selection;
    let by_name = match selection.fields.strip_prefix("metadata.name=") {
        Some(name) => name == key.name,
        None => selection.fields.is_empty(),
    };
    selection.resource == key.resource
        && in_namespace(feed, key)
        && by_name
        && matches(&selection.labels, labels)
}

/// Equality selectors only (`a=b,c=d`); an object that another kind of selector
/// may or may not select is not waited for.
fn matches(selector: &str, labels: &Value) -> bool {
    selector.split(',').filter(|part| !part.is_empty()).all(|part| {
        part.split_once('=').is_some_and(|(name, value)| {
            labels[name.trim_end_matches('!')] == value && !name.ends_with('!')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_feed_that_selects_the_object_is_waited_for() {
        assert!(matches("", &json!(null)));
        assert!(matches("a=b", &json!({"a": "b", "c": "d"})));
        assert!(!matches("a=b", &json!({"a": "c"})));
        assert!(!matches("a!=b", &json!({"a": "c"})));
        assert!(!matches("a in (b)", &json!({"a": "b"})));
    }
}
