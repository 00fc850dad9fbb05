//! A gate by what the kubelet and the labels say of it.

use super::*;
use palladion_plan::{Meta, Object};

const NOW: &str = "2026-01-01T00:10:00Z";
const STARTED: &str = "2026-01-01T00:09:30Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

fn pod(init: Value, labels: &[(&str, &str)], annotations: &[(&str, &str)]) -> PodFact {
    let map = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    };
    let meta = Meta {
        name: "web-0".into(),
        labels: map(labels),
        annotations: map(annotations),
        ..Meta::default()
    };
    PodFact::read(&Object { meta, body: json!({ "init": init }) })
}

fn running(id: &str) -> Value {
    json!([{ "name": "init", "id": id, "since": STARTED }])
}

fn start(id: &str) -> Start<'_> {
    Start { id, since: STARTED.parse().expect("a time") }
}

/// What a patch leaves of a pod.
fn patched(init: Value, before: &PodFact, patch: &Value) -> PodFact {
    let read = |part: &str, own: &std::collections::BTreeMap<String, String>| {
        let mut all = own.clone();
        for (key, value) in patch["metadata"][part].as_object().into_iter().flatten() {
            all.insert(key.clone(), value.as_str().unwrap_or_default().to_string());
        }
        all
    };
    let meta = Meta {
        name: before.name.clone(),
        labels: read("labels", &before.labels),
        annotations: read("annotations", &before.annotations),
        ..Meta::default()
    };
    PodFact::read(&Object { meta, body: json!({ "init": init }) })
}

#[test]
fn a_gate_that_does_not_run_has_no_start_to_give_a_ticket_for() {
    for init in [
        json!([]),
        json!([{ "name": "other", "id": "c://1", "since": STARTED }]),
        json!([{ "name": "init" }]),
        json!([{ "name": "init", "since": STARTED }]),
        json!([{ "name": "init", "id": "c://1", "code": 1 }]),
    ] {
        assert_eq!(stand(&pod(init.clone(), &[], &[])), Stand::Absent, "{init}");
    }
}

#[test]
fn a_ticket_opens_the_start_that_it_was_given_for() {
    let before = pod(running("c://1"), &[("status", "")], &[]);
    let waiting = Stand::Waiting { start: start("c://1"), label: Label::Empty };
    assert_eq!(stand(&before), waiting);
    let after = patched(running("c://1"), &before, &give(&before, start("c://1"), "abc", now()));
    assert_eq!(stand(&after), Stand::Open { start: start("c://1"), given: now() });
    let ticket = Ticket { number: 1, start: 1_767_226_170 };
    assert_eq!(last_ticket(&after), Some(ticket));
    assert_eq!(config_of(&after), Some("abc"));
    let ended = json!([{ "name": "init", "id": "c://1", "code": 0 }]);
    assert_eq!(stand(&patched(ended, &after, &json!({}))), Stand::Passed);
}

#[test]
fn another_start_finds_the_label_of_the_last_one_and_no_ticket() {
    let before = pod(running("c://1"), &[("status", "")], &[]);
    let given = give(&before, start("c://1"), "abc", now());
    let again = patched(running("c://2"), &before, &given);
    let left = Stand::Waiting { start: start("c://2"), label: Label::LeftOver };
    assert_eq!(stand(&again), left);
    let emptied = patched(running("c://2"), &again, &empty());
    let waiting = Stand::Waiting { start: start("c://2"), label: Label::Empty };
    assert_eq!(stand(&emptied), waiting);
    let open = patched(running("c://2"), &emptied, &give(&emptied, start("c://2"), "abc", now()));
    assert_eq!(stand(&open), Stand::Open { start: start("c://2"), given: now() });
    assert_eq!(last_ticket(&open).map(|t| t.number), Some(2), "no number is given twice");
}

#[test]
fn labels_that_somebody_has_made_open_nothing() {
    let forged = pod(running("c://1"), &[("status", "ready"), (TICKET, "7-1")], &[]);
    let left = Stand::Waiting { start: start("c://1"), label: Label::LeftOver };
    assert_eq!(stand(&forged), left);
    let no_time = [(CONTAINER, "c://1"), (GIVEN, "soon")];
    assert_eq!(stand(&pod(running("c://1"), &[("status", "ready")], &no_time)), left);
}

#[test]
fn the_gate_should_be_the_first_init_container() {
    let of = |init: Value| pod(init, &[], &[]);
    let (first, behind) = (of(running("c")), of(json!([{ "name": "mesh" }, { "name": "init" }])));
    assert_eq!(place(&first), Place::First);
    assert_eq!(place(&behind), Place::Behind("mesh"));
    assert_eq!(place(&of(json!([{ "name": "mesh" }]))), Place::Nowhere);
    assert_eq!(place(&of(json!([]))), Place::Nowhere);
}

/// The leader that gave the ticket and the one that asks for a reload have a clock each.
#[test]
fn what_a_pod_was_asked_to_read_since_its_ticket_counts_whatever_the_clocks_say() {
    let ended = || json!([{ "name": "init", "id": "c://1", "code": 0, "said": "old" }]);
    let before = pod(running("c://1"), &[("status", "")], &[]);
    let given = patched(ended(), &before, &give(&before, start("c://1"), "old", now()));
    assert_eq!(runs_with(&given), Some("old"));
    let earlier = json!({ "metadata": {
        "labels": { CONFIG: "new" }, "annotations": { RELOADED: "2026-01-01T00:09:00Z" },
    } });
    let asked = patched(ended(), &given, &earlier);
    assert_eq!(runs_with(&asked), Some("new"));
    let again = give(&asked, start("c://2"), "newest", now());
    assert_eq!(runs_with(&patched(ended(), &asked, &again)), Some("old"), "its gate says so");
}
