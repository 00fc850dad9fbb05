//! Whose turn it is, in all ways in which pods can differ.

use super::*;
use palladion_api::gate::CONFIG;
use palladion_api::labels::SPEC_HASH;
use palladion_api::staged::ReloadPolicy::{Recreate as RecreateAll, Restart, Signal};
use palladion_plan::{Meta, Object};
use serde_json::json;

const GOAL: Goal<'_> = Goal { template: "t2", inputs: "i2", text: Some("c2") };

#[derive(Clone, Copy, PartialEq)]
enum Is {
    Ready,
    Broken,
    Gated,
    Ending,
}

fn now() -> Timestamp {
    "2026-01-01T01:00:00Z".parse().expect("a time")
}

fn pod(ordinal: i32, is: Is, template: &str, text: &str) -> PodFact {
    let since = (is == Is::Ready || is == Is::Ending).then_some("2026-01-01T00:59:50Z");
    let init = match is {
        Is::Gated => json!([{ "name": "init", "id": "c", "since": "2026-01-01T00:59:00Z" }]),
        Is::Ready | Is::Broken | Is::Ending => json!([{ "name": "init", "id": "c", "code": 0 }]),
    };
    let meta = Meta {
        name: format!("web-{ordinal}"),
        labels: [(CONFIG.to_string(), text.to_string())].into(),
        annotations: [(SPEC_HASH.to_string(), template.to_string())].into(),
        deletion_timestamp: (is == Is::Ending).then(now),
        ..Meta::default()
    };
    PodFact::read(&Object { meta, body: json!({ "readySince": since, "init": init }) })
}

fn rules(policy: ReloadPolicy) -> Rules {
    Rules { policy, min_ready_seconds: 0, ground: Ground::Firm }
}

/// Decide for pods of the newest inputs.
fn decided(pods: &[PodFact], rules: Rules) -> Work<'_> {
    let all: Vec<Candidate<'_>> = pods
        .iter()
        .map(|pod| Candidate {
            pod,
            change: change(pod, Some("i2"), GOAL),
            at_risk: None,
            reach: Reach::Reached,
        })
        .collect();
    next(&all, rules, now())
}

fn restarted(pods: &[PodFact], rules: Rules) -> Option<String> {
    decided(pods, rules).restart.map(|p| p.name.clone())
}

#[test]
fn a_pod_differs_by_template_by_its_owners_words_or_by_what_is_outside() {
    let of = |pod: &PodFact, inputs| change(pod, Some(inputs), GOAL);
    let same = pod(0, Is::Ready, "t2", "c2");
    assert_eq!(of(&same, "i2"), Change::None);
    assert_eq!(of(&same, "i1"), Change::Words);
    assert_eq!(of(&pod(0, Is::Ready, "t2", "c1"), "i2"), Change::Outside);
    assert_eq!(of(&pod(0, Is::Ready, "t2", "c1"), "i1"), Change::Inputs);
    assert_eq!(of(&pod(0, Is::Ready, "t1", "c2"), "i2"), Change::Template);
    assert_eq!(of(&pod(0, Is::Gated, "t2", "c1"), "i1"), Change::None, "its ticket has the rest");
    assert_eq!(of(&pod(0, Is::Gated, "t1", "c2"), "i2"), Change::Template);
    let unknown = Goal { text: None, ..GOAL };
    assert_eq!(change(&pod(0, Is::Ready, "t2", "c1"), Some("i2"), unknown), Change::None);
}

#[test]
fn one_pod_after_another_is_restarted_from_the_highest_down() {
    let old = |ordinal, is| pod(ordinal, is, "t1", "c2");
    let new = |ordinal, is| pod(ordinal, is, "t2", "c2");
    let of = |pods: &[PodFact]| restarted(pods, rules(Restart));
    assert_eq!(of(&[old(0, Is::Ready), old(1, Is::Ready)]).as_deref(), Some("web-1"));
    assert_eq!(of(&[old(0, Is::Ready), new(1, Is::Ready)]).as_deref(), Some("web-0"));
    for not_yet in [Is::Broken, Is::Gated, Is::Ending] {
        assert_eq!(of(&[old(0, Is::Ready), new(1, not_yet)]), None);
    }
    let settling = Rules { min_ready_seconds: 11, ..rules(Restart) };
    let pods = [old(0, Is::Ready), new(1, Is::Ready)];
    let until = "2026-01-01T01:00:01Z".parse().ok();
    assert!(matches!(decided(&pods, settling).hold, Some(Hold::Pod(_, at)) if at == until));
}

#[test]
fn a_broken_pod_comes_first_and_waits_for_nobody() {
    let pods = [
        pod(0, Is::Broken, "t1", "c2"),
        pod(1, Is::Ready, "t1", "c2"),
        pod(2, Is::Broken, "t2", "c2"),
    ];
    let loose = Rules { ground: Ground::Loose, ..rules(Restart) };
    assert_eq!(restarted(&pods, loose).as_deref(), Some("web-0"));
    let gated = [pod(0, Is::Ready, "t1", "c2"), pod(1, Is::Gated, "t1", "")];
    assert_eq!(restarted(&gated, loose).as_deref(), Some("web-1"), "it serves nobody either");
}

#[test]
fn no_pod_that_serves_is_ended_while_it_could_not_start_again() {
    let pods = [pod(0, Is::Ready, "t1", "c1"), pod(1, Is::Ready, "t1", "c1")];
    for policy in [Restart, Signal, RecreateAll] {
        let work = decided(&pods, Rules { ground: Ground::Loose, ..rules(policy) });
        assert_eq!(work.hold, Some(Hold::Ground));
        assert_eq!((work.restart, work.recreate), (None, Recreate::No));
    }
}

#[test]
fn a_change_from_outside_goes_by_the_policy() {
    let pods = [pod(0, Is::Ready, "t2", "c2"), pod(1, Is::Ready, "t2", "c1")];
    assert_eq!(restarted(&pods, rules(Restart)).as_deref(), Some("web-1"));
    let signalled = decided(&pods, rules(Signal));
    assert_eq!((signalled.restart, signalled.recreate), (None, Recreate::No));
    assert_eq!(signalled.signal.iter().map(|p| p.ordinal).collect::<Vec<_>>(), [1]);
    let recreated = decided(&pods, rules(RecreateAll));
    assert_eq!((recreated.recreate, recreated.signal.len()), (Recreate::Now, 0));
}

#[test]
fn signals_do_not_wait_for_restarts_and_words_are_only_noted() {
    let pods = [pod(0, Is::Ready, "t2", "c1"), pod(1, Is::Broken, "t1", "c1")];
    let work = decided(&pods, rules(Signal));
    assert_eq!(work.restart.map(|p| p.ordinal), Some(1));
    assert_eq!(work.signal.iter().map(|p| p.ordinal).collect::<Vec<_>>(), [0]);
    let same = pod(0, Is::Ready, "t2", "c2");
    let candidate =
        Candidate { pod: &same, change: Change::Words, at_risk: None, reach: Reach::Reached };
    let noted = next(&[candidate], rules(Restart), now());
    assert_eq!((noted.restart, noted.note.len()), (None, 1));
}

#[test]
fn pods_at_their_gates_are_no_reason_to_recreate_all() {
    let pods = [pod(0, Is::Ready, "t2", "c2"), pod(1, Is::Gated, "t1", "")];
    let work = decided(&pods, rules(RecreateAll));
    assert_eq!((work.recreate, work.restart.map(|p| p.ordinal)), (Recreate::No, Some(1)));
    let nothing = decided(&pods[..1], rules(RecreateAll));
    assert_eq!(nothing, Work::default());
}
