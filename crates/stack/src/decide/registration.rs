//! The calls of a Registration: what is to be recorded of them, and which are to be
//! sent. It writes nothing but its status.

use crate::facts::RegistrationFacts;
use crate::facts::dependencies::Seen;
use crate::registration::calls::{Made, Pod};
use crate::registration::{Lookup, Next, Target, Terms, Wanted, forgotten, next, open};
use crate::resources::{CONFIG_MAP, REGISTRATION};
use crate::validate::ValidRegistration;
use crate::words::registration::Away;
use jiff::SignedDuration;
use palladion_api::RegistrationSpec;
use palladion_api::ids::Uid;
use palladion_api::names::client_service;
use palladion_api::registration::CallKind;
use palladion_plan::words::exchange::Failed;
use palladion_plan::{Answer, Exchange, ExchangeKey, Fence, ObjectKey, Scheme, SecretRef, Trouble};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// A call that takes longer has no answer.
const TIMEOUT: SignedDuration = SignedDuration::from_secs(10);

/// The service that is called, at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// May it be called?
    pub target: Target,
    /// Why not.
    pub trouble: Option<Trouble>,
    /// Is there anything to call?
    pub reached: Reached,
    /// Its port.
    port: u16,
    /// Addresses of its ready pods.
    addresses: Vec<String>,
}

impl Called {
    /// Its port; 0 where there is none.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Is there anything to call?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Yes, or that is not known.
    Maybe,
    /// No: it does not exist, is being deleted, or has no such port.
    No,
}

/// May calls be made at all?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calling {
    /// Yes.
    Allowed,
    /// All is paused.
    Paused,
}

/// How the target is.
pub fn called(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    calling: Calling,
) -> Called {
    let target = &valid.spec.target;
    let component = target.component.clone();
    let away = |away: Away, reached: Reached| {
        let (target, trouble) = (Target::Nowhere, Some(Trouble::of(away)));
        Called { target, trouble, reached, port: 0, addresses: Vec::new() }
    };
    let service = match facts.component(&target.component) {
        _ if facts.is_leaving(&target.component) => {
            return away(Away::Leaving { component }, Reached::No);
        }
        Seen::Unread { why } => return away(Away::Unread { component, why }, Reached::Maybe),
        Seen::Absent => return away(Away::Absent { component }, Reached::No),
        Seen::Silent | Seen::Leaving => return away(Away::NotReady { component }, Reached::Maybe),
        Seen::There(service) => service,
    };
    let Some(port) = service.ports.get(&target.port).copied() else {
        let port = target.port.clone();
        return away(Away::NoPort { component, port }, Reached::No);
    };
    let addresses = facts.ready_addresses(&service);
    let (target, trouble) = match (calling, service.active) {
        (Calling::Paused, _) => (Target::Nowhere, None),
        (Calling::Allowed, _) if addresses.is_empty() => {
            (Target::Nowhere, Some(Trouble::of(Away::NotReady { component })))
        }
        (Calling::Allowed, true) => (Target::Active, None),
        (Calling::Allowed, false) => {
            (Target::Away, Some(Trouble::of(Away::NotReady { component })))
        }
    };
    Called { target, trouble, reached: Reached::Maybe, port, addresses }
}

/// The pods that should be registered, each with the call that would do it.
///
/// # Errors
/// A service cannot be read: nothing is decided.
pub fn wanted(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
) -> Result<Vec<Wanted>, String> {
    let mut all = selected(facts, &valid.spec)?;
    for pod in &mut all {
        let (ip, node) = (pod.ip.as_deref(), pod.node.as_deref());
        let of_pod = Pod { name: &pod.name, address: &pod.address, ip, node };
        pod.hash = valid.calls.hash(&of_pod);
    }
    Ok(all)
}

/// The pods that the spec selects, each name once, without a call.
///
/// # Errors
/// As [`wanted`].
pub fn selected(
    facts: &RegistrationFacts<'_>,
    spec: &RegistrationSpec,
) -> Result<Vec<Wanted>, String> {
    let mut names = BTreeSet::new();
    let mut all: Vec<Wanted> = Vec::new();
    for selected in &spec.select {
        let pods = facts.wanted(selected)?.into_iter();
        all.extend(pods.filter(|pod| names.insert(pod.name.clone())));
    }
    Ok(all)
}

/// What is to be recorded.
pub fn decide(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
    wanted: &[Wanted],
) -> Next {
    let mut answers = facts.snapshot.exchanges.clone();
    if calls_another(facts, valid) {
        let nobody = forgotten(&facts.status.entries);
        return next(&nobody, wanted, &terms(facts, valid, called, &answers));
    }
    answers.extend(unmakeable(facts, valid, called));
    next(&facts.status.entries, wanted, &terms(facts, valid, called, &answers))
}

/// uid of the target that the entries are recorded for. One that is away for a while is
/// the same when it is back.
pub fn target_uid(facts: &RegistrationFacts<'_>, valid: &ValidRegistration) -> Option<Uid> {
    let now = facts.uid_of(&valid.spec.target.component).cloned();
    now.or_else(|| facts.status.target_uid.clone())
}

/// Is the target another object than the one that the entries are recorded for?
fn calls_another(facts: &RegistrationFacts<'_>, valid: &ValidRegistration) -> bool {
    let recorded = facts.status.target_uid.as_ref();
    recorded.is_some_and(|recorded| target_uid(facts, valid).as_ref() != Some(recorded))
}

/// Calls that are recorded and cannot be made, as if they had been answered so.
fn unmakeable(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
) -> BTreeMap<ExchangeKey, Answer> {
    let of_call = |(at, key, kind): (usize, ExchangeKey, CallKind)| {
        let why = make(facts, valid, at, kind).err()?;
        Some((key, Answer { at: facts.snapshot.now, end: Err(Failed::NoRequest { why }) }))
    };
    let nothing = BTreeMap::new();
    let terms = terms(facts, valid, called, &nothing);
    open(&facts.status.entries, &terms).filter_map(of_call).collect()
}

/// The calls that are to be sent: those that were recorded before, and no more.
pub fn exchanges(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
) -> Vec<Exchange> {
    if calls_another(facts, valid) {
        return Vec::new(); // What is recorded was to be sent to the other.
    }
    let nothing = BTreeMap::new();
    let terms = terms(facts, valid, called, &nothing);
    let all = open(&facts.status.entries, &terms);
    all.filter_map(|(at, key, kind)| {
        let made = make(facts, valid, at, kind).ok()?;
        Some(exchange(facts, valid, called, at, (key, made)))
    })
    .collect()
}

fn make(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    at: usize,
    kind: CallKind,
) -> Result<Made, String> {
    let entry = &facts.status.entries[at];
    let made = valid.calls.make(kind, &Pod::from(entry), &entry.captured);
    made.map_err(|problem| format!("{}: {}", problem.file, problem.fault))
}

fn exchange(
    facts: &RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
    at: usize,
    (key, made): (ExchangeKey, Made),
) -> Exchange {
    let owner = &facts.snapshot.owner.meta;
    let entry = &facts.status.entries[at];
    // After a failure another pod of the service is asked.
    let turn = usize::try_from(entry.attempts).unwrap_or_default();
    let address = called.addresses.get(turn % called.addresses.len().max(1));
    let tls = valid.spec.tls.as_ref();
    let auth = valid.spec.auth.as_ref();
    Exchange {
        method: made.method,
        scheme: tls.map_or(Scheme::Http, |tls| Scheme::Https {
            ca: ObjectKey::new(CONFIG_MAP, &owner.namespace, &tls.ca_config_map_name),
        }),
        address: address.cloned().unwrap_or_default(),
        host: host(valid, &owner.namespace),
        port: called.port,
        path: made.path,
        headers: Vec::new(),
        body: made.body,
        auth: auth.map(|auth| SecretRef {
            namespace: owner.namespace.clone(),
            name: auth.secret_name.clone(),
        }),
        accept: made.accept,
        capture: made.capture,
        timeout: TIMEOUT,
        fence: Some(Fence {
            object: ObjectKey::new(REGISTRATION, &owner.namespace, &owner.name),
            pointer: format!("/status/entries/{at}/call/nonce"),
            expected: json!(key.nonce),
            lock: None,
        }),
        key,
    }
}

/// The name of the Service of the ready pods, which a certificate has to name.
pub fn host(valid: &ValidRegistration, namespace: &str) -> String {
    format!("{}.{namespace}.svc", client_service(&valid.spec.target.component))
}

fn terms<'a>(
    facts: &'a RegistrationFacts<'_>,
    valid: &ValidRegistration,
    called: &Called,
    answers: &'a BTreeMap<ExchangeKey, Answer>,
) -> Terms<'a> {
    let seconds = |n: i32| SignedDuration::from_secs(n.into());
    let resync = valid.spec.resync();
    Terms {
        now: facts.snapshot.now,
        epoch: facts.snapshot.epoch,
        nonce: &facts.snapshot.nonce,
        target: called.target,
        removed_after: seconds(valid.spec.removed_after_seconds),
        resync: (resync > 0).then(|| seconds(resync)),
        lookup: valid.calls.looked_up().map_or(Lookup::Impossible, Lookup::Possible),
        answers,
    }
}
