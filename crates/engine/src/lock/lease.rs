//! The lock in a Lease of another Kubernetes cluster, which all regions reach. The API server
//! ends no Lease by itself: whoever waits takes it when it has not changed for its whole time, by
//! the monotonic clock of the one who waits. No Lease is ever deleted, so its number of
//! transitions never begins again; with a random nonce it is the token.

use super::held::{Held, Read};
use super::keep::lock;
use crate::client;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::request::Api;
use crate::words::NoStore;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use palladion_api::ids::LockToken;
use palladion_api::labels::{MANAGED_BY, PALLADION};
use palladion_plan::lock::{
    Answering, Claimant, Holder, LockKey, LockStore, Renewed, StoreAway, Taken, Want,
};
use palladion_plan::{ObjectKey, Resource, hash};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const LEASE: Resource = Resource::namespaced("coordination.k8s.io", "v1", "Lease", "leases");
/// Annotations: who initializes the ring, and of which ring it is.
const INITIALIZED: &str = "palladion.dev/initialized";
const SCOPE: &str = "palladion.dev/scope";
const RING: &str = "palladion.dev/ring";

/// How often a write is tried on what others have written meanwhile, which is seldom.
const TRIES: u32 = 3;
const CONFLICT: u16 = 409;

/// Leases in one namespace of another cluster.
pub struct Leases {
    kubeconfig: PathBuf,
    namespace: String,
    metrics: Arc<Metrics>,
    /// Versions as they were seen first, and when.
    seen: Mutex<HashMap<String, (String, Instant)>>,
}

impl Leases {
    /// Those of this namespace, reached by this kubeconfig: it is read again with each call, and
    /// no connection stays open.
    pub fn new(kubeconfig: PathBuf, namespace: String, metrics: Arc<Metrics>) -> Self {
        Self { kubeconfig, namespace, metrics, seen: Mutex::default() }
    }

    async fn api(&self) -> Result<Api, StoreAway> {
        let file = self.kubeconfig.display().to_string();
        let bad = |why: String| StoreAway(NoStore::NoKubeconfig { file, why }.to_string());
        let config = match Kubeconfig::read_from(&self.kubeconfig) {
            Ok(read) => {
                let options = KubeConfigOptions::default();
                Config::from_custom_kubeconfig(read, &options).await.map_err(|e| e.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        let client = config.and_then(|config| client::client(config).map_err(|e| e.to_string()));
        Ok(Api::new(client.map_err(bad)?, Arc::clone(&self.metrics)))
    }

    fn name(key: &LockKey) -> String {
        format!("palladion-{}", hash::of(&json!([key.scope.path(), key.ring])))
    }

    fn away(key: &LockKey, error: &ApiError) -> StoreAway {
        StoreAway(NoStore::Lease { name: Self::name(key), why: error.to_string() }.to_string())
    }

    fn object_key(&self, key: &LockKey) -> ObjectKey {
        ObjectKey::new(LEASE, &self.namespace, &Self::name(key))
    }

    async fn read(&self, api: &Api, key: &LockKey) -> Result<Option<Read>, StoreAway> {
        let found = api.get(&self.object_key(key)).await.map_err(|e| Self::away(key, &e))?;
        let Some(object) = found else { return Ok(None) };
        let name = Self::name(key);
        let foreign = || StoreAway(NoStore::Foreign { name: name.clone() }.to_string());
        let of = |name: &str| object["metadata"]["annotations"][name].as_str().unwrap_or_default();
        if (of(SCOPE), of(RING)) != (key.scope.path().as_str(), key.ring.as_str()) {
            return Err(foreign());
        }
        Read::of(object).map(Some).ok_or_else(foreign)
    }

    /// Is it written? Not where another has written since it was read, or has made it.
    async fn write(&self, api: &Api, key: &LockKey, object: &Value) -> Result<bool, StoreAway> {
        Self::written(key, api.replace(&self.object_key(key), object).await)
    }

    fn written(key: &LockKey, answer: Result<Value, ApiError>) -> Result<bool, StoreAway> {
        match answer {
            Ok(_) => Ok(true),
            Err(error) if error.code == Some(CONFLICT) => Ok(false),
            Err(error) => Err(Self::away(key, &error)),
        }
    }

    /// Do it again on what another has written in between; a region that is always overtaken
    /// asks later.
    async fn insist<T, F: Future<Output = Result<Option<T>, StoreAway>>>(
        key: &LockKey,
        once: impl Fn() -> F,
    ) -> Result<T, StoreAway> {
        for _ in 0..TRIES {
            if let Some(done) = once().await? {
                return Ok(done);
            }
        }
        Err(StoreAway(NoStore::Overtaken { name: Self::name(key), tries: TRIES }.to_string()))
    }

    /// Has it been the same for its whole time, as we have seen it?
    fn has_ended(&self, key: &LockKey, read: &Read, ttl: Duration) -> bool {
        let version = read.object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let mut seen = lock(&self.seen);
        let known = seen.entry(Self::name(key)).or_insert_with(|| (version.into(), Instant::now()));
        if known.0 != version {
            *known = (version.to_string(), Instant::now());
        }
        known.1.elapsed() >= read.duration().max(ttl)
    }

    async fn try_take(
        &self,
        key: &LockKey,
        claimant: &Claimant,
        want: Want,
        ttl: Duration,
        nonce: &str,
    ) -> Result<Option<Taken>, StoreAway> {
        let api = self.api().await?;
        let fresh = || Held {
            claimant: claimant.clone(),
            nonce: nonce.to_string(),
            session: nonce.to_string(),
            since: Some(jiff::Timestamp::now()),
        };
        let ours = |transitions: i64, held: Held| Taken::Ours {
            token: LockToken::new(format!("{transitions}-{}", held.nonce)),
            session: held.session,
        };
        let Some(read) = self.read(&api, key).await? else {
            if want == Want::Keep {
                return Ok(Some(Taken::Free));
            }
            let held = fresh();
            let object = self.first(key).held_by(Some(&held), 1, ttl);
            let made = api.create(LEASE, &self.namespace, &object).await;
            return Ok(Self::written(key, made)?.then(|| ours(1, held)));
        };
        let (transitions, held) = match read.held.clone() {
            Some(held) if held.claimant == *claimant => {
                (read.transitions(), Held { session: nonce.to_string(), ..held })
            }
            Some(held) if !self.has_ended(key, &read, ttl) => {
                let token = read.token().unwrap_or_default();
                let Held { claimant: Claimant { region, .. }, since, .. } = held;
                return Ok(Some(Taken::By(Holder { token, region, since })));
            }
            Some(_) | None if want == Want::Keep => return Ok(Some(Taken::Free)),
            Some(_) | None => (read.transitions() + 1, fresh()),
        };
        let written = self.write(&api, key, &read.held_by(Some(&held), transitions, ttl)).await?;
        Ok(written.then(|| ours(transitions, held)))
    }

    /// A Lease that does not exist yet.
    fn first(&self, key: &LockKey) -> Read {
        let object = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": Self::name(key),
                "namespace": self.namespace,
                "labels": { MANAGED_BY: PALLADION },
                "annotations": { SCOPE: key.scope.path(), RING: key.ring },
            },
            "spec": {},
        });
        Read { object, held: None }
    }

    async fn try_renew(
        &self,
        key: &LockKey,
        token: &LockToken,
        session: &str,
    ) -> Result<Option<Renewed>, StoreAway> {
        let api = self.api().await?;
        let Some(read) = self.read(&api, key).await?.filter(|r| r.token().as_ref() == Some(token))
        else {
            return Ok(Some(Renewed::Lost));
        };
        let held = read.held.clone().filter(|held| held.session == session);
        let Some(held) = held else { return Ok(Some(Renewed::Lost)) };
        let object = read.held_by(Some(&held), read.transitions(), read.duration());
        Ok(self.write(&api, key, &object).await?.then_some(Renewed::Yes))
    }

    async fn try_release(&self, key: &LockKey, token: &LockToken) -> Result<Option<()>, StoreAway> {
        let api = self.api().await?;
        let Some(read) = self.read(&api, key).await?.filter(|r| r.token().as_ref() == Some(token))
        else {
            return Ok(Some(()));
        };
        let free = read.held_by(None, read.transitions(), read.duration());
        Ok(self.write(&api, key, &free).await?.then_some(()))
    }

    async fn try_record(
        &self,
        key: &LockKey,
        who: &Claimant,
    ) -> Result<Option<Claimant>, StoreAway> {
        let api = self.api().await?;
        let name = Self::name(key);
        let foreign = || StoreAway(NoStore::Foreign { name: name.clone() }.to_string());
        // It is held: there is one.
        let mut read = self.read(&api, key).await?.ok_or_else(foreign)?;
        if let Some(text) = read.annotation(INITIALIZED) {
            let value: Option<Value> = serde_json::from_str(text).ok();
            let by = value.and_then(|value| Claimant::read(&value));
            return by.map(Some).ok_or_else(foreign);
        }
        let record = who.record().to_string();
        read.object["metadata"]["annotations"][INITIALIZED] = json!(record);
        Ok(self.write(&api, key, &read.object).await?.then(|| who.clone()))
    }
}

impl LockStore for Leases {
    fn take<'a>(
        &'a self,
        key: &'a LockKey,
        claimant: &'a Claimant,
        want: Want,
        ttl: Duration,
        nonce: &'a str,
    ) -> Answering<'a, Taken> {
        Box::pin(async move {
            Self::insist(key, || self.try_take(key, claimant, want, ttl, nonce)).await
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a LockKey,
        token: &'a LockToken,
        session: &'a str,
    ) -> Answering<'a, Renewed> {
        Box::pin(async move { Self::insist(key, || self.try_renew(key, token, session)).await })
    }

    fn check<'a>(&'a self, key: &'a LockKey, token: &'a LockToken) -> Answering<'a, bool> {
        Box::pin(async move {
            let api = self.api().await?;
            let read = self.read(&api, key).await?;
            Ok(read.is_some_and(|read| read.token().as_ref() == Some(token)))
        })
    }

    fn release<'a>(&'a self, key: &'a LockKey, token: &'a LockToken) -> Answering<'a, ()> {
        Box::pin(async move { Self::insist(key, || self.try_release(key, token)).await })
    }

    fn record_once<'a>(
        &'a self,
        key: &'a LockKey,
        claimant: &'a Claimant,
    ) -> Answering<'a, Claimant> {
        Box::pin(async move { Self::insist(key, || self.try_record(key, claimant)).await })
    }
}
