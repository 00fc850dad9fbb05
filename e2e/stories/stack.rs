//! Staged services on a real Kubernetes: who waits for whom, whose configuration says
//! what and when it is read, who is registered, and what a Stack writes. Each step
//! applies an example that the documentation shows.

mod agents;
mod gates;
mod layers;
mod manifest;
mod register;
mod wrong_input;

use palladion_e2e::story::Story;

pub fn story() -> Story {
    Story::named("stack")
        .step(
            "a service starts when what it depends on is there and hears of its changes",
            gates::in_order,
        )
        .step("services that depend on each other are named", gates::cycle)
        .step("pods are registered once although answers are lost", register::once)
        .step("a Stack writes what it created or was given and nothing else", manifest::given)
        .step("a sandbox that ends opens no gate again", gates::sandbox)
        .in_soak()
        .step(
            "an operator that dies between a call and its record doubles nobody",
            register::killed,
        )
        .in_soak()
        .step("credentials are read by name and named where they cannot be", register::credentials)
        .in_soak()
        .step(
            "each mistake in a Component is named in time and cured by the manifest alone",
            wrong_input::of_components,
        )
        .in_soak()
        .step("services in a circle are named in time and cured", wrong_input::of_order)
        .in_soak()
        .step("profiles that do not fit are named in time and cured", wrong_input::of_groups)
        .in_soak()
        .step(
            "calls that cannot be made are named in time and cured",
            wrong_input::of_registrations,
        )
        .in_soak()
        .step("no node runs an agent twice", agents::one_each)
        .in_soak()
        .step("the layers of Contrail start in their order", layers::contrail)
        .in_soak()
        .into()
}
