//! A store of region locks in virtual time: holdings that expire, records that are made once,
//! and a store that can be away, lose answers or be restored to an older state. It is shared by
//! the operators of several regions.

use crate::lock::{Claimant, Holder, LockFact, LockFence, LockKey, LockQuestion, Want};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::LockToken;
use std::collections::BTreeMap;

/// How often a holder renews.
const RENEW_EVERY: SignedDuration = SignedDuration::from_secs(15);
/// How often who waits asks again.
const ASK_EVERY: SignedDuration = SignedDuration::from_secs(5);

/// One holding.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holding {
    token: LockToken,
    claimant: Claimant,
    since: Timestamp,
    until: Timestamp,
}

/// What the store has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Written {
    revision: u64,
    holdings: BTreeMap<LockKey, Holding>,
    initialized: BTreeMap<LockKey, Claimant>,
}

/// The store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locks {
    written: Written,
    backup: Option<Written>,
    /// Nobody reaches it.
    pub is_away: bool,
    /// It does what it is asked, and whoever asked does not hear of it: so many times more.
    pub lost_answers: u32,
    /// Requests so far.
    pub requests: usize,
    /// Holdings drawn so far, also by a store that was restored since.
    drawn: u64,
}

impl Locks {
    /// Keep a copy, for [`Locks::restore`].
    pub fn back_up(&mut self) {
        self.backup = Some(self.written.clone());
    }

    /// Go back to that copy.
    pub fn restore(&mut self) {
        if let Some(older) = self.backup.clone() {
            self.written = older;
        }
    }

    /// The region that holds the lock of a ring now.
    pub fn holder(&self, ring: &str, now: Timestamp) -> Option<&str> {
        let held = self.written.holdings.iter().find(|(key, _)| key.ring == ring);
        let held = held.map(|(_, holding)| holding).filter(|holding| holding.until > now);
        held.map(|holding| holding.claimant.region.as_str())
    }

    /// The token of that.
    pub fn token(&self, ring: &str) -> Option<&LockToken> {
        let held = self.written.holdings.iter().find(|(key, _)| key.ring == ring);
        held.map(|(_, holding)| &holding.token)
    }

    /// Ask; `None` is no answer.
    fn ask<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.requests += 1;
        if self.is_away {
            return None;
        }
        let answer = what(self);
        if self.lost_answers > 0 {
            self.lost_answers -= 1;
            return None;
        }
        Some(answer)
    }

    fn live(&self, key: &LockKey, now: Timestamp) -> Option<&Holding> {
        self.written.holdings.get(key).filter(|holding| holding.until > now)
    }

    fn take(&mut self, question: &LockQuestion, now: Timestamp) -> Option<Holding> {
        let ttl = SignedDuration::try_from(question.ttl).unwrap_or_default();
        if let Some(broken) = &question.breaks
            && self.live(&question.key, now).is_some_and(|held| held.token == *broken)
        {
            self.written.holdings.remove(&question.key);
        }
        let held = self.live(&question.key, now).cloned();
        let token = match held {
            Some(held) if held.claimant == question.claimant => held.token,
            Some(held) => return Some(held),
            None if question.want == Want::Keep => return None,
            None => {
                self.written.revision += 1;
                self.drawn += 1;
                LockToken::new(format!("{}-n{}", self.written.revision, self.drawn))
            }
        };
        let (claimant, until) = (question.claimant.clone(), now + ttl);
        let holding = Holding { token, claimant, since: now, until };
        self.written.holdings.insert(question.key.clone(), holding.clone());
        Some(holding)
    }

    fn record(&mut self, question: &LockQuestion) -> Claimant {
        let record = self.written.initialized.entry(question.key.clone());
        record.or_insert_with(|| question.claimant.clone()).clone()
    }

    fn renew(
        &mut self,
        key: &LockKey,
        token: &LockToken,
        until: Timestamp,
        now: Timestamp,
    ) -> bool {
        if self.live(key, now).is_none_or(|held| held.token != *token) {
            return false;
        }
        self.written.holdings.entry(key.clone()).and_modify(|held| held.until = until);
        true
    }

    fn release(&mut self, key: &LockKey, token: &LockToken) {
        if self.written.holdings.get(key).is_some_and(|held| held.token == *token) {
            self.written.holdings.remove(key);
        }
    }
}

/// What one operator process knows of the lock: what the engine's task for it would.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeper {
    question: Option<LockQuestion>,
    fact: LockFact,
    /// Until when it is ours at least, by this process' own clock.
    until: Option<Timestamp>,
    next: Option<Timestamp>,
    /// The lock that was asked for last.
    key: Option<LockKey>,
}

impl Keeper {
    /// What is asked now.
    pub fn want(&mut self, question: Option<LockQuestion>) {
        if self.question != question {
            self.question = question;
            self.next = None;
        }
    }

    /// What is known now.
    pub fn fact(&self, now: Timestamp) -> LockFact {
        match (&self.fact, self.until) {
            (LockFact::Held { token, initialized_by, .. }, Some(until)) if until > now => {
                LockFact::Held {
                    token: token.clone(),
                    lease_left: until.duration_since(now),
                    initialized_by: initialized_by.clone(),
                }
            }
            (LockFact::Held { .. }, _) => LockFact::NotHeld,
            (other, _) => other.clone(),
        }
    }

    /// When it has to do something.
    pub fn next(&self) -> Option<Timestamp> {
        self.next
    }

    /// Do what is due. Has what is known changed?
    pub fn act(&mut self, locks: &mut Locks, now: Timestamp) -> bool {
        let is_due = self.next.is_none_or(|next| next <= now);
        let before = self.fact.clone();
        match self.question.clone() {
            None => self.let_go(locks),
            Some(question) if is_due => self.go_on(&question, locks, now),
            Some(_) => {}
        }
        self.fact != before
    }

    fn let_go(&mut self, locks: &mut Locks) {
        let fact = std::mem::take(&mut self.fact);
        (self.until, self.next) = (None, None);
        if let (LockFact::Held { token, .. }, Some(key)) = (fact, self.key.take()) {
            let _ = locks.ask(|locks| locks.release(&key, &token));
        }
    }

    fn go_on(&mut self, question: &LockQuestion, locks: &mut Locks, now: Timestamp) {
        self.key = Some(question.key.clone());
        self.next = Some(now + ASK_EVERY);
        let ttl = SignedDuration::try_from(question.ttl).unwrap_or_default();
        if let LockFact::Held { token, initialized_by, .. } = self.fact(now) {
            self.next = Some(now + RENEW_EVERY);
            match locks.ask(|locks| locks.renew(&question.key, &token, now + ttl, now)) {
                Some(true) => self.until = Some(now + ttl),
                Some(false) => (self.fact, self.until) = (LockFact::NotHeld, None),
                None => self.next = Some(now + ASK_EVERY),
            }
            if question.initializes && initialized_by.is_none() {
                self.record(question, locks);
            }
            return;
        }
        self.fact = match locks.ask(|locks| locks.take(question, now)) {
            None => LockFact::Unknown { why: "the store does not answer".into() },
            Some(None) => LockFact::NotHeld,
            Some(Some(held)) if held.claimant == question.claimant => {
                self.until = Some(now + ttl);
                self.next = Some(now + RENEW_EVERY);
                LockFact::Held { token: held.token, lease_left: ttl, initialized_by: None }
            }
            Some(Some(held)) => {
                let (region, since) = (held.claimant.region, Some(held.since));
                LockFact::HeldBy(Holder { token: held.token, region, since })
            }
        };
        if question.initializes && self.fact.token().is_some() {
            self.record(question, locks);
        }
    }

    fn record(&mut self, question: &LockQuestion, locks: &mut Locks) {
        let recorded = locks.ask(|locks| locks.record(question));
        if let LockFact::Held { initialized_by, .. } = &mut self.fact {
            *initialized_by = recorded;
        }
    }

    /// Does the fence stand, as the store says it now? What it costs counts as one request.
    pub fn check(
        &self,
        fence: &LockFence,
        locks: &mut Locks,
        now: Timestamp,
    ) -> Result<(), String> {
        let LockFact::Held { token, lease_left, .. } = self.fact(now) else {
            return Err("the lock is not held".into());
        };
        if token != fence.token || lease_left < fence.lease_left {
            return Err("the lock is held otherwise".into());
        }
        let Some(key) = &self.key else { return Err("the lock is not held".into()) };
        match locks.ask(|locks| locks.live(key, now).is_some_and(|held| held.token == token)) {
            Some(true) => Ok(()),
            Some(false) => Err("the lock is lost".into()),
            None => Err("the store does not answer".into()),
        }
    }
}
