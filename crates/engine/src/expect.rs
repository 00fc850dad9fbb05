//! Own writes that have to come back through the watch before the key is
//! decided again: a decision on a store that has not seen the last write would
//! write it twice. Nothing sleeps; the event that brings the write wakes the key.

use crate::ids::FeedId;
use crate::queue::{Key, Priority, Wake};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Longest wait. A watch that is this late is broken in a way that its own
/// state does not show; deciding with what there is is safe, because every
/// dangerous write carries its own precondition.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// One own write that has to be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The feed has sent everything up to this resourceVersion.
    Version {
        /// The feed that will bring it.
        feed: FeedId,
        /// The resourceVersion that the server answered.
        version: u64,
    },
    /// The object of this uid is gone, or marked for deletion.
    Gone {
        /// The feed that will bring it.
        feed: FeedId,
        /// Namespace of the object.
        namespace: Box<str>,
        /// Its name.
        name: Box<str>,
        /// Its uid.
        uid: Box<str>,
    },
}

/// Which keys wait for which feed.
#[derive(Debug, Default)]
pub struct Awaited {
    versions: BTreeSet<(FeedId, u64, Key)>,
    gone: BTreeMap<(FeedId, Box<str>, Box<str>), BTreeSet<Key>>,
}

impl Awaited {
    /// The key waits for these.
    pub fn expect(&mut self, key: &Key, expectations: &[Expectation]) {
        for expectation in expectations {
            match expectation {
                Expectation::Version { feed, version } => {
                    self.versions.insert((*feed, *version, key.clone()));
                }
                Expectation::Gone { feed, namespace, name, .. } => {
                    let object = (*feed, namespace.clone(), name.clone());
                    self.gone.entry(object).or_default().insert(key.clone());
                }
            }
        }
    }

    /// The key waits no longer.
    pub fn forget(&mut self, key: &Key) {
        self.versions.retain(|(_, _, k)| k != key);
        self.gone.retain(|_, keys| {
            keys.remove(key);
            !keys.is_empty()
        });
    }

    /// A feed has sent everything up to this version.
    pub fn reached(&mut self, feed: FeedId, version: u64) -> Vec<Wake> {
        let mut wakes = Vec::new();
        while let Some(first) = self.versions.range((feed, 0, Key::first())..).next() {
            if first.0 != feed || first.1 > version {
                break;
            }
            let first = first.clone();
            self.versions.remove(&first);
            wakes.push((first.2, Priority::Change));
        }
        wakes
    }

    /// A feed has sent something about this object.
    pub fn seen(&mut self, feed: FeedId, namespace: &str, name: &str) -> Vec<Wake> {
        if self.gone.is_empty() {
            return Vec::new();
        }
        let keys = self.gone.remove(&(feed, namespace.into(), name.into()));
        keys.into_iter().flatten().map(|key| (key, Priority::Change)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MindId;

    #[test]
    fn a_key_is_woken_when_its_feed_has_reached_the_version_and_not_before() {
        let mut awaited = Awaited::default();
        let (a, b) = (Key::new(MindId(0), "n", "a"), Key::new(MindId(0), "n", "b"));
        let wait = |version| [Expectation::Version { feed: FeedId(1), version }];
        awaited.expect(&a, &wait(10));
        awaited.expect(&b, &wait(20));
        assert!(awaited.reached(FeedId(0), 99).is_empty(), "another feed");
        assert!(awaited.reached(FeedId(1), 9).is_empty());
        assert_eq!(awaited.reached(FeedId(1), 15), vec![(a, Priority::Change)]);
        assert_eq!(awaited.reached(FeedId(1), 20), vec![(b, Priority::Change)]);
    }

    #[test]
    fn a_key_that_waits_for_a_deletion_is_woken_by_news_of_that_object() {
        let mut awaited = Awaited::default();
        let key = Key::new(MindId(0), "n", "a");
        let gone = Expectation::Gone {
            feed: FeedId(0),
            namespace: "n".into(),
            name: "x".into(),
            uid: "u".into(),
        };
        awaited.expect(&key, &[gone]);
        assert!(awaited.seen(FeedId(0), "n", "y").is_empty());
        assert_eq!(awaited.seen(FeedId(0), "n", "x"), vec![(key, Priority::Change)]);
    }
}
