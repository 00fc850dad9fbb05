//! The rules of `ZonedStatefulSet`, each as events and what they lead to.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod active;
mod claims;
mod config;
mod disturbed;
mod partitioned;
mod recreate;
mod refused;
mod scaling;
mod versioned;
mod world;
mod zones;
