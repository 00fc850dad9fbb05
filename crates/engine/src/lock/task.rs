//! The task of one lock: take it, renew it every 15 s, say when it is lost, release it when
//! nobody asks for it any more.

use super::keep::{Held, Known, Shared, State};
use crate::queue::Key;
use palladion_plan::lock::{LockQuestion, LockStore, Renewed, StoreAway, Taken, Want};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Four times within the shortest lease.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// A renewal that failed is tried again this soon: the lease goes on meanwhile.
const RENEW_AGAIN: Duration = Duration::from_secs(3);
/// How often who waits for another region looks.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// How often a store that does not answer is asked.
const ASK_AWAY: Duration = Duration::from_secs(10);
/// For how long a lock that was released is left to others.
const REST: Duration = Duration::from_secs(10);
/// Tries at a release. After them the holding ends with its lease.
const RELEASES: u32 = 3;

pub(super) struct Keeping {
    owner: Key,
    shared: Arc<Shared>,
    question: watch::Receiver<Option<LockQuestion>>,
    known: Arc<Known>,
    /// Since when it is waited for.
    waits_since: Option<Instant>,
    renew_at: Instant,
}

impl Keeping {
    pub fn new(
        owner: Key,
        shared: Arc<Shared>,
        question: watch::Receiver<Option<LockQuestion>>,
        known: Arc<Known>,
    ) -> Self {
        let now = Instant::now();
        Self { owner, shared, question, known, waits_since: None, renew_at: now }
    }

    /// Until nobody asks for it any more.
    pub async fn go_on(mut self) {
        loop {
            let question = self.question.borrow_and_update().clone();
            let next = match question {
                Some(question) => self.advance(&question).await,
                None => {
                    self.let_go().await;
                    if self.shared.forget(&self.owner) {
                        return;
                    }
                    Some(Instant::now())
                }
            };
            let due = async {
                match next {
                    Some(next) => sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = self.question.changed() => if changed.is_err() {
                    return;
                },
                () = self.known.found_lost.notified() => self.lost(),
                () = due => {}
            }
        }
    }

    /// Do what is due; says when the next thing is.
    async fn advance(&mut self, question: &LockQuestion) -> Option<Instant> {
        if let Some(held) = self.known.held().filter(|held| !held.answers(question)) {
            match held.is_of(question) {
                // Another list of endpoints leads to the same lock, as a rule: it is gone on with
                // there. Where it is another store, the lease in the former one ends by itself.
                true => self.forget(),
                false => self.let_go().await,
            }
        }
        let store = match self.shared.store(&question.store) {
            Ok(store) => store,
            Err(away) => return self.away(away),
        };
        match self.known.held() {
            Some(held) => Some(self.keep(question, held).await),
            None => {
                // Its lease has ended without a word.
                if let State::Held(held) = self.known.state()
                    && self.known.lose(&held.token)
                {
                    self.lost();
                }
                self.take(question, store).await
            }
        }
    }

    async fn take(
        &mut self,
        question: &LockQuestion,
        store: Arc<dyn LockStore>,
    ) -> Option<Instant> {
        if let Some(rests) = self.shared.released_at(&question.key).map(|at| at + REST)
            && question.want == Want::Take
            && rests > Instant::now()
        {
            return Some(rests);
        }
        if question.want == Want::Take {
            self.waits_since.get_or_insert_with(Instant::now);
        }
        if let Err(away) = self.break_if_asked(question, store.as_ref()).await {
            return self.away(away);
        }
        let (asked, nonce) = (Instant::now(), uuid::Uuid::new_v4().to_string());
        let LockQuestion { key, claimant, want, ttl, .. } = question;
        let taken = match store.take(key, claimant, *want, *ttl, &nonce).await {
            Ok(taken) => taken,
            Err(away) => return self.away(away),
        };
        let again = (*want == Want::Take).then(|| Instant::now() + ASK_EVERY);
        match taken {
            Taken::Free => self.tell(State::NotHeld),
            Taken::By(holder) => self.tell(State::By(holder)),
            Taken::Ours { token, session } => {
                tracing::info!(
                    namespace = &*self.owner.namespace,
                    name = &*self.owner.name,
                    token = token.as_str(),
                    "the region lock is held"
                );
                if let Some(since) = self.waits_since.take() {
                    self.shared.metrics.lock_waited(since.elapsed());
                }
                self.shared.metrics.locks_held.inc();
                self.renew_at = asked + RENEW_EVERY;
                let (at, claimant) = (question.store.clone(), claimant.clone());
                let (key, until) = (key.clone(), asked + *ttl);
                let initialized_by = None;
                let ttl = *ttl;
                let held =
                    Held { store, at, key, claimant, token, session, ttl, until, initialized_by };
                self.known.set(State::Held(Box::new(held.clone())));
                let next = self.keep(question, held).await;
                self.shared.wake(&self.owner);
                return Some(next);
            }
        }
        again
    }

    /// A person takes it away from whoever has it.
    async fn break_if_asked(
        &self,
        question: &LockQuestion,
        store: &dyn LockStore,
    ) -> Result<(), StoreAway> {
        let Some(broken) = &question.breaks else { return Ok(()) };
        match self.known.state() {
            State::By(holder) if holder.token == *broken => {
                tracing::warn!(
                    token = broken.as_str(),
                    region = holder.region,
                    "a user breaks the region lock"
                );
                store.release(&question.key, broken).await
            }
            State::By(_) | State::Asking | State::Held(_) | State::NotHeld | State::Away(_) => {
                Ok(())
            }
        }
    }

    /// It is ours: renew it when that is due, and record what is asked for once.
    async fn keep(&mut self, question: &LockQuestion, mut held: Held) -> Instant {
        if Instant::now() >= self.renew_at {
            let asked = Instant::now();
            match held.store.renew(&held.key, &held.token, &held.session).await {
                Ok(Renewed::Yes) => {
                    // The store prolongs it by what it was taken for.
                    held.until = asked + held.ttl;
                    self.renew_at = asked + RENEW_EVERY;
                    self.go_on_with(&held);
                }
                Ok(Renewed::Lost) => {
                    if self.known.lose(&held.token) {
                        self.lost();
                    }
                    return Instant::now();
                }
                Err(away) => {
                    tracing::warn!(why = %away, "the region lock could not be renewed yet");
                    self.renew_at = Instant::now() + RENEW_AGAIN;
                }
            }
        }
        if question.initializes && held.initialized_by.is_none() {
            match held.store.record_once(&held.key, &held.claimant).await {
                Ok(recorded) => {
                    held.initialized_by = Some(recorded);
                    self.go_on_with(&held);
                    self.shared.wake(&self.owner);
                }
                Err(away) => {
                    tracing::warn!(why = %away, "the record of the initialization is not there yet");
                    return self.renew_at.min(Instant::now() + ASK_EVERY);
                }
            }
        }
        self.renew_at.min(held.until)
    }

    /// Nobody has found it lost meanwhile.
    fn go_on_with(&self, held: &Held) {
        if self.known.held().is_some_and(|known| known.token == held.token) {
            self.known.set(State::Held(Box::new(held.clone())));
        }
    }

    /// It is kept where it was until its lease ends, and asked for elsewhere.
    fn forget(&mut self) {
        self.known.set(State::Asking);
        self.shared.metrics.locks_held.dec();
    }

    async fn let_go(&mut self) {
        self.waits_since = None;
        let State::Held(held) = self.known.state() else {
            self.known.set(State::NotHeld);
            return;
        };
        self.known.set(State::NotHeld);
        self.shared.metrics.locks_held.dec();
        for _ in 0..RELEASES {
            match held.store.release(&held.key, &held.token).await {
                Ok(()) => {
                    tracing::info!(token = held.token.as_str(), "the region lock is released");
                    self.shared.note_released(&held.key);
                    return;
                }
                Err(away) => tracing::warn!(why = %away, "cannot release the region lock"),
            }
        }
    }

    /// It was ours and is not any more: said once.
    fn lost(&mut self) {
        tracing::warn!(
            namespace = &*self.owner.namespace,
            name = &*self.owner.name,
            "the region lock is lost"
        );
        self.shared.metrics.locks_held.dec();
        self.shared.metrics.locks_lost.inc();
        self.shared.wake(&self.owner);
    }

    fn away(&self, why: StoreAway) -> Option<Instant> {
        self.tell(State::Away(why.to_string()));
        Some(Instant::now() + ASK_AWAY)
    }

    /// Note it, and wake the owner if it is news.
    fn tell(&self, state: State) {
        let is_news = match (&self.known.state(), &state) {
            (State::By(was), State::By(is)) => was != is,
            (State::Away(was), State::Away(is)) => was != is,
            (State::NotHeld, State::NotHeld) | (State::Asking, State::Asking) => false,
            (_, _) => true,
        };
        self.known.set(state);
        if is_news {
            self.shared.wake(&self.owner);
        }
    }
}
