//! The rules of `ZonedStatefulSet`, each as events and what they lead to.

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
