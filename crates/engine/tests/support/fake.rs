//! An API server in memory, as a service under `kube::Client`: versions,
//! conflicts, server-side apply, watches, and faults on demand.

use super::answers::{answer, status};
use super::path::Target;
use super::store::Store;
use super::watch;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Either, Full};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch as signal;

/// What to do with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Answer it.
    Pass,
    /// Answer with this code and do nothing.
    Refuse(u16),
    /// Answer as a server that has too much to do: with this code, words that are
    /// no `Status`, and when to come again, in seconds.
    Busy(u16, u64),
    /// Do it and answer with this code all the same.
    Lose(u16),
    /// Answer it after this time.
    Late(std::time::Duration),
    /// Never answer.
    Hang,
    /// Do it and never answer.
    HangAfter,
}

/// One request, for counting and for choosing faults.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    pub target: Target,
}

impl Seen {
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// About one object: neither a list nor a watch.
    pub fn is_of_one(&self) -> bool {
        self.is_write() || self.target.name.is_some()
    }

    /// Not of the lease and not an event.
    pub fn is_object(&self) -> bool {
        self.target.plural != "leases" && self.target.plural != "events"
    }
}

/// What becomes of a watch from a version that the server has not reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Future {
    /// It is refused.
    #[default]
    Refused,
    /// It is opened, and tells of nothing before that version is reached; bookmarks
    /// say how far the server is.
    Silent,
}

type Fault = Box<dyn FnMut(&Seen) -> Action + Send>;

#[derive(Default)]
pub struct State {
    pub store: Store,
    pub seen: Vec<Seen>,
    /// Kinds whose watches deliver nothing for now.
    pub held: BTreeSet<String>,
    pub generation: u64,
    pub fault: Option<Fault>,
    /// What the server answers to a watch from a version that it has not reached.
    pub future: Future,
    /// When the server says that it answers.
    pub date: Option<String>,
}

pub struct Shared {
    state: Mutex<State>,
    pub changed: signal::Sender<u64>,
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn announce(&self) {
        self.changed.send_modify(|n| *n += 1);
    }
}

/// See the module.
#[derive(Clone)]
pub struct Fake {
    shared: Arc<Shared>,
}

impl Fake {
    pub fn new() -> Self {
        let (changed, _) = signal::channel(0);
        let mut state = State::default();
        // As etcd begins: the first object gets version 2.
        state.store.version = 1;
        Self { shared: Arc::new(Shared { state: Mutex::new(state), changed }) }
    }

    pub fn client(&self) -> Client {
        let fake = self.clone();
        let dated = move |request| {
            let fake = fake.clone();
            async move {
                let mut answer = fake.clone().serve(request).await?;
                if let Some(date) = &fake.state().date {
                    answer.headers_mut().insert("date", date.parse().unwrap());
                }
                Ok::<_, kube::Error>(answer)
            }
        };
        Client::new(tower::service_fn(dated), "default")
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    pub fn fault(&self, fault: impl FnMut(&Seen) -> Action + Send + 'static) {
        self.state().fault = Some(Box::new(fault));
    }

    /// The time that every answer is dated with.
    pub fn date(&self, date: &str) {
        self.state().date = Some(date.to_string());
    }

    pub fn no_fault(&self) {
        self.state().fault = None;
    }

    /// End every open watch.
    pub fn cut_watches(&self) {
        self.state().generation += 1;
        self.shared.announce();
    }

    /// Forget the history: watches have to list anew.
    pub fn compact(&self) {
        let mut state = self.state();
        state.store.compacted = state.store.version + 1;
        state.store.version += 1;
    }

    /// etcd is restored from a backup: everything is as it was then, the version, too.
    pub fn restore(&self, backup: Store, future: Future) {
        let mut state = self.state();
        state.store = backup;
        state.future = future;
        drop(state);
        self.cut_watches();
    }

    /// Let watches of a kind deliver nothing, or everything again.
    pub fn hold(&self, plural: &str) {
        self.state().held.insert(plural.to_string());
    }

    pub fn release(&self, plural: &str) {
        self.state().held.remove(plural);
        self.shared.announce();
    }

    pub fn put(&self, plural: &str, namespace: &str, name: &str, object: Value) -> Value {
        let stored = self.state().store.put(key(plural, namespace, name), object);
        self.shared.announce();
        stored
    }

    pub fn edit(&self, plural: &str, namespace: &str, name: &str, edit: impl FnOnce(&mut Value)) {
        let mut object = self.get(plural, namespace, name).unwrap();
        edit(&mut object);
        self.put(plural, namespace, name, object);
    }

    pub fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.state().store.get(&key(plural, namespace, name)).cloned()
    }

    pub fn delete(&self, plural: &str, namespace: &str, name: &str) {
        self.state().store.delete(&key(plural, namespace, name));
        self.shared.announce();
    }

    pub fn count(&self, plural: &str) -> usize {
        self.state().store.objects.keys().filter(|(p, _, _)| p == plural).count()
    }

    /// Requests so far that satisfy a predicate.
    pub fn requests(&self, wanted: impl Fn(&Seen) -> bool) -> usize {
        self.state().seen.iter().filter(|s| wanted(s)).count()
    }

    /// Writes of objects and status so far.
    pub fn writes(&self) -> usize {
        self.requests(|s| s.is_write() && s.is_object())
    }

    async fn serve(
        self,
        request: Request<Body>,
    ) -> Result<Response<Either<Full<Bytes>, watch::WatchBody>>, kube::Error> {
        // As on a real wire, an answer never comes in the same instant.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let seen = Seen { method: parts.method, target: Target::parse(&parts.uri) };
        let action = self.note(&seen);
        let media =
            parts.headers.get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default();
        match action {
            Action::Hang => std::future::pending().await,
            Action::Refuse(code) => return Ok(respond(status(code, reason(code), "injected"))),
            Action::Busy(code, seconds) => return Ok(busy(code, seconds)),
            Action::Late(time) => tokio::time::sleep(time).await,
            Action::Pass | Action::Lose(_) | Action::HangAfter => {}
        }
        if seen.target.is_watch() {
            let body = watch::open(Arc::clone(&self.shared), seen.target);
            return Ok(Response::new(Either::Right(body)));
        }
        let body =
            if bytes.is_empty() { json!(null) } else { serde_json::from_slice(&bytes).unwrap() };
        let answered = answer(&mut self.state().store, &seen.method, &seen.target, media, body);
        self.shared.announce();
        match action {
            Action::Lose(code) => Ok(respond(status(code, reason(code), "injected"))),
            Action::HangAfter => std::future::pending().await,
            Action::Pass
            | Action::Late(_)
            | Action::Hang
            | Action::Refuse(_)
            | Action::Busy(..) => Ok(respond(answered)),
        }
    }

    fn note(&self, seen: &Seen) -> Action {
        let mut state = self.state();
        state.seen.push(seen.clone());
        let mut fault = state.fault.take();
        // A fault may change the store: it is asked without the lock.
        drop(state);
        let action = fault.as_mut().map_or(Action::Pass, |f| f(seen));
        let mut state = self.state();
        if state.fault.is_none() {
            state.fault = fault;
        }
        action
    }
}

fn key(plural: &str, namespace: &str, name: &str) -> (String, String, String) {
    (plural.to_string(), namespace.to_string(), name.to_string())
}

fn reason(code: u16) -> &'static str {
    match code {
        403 => "Forbidden",
        409 => "Conflict",
        422 => "Invalid",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    }
}

fn respond((code, body): (u16, Value)) -> Response<Either<Full<Bytes>, watch::WatchBody>> {
    let body = Either::Left(Full::new(Bytes::from(body.to_string())));
    Response::builder().status(code).body(body).unwrap()
}

/// As the API server's priority and fairness does.
fn busy(code: u16, seconds: u64) -> Response<Either<Full<Bytes>, watch::WatchBody>> {
    let words = "Too many requests, please try again later.\n";
    let answer = Response::builder().status(code).header("retry-after", seconds);
    answer.body(Either::Left(Full::new(Bytes::from(words)))).unwrap()
}
