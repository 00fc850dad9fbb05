//! A ring of which everybody sees that it is well, or that one member is dead
//! or gone; and each rule, seen to forbid the step where one thing is changed.

use super::absence::{Absent, Asked, Voters, all_see_down, is_dead, is_gone, is_untouched};
use super::answer::Answer;
use super::datacenters::Elsewhere;
use super::idle::serves_nothing;
use super::prove::{is_out_already, prove};
use super::purpose::Purpose;
use super::quiet::is_quiet_for;
use super::stranger::{never_joined, stranger};
use super::verdict::verdict;
use super::witness::{others, rest_of, witnesses};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact, PodFact};
use crate::resources as kinds;
use crate::words::evidence::Objection;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{HostId, MemberName, Nonce, Uid};
use palladion_api::labels;
use palladion_plan::{Meta, Object, Observed, ProofKind, Resource, Snapshot};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAMES: [&str; 4] = ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0", "demo-dc1-c-0"];
/// It has the turn.
const WHOM: &str = NAMES[3];
const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);
const NONCE: &str = "n1";

/// What the members have reported, by name.
struct Ring {
    statuses: BTreeMap<&'static str, Value>,
    asked: SignedDuration,
    /// Marked for replacement, by the uid of which claim.
    marked: BTreeMap<&'static str, &'static str>,
    /// The operator has not recorded who it is.
    unrecorded: Option<&'static str>,
}

/// All are up and normal, and have just said so of all.
fn a_ring() -> Ring {
    let members: Vec<Value> = NAMES.iter().map(|name| seen(name)).collect();
    let status = |name: &&'static str| {
        let agent = json!({ "version": "1", "protocol": 1, "podUID": format!("pod-{name}"), "revision": "r", "node": "n" });
        let server = json!({ "state": "Running", "since": NOW, "mode": "NORMAL" });
        let evidence =
            json!({ "nonce": NONCE, "readAt": NOW, "schemaAgreed": true, "members": members });
        (*name, json!({ "agent": agent, "server": server, "evidence": evidence }))
    };
    Ring {
        statuses: NAMES.iter().map(status).collect(),
        asked: SignedDuration::ZERO,
        marked: BTreeMap::new(),
        unrecorded: None,
    }
}

fn host(name: &str) -> HostId {
    HostId::new(format!("host-{name}"))
}

fn seen(name: &str) -> Value {
    json!({ "hostID": host(name), "address": "10.0.0.1", "liveness": "Up", "state": "Normal" })
}

impl Ring {
    fn answer(&mut self, of: &str) -> &mut Value {
        &mut self.statuses.get_mut(of).unwrap()["evidence"]
    }

    /// How one of these sees another one.
    fn view(&mut self, of: &str, whom: &str) -> &mut Value {
        let index = NAMES.iter().position(|name| *name == whom).unwrap();
        &mut self.answer(of)["members"][index]
    }

    fn all_see(mut self, field: &str, value: &str) -> Self {
        NAMES.iter().for_each(|name| self.view(name, WHOM)[field] = json!(value));
        self
    }

    /// Its server does not say that it serves.
    fn silent(mut self, name: &str) -> Self {
        self.statuses.get_mut(name).unwrap()["server"]["state"] = json!("Waiting");
        self
    }

    /// The same, and why.
    fn silent_for(self, name: &str, reason: &str) -> Self {
        let mut ring = self.silent(name);
        ring.statuses.get_mut(name).unwrap()["server"]["reason"] = json!(reason);
        ring
    }

    fn snapshot(&self) -> Snapshot {
        let object = |name: &str, uid: String, body: Value| {
            let rack = name.rsplit('-').nth(1).unwrap_or_default().to_string();
            let labels = [
                (labels::RACK.to_string(), rack),
                (labels::POD_NAME.to_string(), name.to_string()),
            ];
            let meta = Meta {
                name: name.into(),
                uid: Uid::new(uid),
                labels: labels.into(),
                ..Meta::default()
            };
            Arc::new(Object { meta, body })
        };
        let known = |value| Observed::Known { value, as_of: NOW };
        let members = self.statuses.iter().map(|(name, status)| {
            let replace = self.marked.get(name).map(|claim_uid| {
                json!({
                    "volumeID": "v", "hostID": host(name), "address": "10.0.0.1",
                    "claimUID": claim_uid, "cause": "User", "reason": "r",
                })
            });
            let host_id = (self.unrecorded != Some(*name)).then(|| host(name));
            let spec = json!({
                "cluster": "demo", "ring": "demo", "datacenter": "dc1", "rack": "a",
                "hostID": host_id, "volumeID": format!("volume-{name}"), "replace": replace,
            });
            object(name, format!("member-{name}"), json!({ "spec": spec, "status": status }))
        });
        let ready = json!({ "node": "n", "readySince": NOW });
        let pods = NAMES.iter().map(|name| object(name, format!("pod-{name}"), ready.clone()));
        let claims = NAMES
            .iter()
            .map(|name| object(&format!("data-{name}"), format!("claim-{name}"), json!({})));
        let mut objects: BTreeMap<Resource, _> = crate::resources::watches()
            .into_iter()
            .map(|watch| (watch.resource, known(Vec::new())))
            .collect();
        objects.insert(kinds::MEMBER, known(members.collect()));
        objects.insert(kinds::POD, known(pods.collect()));
        objects.insert(kinds::CLAIM, known(claims.collect()));
        objects.insert(
            kinds::NODE,
            known(vec![object("n", "node".into(), json!({ "ready": "True" }))]),
        );
        let turn = json!({
            "member": WHOM, "volumeID": "v", "step": "Restart", "nonce": NONCE, "epoch": 1,
            "since": NOW - self.asked, "attempt": 1,
        });
        let spec = json!({ "version": "5.0.5", "datacenter": { "name": "dc1", "racks": [] } });
        let body = json!({ "spec": spec, "status": { "turn": turn } });
        Snapshot {
            now: NOW,
            epoch: 1,
            nonce: "later".into(),
            owner: object("demo", "cluster".into(), body),
            objects,
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lock: palladion_plan::LockFact::Unasked,
            failure: None,
            settings: Arc::default(),
        }
    }

    fn ask<T>(&self, question: impl FnOnce(&Facts<'_>) -> T) -> T {
        let snapshot = self.snapshot();
        question(&Facts::read(&snapshot).unwrap())
    }

    /// Is all well, by the two that are asked for a restart?
    fn is_well(&self) -> Answer {
        self.ask(|facts| {
            let whom = &facts.members[&MemberName::new(WHOM)];
            let witnesses = witnesses(facts, &whom.name);
            verdict(facts, whom, &witnesses, &Nonce::new(NONCE), &[], Elsewhere::AllNormal)
        })
    }

    fn absent(&self, voters: Voters, what: Question) -> Answer {
        self.ask(|facts| {
            let (member, host_id) = (&facts.members[&MemberName::new(WHOM)], &host(WHOM));
            let absent = Absent { member, host_id, voters };
            let others = others(facts, &member.name);
            what(facts, &absent, &Asked { others: &others, nonce: &Nonce::new(NONCE) })
        })
    }
}

type Question = fn(&Facts<'_>, &Absent<'_>, &Asked<'_>) -> Answer;

fn kind(answer: Answer) -> Option<ProofKind> {
    answer.proven().map(|proof| proof.stated().kind())
}

fn why(answer: Answer) -> Objection {
    match answer {
        Answer::Refused { why, .. } => why,
        other => panic!("expected an objection, got {other:?}"),
    }
}

#[test]
fn the_witnesses_are_of_different_racks() {
    let racks = a_ring().ask(|facts| {
        let witnesses = witnesses(facts, &MemberName::new(WHOM));
        witnesses.iter().map(|w| w.rack.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(racks, ["a", "b"]);
}

#[test]
fn a_ring_that_both_witnesses_see_whole_is_well() {
    assert_eq!(kind(a_ring().is_well()), Some(ProofKind::AllWell));
}

#[test]
fn an_answer_to_another_question_is_none() {
    let mut ring = a_ring();
    ring.answer(NAMES[0])["nonce"] = json!("n0");
    assert_eq!(ring.is_well(), Answer::Missing(vec![NAMES[0].into()]));
    let mut dead = a_ring().all_see("liveness", "Down");
    dead.answer(NAMES[0])["nonce"] = json!("n0");
    assert_eq!(kind(dead.absent(Voters::Majority, is_dead)), None);
}

#[test]
fn answers_are_void_when_the_question_is_half_a_minute_old() {
    let old = Ring { asked: SignedDuration::from_secs(30), ..a_ring() };
    assert!(matches!(why(old.is_well()), Objection::TooOld { .. }));
    let fresh = Ring { asked: SignedDuration::from_secs(29), ..a_ring() };
    assert_eq!(kind(fresh.is_well()), Some(ProofKind::AllWell));
}

#[test]
fn a_view_that_was_not_read_proves_nothing() {
    let mut ring = a_ring();
    ring.answer(NAMES[2])["members"] = Value::Null;
    assert!(matches!(why(ring.is_well()), Objection::Unread { .. }));
    let mut gone = a_ring();
    NAMES.iter().for_each(|name| gone.answer(name)["members"] = Value::Null);
    assert!(matches!(why(gone.absent(Voters::Majority, is_gone)), Objection::Unread { .. }));
}

#[test]
fn a_member_that_is_down_or_not_normal_in_one_view_forbids() {
    for (field, value) in [("liveness", "Down"), ("state", "Leaving")] {
        let mut ring = a_ring();
        ring.view(NAMES[2], NAMES[1])[field] = json!(value);
        assert!(matches!(why(ring.is_well()), Objection::SeesHost { .. }), "{value}");
    }
    let silent = a_ring().silent(NAMES[1]);
    assert!(matches!(why(silent.is_well()), Objection::NotNormal { .. }));
}

#[test]
fn a_witness_that_does_not_list_a_known_member_forbids() {
    let mut ring = a_ring();
    ring.answer(NAMES[2])["members"].as_array_mut().unwrap().remove(1);
    assert!(matches!(why(ring.is_well()), Objection::Unseen { .. }));
}

#[test]
fn one_that_sees_it_up_or_still_knows_it_is_enough() {
    let dead = a_ring().all_see("liveness", "Down");
    assert_eq!(kind(dead.absent(Voters::Majority, is_dead)), Some(ProofKind::Dead));
    let mut ring = a_ring().all_see("liveness", "Down");
    ring.view(NAMES[1], WHOM)["liveness"] = json!("Up");
    for voters in [Voters::Majority, Voters::WhoeverIsLeft] {
        assert!(matches!(why(ring.absent(voters, is_dead)), Objection::SeesItUp { .. }));
        assert!(matches!(why(ring.absent(voters, is_gone)), Objection::StillKnown { .. }));
    }
}

#[test]
fn all_that_are_asked_must_have_it_out_of_the_ring() {
    let mut ring = a_ring();
    NAMES.iter().for_each(|name| drop(ring.answer(name)["members"].as_array_mut().unwrap().pop()));
    assert_eq!(kind(ring.absent(Voters::Majority, is_gone)), Some(ProofKind::Gone));
    ring.answer(NAMES[0])["members"].as_array_mut().unwrap().push(seen(WHOM));
    assert!(matches!(why(ring.absent(Voters::Majority, is_gone)), Objection::StillKnown { .. }));
}

/// Safety rule 4.3: the second question of a turn is answered with a list as the first is.
#[test]
fn members_that_only_answers_about_who_has_left_name_count_in_the_ring() {
    let mut ring = a_ring().silent(WHOM);
    for name in NAMES {
        ring.answer(name)["nonce"] = json!(format!("{NONCE}-gone"));
        ring.answer(name)["members"].as_array_mut().unwrap().pop();
    }
    let host_id = &host(WHOM);
    let has_left = |ring: &Ring| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            let whom = &facts.members[&turn.member];
            prove(facts, turn, whom, &Purpose::HasLeft { host_id }, &mut Draft::default()).is_ok()
        })
    };
    assert!(has_left(&ring), "three of three");
    for unknown in ["x", "y", "z"] {
        ring.answer(NAMES[0])["members"].as_array_mut().unwrap().push(seen(unknown));
    }
    assert!(!has_left(&ring), "three of six, as one of them says");
}

#[test]
fn fewer_than_a_majority_speak_only_where_a_user_has_named_the_volume() {
    let few = a_ring().all_see("liveness", "Down").silent(NAMES[0]).silent(NAMES[1]);
    let majority = few.absent(Voters::Majority, is_dead);
    assert_eq!(why(majority), Objection::TooFew { asked: 1, others: 3 });
    assert_eq!(kind(few.absent(Voters::WhoeverIsLeft, is_dead)), Some(ProofKind::DeadAsNamed));
}

/// It may have come back since it was marked: cut off, so that the others do not see it.
#[test]
fn one_that_says_itself_that_it_serves_is_neither_replaced_nor_removed() {
    let proven = |ring: &Ring, purpose: &Purpose<'_>| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            let whom = &facts.members[&turn.member];
            prove(facts, turn, whom, purpose, &mut Draft::default()).is_ok()
        })
    };
    let host_id = &host(WHOM);
    for purpose in [Purpose::Replace { host_id }, Purpose::Remove { host_id }] {
        let dead = a_ring().all_see("liveness", "Down").silent(WHOM);
        assert!(proven(&dead, &purpose));
        assert!(!proven(&a_ring().all_see("liveness", "Down"), &purpose));
    }
    let mut gone = a_ring();
    NAMES.iter().for_each(|name| drop(gone.answer(name)["members"].as_array_mut().unwrap().pop()));
    let is_out = |ring: &Ring| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            is_out_already(facts, turn, &facts.members[&turn.member], host_id).is_some()
        })
    };
    assert!(!is_out(&gone));
    assert!(is_out(&gone.silent(WHOM)));
}

#[test]
fn an_interrupted_leaver_is_in_the_ring_only_if_all_see_it_there_and_down() {
    let down = |ring: &Ring| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            all_see_down(facts, turn, &facts.members[&turn.member]).is_some()
        })
    };
    let mut ring = a_ring().all_see("liveness", "Down");
    assert!(down(&ring));
    ring.view(NAMES[0], WHOM)["liveness"] = json!("Up");
    assert!(!down(&ring));
}

#[test]
fn maintenance_that_could_hurt_rests_on_what_all_report_by_themselves() {
    let quiet = |ring: &Ring| {
        ring.ask(|facts| {
            let member = &facts.members[&MemberName::new(WHOM)];
            is_quiet_for(facts, member).ok().map(|proof| proof.stated().kind())
        })
    };
    let mut ring = a_ring();
    assert_eq!(quiet(&ring), None, "nobody has reported");
    let summary = |exceptions: Value| json!({ "hash": "h", "members": NAMES.len(), "schemaAgreed": true, "exceptions": exceptions });
    ring.statuses.values_mut().for_each(|status| status["ring"] = summary(json!([])));
    assert_eq!(quiet(&ring), Some(ProofKind::Quiet));
    let mut leaving = seen(WHOM);
    leaving["state"] = json!("Leaving");
    ring.statuses.get_mut(NAMES[0]).unwrap()["ring"] = summary(json!([leaving]));
    assert_eq!(quiet(&ring), None);
}

#[test]
fn a_state_that_only_a_newer_agent_knows_does_not_prove_that_a_member_never_joined() {
    let objection = |volume: &str, server: &str| {
        let mut ring = a_ring();
        let summary = json!({ "members": 4, "hash": "h", "schemaAgreed": true });
        ring.statuses.values_mut().for_each(|status| status["ring"] = summary.clone());
        let whom = ring.statuses.get_mut(WHOM).unwrap();
        whom["volume"] = json!({ "volumeID": "v", "fileSystem": "f", "state": volume });
        whom["server"]["state"] = json!(server);
        ring.ask(|facts| objection_to_nobody(facts, &facts.members[&MemberName::new(WHOM)]))
    };
    let unknown = Some(Objection::StateNotKnown { member: MemberName::new(WHOM) });
    assert_eq!(objection("Hatching", "Running"), unknown);
    assert_eq!(objection("Incomplete", "Hatching"), unknown);
    assert_eq!(objection("Incomplete", "Running"), None);
}

/// What forbids that it is called nobody.
fn objection_to_nobody(facts: &Facts<'_>, whom: &MemberFact) -> Option<Objection> {
    match never_joined(facts, whom, &witnesses(facts, &whom.name), &NONCE.into()) {
        Answer::Refused { why, .. } => Some(why),
        Answer::Proven(_) | Answer::Missing(_) => None,
    }
}

/// It joined in its last moment: the others see it up yet, and nobody has recorded it.
#[test]
fn whom_the_ring_has_and_no_record_is_nobody_and_its_data_is_not_deleted() {
    let with = |state: &str| {
        let mut ring = Ring { unrecorded: Some(WHOM), ..a_ring() }.silent(WHOM);
        let volume = json!({ "volumeID": "v", "fileSystem": "f", "state": state });
        ring.statuses.get_mut(WHOM).unwrap()["volume"] = volume;
        ring
    };
    let may = |ring: &Ring, purpose: &Purpose<'_>| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            let whom = &facts.members[&turn.member];
            prove(facts, turn, whom, purpose, &mut Draft::default()).is_ok()
        })
    };
    let seen = with("Incomplete");
    let why = seen.ask(|facts| objection_to_nobody(facts, &facts.members[&MemberName::new(WHOM)]));
    assert!(matches!(why, Some(Objection::Stranger { .. })), "{why:?}");
    assert!(!may(&seen, &Purpose::Join) && !may(&seen, &Purpose::NeverJoined));
    assert!(may(&with("Empty"), &Purpose::Join), "there is nothing to delete");
    let mut unseen = with("Incomplete");
    NAMES.iter().for_each(|name| {
        unseen.answer(name)["members"].as_array_mut().unwrap().pop();
    });
    assert!(may(&unseen, &Purpose::Join) && may(&unseen, &Purpose::NeverJoined));
    unseen.ask(|facts| {
        let whom = &facts.members[&MemberName::new(WHOM)];
        assert!(stranger(facts, whom, &witnesses(facts, &whom.name), &NONCE.into()).is_none());
    });
}

#[test]
fn a_removal_is_not_begun_only_if_nobody_is_silent_and_all_see_the_member_in_its_place() {
    let untouched = |ring: &Ring| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            is_untouched(facts, turn, &facts.members[&turn.member], &host(WHOM))
        })
    };
    assert!(untouched(&a_ring().all_see("liveness", "Down")));
    assert!(!untouched(&a_ring().silent(NAMES[1])), "no reason, no word that it has ended");
    let reasons = [("WaitingForPermit", true), ("FactUnknown", false), ("OfANewerAgent", false)];
    for (reason, has_ended) in reasons {
        let ring = a_ring().silent_for(NAMES[1], reason);
        assert_eq!(untouched(&ring), has_ended, "{reason}");
    }
    let marked = |claim: &'static str| Ring { marked: [(NAMES[1], claim)].into(), ..a_ring() };
    assert!(!untouched(&marked("claim-demo-dc1-a-1")), "it is not asked, and may be cut off");
    assert!(untouched(&marked("claim-demo-dc1-a-1").silent_for(NAMES[1], "WaitingForPermit")));
    assert!(untouched(&marked("claim-of-before")), "its volume is gone, and so is its server");
    let mut ring = a_ring();
    ring.statuses.get_mut(NAMES[1]).unwrap()["server"]["mode"] = json!("STARTING");
    assert!(!untouched(&ring), "it may be at it");
    let mut ring = a_ring();
    *ring.statuses.get_mut(NAMES[1]).unwrap() = json!({});
    assert!(!untouched(&ring), "its agent may be gone while its server removes");
    let mut ring = a_ring();
    ring.view(NAMES[1], WHOM)["state"] = json!("Leaving");
    assert!(!untouched(&ring));
    let mut ring = a_ring();
    ring.answer(NAMES[2])["members"] = Value::Null;
    assert!(!untouched(&ring));
}

#[test]
fn an_agent_that_does_not_know_its_server_does_not_prove_that_none_runs() {
    let is_idle = |state: &str, reason: &str| {
        let mut ring = a_ring();
        let server = &mut ring.statuses.get_mut(WHOM).unwrap()["server"];
        server["state"] = json!(state);
        server["reason"] = json!(reason);
        let pod = PodFact::default();
        ring.ask(|facts| {
            serves_nothing(facts, &facts.members[&MemberName::new(WHOM)], &pod).is_some()
        })
    };
    assert!(is_idle("Failed", "ServerFailed"));
    assert!(is_idle("Waiting", "WaitingForPermit"));
    assert!(!is_idle("Running", "Running"));
    assert!(!is_idle("Waiting", "FactUnknown"), "its init does not answer");
    assert!(!is_idle("Waiting", "AWordOfANewerAgent"));
}

#[test]
fn another_address_needs_all_that_are_up_to_see_the_member_down_and_nobody_there() {
    let may = |ring: &Ring| {
        ring.ask(|facts| {
            let turn = facts.turn().unwrap();
            let (host_id, address) = (host(WHOM), "10.0.0.9".into());
            let purpose = Purpose::Readdress { host_id: &host_id, address: &address };
            prove(facts, turn, &facts.members[&turn.member], &purpose, &mut Draft::default())
                .is_ok()
        })
    };
    let down = || a_ring().all_see("liveness", "Down");
    assert!(may(&down()));
    assert!(!may(&a_ring()), "they see it up");
    let mut one_sees_it_up = down();
    one_sees_it_up.view(NAMES[1], WHOM)["liveness"] = json!("Up");
    assert!(!may(&one_sees_it_up));
    let mut unread = down();
    unread.answer(NAMES[1])["members"] = Value::Null;
    assert!(!may(&unread));
    let mut unknown = down();
    unknown.view(NAMES[1], WHOM)["hostID"] = json!("another");
    assert!(!may(&unknown), "who is out of the ring does not come back");
    let mut somebody_there = down();
    somebody_there.view(NAMES[1], NAMES[2])["address"] = json!("10.0.0.9");
    assert!(!may(&somebody_there));
    let mut of_another_question = down();
    of_another_question.answer(NAMES[1])["nonce"] = json!("another");
    assert!(!may(&of_another_question));
}

/// The same ring, with two members in `west` that every answer has.
fn with_west() -> Ring {
    let mut ring = a_ring();
    for name in NAMES {
        for at in 0..NAMES.len() {
            ring.answer(name)["members"][at]["datacenter"] = json!("dc1");
        }
        let members = ring.answer(name)["members"].as_array_mut().unwrap();
        members.extend(["west-0", "west-1"].map(of_west));
    }
    ring
}

fn of_west(host_id: &str) -> Value {
    json!({
        "hostID": host_id, "address": format!("10.97.0.{host_id}"), "liveness": "Up",
        "state": "Normal", "datacenter": "west",
    })
}

impl Ring {
    /// Change the first member of `west` in an answer.
    fn west_in(&mut self, of: &str) -> &mut Value {
        &mut self.answer(of)["members"][NAMES.len()]
    }

    /// The same in all of them.
    fn in_west(mut self, field: &str, value: &Value) -> Self {
        NAMES.iter().for_each(|name| self.west_in(name)[field] = value.clone());
        self
    }

    fn takes(&self, elsewhere: Elsewhere) -> Answer {
        self.ask(|facts| {
            let whom = &facts.members[&MemberName::new(WHOM)];
            let witnesses = witnesses(facts, &whom.name);
            verdict(facts, whom, &witnesses, &Nonce::new(NONCE), &[], elsewhere)
        })
    }

    fn rest(&self) -> usize {
        self.ask(|facts| rest_of(facts, &host(WHOM)))
    }
}

#[test]
fn members_elsewhere_count_for_no_majority_of_ours() {
    assert_eq!(with_west().rest(), 3);
    let one_is_old = with_west();
    let mut old = one_is_old;
    for at in 0..NAMES.len() + 2 {
        old.answer(NAMES[0])["members"][at]["datacenter"] = Value::Null;
    }
    assert_eq!(old.rest(), 5, "an agent that does not say where makes them ours");
    let mut ours = with_west();
    ours.west_in(NAMES[1])["datacenter"] = json!("dc1");
    assert_eq!(ours.rest(), 4, "so does one that says our datacenter");
    assert_eq!(with_west().in_west("datacenter", &json!("dc1")).rest(), 4);
    let is_gone = |ring: &Ring| ring.absent(Voters::Majority, is_gone);
    let mut gone = with_west();
    for name in NAMES {
        let members = gone.answer(name)["members"].as_array_mut().unwrap();
        members.retain(|m| m["hostID"] != json!(host(WHOM)));
    }
    assert_eq!(kind(is_gone(&gone)), Some(ProofKind::Gone));
    let two_answer = gone.silent(NAMES[0]).silent(NAMES[1]);
    assert!(matches!(why(is_gone(&two_answer)), Objection::TooFew { asked: 1, others: 3 }));
}

#[test]
fn who_is_on_record_is_not_elsewhere() {
    let on_record = with_west().in_west("hostID", &json!(host(NAMES[1])));
    assert_eq!(on_record.rest(), 3, "it is the member that is on record");
    on_record.ask(|facts| {
        let seen = &facts.members[&MemberName::new(NAMES[0])].status.evidence;
        let seen = seen.as_ref().and_then(|e| e.members.as_ref()).unwrap();
        assert!(!facts.is_elsewhere(&seen[NAMES.len()]));
        assert!(facts.is_elsewhere(&seen[NAMES.len() + 1]));
    });
}

#[test]
fn a_change_of_shape_needs_all_members_elsewhere_and_a_restart_all_but_one() {
    let (all, one) = (Elsewhere::AllNormal, Elsewhere::OneDown);
    assert_eq!(kind(with_west().takes(all)), Some(ProofKind::AllWell));
    let down = with_west().in_west("liveness", &json!("Down"));
    assert!(matches!(why(down.takes(all)), Objection::SeesElsewhere { .. }));
    assert_eq!(kind(down.takes(one)), Some(ProofKind::AllWell));
    let joining = with_west().in_west("state", &json!("Joining"));
    assert!(matches!(why(joining.takes(one)), Objection::SeesElsewhere { .. }));
    let mut both = down;
    for name in NAMES {
        both.answer(name)["members"][NAMES.len() + 1]["liveness"] = json!("Down");
    }
    assert!(matches!(why(both.takes(one)), Objection::RegionDown { .. }));
    let mut unheard = with_west();
    let witness = unheard.ask(|facts| witnesses(facts, &MemberName::new(WHOM))[0].name.clone());
    let members = unheard.answer(witness.as_str())["members"].as_array_mut().unwrap();
    members.pop();
    assert!(matches!(why(unheard.takes(one)), Objection::Unseen { .. }), "one has not heard of it");
}

#[test]
fn a_member_elsewhere_is_no_stranger_where_all_say_so() {
    let is_clear = |ring: &Ring| {
        ring.ask(|facts| {
            let whom = &facts.members[&MemberName::new(WHOM)];
            stranger(facts, whom, &witnesses(facts, &whom.name), &Nonce::new(NONCE)).is_none()
        })
    };
    assert!(is_clear(&with_west()));
    assert!(!is_clear(&with_west().in_west("datacenter", &json!("dc1"))));
    assert!(!is_clear(&with_west().in_west("datacenter", &Value::Null)));
    let mut said_by_one = with_west();
    said_by_one.west_in(NAMES[0])["datacenter"] = json!("dc1");
    assert!(!is_clear(&said_by_one));
}
