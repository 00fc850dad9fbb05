//! `ZookeeperCluster` with real servers of ZooKeeper: formed once, grown and shrunk under a
//! writer, replaced where a volume is lost, restarted, refused.

mod again;
mod changes;
mod five;
mod forming;
mod ghost;
mod given_up;
mod kills;
mod losses;
mod older_disk;
mod quorum;
mod rollout;
mod stranger;
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
        .step("it grows to five and shrinks to one without its leader", five::to_five_and_back)
        .in_soak()
        .step("an image that is missing stops at the first server", rollout::stops_at_the_first)
        .in_soak()
        .step("where two of three are wiped nobody votes until a user says so", losses::two_wiped)
        .in_soak()
        .step("an ensemble of the same name finds its servers again", again::found)
        .in_soak()
        .step("a server whose volume a user gives up is replaced", given_up::replaced)
        .in_soak()
        .step("a server that nobody knows is removed when a user says so", stranger::removed)
        .in_soak()
        .step("a server that somebody removed is stopped and replaced", stranger::removed_by_hand)
        .in_soak()
        .step("an older disk begins no ensemble until a user says so", older_disk::given_up)
        .in_soak()
        .into()
}

/// Each has an ensemble of its own: nodes are cut off and kept empty, and pods are killed.
pub fn hurt() -> Story {
    Story::named("zookeeper-hurt")
        .breaks_machines()
        .step("without a majority nothing but the status is written", quorum::two_of_three_away)
        .in_soak()
        .step("joins in which anybody is killed at any step lose nothing", kills::at_each_step)
        .in_soak()
        .step(
            "a volume that was wiped while another server is down lets nobody serve",
            losses::wiped_while_another_is_down,
        )
        .in_soak()
        .step(
            "a server whose node was cut off is stopped and nobody is sent to it",
            ghost::serves_nobody,
        )
        .in_soak()
        .into()
}
