//! The lock in a Lease of another Kubernetes cluster, which all regions reach. The API server
//! ends no Lease by itself: whoever waits takes it when it has not changed for its whole time, by
//! the monotonic clock of the one who waits. No Lease is ever deleted, so its number of
//! transitions never begins again; with a random nonce it is the token.

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
/// Annotations: who holds it, who initializes the ring, and of which ring it is.
const HOLDER: &str = "palladion.dev/holder";
const INITIALIZED: &str = "palladion.dev/initialized";
const GROUP: &str = "palladion.dev/group";
const RING: &str = "palladion.dev/ring";

/// Leases in one namespace of another cluster.
pub struct Leases {
    kubeconfig: PathBuf,
    namespace: String,
    metrics: Arc<Metrics>,
    /// Versions as they were seen first, and when.
    seen: Mutex<HashMap<String, (String, Instant)>>,
}

/// A Lease as it was read.
struct Read {
    object: Value,
    held: Option<Held>,
}

/// Who holds it.
#[derive(Clone)]
struct Held {
    claimant: Claimant,
    nonce: String,
    /// Drawn by each process that takes or goes on with it.
    session: String,
    since: Option<jiff::Timestamp>,
}

impl Held {
    fn value(&self) -> Value {
        let Claimant { region, uid } = &self.claimant;
        let since = self.since.map(|since| since.to_string());
        let (nonce, session) = (&self.nonce, &self.session);
        json!({ "region": region, "uid": uid, "nonce": nonce, "session": session, "since": since })
    }

    fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = |field: &str| value[field].as_str().map(str::to_string);
        Some(Self {
            claimant: Claimant::read(&value)?,
            nonce: word("nonce")?,
            session: word("session")?,
            since: word("since").and_then(|since| since.parse().ok()),
        })
    }
}

impl Read {
    fn transitions(&self) -> i64 {
        self.object["spec"]["leaseTransitions"].as_i64().unwrap_or_default()
    }

    fn token(&self) -> Option<LockToken> {
        let nonce = &self.held.as_ref()?.nonce;
        Some(LockToken::new(format!("{}-{nonce}", self.transitions())))
    }

    fn duration(&self) -> Duration {
        let seconds = self.object["spec"]["leaseDurationSeconds"].as_u64();
        Duration::from_secs(seconds.unwrap_or_default())
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        self.object["metadata"]["annotations"][name].as_str()
    }

    /// The object as it is written for this holder, or for nobody.
    fn held_by(&self, held: Option<&Held>, transitions: i64, ttl: Duration) -> Value {
        let mut object = self.object.clone();
        let spec = &mut object["spec"];
        spec["holderIdentity"] = json!(held.map_or("", |held| &held.claimant.region));
        spec["leaseTransitions"] = json!(transitions);
        spec["leaseDurationSeconds"] = json!(ttl.as_secs());
        spec["renewTime"] = json!(format!("{:.6}", jiff::Timestamp::now()));
        let annotations = &mut object["metadata"]["annotations"];
        match (held, annotations.as_object_mut()) {
            (Some(held), _) => annotations[HOLDER] = json!(held.value().to_string()),
            (None, Some(annotations)) => drop(annotations.remove(HOLDER)),
            (None, None) => {}
        }
        object
    }
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
        format!("palladion-{}", hash::of(&json!([key.group, key.ring])))
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
        if (of(GROUP), of(RING)) != (key.group.as_str(), key.ring.as_str()) {
            return Err(foreign());
        }
        let holder = object["metadata"]["annotations"][HOLDER].as_str();
        let held = holder.map(|text| Held::read(text).ok_or_else(foreign)).transpose()?;
        Ok(Some(Read { object, held }))
    }

    async fn write(&self, api: &Api, key: &LockKey, object: &Value) -> Result<(), StoreAway> {
        let written = api.replace(&self.object_key(key), object).await;
        written.map(drop).map_err(|error| Self::away(key, &error))
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
    ) -> Result<Taken, StoreAway> {
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
                return Ok(Taken::Free);
            }
            let held = fresh();
            let object = self.first(key).held_by(Some(&held), 1, ttl);
            let made = api.create(LEASE, &self.namespace, &object).await;
            made.map_err(|error| Self::away(key, &error))?;
            return Ok(ours(1, held));
        };
        let (transitions, held) = match read.held.clone() {
            Some(held) if held.claimant == *claimant => {
                (read.transitions(), Held { session: nonce.to_string(), ..held })
            }
            Some(held) if !self.has_ended(key, &read, ttl) => {
                let token = read.token().unwrap_or_default();
                let Held { claimant: Claimant { region, .. }, since, .. } = held;
                return Ok(Taken::By(Holder { token, region, since }));
            }
            Some(_) | None if want == Want::Keep => return Ok(Taken::Free),
            Some(_) | None => (read.transitions() + 1, fresh()),
        };
        self.write(&api, key, &read.held_by(Some(&held), transitions, ttl)).await?;
        Ok(ours(transitions, held))
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
                "annotations": { GROUP: key.group, RING: key.ring },
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
    ) -> Result<Renewed, StoreAway> {
        let api = self.api().await?;
        let Some(read) = self.read(&api, key).await?.filter(|r| r.token().as_ref() == Some(token))
        else {
            return Ok(Renewed::Lost);
        };
        let held = read.held.clone().filter(|held| held.session == session);
        let Some(held) = held else { return Ok(Renewed::Lost) };
        let object = read.held_by(Some(&held), read.transitions(), read.duration());
        self.write(&api, key, &object).await?;
        Ok(Renewed::Yes)
    }

    async fn try_release(&self, key: &LockKey, token: &LockToken) -> Result<(), StoreAway> {
        let api = self.api().await?;
        let Some(read) = self.read(&api, key).await?.filter(|r| r.token().as_ref() == Some(token))
        else {
            return Ok(());
        };
        self.write(&api, key, &read.held_by(None, read.transitions(), read.duration())).await
    }

    async fn try_record(&self, key: &LockKey, who: &Claimant) -> Result<Claimant, StoreAway> {
        let api = self.api().await?;
        let name = Self::name(key);
        let foreign = || StoreAway(NoStore::Foreign { name: name.clone() }.to_string());
        // It is held: there is one.
        let mut read = self.read(&api, key).await?.ok_or_else(foreign)?;
        if let Some(text) = read.annotation(INITIALIZED) {
            let value: Option<Value> = serde_json::from_str(text).ok();
            return value.and_then(|value| Claimant::read(&value)).ok_or_else(foreign);
        }
        let record = who.record().to_string();
        read.object["metadata"]["annotations"][INITIALIZED] = json!(record);
        self.write(&api, key, &read.object).await?;
        Ok(who.clone())
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
        Box::pin(self.try_take(key, claimant, want, ttl, nonce))
    }

    fn renew<'a>(
        &'a self,
        key: &'a LockKey,
        token: &'a LockToken,
        session: &'a str,
    ) -> Answering<'a, Renewed> {
        Box::pin(self.try_renew(key, token, session))
    }

    fn check<'a>(&'a self, key: &'a LockKey, token: &'a LockToken) -> Answering<'a, bool> {
        Box::pin(async move {
            let api = self.api().await?;
            let read = self.read(&api, key).await?;
            Ok(read.is_some_and(|read| read.token().as_ref() == Some(token)))
        })
    }

    fn release<'a>(&'a self, key: &'a LockKey, token: &'a LockToken) -> Answering<'a, ()> {
        Box::pin(self.try_release(key, token))
    }

    fn record_once<'a>(
        &'a self,
        key: &'a LockKey,
        claimant: &'a Claimant,
    ) -> Answering<'a, Claimant> {
        Box::pin(self.try_record(key, claimant))
    }
}
