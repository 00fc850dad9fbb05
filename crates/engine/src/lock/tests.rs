//! A lock from question to release, with a store that does as it is told, in paused time.

use super::keep::{Keepers, OpenStore};
use crate::ids::MindId;
use crate::metrics::Metrics;
use crate::queue::{Key, Queue};
use jiff::SignedDuration;
use palladion_plan::lock::{
    Answering, Claimant, Holder, LockFact, LockFence, LockKey, LockQuestion, LockScope, LockStore,
    LockToken, Renewed, StoreAddress, StoreAway, Taken, Want,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TTL: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Store {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    holder: Option<Holder>,
    initialized_by: Option<Claimant>,
    is_away: bool,
    /// So many holdings were given.
    given: u32,
    calls: Vec<&'static str>,
}

impl Store {
    fn ask<T>(&self, call: &'static str, what: impl FnOnce(&mut State) -> T) -> Answering<'_, T>
    where
        T: Send + 'static,
    {
        let mut state = self.state.lock().unwrap();
        state.calls.push(call);
        let answer = match state.is_away {
            true => Err(StoreAway("nobody there".into())),
            false => Ok(what(&mut state)),
        };
        Box::pin(std::future::ready(answer))
    }

    fn calls(&self, call: &str) -> usize {
        self.state.lock().unwrap().calls.iter().filter(|c| **c == call).count()
    }

    fn set(&self, what: impl FnOnce(&mut State)) {
        what(&mut self.state.lock().unwrap());
    }
}

fn is_held(state: &State, token: &LockToken) -> bool {
    state.holder.as_ref().is_some_and(|holder| holder.token == *token)
}

impl LockStore for Store {
    fn take<'a>(
        &'a self,
        _: &'a LockKey,
        claimant: &'a Claimant,
        want: Want,
        _: Duration,
        nonce: &'a str,
    ) -> Answering<'a, Taken> {
        let (region, session) = (claimant.region.clone(), nonce.to_string());
        self.ask("take", move |state| match state.holder.clone() {
            Some(holder) if holder.region == region => Taken::Ours { token: holder.token, session },
            Some(holder) => Taken::By(holder),
            None if want == Want::Keep => Taken::Free,
            None => {
                state.given += 1;
                let token = LockToken::new(format!("{}-n", state.given));
                state.holder = Some(Holder { token: token.clone(), region, since: None });
                Taken::Ours { token, session }
            }
        })
    }

    fn renew<'a>(
        &'a self,
        _: &'a LockKey,
        token: &'a LockToken,
        _: &'a str,
    ) -> Answering<'a, Renewed> {
        let token = token.clone();
        self.ask("renew", move |state| match is_held(state, &token) {
            true => Renewed::Yes,
            false => Renewed::Lost,
        })
    }

    fn check<'a>(&'a self, _: &'a LockKey, token: &'a LockToken) -> Answering<'a, bool> {
        let token = token.clone();
        self.ask("check", move |state| is_held(state, &token))
    }

    fn release<'a>(&'a self, _: &'a LockKey, token: &'a LockToken) -> Answering<'a, ()> {
        let token = token.clone();
        self.ask("release", move |state| {
            if is_held(state, &token) {
                state.holder = None;
            }
        })
    }

    fn record_once<'a>(&'a self, _: &'a LockKey, who: &'a Claimant) -> Answering<'a, Claimant> {
        let who = who.clone();
        self.ask("record", move |state| state.initialized_by.get_or_insert(who).clone())
    }
}

struct Bench {
    store: Arc<Store>,
    keepers: Keepers,
    metrics: Arc<Metrics>,
    queue: Arc<Queue>,
}

impl Bench {
    fn new() -> Self {
        let (store, queue) = (Arc::<Store>::default(), Arc::<Queue>::default());
        let metrics = Arc::new(Metrics::default());
        let same = Arc::clone(&store);
        let open: OpenStore = Arc::new(move |_, _| Ok(Arc::clone(&same) as Arc<dyn LockStore>));
        let keepers = Keepers::new(Arc::clone(&queue), open, Arc::clone(&metrics));
        Self { store, keepers, metrics, queue }
    }

    fn want(&self, want: Option<Want>) {
        self.keepers.want(&owner(), want.map(question));
    }

    fn fact(&self) -> LockFact {
        self.keepers.fact(&owner())
    }

    fn token(&self) -> Option<LockToken> {
        self.fact().token().cloned()
    }

    async fn check(&self, token: &LockToken, seconds: i64) -> Result<(), String> {
        let lease_left = SignedDuration::from_secs(seconds);
        let fence = LockFence { token: token.clone(), lease_left };
        self.keepers.check(&owner(), &fence).await.map_err(|why| why.to_string())
    }
}

fn owner() -> Key {
    Key::new(MindId(0), "shop", "orders")
}

fn question(want: Want) -> LockQuestion {
    LockQuestion {
        store: StoreAddress::Etcd { endpoints: vec!["https://etcd".into()] },
        key: LockKey { scope: LockScope::Namespace("shop".into()), ring: "orders".into() },
        claimant: Claimant { region: "east".into(), uid: "u".into() },
        ttl: TTL,
        want,
        initializes: false,
        breaks: None,
    }
}

fn west(token: &'static str) -> Option<Holder> {
    Some(Holder { token: token.into(), region: "west".into(), since: None })
}

/// Let the task do what is due, for so long.
async fn pass(seconds: u64) {
    for _ in 0..seconds * 2 {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_renewed_each_quarter_of_a_minute_and_released_when_nobody_asks() {
    let bench = Bench::new();
    assert_eq!(bench.fact(), LockFact::Unasked);
    bench.want(Some(Want::Take));
    pass(1).await;
    let token = bench.token().expect("it is free");
    assert_eq!(bench.metrics.locks_held.get(), 1);
    pass(300).await;
    assert_eq!(bench.store.calls("renew"), 20);
    assert_eq!(bench.token(), Some(token));
    assert_eq!(bench.store.calls("take"), 1);
    bench.want(None);
    pass(1).await;
    assert_eq!(bench.fact(), LockFact::Unasked);
    assert!(bench.store.state.lock().unwrap().holder.is_none());
    assert_eq!(bench.metrics.locks_held.get(), 0);
    let calls = bench.store.state.lock().unwrap().calls.len();
    pass(3600).await;
    assert_eq!(bench.store.state.lock().unwrap().calls.len(), calls, "nobody asks at rest");
    assert_eq!(bench.metrics.locks_lost.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn whoever_released_it_leaves_it_to_others_for_a_while() {
    let bench = Bench::new();
    bench.want(Some(Want::Take));
    pass(1).await;
    bench.want(None);
    pass(1).await;
    bench.want(Some(Want::Take));
    pass(5).await;
    assert_eq!(bench.token(), None);
    pass(10).await;
    assert!(bench.token().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_another_is_waited_for() {
    let bench = Bench::new();
    bench.store.set(|state| state.holder = west("9-w"));
    bench.want(Some(Want::Take));
    pass(1).await;
    assert_eq!(Some(bench.fact()), west("9-w").map(LockFact::HeldBy));
    assert_eq!(bench.queue.next().await, owner(), "the owner hears of it");
    bench.store.set(|state| state.holder = None);
    pass(6).await;
    assert!(bench.token().is_some());
}

#[tokio::test(start_paused = true)]
async fn what_is_only_to_be_kept_is_not_taken_and_not_asked_for_again() {
    let bench = Bench::new();
    bench.want(Some(Want::Keep));
    pass(600).await;
    assert_eq!(bench.fact(), LockFact::NotHeld);
    assert_eq!(bench.store.calls("take"), 1);
    // Of an earlier process of the same region.
    let bench = Bench::new();
    let own = Holder { token: "5-e".into(), region: "east".into(), since: None };
    bench.store.set(|state| state.holder = Some(own));
    bench.want(Some(Want::Keep));
    pass(1).await;
    assert_eq!(bench.token(), Some("5-e".into()));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_takes_the_lock_when_its_time_is_over_and_not_before() {
    let bench = Bench::new();
    bench.want(Some(Want::Take));
    pass(1).await;
    let token = bench.token().expect("it is free");
    bench.store.set(|state| state.is_away = true);
    pass(50).await;
    assert_eq!(bench.token(), Some(token.clone()));
    assert!(bench.check(&token, 0).await.unwrap_err().contains("cannot be checked"));
    pass(15).await;
    assert!(matches!(bench.fact(), LockFact::Unknown { .. }), "{:?}", bench.fact());
    assert_eq!((bench.metrics.locks_lost.get(), bench.metrics.locks_held.get()), (1, 0));
    bench.store.set(|state| state.is_away = false);
    pass(11).await;
    assert_eq!(bench.token(), Some(token), "nobody else has taken it");
}

#[tokio::test(start_paused = true)]
async fn a_fence_stands_only_while_the_store_says_so() {
    let bench = Bench::new();
    bench.want(Some(Want::Take));
    pass(1).await;
    let token = bench.token().expect("it is free");
    assert_eq!(bench.check(&token, 30).await, Ok(()));
    assert!(bench.check(&"8-other".into(), 0).await.is_err());
    assert!(bench.check(&token, 61).await.unwrap_err().contains("too little is left"));
    // Between two renewals another has it: the store was restored, or a person broke the lock.
    bench.store.set(|state| state.holder = west("9-w"));
    assert!(bench.token().is_some(), "this process does not know yet");
    assert!(bench.check(&token, 0).await.unwrap_err().contains("no longer held"));
    pass(1).await;
    assert_eq!(Some(bench.fact()), west("9-w").map(LockFact::HeldBy));
    assert_eq!((bench.metrics.locks_lost.get(), bench.metrics.locks_held.get()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_person_breaks_it_by_its_token() {
    let bench = Bench::new();
    bench.store.set(|state| state.holder = west("9-w"));
    let breaking = |token| LockQuestion { breaks: Some(token), ..question(Want::Take) };
    bench.keepers.want(&owner(), Some(breaking("8-old".into())));
    pass(20).await;
    assert_eq!(bench.token(), None);
    bench.keepers.want(&owner(), Some(breaking("9-w".into())));
    pass(6).await;
    assert!(bench.token().is_some());
    assert_eq!(bench.store.calls("release"), 1);
}

#[tokio::test(start_paused = true)]
async fn who_initializes_is_recorded_once_it_is_held() {
    let bench = Bench::new();
    let record = LockQuestion { initializes: true, ..question(Want::Take) };
    bench.store.set(|state| state.holder = west("9-w"));
    bench.keepers.want(&owner(), Some(record.clone()));
    pass(11).await;
    assert_eq!(bench.store.calls("record"), 0);
    bench.store.set(|state| state.holder = None);
    pass(6).await;
    let LockFact::Held { initialized_by, .. } = bench.fact() else { panic!("{:?}", bench.fact()) };
    assert_eq!(initialized_by, Some(record.claimant));
    assert_eq!(bench.store.calls("record"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_comes_back_while_it_is_released_is_answered() {
    let bench = Bench::new();
    bench.want(Some(Want::Take));
    pass(1).await;
    bench.want(None);
    bench.want(Some(Want::Take));
    pass(20).await;
    assert!(bench.token().is_some());
    bench.want(None);
    pass(1).await;
    assert_eq!(bench.fact(), LockFact::Unasked);
}
