//! `ZonedStatefulSet` on a real Kubernetes of three zones: zones, versions,
//! canary, configuration, active and passive pods, scaling, volumes, wrong
//! input. Each test applies an example that the documentation shows.

#[path = "../../../tests/manifests/manifests.rs"]
#[expect(dead_code, reason = "the reader serves the unit tests, too")]
mod manifests;

mod active;
mod claims;
mod config;
mod faults;
mod metrics;
mod probes;
mod rest;
mod rollout;
mod scaling;
mod wrong_input;
mod zones;
