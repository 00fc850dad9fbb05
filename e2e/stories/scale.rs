//! A ring grows and shrinks, with rows written before and meanwhile and every
//! replica checked after: from five members to three and back, ten times. At each landing a
//! member leaves and comes again in the story `ring`.

use std::time::Duration;

use palladion_e2e::fields::CAUSE_RESUME_LEAVE;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, Writes, a_ring, bed, wait_for};
use serde_json::Value;

const NAMESPACE: &str = "scale";
const SOON: Duration = Duration::from_secs(180);

/// So many members of each rack.
fn racks([a, b]: [u32; 2]) -> WantedRing {
    a_ring().racks(&[("a", a), ("b", b)]).moves_under_load()
}

/// The members of both racks before a step and after it.
const MEMBERS: [u32; 2] = [3, 2];

pub fn story() -> Story {
    let [a, b] = MEMBERS;
    Story::named(NAMESPACE)
        .ring(racks([a, b]).rows(2))
        .step("a ring shrinks and grows again and every row is there", down_and_up)
        .in_soak()
        .step("targets that change while a member leaves or joins end in one ring", changes_of_mind)
        .in_soak()
        .step("a leave that fails because its receiver ends is taken up again", receiver_killed)
        .in_soak()
        .step(
            "a server killed before the others hear of its leave comes back to leave",
            killed_before_the_others_hear,
        )
        .in_soak()
        .leaves(racks([a - 1, b]).rows(2))
        .ring(spaced())
        .step("members that start from nothing keep the time between two starts", one_by_one)
        .in_soak()
        .into()
}

/// Time between two first starts, in seconds: longer than a server takes to start and to join, so
/// that it is this time that is kept, and not theirs.
const SPACE: i64 = 90;

fn spaced() -> WantedRing {
    racks([3, 2]).line("bootstrapGraceSeconds: 90")
}

fn one_by_one(ring: &Ring<'_>) {
    let members = ring.members().expect("members");
    let first = |m: &Value| m["status"]["startHistory"].as_array().and_then(|h| h.last().cloned());
    let at = |start: &Value, field: &str| -> jiff::Timestamp {
        let text = start[field].as_str().unwrap_or_else(|| panic!("no {field}: {start}"));
        text.parse().expect("a time")
    };
    let starts = members.iter().filter_map(first);
    let mut starts: Vec<[jiff::Timestamp; 2]> =
        starts.map(|start| [at(&start, "startedAt"), at(&start, "normalAt")]).collect();
    starts.sort();
    assert_eq!(starts.len(), 5, "each says when it began: {members:?}");
    for pair in starts.windows(2) {
        let [[began, normal], [next, _]] = [pair[0], pair[1]];
        assert!(normal <= next, "one begins at {next}, while another joins until {normal}");
        let (space, took) = (next.duration_since(began), normal.duration_since(began));
        println!(
            "{} s between first starts, of which {} s to join",
            space.as_secs(),
            took.as_secs()
        );
        assert!(space.as_secs() >= SPACE, "{starts:?}");
    }
}

/// Ask for so many members of each rack.
fn ask(a: u32, b: u32) {
    let manifest = racks([a, b]).manifest(NAMESPACE);
    bed().apply(NAMESPACE, &manifest).expect("apply");
}

/// Wait until a member's server says that it is in this mode.
fn reaches(ring: &Ring<'_>, member: &str, wanted: &str) {
    wait_for(&format!("{member} to be {wanted}"), SOON, || {
        let member = ring.member(member)?;
        Ok((member["status"]["server"]["mode"] == wanted).then_some(()))
    })
    .expect("it should");
}

fn down_and_up(ring: &Ring<'_>) {
    let ([a, b], times) = (MEMBERS, 10);
    let set = |a: u32, b: u32| {
        let writing = ring.writing(Writes::Rows).expect("writing");
        ask(a, b);
        ring.wait_members(a + b).expect("as many as wanted");
        writing.stop().expect("written");
    };
    ask(a, b);
    ring.wait_members(a + b).expect("as many as wanted");
    for round in 1..=times {
        set(a - 1, b - 1);
        ring.check_data().expect("all rows after the shrink");
        set(a, b);
        ring.check_data().expect("all rows after the growth");
        println!("round {round} of {times}: {} members, down and up again", a + b);
    }
}

fn kill_server(member: &str) {
    const KILL: &str = "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = java ] && kill -9 $(basename $p) && echo killed; done; true";
    let said = bed().exec(NAMESPACE, member, &["bash", "-c", KILL]).expect("the shell answers");
    assert!(said.contains("killed"), "the server of {member} should be killed: {said:?}");
}

/// Who would receive ends between the announcement of the leave and its first stream: Cassandra
/// gives the leave up, and stays in the ring as a member that is leaving.
fn receiver_killed(ring: &Ring<'_>) {
    let [a, b] = MEMBERS;
    let last = format!("scale-dc1-a-{}", a - 1);
    ring.wait_members(a + b).expect("as many as wanted");
    ask(a - 1, b);
    reaches(ring, &last, "LEAVING");
    kill_server("scale-dc1-a-0");
    reaches(ring, &last, "DECOMMISSION_FAILED");
    ring.wait_members(a - 1 + b).expect("it is taken up again when all are up");
    ring.check_data().expect("all rows");
    ask(a, b);
    ring.wait_members(a + b).expect("as many as before");
    ring.check_data().expect("all rows");
}

/// Targets that change while a member leaves and while one joins, and a server
/// that is killed in the middle of its leave: one ring of one size at the end.
fn changes_of_mind(ring: &Ring<'_>) {
    let [a, b] = MEMBERS;
    let last = format!("scale-dc1-a-{}", a - 1);
    for round in 0..5 {
        let before = ring.host_ids().expect("host IDs");
        let writing = ring.writing(Writes::Rows).expect("writing");
        ask(a - 1, b);
        reaches(ring, &last, "LEAVING");
        // Later rounds hit later phases.
        std::thread::sleep(Duration::from_millis(1500 * round));
        kill_server(&last);
        // One more, then fewer, then as before: in the middle of the leave.
        ask(a + 1, b);
        std::thread::sleep(Duration::from_secs(3));
        ask(a - 1, b);
        std::thread::sleep(Duration::from_secs(3));
        ask(a, b);
        ring.wait_members(a + b).expect("as many as wanted");
        writing.stop().expect("written");
        ring.check_data().expect("all rows");
        let now = ring.host_ids().expect("host IDs");
        let kept = now.iter().filter(|m| before.contains(m)).count();
        assert!(kept + 1 >= before.len(), "only {last} may be another: {now:?}");
    }
    // A member that joins is not wanted any more before it has joined.
    let writing = ring.writing(Writes::Rows).expect("writing");
    ask(a + 1, b);
    let joiner = format!("scale-dc1-a-{a}");
    reaches(ring, &joiner, "JOINING");
    ask(a, b);
    ring.wait_members(a + b).expect("as many as wanted");
    writing.stop().expect("written");
    ring.check_data().expect("all rows");
}

/// Kills the server as soon as it has written down that it would have to
/// bootstrap, which is up to a second before the others hear that it has left.
const KILL_AT_THE_LAST_MOMENT: &str = r#"
seen() { echo /var/lib/cassandra/data/system/local-*/*-Data.db; }
before=$(seen)
for i in $(seq 30000); do [ "$(seen)" = "$before" ] || break; done
for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = java ] && kill -9 $(basename $p) && echo killed after $i looks; done; true
"#;

/// The ring still counts the member, and its own files say that it is none: it
/// comes back with its tokens, and does not stream itself in under new ones.
fn killed_before_the_others_hear(ring: &Ring<'_>) {
    let [a, b] = MEMBERS;
    let last = format!("scale-dc1-a-{}", a - 1);
    let writing = ring.writing(Writes::Rows).expect("writing");
    ask(a - 1, b);
    reaches(ring, &last, "LEAVING");
    let said = bed().exec(NAMESPACE, &last, &["bash", "-c", KILL_AT_THE_LAST_MOMENT]);
    let said = said.expect("the shell answers");
    assert!(said.contains("killed after"), "a server of {last} should be killed: {said:?}");
    // Now and then the others have heard by then, and nothing starts again.
    let mut came_back = false;
    wait_for("it to have left", Duration::from_secs(400), || {
        let starts = ring.member(&last).map(|m| m["status"]["startHistory"].clone());
        came_back |= starts.is_ok_and(|s| s[0]["cause"] == CAUSE_RESUME_LEAVE);
        let wanted = format!("{0}/{0}", a - 1 + b);
        Ok((ring.cluster()?["status"]["members"] == wanted).then_some(()))
    })
    .expect("left");
    println!("{last} in the last moment of its leave: {said}, came back: {came_back}");
    ring.wait_members(a - 1 + b).expect("as many as wanted");
    writing.stop().expect("written");
    ring.check_data().expect("all rows");
}
