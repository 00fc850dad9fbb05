//! What a store of locks must do, whichever it is.

use palladion_locks::{Credentials, Etcd};
use palladion_plan::lock::{Claimant, LockKey, LockScope, LockStore, Renewed, Taken, Want};
use std::time::Duration;

pub const TTL: Duration = Duration::from_secs(60);

pub fn key(ring: &str) -> LockKey {
    LockKey { scope: LockScope::Namespace("shop".into()), ring: ring.into() }
}

pub fn claimant(region: &str) -> Claimant {
    Claimant { region: region.into(), uid: palladion_api::ids::Uid::new(format!("of-{region}")) }
}

pub fn etcd(endpoint: &str, credentials: &std::path::Path) -> Etcd {
    Etcd::new(vec![endpoint.to_string()], Credentials::in_directory(credentials))
}

/// Take it as this region; each call draws another nonce.
pub async fn take(store: &Etcd, ring: &str, region: &str, want: Want) -> Taken {
    take_for(store, ring, region, want, TTL).await.expect("an answer")
}

pub async fn take_for(
    store: &Etcd,
    ring: &str,
    region: &str,
    want: Want,
    ttl: Duration,
) -> Result<Taken, palladion_plan::lock::StoreAway> {
    let nonce = uuid::Uuid::new_v4().to_string();
    store.take(&key(ring), &claimant(region), want, ttl, &nonce).await
}

/// The holding that was taken.
pub fn ours(taken: Taken) -> (palladion_plan::lock::LockToken, String) {
    match taken {
        Taken::Ours { token, session } => (token, session),
        other => panic!("it is not ours: {other:?}"),
    }
}

/// One of two holds it; who lets it go is followed; a token is never drawn twice.
pub async fn is_held_by_one(east: &Etcd, west: &Etcd, ring: &str) {
    assert_eq!(take(east, ring, "east", Want::Keep).await, Taken::Free, "it is not ours to keep");
    let (token, session) = ours(take(east, ring, "east", Want::Take).await);
    match take(west, ring, "west", Want::Take).await {
        Taken::By(holder) => {
            assert_eq!((holder.token, holder.region.as_str()), (token.clone(), "east"));
            assert!(holder.since.is_some());
        }
        other => panic!("two hold it: {other:?}"),
    }
    assert!(east.check(&key(ring), &token).await.unwrap());
    assert_eq!(east.renew(&key(ring), &token, &session).await, Ok(Renewed::Yes));
    assert!(!west.check(&key(ring), &"1-other".into()).await.unwrap());
    // A release by a token that does not hold it takes nothing away.
    west.release(&key(ring), &"1-other".into()).await.unwrap();
    assert!(east.check(&key(ring), &token).await.unwrap());
    east.release(&key(ring), &token).await.unwrap();
    east.release(&key(ring), &token).await.expect("and once more");
    assert_eq!(east.renew(&key(ring), &token, &session).await, Ok(Renewed::Lost));
    let (other, _) = ours(take(west, ring, "west", Want::Take).await);
    assert_ne!(other, token);
    assert!(!east.check(&key(ring), &token).await.unwrap());
    west.release(&key(ring), &other).await.unwrap();
}

/// A process of the same region that comes after goes on with the holding; the earlier one
/// finds that out with its next renewal.
pub async fn goes_on_with_the_token(east: &Etcd, ring: &str) {
    let (token, earlier) = ours(take(east, ring, "east", Want::Take).await);
    let (same, later) = ours(take(east, ring, "east", Want::Keep).await);
    assert_eq!(same, token);
    assert_eq!(east.renew(&key(ring), &token, &later).await, Ok(Renewed::Yes));
    assert_eq!(east.renew(&key(ring), &token, &earlier).await, Ok(Renewed::Lost));
    assert!(east.check(&key(ring), &token).await.unwrap());
    east.release(&key(ring), &token).await.unwrap();
}

/// A person breaks it for the other region.
pub async fn is_broken_by_its_token(east: &Etcd, west: &Etcd, ring: &str) {
    let (token, session) = ours(take(east, ring, "east", Want::Take).await);
    west.release(&key(ring), &token).await.unwrap();
    ours(take(west, ring, "west", Want::Take).await);
    assert_eq!(east.renew(&key(ring), &token, &session).await, Ok(Renewed::Lost));
}

/// Who initializes a ring is written once.
pub async fn is_recorded_once(east: &Etcd, west: &Etcd, ring: &str) {
    let first = east.record_once(&key(ring), &claimant("east")).await.unwrap();
    assert_eq!(first, claimant("east"));
    assert_eq!(west.record_once(&key(ring), &claimant("west")).await.unwrap(), first);
    assert_eq!(east.record_once(&key(ring), &claimant("east")).await.unwrap(), first);
}
