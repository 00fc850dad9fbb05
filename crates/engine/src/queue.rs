//! Which owner is decided next. One entry per owner; what happens to it while
//! it waits or is being decided melts into one more decision. Keys run side by
//! side, each at most once at a time.

use crate::ids::MindId;
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
        Self { mind, namespace: namespace.into(), name: name.into() }
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

/// A key to be decided, and how urgently.
pub type Wake = (Key, Priority);

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
mod tests;
