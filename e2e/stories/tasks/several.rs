//! A repair of what is due on a ring of which not every member has everything: members
//! without a range in common are repaired at the same time, and no member is in two repairs.

use std::collections::BTreeSet;
use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, WantedRing, a_ring, wait_for};
use serde_json::{Value, json};

use super::abort::cleared;
use super::due::{BYTES, cover};
use super::much::{Copies, bytes, end_of_much, let_go, much_to_bring_to};
use super::{SOON, ask, read, wait_done};
use crate::schedules::cover::end as uncover;

const MEMBERS: usize = 4;
/// Between two looks: a part of what a limited stream takes for the smallest range.
const LOOK: Duration = Duration::from_millis(300);

pub(super) fn wanted() -> WantedRing {
    a_ring().racks(&[("a", 2), ("b", 2)]).rows(2)
}

pub(super) fn at_a_time(ring: &Ring<'_>) {
    cover();
    much_to_bring_to(ring, Copies::Two);
    // As many at a time as members and copies allow: two here.
    ask("several", json!({ "repair": { "scope": "Due", "intensityPercent": 100 } }));
    let mut most = 0;
    wait_for("the repair to end", 3 * SOON, || {
        let at_work = granted(&ring.members()?);
        most = most.max(at_work);
        if most > 1 {
            ring.member_names()?.iter().for_each(|name| let_go(name));
        }
        std::thread::sleep(LOOK);
        Ok(read("several")?["status"]["endedAt"].is_string().then_some(()))
    })
    .expect("ended");
    wait_done("several");
    assert_eq!(most, 2, "members that were repaired at the same time");
    let all: u64 = ring.member_names().expect("names").iter().map(|name| bytes(name)).sum();
    assert!(all >= 2 * BYTES, "{all} bytes of two copies of {BYTES}");
    wait_for("every member to say that nothing is due", SOON, || {
        let all = ring.members()?;
        let knows = |m: &Value| m["status"]["repair"]["neverRanges"] == 0;
        Ok((all.len() == MEMBERS && all.iter().all(knows)).then_some(()))
    })
    .expect("all is repaired");
    end_of_much(ring);
    cleared(&["several"]);
    uncover();
    ring.check_data().expect("all rows");
}

/// How many members have a grant that is not over. No member is among the copies of two.
fn granted(members: &[Value]) -> usize {
    let mut busy = BTreeSet::new();
    let mut count = 0;
    for member in members {
        let (job, status) = (&member["spec"]["job"], &member["status"]["job"]);
        let number = job["grant"]["number"].as_u64().unwrap_or_default();
        let is_same = job["id"].is_string() && job["id"] == status["id"];
        let over = status["lastGrant"].as_u64().filter(|_| is_same).unwrap_or_default();
        if number <= over || status["endedAt"].is_string() && is_same {
            continue;
        }
        count += 1;
        for host in job["grant"]["hostIDs"].as_array().into_iter().flatten() {
            let host = host.as_str().unwrap_or_default().to_string();
            let name = text(member, "/metadata/name");
            assert!(busy.insert(host.clone()), "{host} is in two repairs, one of them {name}'s");
        }
    }
    count
}
