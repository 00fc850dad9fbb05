//! A repair of what is due, as a schedule that covers the ring has it done: whoever ends in the
//! middle, all of it is repaired and nothing is due any more, and an abort ends it.

use palladion_e2e::{Ring, wait_for};
use serde_json::{Value, json};

use super::abort::{REPAIR_STOPPED_IN, aborted, cleared, wait_streams};
use super::killed::{Who, end};
use super::much::{bytes, end_of_much, let_go, let_go_once_up, much_to_repair};
use super::{SOON, ask, wait_done};
use crate::schedules::cover::{begin, end as uncover};

/// Bytes of what is written; random, so that no compression makes it less.
pub(super) const BYTES: u64 = 2 * 24 * 1024 * 1024;

pub(super) fn whoever_ends(ring: &Ring<'_>) {
    cover();
    let ids = ring.host_ids().expect("host IDs");
    for who in [Who::Agent, Who::Server, Who::Pod, Who::Machine, Who::Operator] {
        println!("{who:?}");
        much_to_repair(ring);
        ask("killed", due());
        let member = wait_streams("killed");
        end(ring, who, &member);
        for name in &ring.member_names().expect("names") {
            let_go_once_up(name).unwrap_or_else(|error| panic!("{who:?}: {error:#}"));
        }
        let ended = wait_done("killed");
        for told in ended["status"]["members"].as_array().expect("members") {
            let tries = told["tries"].as_u64().unwrap_or_default();
            // Who is at it goes on, or is begun again; the others wait, or repair beside it.
            let most = match who {
                Who::Operator => 1,
                Who::Agent | Who::Server | Who::Pod | Who::Machine => 2,
            };
            assert!((1..=most).contains(&tries), "{who:?}: {told}");
        }
        everybody_has_all(ring);
        nothing_is_due(ring);
        assert_eq!(ring.host_ids().expect("host IDs"), ids, "{who:?}");
        ring.wait_members(3).expect("all well");
        end_of_much(ring);
        cleared(&["killed"]);
    }
    uncover();
    ring.check_data().expect("all rows");
}

pub(super) fn aborted_and_done(ring: &Ring<'_>) {
    cover();
    much_to_repair(ring);
    ask("long", due());
    let member = wait_streams("long");
    aborted("long", &member, REPAIR_STOPPED_IN);
    ring.member_names().expect("names").iter().for_each(|name| let_go(name));
    // What was not repaired is still due.
    ask("again", due());
    wait_done("again");
    everybody_has_all(ring);
    nothing_is_due(ring);
    end_of_much(ring);
    cleared(&["long", "again"]);
    uncover();
    ring.check_data().expect("all rows");
}

fn due() -> Value {
    json!({ "repair": { "scope": "Due", "intensityPercent": 100 } })
}

/// Suspended: what is due it says all the same, and nobody else asks for it.
pub(super) fn cover() {
    begin(json!({ "suspend": true, "cover": { "keyspaces": ["much"] } }));
}

/// Each replica by itself, by what is on its disk.
fn everybody_has_all(ring: &Ring<'_>) {
    for name in &ring.member_names().expect("names") {
        let bytes = bytes(name);
        assert!(bytes >= BYTES, "{name} has {bytes} of {BYTES} bytes");
    }
}

/// What was repaired is remembered, by whoever it was repaired.
fn nothing_is_due(ring: &Ring<'_>) {
    wait_for("every member to say that nothing is due", SOON, || {
        let all = ring.members()?;
        let knows = |m: &Value| {
            let repair = &m["status"]["repair"];
            repair["ranges"].as_u64() > Some(0) && repair["neverRanges"] == 0
        };
        Ok((all.len() == 3 && all.iter().all(knows)).then_some(()))
    })
    .expect("all is repaired");
}
