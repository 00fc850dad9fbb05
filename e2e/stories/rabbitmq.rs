//! `RabbitmqCluster` with real nodes of RabbitMQ: initialized once, grown and shrunk under a
//! publisher, replaced where a volume is lost, restarted, refused.

mod again;
mod changes;
mod forming;
mod full;
mod given_up;
mod losses;
mod network;
mod secrets;
mod wrong_input;

use palladion_e2e::story::Story;

/// The first cluster is shared by the steps that leave it as they found it.
const NAMESPACE: &str = "rabbitmq";

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .step("three nodes form one cluster and take messages", forming::formed_once)
        .step("at rest the operator asks for nothing", forming::at_rest)
        .step("what cannot be is refused with the way out", wrong_input::refused)
        .step(
            "each mistake is named in time and a cluster comes of the last correction",
            wrong_input::named_and_cured,
        )
        .in_soak()
        .step("its credentials are in no log, event, pod or status", secrets::are_nowhere)
        .in_soak()
        .step("a pod writes the status of its own member and nobody a spec", wrong_input::policies)
        .step("every example is accepted", wrong_input::every_example)
        .step("a wiped node is replaced and every confirmed message is there", losses::wiped)
        .in_soak()
        .step("a rollout takes no confirmed message with it", changes::rolled)
        .in_soak()
        .step("all nodes come back when all have been killed", losses::all_killed)
        .in_soak()
        .step("it grows to three and shrinks to one under a publisher", changes::grow_and_shrink)
        .in_soak()
        .step("a queue that cannot move holds the node until a user says so", changes::held)
        .in_soak()
        .step("it grows to five and shrinks to three", changes::to_five_and_back)
        .in_soak()
        .step("nobody is replaced while a queue would lose its majority", losses::majority)
        .in_soak()
        .step("a cluster with all that the full example has", full::all_of_it)
        .in_soak()
        .step("a cluster of the same name finds its nodes again", again::found)
        .in_soak()
        .step("nodes that have left come back on the claims that they had", again::grown_again)
        .in_soak()
        .step("a node whose volume a user gives up is replaced", given_up::replaced)
        .in_soak()
        .into()
}

/// Nodes are cut off and kept away.
pub fn hurt() -> Story {
    Story::named("rabbitmq-hurt")
        .breaks_machines()
        .step("a node that is cut off and healed costs no message", network::cut_off_and_healed)
        .in_soak()
        .step(
            "where the last one stays away the others say for whom they wait",
            losses::one_never_back,
        )
        .in_soak()
        .step(
            "a volume that was wiped while another node is down lets nobody serve",
            losses::wiped_while_another_is_down,
        )
        .in_soak()
        .step("where the last one that ran is wiped nobody is forced", losses::last_one_wiped)
        .in_soak()
        .step(
            "the second of two that is killed between joining and starting goes on",
            forming::killed_before_it_starts,
        )
        .in_soak()
        .step(
            "a node that is killed while the others take it in goes on with what it has",
            forming::killed_while_it_is_taken_in,
        )
        .in_soak()
        .into()
}
