//! Which owner is decided next. One entry per owner; what happens to it while
//! it waits or is being decided melts into one more decision. Keys run side by
//! side, each at most once at a time.

use crate::watch::world::MindId;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// One owner object of one mind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Who decides for it.
    pub mind: MindId,
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl Key {
    /// The key of an owner.
    pub fn new(mind: MindId, namespace: &str, name: &str) -> Self {
        Self {
            mind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// A key that sorts before every other.
    pub fn first() -> Self {
        Self::new(MindId(0), "", "")
    }
}

/// What goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// A person changed the owner.
    Owner,
    /// A failure is tried again.
    Failure,
    /// The world changed.
    Change,
    /// Nothing is known to have changed: a first list, a wake-up.
    Resync,
}

/// When a key that was decided is to be decided again, if nothing happens before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// When something changes.
    Rest,
    /// At this time.
    WakeAt(Instant),
    /// At this time, and before that only if a person changes the owner: the
    /// API server is to be spared.
    HoldUntil(Instant),
    /// At this time, after a failure that news may cure before.
    RetryAt(Instant),
}

#[derive(Debug, Default)]
struct Slot {
    ready: Option<(Priority, u64)>,
    running: bool,
    again: Option<Priority>,
    timer: Option<(Instant, u64)>,
    timer_priority: Option<Priority>,
    held: Option<Instant>,
}

#[derive(Debug, Default)]
struct State {
    slots: HashMap<Key, Slot>,
    ready: BTreeMap<(Priority, u64), Key>,
    timers: BTreeMap<(Instant, u64), Key>,
    sequence: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

impl Queue {
    /// Ask for a decision.
    pub fn add(&self, key: Key, priority: Priority) {
        self.lock().add(key, priority);
        self.changed.notify_one();
    }

    /// Ask for several decisions.
    pub fn extend(&self, wakes: Vec<(Key, Priority)>) {
        if wakes.is_empty() {
            return;
        }
        let mut state = self.lock();
        for (key, priority) in wakes {
            state.add(key, priority);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// The next key to decide; it is not given out again before [`Queue::done`].
    pub async fn next(&self) -> Key {
        loop {
            let timer = {
                let mut state = self.lock();
                state.ring(Instant::now());
                if let Some(key) = state.pop() {
                    return key;
                }
                state.timers.keys().next().map(|(at, _)| *at)
            };
            match timer {
                Some(at) => {
                    let _ = tokio::time::timeout_at(at, self.changed.notified()).await;
                }
                None => self.changed.notified().await,
            }
        }
    }

    /// The decision is over.
    pub fn done(&self, key: &Key, after: After) {
        self.lock().done(key, after);
        self.changed.notify_one();
    }

    /// Keys that wait to be decided now.
    pub fn depth(&self) -> usize {
        self.lock().ready.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn add(&mut self, key: Key, priority: Priority) {
        let sequence = self.number();
        let slot = self.slots.entry(key.clone()).or_default();
        if slot.running {
            slot.again = Some(slot.again.map_or(priority, |p| p.min(priority)));
            return;
        }
        let held = slot.held.is_some_and(|until| until > Instant::now());
        if held && priority != Priority::Owner {
            // The timer of the hold will bring it.
            return;
        }
        if let Some(place) = slot.ready {
            if place.0 <= priority {
                return;
            }
            self.ready.remove(&place);
        }
        slot.ready = Some((priority, sequence));
        self.ready.insert((priority, sequence), key);
    }

    /// Move keys whose time has come to the ready ones.
    fn ring(&mut self, now: Instant) {
        while let Some(entry) = self.timers.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            let mut priority = Priority::Resync;
            if let Some(slot) = self.slots.get_mut(&key) {
                slot.timer = None;
                slot.held = None;
                priority = slot.timer_priority.take().unwrap_or(priority);
            }
            self.add(key, priority);
        }
    }

    fn pop(&mut self) -> Option<Key> {
        let (_, key) = self.ready.pop_first()?;
        if let Some(slot) = self.slots.get_mut(&key) {
            slot.ready = None;
            slot.running = true;
            slot.held = None;
            slot.timer_priority = None;
            if let Some(timer) = slot.timer.take() {
                self.timers.remove(&timer);
            }
        }
        Some(key)
    }

    fn done(&mut self, key: &Key, after: After) {
        let sequence = self.number();
        let Some(slot) = self.slots.get_mut(key) else {
            return;
        };
        slot.running = false;
        let timer = match after {
            After::Rest => None,
            After::WakeAt(at) => Some((at, Priority::Resync)),
            After::HoldUntil(at) => {
                slot.held = Some(at);
                Some((at, Priority::Failure))
            }
            After::RetryAt(at) => Some((at, Priority::Failure)),
        };
        if let Some((at, priority)) = timer {
            slot.timer = Some((at, sequence));
            slot.timer_priority = Some(priority);
            self.timers.insert((at, sequence), key.clone());
        }
        match slot.again.take() {
            Some(priority) => self.add(key.clone(), priority),
            None if slot.timer.is_none() => {
                self.slots.remove(key);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn key(name: &str) -> Key {
        Key::new(MindId(0), "n", name)
    }

    async fn nothing(queue: &Queue) -> bool {
        tokio::time::timeout(Duration::from_millis(1), queue.next())
            .await
            .is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn what_happens_to_a_key_melts_into_one_decision() {
        let queue = Queue::default();
        for _ in 0..100 {
            queue.add(key("a"), Priority::Change);
        }
        assert_eq!(queue.next().await, key("a"));
        assert!(nothing(&queue).await, "not given out twice");
        queue.add(key("a"), Priority::Change);
        queue.add(key("a"), Priority::Change);
        assert!(nothing(&queue).await, "not while it runs");
        queue.done(&key("a"), After::Rest);
        assert_eq!(queue.next().await, key("a"));
        queue.done(&key("a"), After::Rest);
        assert!(nothing(&queue).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_persons_change_goes_before_failures_changes_and_resyncs() {
        let queue = Queue::default();
        queue.add(key("resync"), Priority::Resync);
        queue.add(key("change"), Priority::Change);
        queue.add(key("failure"), Priority::Failure);
        queue.add(key("owner"), Priority::Owner);
        queue.add(key("resync"), Priority::Owner);
        let mut order = Vec::new();
        for _ in 0..4 {
            order.push(queue.next().await.name.to_string());
        }
        assert_eq!(order, ["owner", "resync", "failure", "change"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_key_does_not_delay_another() {
        let queue = Queue::default();
        queue.add(key("slow"), Priority::Owner);
        let slow = queue.next().await;
        queue.add(key("quick"), Priority::Resync);
        assert_eq!(queue.next().await, key("quick"));
        queue.done(&slow, After::Rest);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wake_up_comes_at_its_time() {
        let queue = Queue::default();
        queue.add(key("a"), Priority::Change);
        let a = queue.next().await;
        let at = Instant::now() + Duration::from_secs(60);
        queue.done(&a, After::WakeAt(at));
        assert_eq!(queue.next().await, a);
        assert_eq!(Instant::now(), at);
    }

    #[tokio::test(start_paused = true)]
    async fn a_held_key_waits_for_its_time_unless_a_person_changes_the_owner() {
        let queue = Queue::default();
        queue.add(key("a"), Priority::Change);
        let a = queue.next().await;
        let hold = After::HoldUntil(Instant::now() + Duration::from_secs(5));
        queue.done(&a, hold);
        queue.add(a.clone(), Priority::Change);
        assert!(nothing(&queue).await);
        queue.add(a.clone(), Priority::Owner);
        assert_eq!(queue.next().await, a);
        queue.done(&a, hold);
        let before = Instant::now();
        assert_eq!(queue.next().await, a);
        assert!(Instant::now() - before > Duration::from_secs(4));
    }

    #[tokio::test(start_paused = true)]
    async fn news_brings_a_retry_forward() {
        let queue = Queue::default();
        queue.add(key("a"), Priority::Change);
        let a = queue.next().await;
        queue.done(&a, After::RetryAt(Instant::now() + Duration::from_secs(30)));
        queue.add(a.clone(), Priority::Change);
        assert_eq!(queue.next().await, a);
        queue.done(&a, After::Rest);
        assert!(nothing(&queue).await, "the old timer is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_at_rest_costs_nothing() {
        let queue = Queue::default();
        queue.add(key("a"), Priority::Change);
        let a = queue.next().await;
        queue.done(&a, After::Rest);
        assert!(queue.lock().slots.is_empty());
    }
}
