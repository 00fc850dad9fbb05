//! What stands in the store: who holds the lock, and who initializes the ring.

use jiff::Timestamp;
use palladion_api::ids::LockToken;
use palladion_plan::lock::{Claimant, Holder, LockKey};
use serde_json::{Value, json};

/// The key of a lock.
pub fn lock_of(key: &LockKey) -> String {
    format!("{}/lock", ring(key))
}

/// The key of the record of a ring's initialization.
pub fn initialized_of(key: &LockKey) -> String {
    format!("{}/initialized", ring(key))
}

/// Names of rings may have any character; two of them are never one key.
fn ring(key: &LockKey) -> String {
    let escaped = |text: &str| text.replace('%', "%25").replace('/', "%2F");
    format!("/palladion/rings/{}/{}", key.scope.path(), escaped(&key.ring))
}

/// One holding of a lock as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Who.
    pub claimant: Claimant,
    /// Never drawn before.
    pub nonce: String,
    /// Since when, by the holder's clock; for people.
    pub since: Option<Timestamp>,
}

impl Held {
    /// As it is written.
    pub fn text(&self) -> String {
        let Claimant { region, uid } = &self.claimant;
        let since = self.since.map(|since| since.to_string());
        json!({ "region": region, "uid": uid, "nonce": self.nonce, "since": since }).to_string()
    }

    /// As it was read.
    pub fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let nonce = value["nonce"].as_str()?.to_string();
        let since = value["since"].as_str().and_then(|since| since.parse().ok());
        Some(Self { claimant: Claimant::read(&value)?, nonce, since })
    }

    /// Its token.
    pub fn token(&self, create_revision: u64) -> LockToken {
        LockToken::new(format!("{create_revision}-{}", self.nonce))
    }

    /// Who holds it.
    pub fn holder(&self, create_revision: u64) -> Holder {
        Holder {
            token: self.token(create_revision),
            region: self.claimant.region.clone(),
            since: self.since,
        }
    }
}

/// Who initializes a ring, as it is written.
pub fn record(claimant: &Claimant) -> String {
    claimant.record().to_string()
}

/// The same as it was read.
pub fn read_record(text: &[u8]) -> Option<Claimant> {
    Claimant::read(&serde_json::from_slice(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::lock::LockScope;

    #[test]
    fn two_rings_are_never_one_key() {
        let key =
            |scope: LockScope, ring: &str| lock_of(&LockKey { scope, ring: ring.to_string() });
        let namespace = |name: &str| LockScope::Namespace(name.to_string());
        let group = |name: &str| LockScope::Group(name.to_string());
        let shop = key(namespace("shop"), "orders");
        assert_eq!(shop, "/palladion/rings/namespaces/shop/orders/lock");
        assert_eq!(key(group("shop"), "orders"), "/palladion/rings/groups/shop/orders/lock");
        assert_ne!(key(namespace("a"), "b/lock"), key(namespace("a"), "b"));
        assert_ne!(key(namespace("a"), "b%2Fc"), key(namespace("a"), "b/c"));
    }

    #[test]
    fn what_is_written_is_read_and_what_is_not_ours_is_not() {
        let claimant = Claimant { region: "east".into(), uid: "u".into() };
        let held = Held { claimant: claimant.clone(), nonce: "n".into(), since: None };
        assert_eq!(Held::read(held.text().as_bytes()), Some(held.clone()));
        assert_eq!(held.token(7), "7-n".into());
        assert_eq!(read_record(record(&claimant).as_bytes()), Some(claimant));
        assert_eq!(Held::read(b"taken"), None);
    }
}
