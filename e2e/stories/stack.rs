//! Staged services on a real Kubernetes: who waits for whom, whose configuration says
//! what and when it is read, who is registered, and what a Stack writes. Each step
//! applies an example that the documentation shows.

mod agents;
mod gates;
mod inactive;
mod layers;
mod manifest;
mod nested;
mod on_hosts;
mod register;
mod rollout;
mod sandbox;
mod scale;
mod stock;
mod ways;
mod wrong_input;
mod wrong_stack;

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
        .step("a sandbox that ends opens no gate again", sandbox::of_a_component)
        .in_soak()
        .step("nor without the quorum of an ensemble", sandbox::of_an_ensemble)
        .in_soak()
        .step(
            "an operator that dies between a call and its record doubles nobody",
            register::killed,
        )
        .in_soak()
        .step("credentials are read by name and named where they cannot be", register::credentials)
        .in_soak()
        .step("nobody is called before the service is there", register::waits_for_its_target)
        .in_soak()
        .step("a wrong password registers nobody until it is right", register::wrong_password)
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
        .step("a Stack that cannot be carried out says which service", wrong_stack::named_and_cured)
        .in_soak()
        .step("no node runs an agent twice", agents::one_each)
        .in_soak()
        .step("a node that changes its group runs one agent at a time", agents::moved)
        .in_soak()
        .step("a fourth member of Cassandra reaches those above it once", scale::a_fourth_member)
        .in_soak()
        .step("the layers of Contrail start in their order", layers::contrail)
        .in_soak()
        .step("a Cassandra image as it comes is configured by its address", stock::cassandra)
        .in_soak()
        .step(
            "all of a dependency are waited for and all pods follow it at once",
            ways::nodes_all_at_once,
        )
        .in_soak()
        .step("what a Stack has created goes with it and nothing else", ways::common_and_deleted)
        .in_soak()
        .step("an object that is nested deeply stops nobody else", nested::stops_nobody)
        .in_soak()
        .step("a decision without end and a deep template hold nobody up", nested::without_end)
        .in_soak()
        .step("agents that are replaced on deletion wait for it", ways::on_delete)
        .in_soak()
        .step(
            "another profile reaches agents on their hosts in turn",
            on_hosts::one_after_the_other,
        )
        .in_soak()
        .step(
            "a Component's image that is missing stops at the first pod",
            rollout::stops_at_the_first,
        )
        .in_soak()
        .step("a service that is not active is left alone", inactive::left_alone)
        .in_soak()
        .into()
}
