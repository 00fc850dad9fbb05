//! `ZookeeperCluster` with real servers of ZooKeeper: formed once, grown and shrunk under a
//! writer, replaced where a volume is lost, restarted, refused.

mod changes;
mod forming;
mod losses;
mod wrong_input;

use palladion_e2e::story::Story;

/// The first ensemble is shared by the steps that leave it as they found it.
const NAMESPACE: &str = "zookeeper";

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .step("three servers form one ensemble, and clients write", forming::formed_once)
        .step("at rest the operator asks for nothing", forming::at_rest)
        .step("a wiped server is replaced under another ID", losses::wiped)
        .step(
            "it grows to three and shrinks to one and nothing acknowledged is lost",
            changes::grow_and_shrink,
        )
        .step("what cannot be is refused with the way out", wrong_input::refused)
        .step(
            "each mistake is named in time and an ensemble comes of the last correction",
            wrong_input::named_and_cured,
        )
        .in_soak()
        .step("a pod writes the status of its own member and nobody a spec", wrong_input::policies)
        .step("every example is accepted", wrong_input::every_example)
        .step("all servers come back when all have been killed", losses::all_killed)
        .in_soak()
        .step("it is upgraded to the next line under a writer", changes::upgraded)
        .in_soak()
        .step("the leader may be among the leavers", changes::leader_leaves)
        .in_soak()
        .step("where two of three are wiped nobody votes until a user says so", losses::two_wiped)
        .in_soak()
        .into()
}
