//! A ring with Cassandra's own delays: members wait 30 s until the others have heard
//! of a move, and for gossip to settle at each start. It grows and shrinks back while
//! it is written to.

use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, Writes, a_ring, bed};

const NAMESPACE: &str = "patient";

fn racks(a: u32) -> WantedRing {
    a_ring().racks(&[("a", a), ("b", 1)]).with_default_delays()
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .ring(racks(1).rows(2))
        .step("a ring with its own delays grows and shrinks back", up_and_down)
        .in_soak()
        .into()
}

fn up_and_down(ring: &Ring<'_>) {
    for (a, all) in [(2, 3), (1, 2)] {
        let writing = ring.writing(Writes::Rows).expect("writing");
        bed().apply(NAMESPACE, &racks(a).manifest(NAMESPACE)).expect("apply");
        ring.wait_members(all).expect("as many as wanted");
        writing.stop().expect("written");
        ring.check_data().expect("all rows, on every replica");
    }
}
