//! Which owner is decided next. One entry per owner; what happens to it while
//! it waits or is being decided melts into one more decision. Keys run side by
//! side, each at most once at a time.

use crate::ids::MindId;
use std::collections::{BTreeMap, HashMap, HashSet};
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

/// Has something been begun with an owner that is not at its end? That goes before
/// all that is new: whoever is in the middle of a replacement has one copy less
/// until it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Something has.
    Begun,
    /// Nothing has.
    New,
}

/// So many in a row go first because they were begun with; then one that is new,
/// if one waits. Among many rings somebody is always in the middle of something.
const BEGUN_IN_A_ROW: u32 = 3;

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

/// The place in the order.
type Place = (Work, Priority, u64);

#[derive(Debug, Default)]
struct Slot {
    ready: Option<Place>,
    running: bool,
    again: Option<Priority>,
    timer: Option<(Instant, u64)>,
    timer_priority: Option<Priority>,
    held: Option<Instant>,
}

#[derive(Debug, Default)]
struct State {
    slots: HashMap<Key, Slot>,
    ready: BTreeMap<Place, Key>,
    timers: BTreeMap<(Instant, u64), Key>,
    sequence: u64,
    begun: HashSet<Key>,
    begun_in_a_row: u32,
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

    /// State whether something was begun with these owners.
    pub fn mark(&self, marks: Vec<(Key, Work)>) {
        if marks.is_empty() {
            return;
        }
        let mut state = self.lock();
        for (key, work) in marks {
            state.mark(key, work);
        }
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
            if place.1 <= priority {
                return;
            }
            self.ready.remove(&place);
        }
        let work = if self.begun.contains(&key) { Work::Begun } else { Work::New };
        slot.ready = Some((work, priority, sequence));
        self.ready.insert((work, priority, sequence), key);
    }

    fn mark(&mut self, key: Key, work: Work) {
        match work {
            Work::Begun => self.begun.insert(key.clone()),
            Work::New => self.begun.remove(&key),
        };
        let ready = self.slots.get_mut(&key).and_then(|slot| slot.ready.as_mut());
        if let Some(place) = ready.filter(|place| place.0 != work) {
            self.ready.remove(place);
            place.0 = work;
            self.ready.insert(*place, key);
        }
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

    /// Who is next: what was begun, and now and then what is new.
    fn first(&self) -> Option<Place> {
        let (first, _) = self.ready.first_key_value()?;
        if first.0 == Work::New || self.begun_in_a_row < BEGUN_IN_A_ROW {
            return Some(*first);
        }
        let new = self.ready.range((Work::New, Priority::Owner, 0)..).next();
        Some(new.map_or(*first, |(place, _)| *place))
    }

    fn pop(&mut self) -> Option<Key> {
        let first = self.first()?;
        let key = self.ready.remove(&first)?;
        self.begun_in_a_row = match first.0 {
            Work::Begun => self.begun_in_a_row + 1,
            Work::New => 0,
        };
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
