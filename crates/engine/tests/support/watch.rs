//! Watches of the fake API server: initial events, history, then what happens,
//! filtered by selector. They can be cut, refused and held back.

use super::fake::{Future, Shared};
use super::path::Target;
use super::store::{Change, Store};
use bytes::Bytes;
use futures::Stream;
use http_body_util::StreamBody;
use hyper_body::Frame;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

pub mod hyper_body {
    pub use http_body::Frame;
}

pub type WatchBody =
    StreamBody<std::pin::Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>>;

struct Watcher {
    shared: Arc<Shared>,
    target: Target,
    /// Sent up to this version.
    version: u64,
    /// It was opened from this version: nothing of before is sent.
    floor: u64,
    /// The watch is cut when this changes.
    generation: u64,
    pending: VecDeque<Value>,
    over: bool,
}

pub fn open(shared: Arc<Shared>, target: Target) -> WatchBody {
    let mut watcher = begin(shared, target);
    watcher.prime();
    let stream = futures::stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        // The type comes first, as the API server writes it.
        let (type_, object) = (&event["type"], &event["object"]);
        let line = Bytes::from(format!("{{\"type\":{type_},\"object\":{object}}}\n"));
        Some((Ok(Frame::data(line)), watcher))
    });
    StreamBody::new(Box::pin(stream))
}

fn begin(shared: Arc<Shared>, target: Target) -> Watcher {
    let state = shared.state();
    let generation = state.generation;
    drop(state);
    Watcher {
        shared,
        target,
        version: 0,
        floor: 0,
        generation,
        pending: VecDeque::new(),
        over: false,
    }
}

impl Watcher {
    fn prime(&mut self) {
        let shared = Arc::clone(&self.shared);
        let state = shared.state();
        if self.target.parameter("sendInitialEvents") == "true" {
            for object in state.store.list(&self.target) {
                self.pending.push_back(json!({"type": "ADDED", "object": object}));
            }
            self.version = state.store.version;
            self.pending.push_back(bookmark(self.version));
            return;
        }
        self.version = self.target.parameter("resourceVersion").parse().unwrap();
        if self.version > state.store.version {
            match state.future {
                Future::Refused => self.refuse(too_large(self.version, state.store.version)),
                Future::Silent => {
                    self.floor = self.version;
                    self.pending.push_back(bookmark(state.store.version));
                }
            }
            return;
        }
        if self.version < state.store.compacted {
            let gone =
                json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"});
            self.refuse(gone);
        }
    }

    fn refuse(&mut self, status: Value) {
        self.pending.push_back(json!({"type": "ERROR", "object": status}));
        self.over = true;
    }

    async fn next(&mut self) -> Option<Value> {
        let shared = Arc::clone(&self.shared);
        let mut changed = shared.changed.subscribe();
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            {
                let state = shared.state();
                if state.generation != self.generation {
                    return None;
                }
                if !state.held.contains(&self.target.plural) {
                    self.collect(&state.store);
                }
            }
            if self.pending.is_empty() {
                changed.changed().await.ok()?;
            }
        }
    }

    fn collect(&mut self, store: &Store) {
        let from = self.version.max(self.floor);
        for change in store.history.iter().filter(|c| c.version > from) {
            if change.plural == self.target.plural
                && let Some(event) = event(&self.target, change)
            {
                self.pending.push_back(event);
            }
        }
        self.version = store.version;
    }
}

/// As `NewTooLargeResourceVersionError` of apimachinery.
fn too_large(wanted: u64, current: u64) -> Value {
    json!({
        "kind": "Status", "status": "Failure", "code": 504, "reason": "Timeout",
        "message": format!("Timeout: Too large resource version: {wanted}, current: {current}"),
        "details": {
            "retryAfterSeconds": 1,
            "causes": [{
                "reason": "ResourceVersionTooLarge", "message": "Too large resource version",
            }],
        },
    })
}

fn event(target: &Target, change: &Change) -> Option<Value> {
    let selected = |o: &Option<Value>| o.as_ref().filter(|o| target.selects(o)).cloned();
    match (selected(&change.before), selected(&change.after)) {
        (None, None) => None,
        (None, Some(after)) => Some(json!({"type": "ADDED", "object": after})),
        (Some(_), Some(after)) => Some(json!({"type": "MODIFIED", "object": after})),
        (Some(mut before), None) => {
            before["metadata"]["resourceVersion"] = json!(change.version.to_string());
            Some(json!({"type": "DELETED", "object": before}))
        }
    }
}

fn bookmark(version: u64) -> Value {
    json!({"type": "BOOKMARK", "object": {
        "kind": "X", "apiVersion": "v1",
        "metadata": {
            "resourceVersion": version.to_string(),
            "annotations": {"k8s.io/initial-events-end": "true"},
        },
    }})
}
