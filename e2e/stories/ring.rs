//! A ring from nothing: what is made, what it answers, what it may do, and
//! that it comes back.

mod access;
mod checks;
mod erased;
mod killed;
mod leave;
mod made;
mod rest;
mod states;
mod typed;

use std::time::Duration;

use palladion_e2e::story::Story;
use palladion_e2e::{WantedRing, a_ring};

const NAMESPACE: &str = "ring";
const SOON: Duration = Duration::from_secs(180);

/// Two racks, three members.
fn three_members() -> WantedRing {
    a_ring().racks(&[("a", 2), ("b", 1)])
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .breaks_machines()
        .ring(three_members().rows(3))
        .step("a ring forms and answers at QUORUM", made::answers_at_quorum)
        .step("each rack is one set with its Services and labels", made::sets_services_and_labels)
        .step("each object was created by one request", made::by_one_request)
        .step("the system keyspaces are replicated", made::system_keyspaces)
        .step("at rest nothing is read and nothing is written", rest::nothing_is_asked)
        .step("the command line shows a ring that is well", typed::status_members_and_contact)
        .step("the command line plans as the operator does", typed::plan_on_all_facts)
        .step("the command line names a missing right", typed::rights_that_are_missing)
        .step(
            "the command line stores nothing that is only tried",
            typed::nothing_is_stored_that_is_only_tried,
        )
        .step("a member may write its own status and nothing else", access::own_status_alone)
        .step(
            "the management port is closed to others and credentials are not visible",
            access::management_port,
        )
        .step("an agent that is killed leaves its server running", killed::agent)
        .step("PID 1 that is killed restarts the container as the same member", killed::pid_one)
        .step("a pod that is deleted comes back as the same member", killed::pod)
        .step(
            "a member becomes no seed, and one again, without a restart",
            states::pinned_as_a_seed,
        )
        .in_soak()
        .step(
            "a member is stopped and started while the ring serves at QUORUM",
            states::stop_and_start,
        )
        .step(
            "a second member is not stopped beside a stopped one, and is where a user says now",
            states::a_second_one_now,
        )
        .in_soak()
        .step(
            "a terminated member is refused another wish and is replaced",
            states::terminate_and_replace,
        )
        .step(
            "a replica that holds nothing is seen and a repair fills it",
            checks::a_replica_that_holds_nothing,
        )
        .step(
            "a replica that was away while others wrote is seen and a repair fills it",
            checks::a_replica_that_is_behind,
        )
        .in_soak()
        .step("a status that is erased is written again and no ring is started", erased::status)
        .step(
            "everything killed at once comes back without the operator",
            killed::everything_at_once,
        )
        .in_soak()
        .step("a volume emptied while all are down starts no second ring", killed::volume_emptied)
        .in_soak()
        .step("a cluster deleted and created again finds its members", erased::cluster_made_again)
        .step(
            "a member whose address is given up comes back under another",
            erased::address_given_up,
        )
        .step(
            "a ring whose addresses are all given up comes back under others",
            erased::all_addresses_given_up,
        )
        .in_soak()
        .step("a member leaves by recorded intent and its data is kept", leave::by_recorded_intent)
        .leaves(three_members().rows(2))
        // Two are enough to be ended one after the other, and form in half the time.
        .ring(a_ring().racks(&[("a", 1), ("b", 1)]))
        .step("the system keyspaces follow the number of members", made::system_keyspaces_follow)
        .in_soak()
        .step("with the policy Delete the data goes with the cluster", erased::policy_delete)
        .leaves_no_ring()
        .into()
}
