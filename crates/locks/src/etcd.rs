//! The lock in an etcd: a key with a lease, created by the transaction that finds none.

use crate::credentials::Credentials;
use crate::gateway::{Gateway, away, decoded, encoded, number};
use crate::value::{self, Held};
use crate::words::Away;
use palladion_api::ids::LockToken;
use palladion_plan::lock::{
    Answering, Claimant, LockKey, LockStore, Renewed, StoreAway, Taken, Want,
};
use serde_json::{Value, json};
use std::time::Duration;

const RANGE: &str = "/v3/kv/range";
const TXN: &str = "/v3/kv/txn";
const GRANT: &str = "/v3/lease/grant";
const KEEP_ALIVE: &str = "/v3/lease/keepalive";
const REVOKE: &str = "/v3/lease/revoke";

/// An etcd that keeps locks.
pub struct Etcd {
    gateway: Gateway,
}

/// A key that exists.
struct Found {
    bytes: Vec<u8>,
    create_revision: u64,
    mod_revision: u64,
    lease: u64,
}

impl Found {
    fn read(kv: &Value) -> Self {
        Self {
            bytes: decoded(&kv["value"]).unwrap_or_default(),
            create_revision: number(&kv["create_revision"]),
            mod_revision: number(&kv["mod_revision"]),
            lease: number(&kv["lease"]),
        }
    }

    fn held(&self, key: &str) -> Result<Held, StoreAway> {
        Held::read(&self.bytes).ok_or_else(|| away(Away::Foreign { key: key.to_string() }))
    }

    /// Does it end with this lease of ours?
    fn is_under(&self, session: &str) -> bool {
        self.lease == number(&json!(session))
    }

    fn is(&self, token: &LockToken) -> bool {
        Held::read(&self.bytes).is_some_and(|held| held.token(self.create_revision) == *token)
    }
}

impl Etcd {
    /// That of these endpoints.
    pub fn new(endpoints: Vec<String>, credentials: Credentials) -> Self {
        Self { gateway: Gateway::new(endpoints, credentials) }
    }

    /// The key as it is now: such a read is linearizable unless one asks for less.
    async fn read(&self, key: &str) -> Result<Option<Found>, StoreAway> {
        let answer = self.gateway.call(RANGE, &json!({ "key": encoded(key) })).await?;
        Ok(answer["kvs"].get(0).map(Found::read))
    }

    async fn grant(&self, ttl: Duration) -> Result<String, StoreAway> {
        let ttl = ttl.as_secs().to_string();
        let answer = self.gateway.call(GRANT, &json!({ "TTL": ttl })).await?;
        Ok(number(&answer["ID"]).to_string())
    }

    /// A lease that holds nothing ends by itself, too.
    async fn revoke(&self, lease: &str) {
        let _ = self.gateway.call(REVOKE, &json!({ "ID": lease })).await;
    }

    /// Write the key if it is as compared. With it goes what was found otherwise.
    async fn put_if(
        &self,
        compare: Value,
        key: &str,
        text: &str,
        lease: Option<&str>,
    ) -> Result<Result<u64, Option<Found>>, StoreAway> {
        let mut put = json!({ "key": encoded(key), "value": encoded(text) });
        if let Some(lease) = lease {
            put["lease"] = json!(lease);
        }
        let body = json!({
            "compare": [compare],
            "success": [{ "request_put": put }],
            "failure": [{ "request_range": { "key": encoded(key) } }],
        });
        let answer = self.gateway.call(TXN, &body).await?;
        if answer["succeeded"].as_bool() == Some(true) {
            return Ok(Ok(number(&answer["header"]["revision"])));
        }
        let found = answer.pointer("/responses/0/response_range/kvs/0").map(Found::read);
        Ok(Err(found))
    }

    async fn try_take(
        &self,
        key: &LockKey,
        claimant: &Claimant,
        want: Want,
        ttl: Duration,
        nonce: &str,
    ) -> Result<Taken, StoreAway> {
        let key = value::lock_of(key);
        match (self.read(&key).await?, want) {
            (Some(found), _) => self.go_on_with(&key, &found, claimant, ttl).await,
            (None, Want::Keep) => Ok(Taken::Free),
            (None, Want::Take) => {
                let since = Some(jiff::Timestamp::now());
                let held = Held { claimant: claimant.clone(), nonce: nonce.to_string(), since };
                let session = self.grant(ttl).await?;
                let put = self.put_if(absent(&key), &key, &held.text(), Some(&session)).await?;
                match put {
                    Ok(revision) => Ok(Taken::Ours { token: held.token(revision), session }),
                    // Another endpoint has done it already, and its answer was late.
                    Err(Some(ours)) if ours.is_under(&session) => {
                        Ok(Taken::Ours { token: held.token(ours.create_revision), session })
                    }
                    Err(other) => {
                        self.revoke(&session).await;
                        let other = other.ok_or_else(|| away(Away::Moved { key: key.clone() }))?;
                        Ok(Taken::By(other.held(&key)?.holder(other.create_revision)))
                    }
                }
            }
        }
    }

    /// It exists: if it is the claimant's own, of an earlier process of its operator or of a call
    /// whose answer was lost, it gets a lease of ours and keeps its token.
    async fn go_on_with(
        &self,
        key: &str,
        found: &Found,
        claimant: &Claimant,
        ttl: Duration,
    ) -> Result<Taken, StoreAway> {
        let held = found.held(key)?;
        if held.claimant != *claimant {
            return Ok(Taken::By(held.holder(found.create_revision)));
        }
        let session = self.grant(ttl).await?;
        let same = compare(key, "MOD", "mod_revision", found.mod_revision);
        match self.put_if(same, key, &held.text(), Some(&session)).await? {
            Ok(_) => {
                if found.lease != 0 {
                    self.revoke(&found.lease.to_string()).await;
                }
                Ok(Taken::Ours { token: held.token(found.create_revision), session })
            }
            // Another endpoint has done it already, and its answer was late.
            Err(Some(ours)) if ours.is_under(&session) => {
                if found.lease != 0 {
                    self.revoke(&found.lease.to_string()).await;
                }
                Ok(Taken::Ours { token: held.token(ours.create_revision), session })
            }
            Err(_) => {
                self.revoke(&session).await;
                Err(away(Away::Moved { key: key.to_string() }))
            }
        }
    }

    async fn try_renew(
        &self,
        key: &LockKey,
        token: &LockToken,
        session: &str,
    ) -> Result<Renewed, StoreAway> {
        let answer = self.gateway.call(KEEP_ALIVE, &json!({ "ID": session })).await?;
        if number(&answer["result"]["TTL"]) == 0 {
            return Ok(Renewed::Lost);
        }
        // A lease outlives its key where a person has broken the lock.
        let found = self.read(&value::lock_of(key)).await?;
        let is_ours =
            found.is_some_and(|found| found.is(token) && number(&json!(session)) == found.lease);
        Ok(if is_ours { Renewed::Yes } else { Renewed::Lost })
    }

    async fn try_release(&self, key: &LockKey, token: &LockToken) -> Result<(), StoreAway> {
        let key = value::lock_of(key);
        let Some(found) = self.read(&key).await?.filter(|found| found.is(token)) else {
            return Ok(());
        };
        let body = json!({
            "compare": [compare(&key, "MOD", "mod_revision", found.mod_revision)],
            "success": [{ "request_delete_range": { "key": encoded(&key) } }],
        });
        let answer = self.gateway.call(TXN, &body).await?;
        if answer["succeeded"].as_bool() != Some(true) {
            return Err(away(Away::Moved { key }));
        }
        if found.lease != 0 {
            self.revoke(&found.lease.to_string()).await;
        }
        Ok(())
    }

    async fn try_record(&self, key: &LockKey, who: &Claimant) -> Result<Claimant, StoreAway> {
        let key = value::initialized_of(key);
        match self.put_if(absent(&key), &key, &value::record(who), None).await? {
            Ok(_) => Ok(who.clone()),
            Err(found) => {
                let record = found.and_then(|found| value::read_record(&found.bytes));
                record.ok_or_else(|| away(Away::Foreign { key }))
            }
        }
    }
}

impl LockStore for Etcd {
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
            let found = self.read(&value::lock_of(key)).await?;
            Ok(found.is_some_and(|found| found.is(token)))
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

/// The key does not exist.
fn absent(key: &str) -> Value {
    compare(key, "CREATE", "create_revision", 0)
}

fn compare(key: &str, target: &str, field: &str, revision: u64) -> Value {
    json!({
        "key": encoded(key), "target": target, "result": "EQUAL", field: revision.to_string(),
    })
}
