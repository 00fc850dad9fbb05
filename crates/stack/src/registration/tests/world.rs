//! The world of a Registration: what is recorded, and the service with its nodes.

use crate::registration::{Lookup, Next, Target, Terms, Wanted, next, open};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use palladion_api::registration::{CallKind, Entry, EntryState};
use palladion_plan::words::exchange::Failed;
use palladion_plan::{Answer, Captured, ExchangeKey};
use std::collections::BTreeMap;

#[derive(Clone)]
pub struct World {
    pub now: Timestamp,
    pub entries: Vec<Entry>,
    pub wanted: Vec<Wanted>,
    pub target: Target,
    pub lookup: Lookup,
    pub resync: Option<SignedDuration>,
    epoch: i64,
    /// What this process has sent and heard; a new one knows nothing of it.
    sent: Vec<ExchangeKey>,
    answers: BTreeMap<ExchangeKey, Answer>,
    decisions: u32,
    /// What the service has: a record of its own for every call that it was told by.
    nodes: Vec<(u32, String)>,
    numbers: u32,
    /// So many of the next answers are lost after the call was done.
    pub lose: u32,
    /// Calls are done, and nobody hears of it.
    pub silent: bool,
    /// Calls about these fail.
    pub broken: Vec<String>,
    /// Answers to registrations bring no values.
    pub brings_no_id: bool,
    /// Most calls at once, and all calls.
    pub most: usize,
    pub calls: Vec<(String, CallKind)>,
}

pub fn pod(name: &str, address: &str) -> Wanted {
    let hash = Some("h1".to_string());
    Wanted { name: name.into(), address: address.into(), hash, ..Wanted::default() }
}

pub fn three() -> Vec<Wanted> {
    vec![pod("a", "10.0.0.1"), pod("b", "10.0.0.2"), pod("c", "10.0.0.3")]
}

impl World {
    pub fn new(wanted: &[Wanted]) -> Self {
        Self {
            now: "2026-01-01T00:00:00Z".parse().expect("a time"),
            entries: Vec::new(),
            wanted: wanted.to_vec(),
            target: Target::Active,
            lookup: Lookup::Impossible,
            resync: None,
            epoch: 1,
            sent: Vec::new(),
            answers: BTreeMap::new(),
            decisions: 0,
            nodes: Vec::new(),
            numbers: 0,
            lose: 0,
            silent: false,
            broken: Vec::new(),
            brings_no_id: false,
            most: 0,
            calls: Vec::new(),
        }
    }

    /// With a service that can be asked.
    pub fn looking(wanted: &[Wanted]) -> Self {
        Self { lookup: Lookup::Possible(Default::default()), ..Self::new(wanted) }
    }

    /// Another operator leads; it knows what is recorded.
    pub fn restart(&mut self) {
        self.epoch += 1;
        self.sent.clear();
        self.answers.clear();
    }

    fn with_terms<T>(&mut self, of: impl FnOnce(&Self, &Terms<'_>) -> T) -> T {
        self.decisions += 1;
        let nonce = Nonce::new(format!("n{}", self.decisions));
        let answers = self.answers.clone();
        let terms = Terms {
            now: self.now,
            epoch: self.epoch,
            nonce: &nonce,
            target: self.target,
            removed_after: SignedDuration::from_secs(60),
            resync: self.resync,
            lookup: self.lookup.clone(),
            answers: &answers,
        };
        of(self, &terms)
    }

    /// What is recorded calls for is sent, once by each process.
    pub fn send_open(&mut self) {
        let open: Vec<(usize, ExchangeKey, CallKind)> =
            self.with_terms(|world, terms| open(&world.entries, terms).collect());
        self.most = self.most.max(open.len());
        self.answers.retain(|key, _| open.iter().any(|(_, wanted, _)| wanted == key));
        for (at, key, kind) in open {
            if !self.sent.contains(&key) {
                self.sent.push(key.clone());
                let name = self.entries[at].name.clone();
                self.send(key, &name, kind);
            }
        }
    }

    /// What is decided is recorded.
    pub fn record(&mut self) -> Next {
        let next = self.with_terms(|world, terms| next(&world.entries, &world.wanted, terms));
        self.entries.clone_from(&next.entries);
        next
    }

    /// One decision, as the engine has it.
    pub fn decide(&mut self) {
        self.send_open();
        self.record();
    }

    pub fn register(&mut self, name: &str) {
        self.numbers += 1;
        self.nodes.push((self.numbers, name.to_string()));
    }

    pub fn forget(&mut self) {
        self.nodes.clear();
    }

    fn send(&mut self, key: ExchangeKey, name: &str, kind: CallKind) {
        self.calls.push((name.to_string(), kind));
        let number = |world: &Self| world.nodes.iter().find(|(_, n)| n == name).map(|(id, _)| *id);
        let good = |code, id: Option<u32>| {
            let values = id.map(|id| ("id".to_string(), id.to_string())).into_iter().collect();
            Ok(Captured { code, values })
        };
        let mut end = match (kind, number(self)) {
            _ if self.broken.iter().any(|b| b == name) => Err(Failed::Code { code: 500 }),
            (CallKind::Lookup, Some(id)) => good(200, Some(id)),
            (CallKind::Lookup, None) => Err(Failed::Code { code: 404 }),
            (CallKind::Register, _) => {
                self.register(name);
                good(201, number(self).filter(|_| !self.brings_no_id))
            }
            (CallKind::Deregister, _) => {
                self.nodes.retain(|(_, n)| n != name);
                good(204, None)
            }
        };
        if self.lose > 0 {
            self.lose -= 1;
            end = Err(Failed::TimedOut { address: "10.0.0.1".to_string() });
        }
        if !self.silent {
            self.answers.insert(key, Answer { at: self.now, end });
        }
    }

    pub fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.now += SignedDuration::from_secs(1);
            for _ in 0..3 {
                self.decide();
            }
        }
    }

    pub fn states(&self) -> Vec<(&str, EntryState)> {
        self.entries.iter().map(|e| (e.name.as_str(), e.state)).collect()
    }

    /// Who is registered.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.nodes.iter().map(|(_, name)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Who is registered more than once.
    pub fn doubles(&self) -> Vec<&str> {
        let count = |name: &str| self.nodes.iter().filter(|(_, n)| n == name).count();
        self.names().into_iter().filter(|name| count(name) > 1).collect()
    }

    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = CallKind> + 'a {
        self.calls.iter().filter(move |(of, _)| of == name).map(|(_, kind)| *kind)
    }

    pub fn count(&self, kind: CallKind) -> usize {
        self.calls.iter().filter(|(_, k)| *k == kind).count()
    }
}
