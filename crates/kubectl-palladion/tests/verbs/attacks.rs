//! What once made a verb say more than is so: each is a story that it must not
//! tell again.

use crate::rings::{self, demo, task};
use crate::support::fake::{Action, Fake};
use crate::{type_with, typed};
use kubectl_palladion::exit::Exit;
use kubectl_palladion::session::Answers;
use palladion_plan::hash;
use serde_json::json;
use std::time::Duration;

/// What the operator gives a member for the token that was typed.
fn given(scope: &str) -> String {
    let hash: String = hash::of(&json!(rings::NOW)).chars().take(10).collect();
    format!("{scope}={hash}")
}

/// In some seconds a member has this token, has carried it out, and is in this state.
fn later(fake: &Fake, seconds: u64, name: &'static str, token: String, state: &'static str) {
    let fake = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        fake.edit("cassandramembers", "default", name, |member| {
            member["spec"]["restartToken"] = json!(token);
            member["status"]["server"]["restartToken"] = json!(token);
            member["status"]["server"]["state"] = json!(state);
            member["status"]["server"]["reason"] = json!(state);
        });
    });
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_ends_in_failure_is_none() {
    let fake = demo();
    later(&fake, 20, "demo-dc1-a-1", given("member"), "Failed");
    let failed = typed(&fake, "restart demo-dc1-a-1 --wait=5m").await;
    assert_eq!(failed.exit, Exit::NotWell, "{}", failed.text);
    assert!(failed.text.contains("demo-dc1-a-1"), "{}", failed.text);
}

/// A member should run or not, and its agent waits.
fn waits(fake: &Fake, run: &'static str, reason: &'static str) {
    fake.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
        member["spec"]["run"] = json!(run);
        member["spec"]["restartToken"] = json!(given("member"));
        member["status"]["server"]["state"] = json!("Waiting");
        member["status"]["server"]["reason"] = json!(reason);
    });
}

#[tokio::test(start_paused = true)]
async fn a_start_that_waits_for_a_person_is_not_waited_for() {
    for line in ["start demo-dc1-a-1 --wait=1h", "restart demo-dc1-a-1 --wait=1h"] {
        for reason in ["DataTooOld", "VolumeNotMounted", "VolumeDamaged", "MemberTerminated"] {
            let fake = demo();
            waits(&fake, "Running", reason);
            let ended = typed(&fake, line).await;
            assert_eq!(ended.exit, Exit::NotWell, "{line}: {}", ended.text);
            assert!(ended.text.contains(reason), "{}", ended.text);
            let next = format!("explain {reason}");
            assert!(ended.text.contains(&next), "{}", ended.text);
        }
        // The operator is about to do this.
        for reason in ["WaitingForPermit", "WaitingForRevision", "OfANewerAgent"] {
            let fake = demo();
            waits(&fake, "Running", reason);
            let ended = typed(&fake, line).await;
            assert_eq!(ended.exit, Exit::TimeOut, "{line}: {}", ended.text);
        }
    }
}

/// The operator ends its turn then, too.
#[tokio::test(start_paused = true)]
async fn a_stop_of_a_member_whose_agent_waits_has_ended() {
    let fake = demo();
    waits(&fake, "Stopped", "VolumeNotMounted");
    let stopped = typed(&fake, "stop demo-dc1-a-1 --wait=5m").await;
    assert_eq!(stopped.exit, Exit::Done, "{}", stopped.text);
    // Whether its server runs is not known.
    let fake = demo();
    waits(&fake, "Stopped", "FactUnknown");
    let unknown = typed(&fake, "stop demo-dc1-a-1 --wait=5m").await;
    assert_eq!(unknown.exit, Exit::TimeOut, "{}", unknown.text);
}

#[tokio::test(start_paused = true)]
async fn only_the_restart_that_was_asked_for_ends_the_wait() {
    let fake = demo();
    later(&fake, 20, "demo-dc1-a-1", "member=0123456789".into(), "Running");
    let other = typed(&fake, "restart demo-dc1-a-1 --wait=5m").await;
    assert_eq!(other.exit, Exit::TimeOut, "{}", other.text);
    let fake = demo();
    later(&fake, 20, "demo-dc1-a-1", format!("{} ring=0123456789", given("member")), "Running");
    let this = typed(&fake, "restart demo-dc1-a-1 --wait=5m").await;
    assert_eq!(this.exit, Exit::Done, "{}", this.text);
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_somebody_asked_for_anew_is_not_this_one() {
    let fake = demo();
    let other = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        other.edit("cassandraclusters", "default", "demo", |ring| {
            ring["spec"]["restartToken"] = json!("another");
        });
    });
    let ended = typed(&fake, "restart --ring demo --wait=5m").await;
    assert_eq!(ended.exit, Exit::NotWell, "{}", ended.text);
}

/// Somebody takes the wish back, or the member is replaced: this volume is not given up any more.
#[tokio::test(start_paused = true)]
async fn a_termination_that_is_void_is_not_waited_for() {
    let line = "terminate demo-dc1-a-1 --wait=1h";
    for (field, value) in [("/spec/wanted", json!({})), ("/spec/volumeID", json!("another"))] {
        let fake = demo();
        let other = fake.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(20)).await;
            other.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
                *member.pointer_mut(field).expect("the field") = value;
            });
        });
        let ended = type_with(&fake, line, Answers::Given("demo-dc1-a-1\n".into())).await;
        assert_eq!(ended.exit, Exit::NotWell, "{field}: {}", ended.text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rack_without_members_is_not_restarted() {
    let fake = demo();
    fake.delete("cassandramembers", "default", "demo-dc1-b-0");
    let none = typed(&fake, "restart --ring demo --rack b --wait=1m").await;
    assert_eq!(none.exit, Exit::NotFound, "{}", none.text);
    let ring = fake.get("cassandraclusters", "default", "demo").unwrap();
    assert!(ring["spec"]["datacenter"]["racks"][1]["restartToken"].is_null());
}

#[tokio::test(start_paused = true)]
async fn a_wait_survives_an_api_server_that_fails_for_a_while() {
    let fake = demo();
    task(&fake, "at-work", "Running");
    let other = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        other.fault(|_| Action::Refuse(503));
        other.cut_watches();
        tokio::time::sleep(Duration::from_secs(60)).await;
        other.no_fault();
        other.edit("cassandratasks", "default", "at-work", |t| {
            t["status"]["phase"] = json!("Done");
        });
    });
    let ended = typed(&fake, "task watch at-work --wait=10m").await;
    assert_eq!(ended.exit, Exit::Done, "{}", ended.text);
}

#[tokio::test(start_paused = true)]
async fn a_wait_on_an_api_server_that_stays_away_times_out_and_says_why() {
    let fake = demo();
    task(&fake, "at-work", "Running");
    let other = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        other.fault(|_| Action::Refuse(503));
        other.cut_watches();
    });
    let ended = typed(&fake, "task watch at-work --wait=10m").await;
    assert_eq!(ended.exit, Exit::TimeOut, "{}", ended.text);
    assert!(ended.text.contains("injected"), "{}", ended.text);
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_not_opened_without_a_pause() {
    let fake = demo();
    task(&fake, "at-work", "Running");
    let other = fake.clone();
    let cutting = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(2)).await;
            other.cut_watches();
        }
    });
    let ended = typed(&fake, "task watch at-work --wait=60s").await;
    cutting.abort();
    assert_eq!(ended.exit, Exit::TimeOut);
    let asked = fake.requests(|_| true);
    assert!(asked < 150, "{asked} requests in a minute");
}

#[tokio::test(start_paused = true)]
async fn a_replacement_is_confirmed_with_its_place_and_the_state_of_the_member() {
    let line = "replace demo-dc1-a-1 --volume-id volume-a1";
    let asked = type_with(&demo(), line, Answers::Given("no".into())).await;
    assert_eq!(asked.exit, Exit::Refused);
    insta::assert_snapshot!(asked.text);
}

#[tokio::test(start_paused = true)]
async fn no_control_characters_of_the_cluster_reach_the_terminal() {
    let fake = rings::ill();
    let evil = "bad\u{1b}[2J\u{1b}]0;owned\u{7} \u{9b}31m \u{202e}line\nWELL";
    fake.edit("cassandraclusters", "default", "demo", |ring| {
        ring["status"]["conditions"][3]["message"] = json!(evil);
        ring["status"]["conditions"][3]["reason"] = json!(evil);
        ring["status"]["waits"][0]["message"] = json!(evil);
    });
    fake.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
        member["status"]["server"]["message"] = json!(evil);
        member["status"]["server"]["reason"] = json!(evil);
    });
    task(&fake, "evil", "Failed");
    fake.edit("cassandratasks", "default", "evil", |task| {
        task["status"]["conditions"][0]["message"] = json!(evil);
    });
    let lines =
        ["status demo", "status -o wide", "members -o wide", "task watch evil", "task list"];
    for line in lines {
        let text = typed(&fake, line).await.text;
        let is_bad = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
        assert!(!text.contains(is_bad), "{line}: {text:?}");
        assert!(!text.lines().any(|l| l.starts_with("WELL")), "{line}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ring_with_a_member_that_is_not_ready_is_not_well() {
    let fake = demo();
    fake.edit("cassandraclusters", "default", "demo", |ring| {
        ring["status"]["members"] = json!("2/3");
    });
    for line in ["status demo", "status"] {
        let status = typed(&fake, line).await;
        assert_eq!(status.exit, Exit::NotWell, "{}", status.text);
        assert!(!status.text.contains("WELL"), "{}", status.text);
    }
    // By its own report, where the operator has not reported it yet.
    let fake = demo();
    fake.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
        member["status"]["server"]["state"] = json!("Failed");
        member["status"]["server"]["reason"] = json!("ServerFailed");
    });
    for line in ["status demo", "status"] {
        let status = typed(&fake, line).await;
        assert_eq!(status.exit, Exit::NotWell, "{}", status.text);
        assert!(status.text.contains("ILL"), "{}", status.text);
    }
}

#[tokio::test(start_paused = true)]
async fn members_that_report_nothing_are_no_agreement() {
    let fake = demo();
    fake.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
        member["status"].as_object_mut().unwrap().remove("ring");
    });
    let ring = typed(&fake, "ring demo").await;
    assert_eq!(ring.exit, Exit::NotWell, "{}", ring.text);
    assert!(ring.text.contains("demo-dc1-a-1"), "{}", ring.text);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_the_operator_has_not_seen_is_requested_and_not_done() {
    let asked = typed(&demo(), "pause demo").await;
    assert!(!asked.text.contains("now updates only"), "{}", asked.text);
}

#[tokio::test(start_paused = true)]
async fn a_command_line_to_paste_is_quoted_and_hints_name_the_place() {
    let fake = demo();
    let member = typed(&fake, "cqlsh demo --print -- -e SELECT;reboot").await;
    assert!(member.text.contains("-e 'SELECT;reboot'"), "{}", member.text);
    for line in ["cqlsh demo --print", "contact demo --format nodetool"] {
        let elsewhere = typed(&fake, &format!("{line} --context east")).await;
        let place = "-n default --context east demo-dc1-";
        assert!(elsewhere.text.contains(place), "{line}: {}", elsewhere.text);
    }
    let hint = typed(&fake, "restart --ring demo --rack x -n default --context east").await;
    assert!(hint.text.contains("members demo -n default --context east"), "{}", hint.text);
    let created = typed(&fake, "replace demo-dc1-a-1 --yes -n default").await;
    assert!(created.text.lines().any(|l| l.starts_with("hint:") && l.ends_with(" -n default")));
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_creation_was_not_answered_is_looked_for() {
    let fake = demo();
    fake.fault(|seen| if seen.is_write() { Action::Lose(504) } else { Action::Pass });
    let lost = typed(&fake, "replace demo-dc1-a-1 --yes").await;
    assert_eq!(lost.exit, Exit::Done, "{}", lost.text);
    assert_eq!(fake.count("cassandratasks"), 1);
    let fake = demo();
    fake.fault(|seen| if seen.is_write() { Action::Refuse(504) } else { Action::Pass });
    let lost = typed(&fake, "replace demo-dc1-a-1 --yes").await;
    assert_eq!(lost.exit, Exit::NoConnection, "{}", lost.text);
    assert!(lost.text.contains("it is not known whether CassandraTask"), "{}", lost.text);
}

#[test]
fn names_are_not_empty_and_flags_that_would_be_ignored_are_refused() {
    use clap::Parser;
    let parse = |words: &[&str]| {
        let words = ["kubectl-palladion"].iter().chain(words);
        kubectl_palladion::arguments::Arguments::try_parse_from(words).is_ok()
    };
    assert!(!parse(&["status", ""]));
    assert!(!parse(&["restart", ""]));
    assert!(!parse(&["status", "demo", "-n", ""]));
    assert!(!parse(&["pause", "demo", "--dry-run", "--wait=1m"]));
    assert!(parse(&["pause", "demo", "--wait=1m"]));
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_decided_by_the_clock_of_the_api_server() {
    let fake = demo();
    fake.date("Thu, 01 Jan 2026 02:00:00 GMT");
    let plan = typed(&fake, "plan demo").await;
    assert!(plan.text.contains("differ by 60m"), "{}", plan.text);
    fake.date("no date");
    let plan = typed(&fake, "plan demo").await;
    assert!(plan.text.contains("the clock of this machine"), "{}", plan.text);
}
