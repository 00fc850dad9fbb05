//! `ZonedStatefulSet` on a real Kubernetes of three zones: zones, versions,
//! canary, configuration, active and passive pods, scaling, volumes, wrong
//! input. Each step applies an example that the documentation shows.

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

use palladion_e2e::story::Story;

/// One for each of what it can do: they share nothing.
pub fn stories() -> [Story; 10] {
    [
        active::story(),
        claims::story(),
        config::story(),
        faults::story(),
        probes::story(),
        rest::story(),
        rollout::story(),
        scaling::story(),
        wrong_input::story(),
        zones::story(),
    ]
}
