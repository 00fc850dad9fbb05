//! A ring grows and shrinks, with data written before and checked after.
//! `PALLADION_SOAK=1`: from five members to three and back, ten times.

use std::sync::OnceLock;

use palladion_e2e::{Bed, Ring, ring};

const NAMESPACE: &str = "scale";

fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::attach)
}

/// Members of both racks, and how often up and down.
fn course() -> ([u32; 2], usize) {
    match std::env::var("PALLADION_SOAK").as_deref() {
        Ok("1") => ([3, 2], 10),
        _ => ([2, 2], 1),
    }
}

#[test]
fn a_ring_shrinks_and_grows_again_and_every_row_is_there() {
    let ([a, b], times) = course();
    bed().fresh_namespace(NAMESPACE).expect("namespace");
    let ring = Ring {
        bed: bed(),
        namespace: NAMESPACE.into(),
        name: NAMESPACE.into(),
    };
    let set = |a: u32, b: u32| {
        let manifest = ring::manifest(NAMESPACE, &[("a", a), ("b", b)]);
        bed().apply(NAMESPACE, &manifest).expect("apply");
        ring.wait_members(a + b).expect("as many as wanted");
    };
    set(a, b);
    ring.restart_client().expect("client");
    ring.write_data(2).expect("rows");
    for round in 1..=times {
        // Both racks lose a member, or only one where the other would be empty.
        set(a - 1, b.max(2) - 1);
        ring.check_data().expect("all rows after the shrink");
        set(a, b);
        ring.check_data().expect("all rows after the growth");
        println!(
            "round {round} of {times}: {} members, down and up again",
            a + b
        );
    }
    bed().remove_namespace(NAMESPACE).expect("clean up");
}
