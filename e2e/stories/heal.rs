//! A ring that is hurt: Nodes that go for good or for a while, volumes that
//! are not in their place, people who ask for a replacement or delete what
//! they should not.

mod cut_off;
mod nodes;
mod requests;
mod volumes;

use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, wait_for};

const NAMESPACE: &str = "heal";
const SOON: Duration = Duration::from_secs(180);
/// A replacement sleeps for 60 s, by Cassandra's own rule, besides streaming.
const REPLACED_IN: Duration = Duration::from_secs(600);

/// Two racks with so many members in the first; a Node is given up at once.
fn racks(a: u32) -> WantedRing {
    a_ring().racks(&[("a", a), ("b", 1)]).line("nodeGoneGraceSeconds: 0").moves_under_load()
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .breaks_machines()
        .ring(racks(2).rows(2))
        .step("a node that is unreachable causes nothing", nodes::unreachable)
        .in_soak()
        .step("a living member is not replaced by label", requests::of_a_living_member)
        .step("a member that is cut off is named, and is not replaced", cut_off::named)
        .in_soak()
        .step(
            "a member whose machine is lost while it leaves is removed by the others",
            nodes::lost_while_leaving,
        )
        .in_soak()
        .step(
            "a member whose Node is gone is replaced when a changed grace time has ended",
            nodes::gone,
        )
        .step("an unmounted volume is reported and replaced only on request", volumes::unmounted)
        .in_soak()
        .step(
            "a task that cannot be done is refused with the reason",
            requests::that_cannot_be_done,
        )
        .step("deleting all members and claims by hand loses nothing", volumes::claims_deleted)
        .leaves_no_ring()
        .step(
            "the last member speaks for the ring where tasks name the volumes",
            volumes::two_of_three_lost,
        )
        .in_soak()
        .leaves(racks(2).rows(3))
        .into()
}

pub(crate) fn wait_replaced(ring: &Ring<'_>, name: &str, old: &str) {
    wait_for("another host ID in its place", REPLACED_IN, || {
        let member = ring.member(name)?;
        let new = text(&member, "/spec/hostID");
        let done = !new.is_empty() && new != old && member["spec"]["replace"].is_null();
        Ok(done.then_some(()))
    })
    .expect("replaced");
    ring.wait_ready(3).expect("all ready");
    ring.wait_alike(3).expect("one ring of three, no ghost");
    ring.wait_settled().expect("settled");
}
