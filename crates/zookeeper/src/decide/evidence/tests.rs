//! What the servers' views prove, and what forbids a step.

use super::prove::{is_quiet, prove};
use super::views::Question;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::fixtures::{EnsembleFixture, NOW, an_ensemble, server};
use crate::words::evidence::Objection;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::MemberName;
use palladion_api::service::{self, ServiceStep, ServiceTurn};
use palladion_api::zookeeper::ServerId;
use palladion_plan::ProofKind;
use serde_json::{Value, json};

fn name(n: usize) -> MemberName {
    MemberName::new(format!("demo-zk-{n}"))
}

/// What is said against a question about the first member, without answers of these.
fn said_without(fixture: &EnsembleFixture, ids: &[i64]) -> Result<(), Objection> {
    let snapshot = fixture.snapshot();
    let facts = Facts::read(&snapshot).expect("all is known");
    let ids = ids.iter().map(|id| ServerId::new(*id));
    let question = Question::about(&facts.members[&name(0)]).without(ids);
    is_quiet(&facts, &question).map(|_| ())
}

fn said(fixture: &EnsembleFixture) -> Result<(), Objection> {
    said_without(fixture, &[])
}

#[test]
fn all_that_vote_must_be_in_touch_and_agree() {
    let well = an_ensemble(3);
    assert_eq!(said(&well), Ok(()));
    let silent = well.clone().status_of(2, |s| s["agent"]["podUID"] = json!("an older pod"));
    assert_eq!(said(&silent), Err(Objection::Silent { member: name(2) }));
    let cut = well.clone().views(&[1], |view| view["mode"] = Value::Null);
    assert_eq!(said(&cut), Err(Objection::NoQuorum { member: name(1) }));
    let behind = well.clone().views(&[2], |view| view["configVersion"] = json!("6"));
    let disagree = Objection::Disagree { first: name(0), other: name(2) };
    assert_eq!(said(&behind), Err(disagree));
    let standalone = well.views(&[0, 1, 2], |view| view["mode"] = json!("Standalone"));
    assert!(said(&standalone).is_err(), "a server by itself is no ensemble");
}

#[test]
fn a_server_that_is_none_of_ours_or_that_was_taken_out_forbids_every_step() {
    let all = [0, 1, 2];
    let stranger = an_ensemble(3).views(&all, |view| {
        view["servers"].as_array_mut().expect("a list").push(server(8, "Observer"));
    });
    let unknown = Objection::UnknownServer { servers: palladion_plan::words::Names::of([9]) };
    assert_eq!(said(&stranger), Err(unknown));
    let out = an_ensemble(3).views(&all, |view| {
        view["servers"].as_array_mut().expect("a list").pop();
    });
    assert_eq!(said(&out), Err(Objection::NotInConfiguration { member: name(2) }));
    assert_eq!(said_without(&out, &[3]), Ok(()), "it need not answer any more");
}

#[test]
fn whoever_is_restarted_leaves_a_majority_behind_but_for_a_server_alone() {
    let spares = |servers: usize, silent: &[usize]| {
        let fixture = silent.iter().fold(an_ensemble(servers), |fixture, n| {
            fixture.status_of(*n, |s| s["agent"] = Value::Null)
        });
        let snapshot = fixture.snapshot();
        let facts = Facts::read(&snapshot).expect("all is known");
        let ids = silent.iter().map(|n| ServerId::new(i64::try_from(*n).expect("small") + 1));
        let question = Question {
            spares_whom: true,
            ..Question::about(&facts.members[&name(0)]).without(ids)
        };
        is_quiet(&facts, &question).map(|_| ())
    };
    assert_eq!(spares(1, &[]), Ok(()));
    assert_eq!(spares(2, &[]), Err(Objection::NoMajority { rest: 1 }));
    assert_eq!(spares(3, &[]), Ok(()));
    assert_eq!(spares(3, &[2]), Err(Objection::NoMajority { rest: 1 }));
    assert_eq!(spares(5, &[4]), Ok(()));
}

/// A joiner adopts the configuration without itself, and follows all the same.
#[test]
fn a_joiner_is_in_no_configuration_and_must_follow() {
    let joins = |change: fn(&mut Value)| {
        let fixture = an_ensemble(4)
            .views(&[0, 1, 2, 3], |view| {
                view["servers"].as_array_mut().expect("a list").pop();
            })
            .status_of(3, |status| {
                status["volume"]["state"] = json!("Incomplete");
                change(&mut status["ensemble"]);
            });
        let snapshot = fixture.snapshot();
        let facts = Facts::read(&snapshot).expect("all is known");
        let joiner = &facts.members[&name(3)];
        let question = Question { joiner: Some(joiner), ..Question::about(joiner) };
        is_quiet(&facts, &question).map(|_| ())
    };
    assert_eq!(joins(|_| {}), Ok(()));
    let alone = joins(|view| view["mode"] = Value::Null);
    assert_eq!(alone, Err(Objection::NoQuorum { member: name(3) }));
}

fn a_turn(asked: SignedDuration) -> ServiceTurn {
    let since = Time(NOW - asked);
    ServiceTurn {
        member: name(0),
        volume_id: "v0".into(),
        step: ServiceStep::Restart,
        nonce: "t".into(),
        epoch: 1,
        since: since.clone(),
        attempt: 1,
        question: Some(service::Question { nonce: "q".into(), since, unanswered_since: None }),
        server_id: None,
        replaces: None,
        allowed: None,
        failing: None,
    }
}

#[test]
fn answers_count_for_a_while_and_only_to_the_question_that_was_put() {
    let proves = |turn: &ServiceTurn, fixture: &EnsembleFixture| {
        let snapshot = fixture.snapshot();
        let facts = Facts::read(&snapshot).expect("all is known");
        let question = Question::about(&facts.members[&name(0)]);
        let mut draft = Draft::default();
        let agreed = prove(&facts, turn, &question, ProofKind::AllWell, &mut draft);
        (agreed.is_some(), draft.steps.len())
    };
    let seconds = SignedDuration::from_secs;
    assert_eq!(proves(&a_turn(seconds(1)), &an_ensemble(3)), (true, 0));
    // The question is put anew.
    assert_eq!(proves(&a_turn(seconds(30)), &an_ensemble(3)), (false, 1));
    let other = an_ensemble(3).status_of(1, |s| s["evidence"]["nonce"] = json!("older"));
    assert_eq!(proves(&a_turn(seconds(1)), &other), (false, 1), "one is asked");
    let twin = an_ensemble(3).status_of(1, |s| s["evidence"]["volumeID"] = json!("another"));
    assert!(!proves(&a_turn(seconds(1)), &twin).0, "a stale twin speaks for nobody");
}

#[test]
fn without_a_quorum_nothing_is_asked() {
    let down = an_ensemble(3).views(&[0, 1, 2], |view| view["mode"] = Value::Null);
    let snapshot = down.snapshot();
    let facts = Facts::read(&snapshot).expect("all is known");
    let question = Question::about(&facts.members[&name(0)]);
    let mut draft = Draft::default();
    let old = a_turn(SignedDuration::from_secs(600));
    assert!(prove(&facts, &old, &question, ProofKind::AllWell, &mut draft).is_none());
    assert!(draft.steps.is_empty() && !draft.waits.is_empty());
}

/// It votes, and may be alive: what it is removed from is what counts afterwards.
#[test]
fn a_stranger_that_is_removed_counts_for_no_majority() {
    let with_stranger = an_ensemble(3).views(&[0, 1, 2], |view| {
        view["servers"].as_array_mut().expect("a list").push(server(8, "Participant"));
    });
    let snapshot = with_stranger.snapshot();
    let facts = Facts::read(&snapshot).expect("all is known");
    // The third is lost, and the other two are no majority of four.
    let ids = [3, 9].map(ServerId::new);
    let question = Question::about(&facts.members[&name(0)]).without(ids);
    let no_majority = Err(Objection::NoMajority { rest: 2 });
    assert_eq!(is_quiet(&facts, &question).map(|_| ()), no_majority);
    let removed = [ServerId::new(9)].into();
    let question = Question { removed, ..question };
    assert_eq!(is_quiet(&facts, &question).map(|_| ()), Ok(()));
}
