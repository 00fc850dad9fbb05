//! The loop around [`evaluate`](super::evaluate): read, renew, release.

use crate::error::ApiError;
use crate::leader::Term;
use crate::leader::evaluate::{
    Fate, Identity, LEASE_TIME, LeaseState, RENEW_DEADLINE, RENEW_EVERY, Standing, Verdict,
    evaluate, floor,
};
use crate::leader::holder::{Holder, LATE};
use crate::request::Api;
use palladion_api::rights::{Place, Right, Verb};
use palladion_plan::{FailureClass, ObjectKey, Resource};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const LEASE: Resource = Resource::namespaced("coordination.k8s.io", "v1", "Lease", "leases");
/// What is needed to lead.
pub const RIGHT: Right = Right::new(
    Place::Own,
    LEASE.group,
    LEASE.plural,
    &[Verb::Get, Verb::Create, Verb::Update],
    "One leader at a time",
);
/// How soon a failed renewal is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// This process' candidacy for one Lease.
pub struct Election {
    api: Api,
    key: ObjectKey,
    identity: Identity,
    /// The lease as it was last read or written, whole.
    lease: Option<Value>,
    /// Since when it has been the same.
    since: Instant,
    /// Was the pod of a holder asked for already?
    asked_for_holder: bool,
}

/// Why a leader stops.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// Another process holds the lease.
    #[error("the lease is held by {holder}")]
    Taken {
        /// The other process.
        holder: String,
    },
    /// It could not be renewed in time.
    #[error("the lease could not be renewed for {} s", RENEW_DEADLINE.as_secs())]
    Late(#[source] ApiError),
}

impl Election {
    /// A candidate for the Lease of this name.
    pub fn new(api: Api, namespace: &str, name: &str, identity: Identity) -> Self {
        let key = ObjectKey::new(LEASE, namespace, name);
        Self { api, key, identity, lease: None, since: Instant::now(), asked_for_holder: false }
    }

    /// Wait until we are the leader.
    pub async fn acquire(&mut self) -> Term {
        let mut complained = false;
        loop {
            match self.try_acquire().await {
                Ok(Some(term)) => return term,
                Ok(None) => complained = false,
                Err(error) if !complained => {
                    complained = true;
                    tracing::warn!(lease = %self.key.name, namespace = %self.key.namespace, error = %error, "cannot use the lease");
                }
                Err(_) => {}
            }
            tokio::time::sleep(self.look_again()).await;
        }
    }

    /// A released lease is looked for often enough that a successor begins
    /// within about a second.
    fn look_again(&self) -> Duration {
        RETRY
    }

    async fn try_acquire(&mut self) -> Result<Option<Term>, ApiError> {
        let asked = Instant::now();
        let read = self.api.get(&self.key).await?;
        self.observe(read);
        let now = jiff::Timestamp::now();
        let mut verdict = self.as_standby(Fate::MayRun, now);
        if verdict == Verdict::Wait && self.holder_has_ended().await {
            verdict = self.as_standby(Fate::Ended, now);
        }
        let Verdict::Acquire { epoch } = verdict else {
            return Ok(None);
        };
        match self.write(epoch, now, Some(now)).await {
            Ok(()) => {
                let term = Term::new(epoch, Duration::ZERO);
                term.renew(asked, RENEW_DEADLINE);
                Ok(Some(term))
            }
            // Another candidate was faster.
            Err(error) if error.class() == FailureClass::Conflict => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn as_standby(&self, fate: Fate, now: jiff::Timestamp) -> Verdict {
        let state = self.lease.as_ref().map(state);
        let known = (self.since.elapsed(), fate);
        evaluate(state.as_ref(), &self.identity, Standing::Standby, known, floor(now))
    }

    /// Has the process that holds the lease, as it was just read, ended? Asked
    /// when we come and when it is late. No answer means that it may run.
    async fn holder_has_ended(&mut self) -> bool {
        let first = !std::mem::replace(&mut self.asked_for_holder, true);
        if !first && self.since.elapsed() < LATE {
            return false;
        }
        let spec = self.lease.as_ref().map(|lease| &lease["spec"]).unwrap_or(&Value::Null);
        let text = |field: &str| spec[field].as_str().unwrap_or_default();
        let Some(holder) = Holder::parse(text("holderIdentity"), text("renewTime")) else {
            return false;
        };
        match self.api.get(&holder.pod(&self.key.namespace)).await {
            Ok(pod) => pod.is_some_and(|pod| holder.has_ended(&pod)),
            Err(error) => {
                tracing::debug!(error = %error, "cannot read the pod of the leader");
                false
            }
        }
    }

    /// Renew until that fails for good.
    pub async fn keep(&mut self, term: &Term) -> Lost {
        let mut renewed = Instant::now();
        let mut wait = RENEW_EVERY;
        loop {
            tokio::time::sleep(wait).await;
            let asked = Instant::now();
            match tokio::time::timeout_at(renewed + RENEW_DEADLINE, self.renew(term)).await {
                Ok(Ok(None)) => {
                    term.renew(asked, RENEW_DEADLINE);
                    renewed = asked;
                    wait = RENEW_EVERY;
                }
                Ok(Ok(Some(lost))) => {
                    term.end();
                    return lost;
                }
                Ok(Err(error))
                    if asked.elapsed() + asked.duration_since(renewed) >= RENEW_DEADLINE =>
                {
                    term.end();
                    return Lost::Late(error);
                }
                Ok(Err(_)) => wait = RETRY,
                Err(_) => {
                    term.end();
                    return Lost::Late(ApiError::timeout(RENEW_DEADLINE));
                }
            }
        }
    }

    async fn renew(&mut self, term: &Term) -> Result<Option<Lost>, ApiError> {
        let now = jiff::Timestamp::now();
        match self.write(term.epoch, now, None).await {
            Ok(()) => return Ok(None),
            Err(error) if error.class() == FailureClass::Conflict => {}
            Err(error) => return Err(error),
        }
        // Somebody wrote it: see who, and go on from there if it is still ours.
        let read = self.api.get(&self.key).await?;
        self.observe(read);
        let state = self.lease.as_ref().map(state);
        match evaluate(
            state.as_ref(),
            &self.identity,
            Standing::Leader,
            (Duration::ZERO, Fate::MayRun),
            0,
        ) {
            Verdict::Renew => {
                self.write(term.epoch, now, None).await?;
                Ok(None)
            }
            Verdict::Acquire { .. } | Verdict::Yield | Verdict::Wait => {
                let holder = state.map_or_else(|| "nobody".to_string(), |s| s.holder);
                Ok(Some(Lost::Taken { holder }))
            }
        }
    }

    /// Give it up, so that a successor need not wait for its end.
    pub async fn release(&mut self, term: &Term) {
        term.end();
        let Some(mut lease) = self.lease.take() else {
            return;
        };
        lease["spec"]["holderIdentity"] = json!("");
        lease["spec"]["renewTime"] = json!(micro(jiff::Timestamp::now()));
        if let Err(error) = self.api.replace(&self.key, &lease).await {
            tracing::warn!(error = %error, "cannot release the lease; a successor waits until it runs out");
        }
    }

    /// Did the lease change since we last saw it?
    fn observe(&mut self, read: Option<Value>) {
        let version = |lease: &Option<Value>| {
            lease.as_ref().map(|l| l["metadata"]["resourceVersion"].clone())
        };
        if version(&read) != version(&self.lease) {
            self.since = Instant::now();
        }
        self.lease = read;
    }

    async fn write(
        &mut self,
        epoch: i64,
        now: jiff::Timestamp,
        acquired: Option<jiff::Timestamp>,
    ) -> Result<(), ApiError> {
        let mut lease = self.lease.clone().unwrap_or_else(|| {
            json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": self.key.name, "namespace": self.key.namespace},
                "spec": {},
            })
        });
        let spec = &mut lease["spec"];
        spec["holderIdentity"] = json!(self.identity.process);
        spec["leaseDurationSeconds"] = json!(LEASE_TIME.as_secs());
        spec["leaseTransitions"] = json!(epoch);
        spec["renewTime"] = json!(micro(now));
        if let Some(acquired) = acquired {
            spec["acquireTime"] = json!(micro(acquired));
        }
        let written = match &self.lease {
            Some(_) => self.api.replace(&self.key, &lease).await?,
            None => self.api.create(LEASE, &self.key.namespace, &lease).await?,
        };
        self.lease = Some(written);
        self.since = Instant::now();
        Ok(())
    }
}

fn state(lease: &Value) -> LeaseState {
    let spec = &lease["spec"];
    LeaseState {
        holder: spec["holderIdentity"].as_str().unwrap_or_default().to_string(),
        transitions: spec["leaseTransitions"].as_i64().unwrap_or_default(),
        duration: Duration::from_secs(spec["leaseDurationSeconds"].as_u64().unwrap_or_default()),
    }
}

/// Kubernetes' MicroTime wants exactly six digits.
fn micro(time: jiff::Timestamp) -> String {
    format!("{time:.6}")
}
