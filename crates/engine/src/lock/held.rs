//! A Lease of the lock between regions as it was read, and who holds it.

use jiff::Timestamp;
use palladion_api::ids::LockToken;
use palladion_plan::lock::Claimant;
use serde_json::{Value, json};
use std::time::Duration;

/// Annotation: who holds it.
const HOLDER: &str = "palladion.dev/holder";

/// A Lease as it was read.
pub(super) struct Read {
    pub object: Value,
    pub held: Option<Held>,
}

/// Who holds it.
#[derive(Clone)]
pub(super) struct Held {
    pub claimant: Claimant,
    pub nonce: String,
    /// Drawn by each process that takes or goes on with it.
    pub session: String,
    pub since: Option<Timestamp>,
}

impl Held {
    pub fn value(&self) -> Value {
        let Claimant { region, uid } = &self.claimant;
        let since = self.since.map(|since| since.to_string());
        let (nonce, session) = (&self.nonce, &self.session);
        json!({ "region": region, "uid": uid, "nonce": nonce, "session": session, "since": since })
    }

    pub fn read(text: &str) -> Option<Self> {
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
    /// Nothing where its holder cannot be read.
    pub fn of(object: Value) -> Option<Self> {
        let holder = object["metadata"]["annotations"][HOLDER].as_str();
        let held = match holder {
            Some(text) => Some(Held::read(text)?),
            None => None,
        };
        Some(Self { object, held })
    }

    pub fn transitions(&self) -> i64 {
        self.object["spec"]["leaseTransitions"].as_i64().unwrap_or_default()
    }

    pub fn token(&self) -> Option<LockToken> {
        let nonce = &self.held.as_ref()?.nonce;
        Some(LockToken::new(format!("{}-{nonce}", self.transitions())))
    }

    pub fn duration(&self) -> Duration {
        let seconds = self.object["spec"]["leaseDurationSeconds"].as_u64();
        Duration::from_secs(seconds.unwrap_or_default())
    }

    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.object["metadata"]["annotations"][name].as_str()
    }

    /// The object as it is written for this holder, or for nobody.
    pub fn held_by(&self, held: Option<&Held>, transitions: i64, ttl: Duration) -> Value {
        let mut object = self.object.clone();
        let spec = &mut object["spec"];
        spec["holderIdentity"] = json!(held.map_or("", |held| &held.claimant.region));
        spec["leaseTransitions"] = json!(transitions);
        spec["leaseDurationSeconds"] = json!(ttl.as_secs());
        spec["renewTime"] = json!(format!("{:.6}", Timestamp::now()));
        let annotations = &mut object["metadata"]["annotations"];
        match (held, annotations.as_object_mut()) {
            (Some(held), _) => annotations[HOLDER] = json!(held.value().to_string()),
            (None, Some(annotations)) => drop(annotations.remove(HOLDER)),
            (None, None) => {}
        }
        object
    }
}
