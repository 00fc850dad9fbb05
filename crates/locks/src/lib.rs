//! The lock between regions, kept in an etcd. What it is for and when it is held decide the
//! minds ([`palladion_plan::lock`]); here are the calls to the store, each over a connection of
//! its own: an operator at rest has none open.
//!
//! | What | Key |
//! |---|---|
//! | the lock of a ring | `/palladion/rings/<scope>/<ring>/lock` |
//! | who initializes it, written once | `/palladion/rings/<scope>/<ring>/initialized` |
//!
//! A scope is `namespaces/<name>`, or `groups/<name>` where the settings map the namespace.
//!
//! The value of the lock says who holds it, and has a random nonce: with the revision at which
//! the key was created that is the token. A store that was restored counts its revisions again
//! from below, and no nonce is drawn twice.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod credentials;
pub mod etcd;
mod gateway;
mod http;
mod value;
pub mod words;

palladion_api::vocabulary![words];

pub use credentials::Credentials;
pub use etcd::Etcd;
