//! The catalogue of reasons is one enum; each of its reasons is given by some
//! code, so that nobody looks up one that is never shown, and asserted by a story.

mod tracked;

use palladion_api::reasons::Reason;

const CATALOGUE: &str = "crates/api/src/reasons.rs";

/// The code of the crates, without what only tests use, with single spaces: an arm may go over lines.
fn code() -> String {
    let names = tracked::names(&["crates/*/src/*.rs"]);
    let is_test = |name: &str| {
        name.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing.rs" | "sim"))
    };
    let files = names.into_iter().filter(|name| name != CATALOGUE && !is_test(name));
    let texts = files.filter_map(tracked::text);
    texts
        .map(|(_, text)| text.split("\nmod tests {").next().unwrap_or_default().to_string())
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Is this reason named there, by itself or by a sentence, and not only one that
/// begins with the same letters?
fn uses(code: &str, reason: Reason) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    [format!("Reason::{reason}"), format!("=> {reason},")].iter().any(|name| {
        code.match_indices(name.as_str())
            .any(|(at, name)| name.ends_with(',') || is_end(&code[at + name.len()..]))
    })
}

#[test]
fn every_reason_of_the_catalogue_is_given_by_some_code() {
    let code = code();
    let idle: Vec<_> = Reason::ALL.iter().filter(|reason| !uses(&code, **reason)).collect();
    assert!(idle.is_empty(), "no code gives these reasons; remove them from {CATALOGUE}: {idle:?}");
}

/// Stories on rings and in simulators. What reads a reason from a fixture is none.
const STORIES: [&str; 6] = [
    "crates/cassandra/tests/scenarios/",
    "crates/zonedset/tests/",
    "crates/zookeeper/tests/",
    "crates/rabbitmq/tests/",
    "crates/stack/tests/",
    "e2e/stories/",
];

/// Reasons that no history comes to, with the test that asserts them.
const ELSEWHERE: [(Reason, &str); 16] = [
    // In a history there is a cluster: what names none is decided apart from the minds.
    (Reason::ClusterNotFound, "crates/cassandra/src/orphans.rs"),
    // No mind makes a plan that the linter refuses: one is made up.
    (Reason::PlanVetoed, "crates/engine/tests/facts.rs"),
    // Nor does one panic that is known to.
    (Reason::MindPanicked, "crates/engine/tests/facts.rs"),
    // Agents end with them; for minds they are words like others.
    (Reason::OtherHostID, "crates/agent/tests/pod/living.rs"),
    (Reason::OtherVolume, "crates/agent/src/decide/tests/jobs.rs"),
    (Reason::OldEpoch, "crates/agent/src/decide/tests/jobs.rs"),
    (Reason::NotSupported, "crates/agent/src/decide/tests/jobs.rs"),
    (Reason::ServerEnded, "crates/agent/src/decide/tests/jobs.rs"),
    (Reason::PodEnded, "crates/agent/src/decide/tests/jobs.rs"),
    (Reason::AgentEnded, "crates/agent/src/jobs/tests.rs"),
    (Reason::TableBusy, "crates/agent/src/jobs/tests.rs"),
    (Reason::StoppedByOther, "crates/agent/src/jobs/tests.rs"),
    (Reason::NotEnoughDisk, "crates/agent/src/jobs/tests.rs"),
    (Reason::SnapshotExists, "crates/agent/src/jobs/tests.rs"),
    (Reason::VolumeError, "crates/agent/tests/pod/living.rs"),
    (Reason::ReplicasDown, "crates/agent/src/jobs/tests/granted.rs"),
];

/// The stories, without their comments.
fn stories() -> String {
    read(&STORIES)
}

fn read(places: &[&str]) -> String {
    let names = tracked::names(places).into_iter().filter(|name| name.ends_with(".rs"));
    let texts = names.filter_map(tracked::text);
    let lines = texts.flat_map(|(_, text)| text.lines().map(str::to_string).collect::<Vec<_>>());
    lines.filter(|line| !line.trim_start().starts_with("//")).map(|line| line + "\n").collect()
}

/// Is it named as a reason, and not only a word of that spelling?
fn asserts(stories: &str, reason: Reason) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let open = [
        format!("Reason::{reason}"),
        format!("JobCause::{reason}"),
        format!("True {reason}"),
        format!("False {reason}"),
    ];
    let named = |name: &String| {
        stories.match_indices(name.as_str()).any(|(at, name)| is_end(&stories[at + name.len()..]))
    };
    stories.contains(&format!("\"{reason}\"")) || open.iter().any(named)
}

#[test]
fn every_reason_of_the_catalogue_is_asserted_by_a_story() {
    let stories = stories();
    let elsewhere = |reason: Reason| {
        let file = ELSEWHERE.iter().find(|(named, _)| *named == reason).map(|(_, file)| *file);
        file.is_some_and(|file| asserts(&read(&[file]), reason))
    };
    let is_open = |reason: &&Reason| !asserts(&stories, **reason) && !elsewhere(**reason);
    let open: Vec<_> = Reason::ALL.iter().filter(is_open).collect();
    assert!(open.is_empty(), "no story asserts these reasons; write one or remove them: {open:?}");
}

#[test]
fn a_word_is_not_taken_for_an_asserted_reason() {
    assert!(asserts("shows(world, &[Reason::Joining])", Reason::Joining));
    assert!(asserts("starts_with(\"True Joining: member\")", Reason::Joining));
    assert!(!asserts("Reason::JoiningAgain, Phase::Joining", Reason::Joining));
}

#[test]
fn a_reason_that_another_begins_with_is_not_taken_for_it() {
    assert!(uses("Reason::Joining,", Reason::Joining));
    assert!(uses("Join { pod: String } => Joining, \"joins\";", Reason::Joining));
    assert!(!uses("Reason::JoiningAgain", Reason::Joining));
}
