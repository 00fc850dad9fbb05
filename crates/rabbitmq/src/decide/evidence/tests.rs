//! What the nodes' answers allow, and what forbids a step.

use super::views::{Question, Source, judge};
use crate::facts::Facts;
use crate::fixtures::{ClusterFixture, a_cluster, node};
use crate::words::evidence::Objection;
use palladion_api::ids::{MemberName, Nonce};
use palladion_api::rabbitmq::NodeName;
use palladion_plan::members::question::Views;
use serde_json::{Value, json};

fn name(n: usize) -> MemberName {
    MemberName::new(format!("demo-rmq-{n}"))
}

/// What is said about a step for the first member.
fn said(
    fixture: &ClusterFixture,
    ask: impl for<'a> FnOnce(Question<'a>) -> Question<'a>,
) -> Result<usize, Objection> {
    let snapshot = fixture.snapshot();
    let facts = Facts::read(&snapshot).expect("all is known");
    let question = ask(Question::about(&facts.members[&name(0)]));
    let nonce = Nonce::from("q");
    match judge(&facts, &question, Source::Answers(&nonce)) {
        Views::Agree(said) => Ok(said.answers.len()),
        Views::Refused(why) => Err(why),
        Views::Missing(names) => panic!("{names:?} have not answered"),
    }
}

fn of(fixture: &ClusterFixture) -> Result<usize, Objection> {
    said(fixture, |question| question)
}

#[test]
fn nodes_that_agree_allow_a_step() {
    assert_eq!(of(&a_cluster(3)), Ok(3));
    assert_eq!(of(&a_cluster(1)), Ok(1));
}

#[test]
fn what_one_node_reports_forbids_it() {
    let one = |change: fn(&mut Value)| of(&a_cluster(3).views(&[2], change));
    let partitioned = one(|view| view["partitions"] = json!([node(0)]));
    assert!(matches!(partitioned, Err(Objection::Partitioned { member, .. }) if member == name(2)));
    let blind = one(|view| view["running"] = json!([node(2)]));
    assert!(matches!(blind, Err(Objection::NotSeen { member, .. }) if member == name(2)));
    let other = one(|view| view["members"] = json!([node(1), node(2)]));
    assert!(matches!(other, Err(Objection::Disagree { .. })));
    let khepri = one(|view| view["flags"]["enabled"] = json!(["khepri_db"]));
    assert_eq!(khepri, Err(Objection::Khepri));
}

#[test]
fn what_could_not_be_read_is_no_answer() {
    let unread = a_cluster(3).status_of(1, |status| status["evidence"]["queues"] = Value::Null);
    assert_eq!(of(&unread), Err(Objection::NotRead { member: name(1) }));
    let all = [0, 1, 2];
    let no_flags = a_cluster(3).views(&all, |view| view["flags"] = Value::Null);
    assert_eq!(of(&no_flags), Err(Objection::FlagsNotRead));
    let silent = a_cluster(3).status_of(1, |status| status["agent"]["podUID"] = json!("old"));
    assert_eq!(of(&silent), Err(Objection::Silent { member: name(1) }));
}

#[test]
fn a_node_that_no_member_accounts_for_forbids_every_step() {
    let stranger = a_cluster(3).views(&[0, 1, 2], |view| {
        view["members"].as_array_mut().expect("a list").push(json!("rabbit@stranger"));
    });
    assert!(matches!(of(&stranger), Err(Objection::UnknownNode { .. })));
}

#[test]
fn an_alarm_forbids_only_what_moves_data() {
    let alarm = json!([{ "node": node(1), "resource": "disk" }]);
    let fixture = a_cluster(3).views(&[0, 1, 2], |view| view["alarms"] = alarm.clone());
    assert_eq!(of(&fixture), Ok(3));
    let calm = said(&fixture, |question| Question { is_calm: true, ..question });
    assert!(matches!(calm, Err(Objection::Alarm { .. })));
}

#[test]
fn whoever_stops_leaves_a_majority_but_for_a_node_alone() {
    let spares = |nodes| said(&a_cluster(nodes), |q| Question { spares_whom: true, ..q });
    assert_eq!(spares(3), Ok(3));
    assert_eq!(spares(1), Ok(1));
    assert_eq!(spares(2), Err(Objection::NoMajority { rest: 1, of: 2 }));
}

/// Of three, one is lost: the others speak. Of two nobody does.
#[test]
fn a_lost_node_needs_no_answer_and_counts_all_the_same() {
    let lost = |nodes: usize| {
        let mut fixture = a_cluster(nodes);
        let all: Vec<String> = (0..nodes).map(node).collect();
        let running: Vec<String> = (1..nodes).map(node).collect();
        let others: Vec<usize> = (1..nodes).collect();
        fixture = fixture.views(&others, |view| {
            view["running"] = json!(running);
            view["members"] = json!(all);
        });
        fixture = fixture.status_of(0, |status| {
            status["volume"]["state"] = json!("Lost");
            status["server"]["state"] = json!("Waiting");
        });
        said(&fixture, |question| question.without([NodeName::new(node(0))]))
    };
    assert_eq!(lost(3), Ok(2));
    assert_eq!(lost(2), Err(Objection::NoMajority { rest: 1, of: 2 }));
}
