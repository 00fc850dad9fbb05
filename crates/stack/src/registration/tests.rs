//! A service that is called, loses answers, is away and forgets, and the entries
//! that are kept of it.

use super::*;
use palladion_plan::Captured;
use palladion_plan::words::exchange::Failed;

/// The world of a Registration: what is recorded, and the service with its nodes.
struct World {
    now: Timestamp,
    entries: Vec<Entry>,
    wanted: Vec<Wanted>,
    target: Target,
    lookup: Lookup,
    resync: Option<SignedDuration>,
    answers: BTreeMap<ExchangeKey, Answer>,
    decisions: u32,
    /// What the service has: key of a pod, and how often it was told.
    nodes: BTreeMap<String, u32>,
    /// So many of the next answers are lost after the call was done.
    lose: u32,
    /// Calls about these fail.
    broken: Vec<String>,
    /// Most calls at once, and all calls.
    most: usize,
    calls: Vec<(String, Ask)>,
}

fn pod(name: &str, address: &str) -> Wanted {
    Wanted { name: name.into(), address: address.into(), hash: "h1".into() }
}

impl World {
    fn new(wanted: &[Wanted]) -> Self {
        Self {
            now: "2026-01-01T00:00:00Z".parse().expect("a time"),
            entries: Vec::new(),
            wanted: wanted.to_vec(),
            target: Target::Active,
            lookup: Lookup::Impossible,
            resync: None,
            answers: BTreeMap::new(),
            decisions: 0,
            nodes: BTreeMap::new(),
            lose: 0,
            broken: Vec::new(),
            most: 0,
            calls: Vec::new(),
        }
    }

    /// One decision: what it records is recorded, what it asks is sent.
    fn decide(&mut self) {
        self.decisions += 1;
        let nonce = Nonce::new(format!("n{}", self.decisions));
        let terms = Terms {
            now: self.now,
            nonce: &nonce,
            target: self.target,
            removed_after: SignedDuration::from_secs(60),
            resync: self.resync,
            lookup: self.lookup,
            answers: &self.answers,
        };
        let next = next(&self.entries, &self.wanted, &terms);
        self.entries = next.entries;
        self.most = self.most.max(next.asks.len());
        for (key, ask) in next.asks {
            self.send(key, ask);
        }
    }

    fn send(&mut self, key: ExchangeKey, ask: Ask) {
        if self.answers.contains_key(&key) {
            return;
        }
        let name = key.name.split('/').next().unwrap_or_default().to_string();
        self.calls.push((name.clone(), ask));
        let end = match ask {
            _ if self.broken.contains(&name) => Err(Failed::Code { code: 500 }),
            Ask::Lookup if self.nodes.contains_key(&name) => {
                Ok(Captured { code: 200, ..Captured::default() })
            }
            Ask::Lookup => Err(Failed::Code { code: 404 }),
            Ask::Register => {
                *self.nodes.entry(name).or_default() += 1;
                Ok(Captured { code: 201, ..Captured::default() })
            }
            Ask::Deregister => {
                self.nodes.remove(&name);
                Ok(Captured { code: 204, ..Captured::default() })
            }
        };
        if self.lose > 0 {
            self.lose -= 1;
            let address = "10.0.0.1".to_string();
            let end = Err(Failed::TimedOut { address });
            self.answers.insert(key, Answer { at: self.now, end });
            return;
        }
        self.answers.insert(key, Answer { at: self.now, end });
    }

    fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.now += SignedDuration::from_secs(1);
            for _ in 0..3 {
                self.decide();
            }
        }
    }

    fn states(&self) -> Vec<(&str, EntryState)> {
        self.entries.iter().map(|e| (e.name.as_str(), e.state)).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.nodes.keys().map(String::as_str).collect()
    }

    fn count(&self, ask: Ask) -> usize {
        self.calls.iter().filter(|(_, a)| *a == ask).count()
    }
}

fn three() -> Vec<Wanted> {
    vec![pod("a", "10.0.0.1"), pod("b", "10.0.0.2"), pod("c", "10.0.0.3")]
}

#[test]
fn all_wait_for_the_service_and_are_registered_once_it_is_there() {
    let mut world = World::new(&three());
    world.target = Target::Away;
    world.pass(10);
    assert!(world.calls.is_empty());
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Queued));
    world.target = Target::Active;
    world.pass(2);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Registered));
    world.pass(600);
    assert_eq!(world.calls.len(), 3, "at rest nobody is called");
}

#[test]
fn a_call_is_recorded_before_it_is_sent_and_sent_until_it_is_answered() {
    let mut world = World::new(&three()[..1]);
    let nonce = Nonce::from("n");
    let answers = BTreeMap::new();
    let mut terms = Terms {
        now: world.now,
        nonce: &nonce,
        target: Target::Active,
        removed_after: SignedDuration::ZERO,
        resync: None,
        lookup: Lookup::Impossible,
        answers: &answers,
    };
    let first = next(&[], &world.wanted, &terms);
    assert_eq!(first.asks, [], "nothing is sent that is not recorded");
    assert_eq!(first.entries[0].state, EntryState::Registering);
    let other = Nonce::from("m");
    terms.nonce = &other;
    for _ in 0..3 {
        // A new operator each time, which knows no more than what is recorded.
        let again = next(&first.entries, &world.wanted, &terms);
        assert_eq!(again.asks.len(), 1);
        assert_eq!(again.asks[0].0.nonce, nonce, "it is the same call");
        assert_eq!(again.entries, first.entries);
    }
    world.wanted.clear();
    let unwanted = next(&first.entries, &world.wanted, &terms);
    assert_eq!(unwanted.asks.len(), 1, "it may have been done: its end is waited for");
}

#[test]
fn a_lost_answer_is_asked_again_and_nobody_is_lost() {
    for lookup in [Lookup::Impossible, Lookup::Possible] {
        let mut world = World::new(&three());
        (world.lookup, world.lose) = (lookup, 2);
        world.pass(10);
        assert_eq!(world.names(), ["a", "b", "c"]);
        assert!(world.states().iter().all(|(_, state)| *state == EntryState::Registered));
        let most = world.nodes.values().max();
        match lookup {
            Lookup::Impossible => assert_eq!(most, Some(&2), "told twice, which does no harm"),
            Lookup::Possible => assert_eq!(most, Some(&1), "the service was asked first"),
        }
    }
}

#[test]
fn a_pod_that_restarts_is_the_same_and_one_that_is_gone_is_taken_out_later() {
    let mut world = World::new(&three());
    world.pass(2);
    world.wanted.remove(1);
    world.pass(30);
    world.wanted = three();
    world.pass(60);
    assert_eq!(world.count(Ask::Deregister), 0, "it came back in time");
    world.wanted.remove(1);
    world.pass(59);
    assert_eq!(world.names(), ["a", "b", "c"]);
    world.pass(3);
    assert_eq!(world.names(), ["a", "c"]);
    assert_eq!(world.entries.len(), 2);
}

#[test]
fn one_that_nobody_has_called_for_is_forgotten() {
    let mut world = World::new(&three());
    world.target = Target::Away;
    world.pass(2);
    world.wanted.clear();
    world.pass(1);
    assert!(world.entries.is_empty());
}

#[test]
fn another_address_of_a_name_comes_after_the_removal_of_the_old_one() {
    let mut world = World::new(&three());
    world.pass(2);
    world.wanted[0].address = "10.0.0.9".into();
    world.pass(5);
    let of_a: Vec<Ask> =
        world.calls.iter().filter(|(name, _)| name == "a").map(|(_, ask)| *ask).collect();
    assert_eq!(of_a, [Ask::Register, Ask::Deregister, Ask::Register]);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert_eq!(world.entries.len(), 3);
}

#[test]
fn another_call_takes_a_pod_out_and_in_again() {
    let mut world = World::new(&three()[..1]);
    world.pass(2);
    world.wanted[0].hash = "h2".into();
    world.pass(5);
    assert_eq!((world.count(Ask::Deregister), world.count(Ask::Register)), (1, 2));
    assert_eq!(world.entries[0].hash.as_deref(), Some("h2"));
    world.pass(600);
    assert_eq!(world.calls.len(), 3);
}

#[test]
fn one_that_fails_is_tried_less_and_less_and_blocks_nobody() {
    let mut all: Vec<Wanted> = (0..8).map(|n| pod(&format!("bad{n}"), "10.1.0.1")).collect();
    all.extend(three());
    let mut world = World::new(&all);
    world.broken = (0..8).map(|n| format!("bad{n}")).collect();
    world.pass(10);
    assert_eq!(world.names(), ["a", "b", "c"]);
    assert!(world.most <= AT_ONCE, "{} at once", world.most);
    world.pass(600);
    let of_one = world.calls.iter().filter(|(name, _)| name == "bad0").count();
    assert!((10..=18).contains(&of_one), "{of_one} calls in ten minutes");
    let failed = world.entries.iter().find(|e| e.name == "bad0").expect("is there");
    assert_eq!(failed.message.as_deref(), Some("it answered 500"));
    world.broken.clear();
    world.pass(61);
    assert_eq!(world.names().len(), 11);
    assert!(world.entries.iter().all(|e| e.message.is_none() && e.attempts == 0));
}

#[test]
fn a_service_that_has_forgotten_is_told_again_where_it_can_be_asked() {
    let mut world = World::new(&three());
    (world.lookup, world.resync) = (Lookup::Possible, Some(SignedDuration::from_secs(600)));
    world.pass(2);
    world.nodes.clear();
    world.pass(590);
    assert!(world.names().is_empty());
    world.pass(20);
    assert_eq!(world.names(), ["a", "b", "c"]);
    let before = world.calls.len();
    world.broken = vec!["a".into()];
    world.pass(610);
    assert!(world.states().iter().all(|(_, state)| *state == EntryState::Registered));
    assert_eq!(world.calls.len(), before + 3, "a question that fails puts nobody in doubt");
}

#[test]
fn a_removal_waits_while_the_service_is_away() {
    let mut world = World::new(&three()[..1]);
    world.pass(2);
    (world.target, world.wanted) = (Target::Away, Vec::new());
    world.pass(200);
    assert_eq!(world.entries.len(), 1, "it is not forgotten");
    world.target = Target::Active;
    world.pass(2);
    assert!(world.entries.is_empty() && world.nodes.is_empty());
}
