//! Verbs as people type them, on an API server in memory: what they print, what
//! they write, and how they end.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../../engine/tests/support/mod.rs"]
mod support;

mod attacks;
mod rings;

use clap::Parser;
use kubectl_palladion::arguments::Arguments;
use kubectl_palladion::exit::{Exit, Trouble};
use kubectl_palladion::paint::Paint;
use kubectl_palladion::place::At;
use kubectl_palladion::run;
use kubectl_palladion::session::{Answers, Session};
use palladion_engine::door::Door;
use rings::{demo, ill, schedule, task};
use serde_json::json;
use support::fake::{Action, Fake};

/// A line that was typed, and what came of it.
struct Typed {
    exit: Exit,
    text: String,
}

/// Type a line; the answer to a question, if one is asked, is `answer`.
async fn type_with(fake: &Fake, line: &str, answers: Answers) -> Typed {
    let words = ["kubectl-palladion"].into_iter().chain(line.split(' '));
    let arguments = Arguments::try_parse_from(words).unwrap_or_else(|e| panic!("{line}: {e}"));
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let (ended, at) = {
        let mut session = Session {
            out: &mut out,
            notes: &mut notes,
            answers,
            paint: Paint::Off,
            clock: rings::now,
            door: Some(Door::over(fake.client())),
            at: At::default(),
        };
        (run::run(&arguments.verb, &mut session).await, session.at)
    };
    let mut text = String::from_utf8(out).unwrap();
    text += &String::from_utf8(notes).unwrap();
    let exit = match ended {
        Ok(exit) => exit,
        Err(trouble) => {
            text += &run::said(&trouble, &at, Paint::Off);
            trouble.exit
        }
    };
    Typed {
        exit,
        text: format!("$ kubectl palladion {line}\n{}\nexit {}", text.trim_end(), exit.number()),
    }
}

async fn typed(fake: &Fake, line: &str) -> Typed {
    type_with(fake, line, Answers::Nobody).await
}

#[tokio::test(start_paused = true)]
async fn status_says_whether_a_ring_is_well() {
    let fake = demo();
    let one = typed(&fake, "status demo").await;
    assert_eq!(one.exit, Exit::Done);
    insta::assert_snapshot!(one.text);
    insta::assert_snapshot!("status_of_all", typed(&fake, "status").await.text);
    insta::assert_snapshot!("status_as_yaml", typed(&fake, "status demo -o yaml").await.text);
}

#[tokio::test(start_paused = true)]
async fn status_says_why_a_ring_is_not_well_and_what_to_do() {
    let fake = ill();
    let one = typed(&fake, "status demo").await;
    assert_eq!(one.exit, Exit::NotWell);
    insta::assert_snapshot!(one.text);
    assert_eq!(typed(&fake, "status").await.exit, Exit::NotWell);
}

#[tokio::test(start_paused = true)]
async fn status_says_which_job_is_under_way_and_who_works_at_it() {
    let fake = rings::at_work();
    insta::assert_snapshot!(typed(&fake, "status demo").await.text);
}

#[tokio::test(start_paused = true)]
async fn maintenance_of_the_operator_is_listed_before_the_tasks_of_people() {
    let fake = rings::at_work();
    rings::owes(&fake);
    task(&fake, "replace-it", "Running");
    insta::assert_snapshot!("status_of_pending", typed(&fake, "status demo").await.text);
    insta::assert_snapshot!("tasks_and_pending", typed(&fake, "task list demo").await.text);
    let listed = typed(&fake, "task list -A -o json").await.text;
    let listed = listed.lines().filter(|l| !l.starts_with(['$', 'e'])).collect::<String>();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["pendingMaintenance"].as_array().map(Vec::len), Some(4), "{listed}");
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "tasks alone: {listed}");
}

#[tokio::test(start_paused = true)]
async fn members_are_listed_with_what_they_hold_and_when_that_was_repaired() {
    let fake = demo();
    rings::is_covered(&fake);
    insta::assert_snapshot!("members_covered", typed(&fake, "members demo").await.text);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_exist_is_named() {
    let missing = typed(&demo(), "status dmeo").await;
    assert_eq!(missing.exit, Exit::NotFound);
    insta::assert_snapshot!(missing.text);
    assert_eq!(typed(&demo(), "members dmeo").await.exit, Exit::NotFound);
    assert_eq!(typed(&demo(), "explain Dmeo").await.exit, Exit::NotFound);
}

#[tokio::test(start_paused = true)]
async fn members_and_their_views_are_listed() {
    let fake = ill();
    insta::assert_snapshot!("members", typed(&fake, "members demo").await.text);
    insta::assert_snapshot!("members_wide", typed(&fake, "members -A -o wide").await.text);
    insta::assert_snapshot!("ring", typed(&fake, "ring demo").await.text);
    assert_eq!(typed(&demo(), "ring demo").await.exit, Exit::Done);
}

#[tokio::test(start_paused = true)]
async fn clients_are_given_members_that_serve_one_of_each_rack_first() {
    let fake = ill();
    for format in ["text", "json", "cqlsh", "nodetool", "stress", "driver"] {
        let line = format!("contact demo --format {format}");
        insta::assert_snapshot!(format!("contact_{format}"), typed(&fake, &line).await.text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_right_is_named_by_its_rule() {
    let fake = demo();
    fake.fault(|seen| match seen.target.plural.as_str() {
        "cassandramembers" => Action::Refuse(403),
        _ => Action::Pass,
    });
    let refused = typed(&fake, "members demo -n default").await;
    assert_eq!(refused.exit, Exit::NoRight);
    insta::assert_snapshot!(refused.text);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_no_connection() {
    let fake = demo();
    fake.fault(|_| Action::Refuse(503));
    assert_eq!(typed(&fake, "status").await.exit, Exit::NoConnection);
    fake.fault(|_| Action::Hang);
    assert_eq!(typed(&fake, "status").await.exit, Exit::NoConnection);
}

#[tokio::test(start_paused = true)]
async fn pause_and_resume_change_one_field() {
    let fake = demo();
    let paused = typed(&fake, "pause demo").await;
    assert_eq!(paused.exit, Exit::Done);
    let spec = || fake.get("cassandraclusters", "default", "demo").unwrap()["spec"].clone();
    assert_eq!(spec()["paused"], true);
    assert_eq!(spec()["version"], "5.0.5");
    typed(&fake, "resume demo").await;
    assert_eq!(spec()["paused"], false);
}

#[tokio::test(start_paused = true)]
async fn what_is_only_tried_is_not_stored() {
    let fake = demo();
    let tried = typed(&fake, "pause demo --dry-run").await;
    assert_eq!(tried.exit, Exit::Done);
    assert!(tried.text.contains("paused: true"), "{}", tried.text);
    assert!(fake.get("cassandraclusters", "default", "demo").unwrap()["spec"]["paused"].is_null());
    let tried = typed(&fake, "replace demo-dc1-a-1 --dry-run").await;
    insta::assert_snapshot!(tried.text);
    assert_eq!(fake.count("cassandratasks"), 0);
}

#[tokio::test(start_paused = true)]
async fn restarts_are_tokens_of_a_member_a_rack_or_a_ring() {
    let fake = demo();
    typed(&fake, "restart demo-dc1-a-1").await;
    let member = fake.get("cassandramembers", "default", "demo-dc1-a-1").unwrap();
    assert_eq!(member["spec"]["wanted"]["restartToken"], rings::NOW);
    typed(&fake, "restart --ring demo").await;
    let ring = || fake.get("cassandraclusters", "default", "demo").unwrap()["spec"].clone();
    assert_eq!(ring()["restartToken"], rings::NOW);
    typed(&fake, "restart --ring demo --rack b").await;
    assert_eq!(ring()["datacenter"]["racks"][1]["restartToken"], rings::NOW);
    let other = typed(&fake, "restart --ring demo --rack x").await;
    assert_eq!(other.exit, Exit::NotFound);
    insta::assert_snapshot!(other.text);
    let words = ["kubectl-palladion", "restart", "a", "--ring", "b"];
    assert!(Arguments::try_parse_from(words).is_err(), "one of both");
}

#[tokio::test(start_paused = true)]
async fn a_member_is_stopped_and_started_by_what_is_wanted_of_it() {
    let fake = demo();
    let wanted = || {
        let member = fake.get("cassandramembers", "default", "demo-dc1-a-1").unwrap();
        member["spec"]["wanted"].clone()
    };
    let stopped = typed(&fake, "stop demo-dc1-a-1 --now").await;
    assert_eq!(stopped.exit, Exit::Done);
    assert_eq!(wanted(), json!({ "run": "Stopped", "when": "Now" }));
    typed(&fake, "stop demo-dc1-a-1").await;
    assert_eq!(wanted(), json!({ "run": "Stopped" }), "the last one counts");
    let waiting = typed(&fake, "stop demo-dc1-a-1 --wait=1m").await;
    assert_eq!(waiting.exit, Exit::TimeOut);
    let reported = |run: &'static str, state: &'static str| {
        fake.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
            member["spec"]["run"] = json!(run);
            member["status"]["server"]["state"] = json!(state);
        });
    };
    reported("Stopped", "Stopped");
    let waited = typed(&fake, "stop demo-dc1-a-1 --wait=1m").await;
    assert_eq!(waited.exit, Exit::Done);
    let started = typed(&fake, "start demo-dc1-a-1").await;
    assert_eq!(wanted(), json!({ "run": "Running" }));
    reported("Running", "Failed");
    let failed = typed(&fake, "start demo-dc1-a-1 --wait=1m").await;
    assert_eq!(failed.exit, Exit::NotWell);
    let nobody = typed(&fake, "stop demo-dc1-a-7").await;
    assert_eq!(nobody.exit, Exit::NotFound);
    let all = [stopped, waiting, waited, started, failed, nobody].map(|t| t.text);
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test(start_paused = true)]
async fn seeds_are_chosen_by_what_is_wanted() {
    let fake = demo();
    for (choice, stored) in [("always", "Always"), ("never", "Never"), ("auto", "Auto")] {
        let line = format!("seed demo-dc1-a-1 {choice}");
        assert_eq!(typed(&fake, &line).await.exit, Exit::Done);
        let member = fake.get("cassandramembers", "default", "demo-dc1-a-1").unwrap();
        assert_eq!(member["spec"]["wanted"]["seed"], stored);
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_is_terminated_only_if_its_name_is_typed() {
    let fake = demo();
    let line = "terminate demo-dc1-a-1";
    let wanted = || {
        let member = fake.get("cassandramembers", "default", "demo-dc1-a-1").unwrap();
        member["spec"]["wanted"].clone()
    };
    let nobody = typed(&fake, line).await;
    assert_eq!(nobody.exit, Exit::Usage);
    let wrong = type_with(&fake, line, Answers::Given("demo\n".into())).await;
    assert_eq!(wrong.exit, Exit::Refused);
    assert!(wanted().is_null(), "{}", wanted());
    let right = type_with(&fake, line, Answers::Given("demo-dc1-a-1\n".into())).await;
    assert_eq!(right.exit, Exit::Done);
    assert_eq!(wanted(), json!({ "run": "Terminated", "volumeID": "volume-a1" }));
    insta::assert_snapshot!([nobody.text, wrong.text, right.text].join("\n\n"));
}

#[tokio::test(start_paused = true)]
async fn a_replacement_must_be_confirmed_by_the_name() {
    let fake = demo();
    let line = "replace demo-dc1-a-1";
    let nobody = typed(&fake, line).await;
    assert_eq!(nobody.exit, Exit::Usage);
    let wrong = type_with(&fake, line, Answers::Given("demo\n".into())).await;
    assert_eq!(wrong.exit, Exit::Refused);
    insta::assert_snapshot!("not_confirmed", [nobody.text, wrong.text].join("\n\n"));
    assert_eq!(fake.count("cassandratasks"), 0);
    let right = type_with(&fake, line, Answers::Given("demo-dc1-a-1\n".into())).await;
    assert_eq!(right.exit, Exit::Done);
    insta::assert_snapshot!("confirmed", right.text);
    assert_eq!(fake.count("cassandratasks"), 1);
    typed(&fake, "replace demo-dc1-a-1 --yes --volume-id v").await;
    assert_eq!(fake.count("cassandratasks"), 2);
}

#[tokio::test(start_paused = true)]
async fn tasks_are_listed_watched_and_aborted() {
    let fake = demo();
    insta::assert_snapshot!("no_tasks", typed(&fake, "task list demo").await.text);
    task(&fake, "done", "Done");
    task(&fake, "at-work", "Running");
    insta::assert_snapshot!("tasks", typed(&fake, "task list -A").await.text);
    assert_eq!(typed(&fake, "task watch done").await.exit, Exit::Done);
    let late = typed(&fake, "task watch at-work --wait=90s").await;
    assert_eq!(late.exit, Exit::TimeOut);
    insta::assert_snapshot!("task_watch", late.text);
    assert_eq!(typed(&fake, "task abort done").await.exit, Exit::Refused);
    assert_eq!(typed(&fake, "task abort at-work").await.exit, Exit::Done);
    let stored = fake.get("cassandratasks", "default", "at-work").unwrap();
    assert_eq!(stored["spec"]["abort"], true);
}

#[tokio::test(start_paused = true)]
async fn a_task_is_created_with_what_differs_from_its_defaults() {
    let fake = demo();
    let lines = [
        "task run cleanup demo --rack a,b --keyspace shop --jobs 2 --on-failure continue",
        "task run compact demo --table shop.orders,shop.carts --output split --deadline 2h",
        "task run garbage-collect demo --granularity cell",
        "task run scrub demo --member demo-dc1-a-1 --skip-corrupted --yes --member-deadline 30m",
        "task run upgrade-sstables demo --which all --when-down skip",
        "task run flush demo",
        "task run snapshot demo --name before --ttl 1h --no-flush",
        "task run clear-snapshot demo --name before --keyspace shop --yes",
        "task run set-log-level demo --level ROOT=debug,org.apache.cassandra.gms=trace --for 30m",
        "task run replication demo --keyspace shop,stock --datacenter dc2 --factor 3",
        "task run replication demo --keyspace shop --datacenter dc1 --factor 2 --allow-fewer --yes --convert",
        "task run repair demo --keyspace shop",
        "task run repair demo --due --parallel 2 --segment-bytes 67108864 --intensity 50",
        "task run restart demo",
        "task run drain demo --member demo-dc1-a-1",
        "task run rotate-authority demo --purpose client --overlap 48h",
        "task run rotate-authority demo --purpose internode",
    ];
    let (mut specs, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
    for (number, line) in lines.iter().enumerate() {
        let created = typed(&fake, line).await;
        assert_eq!(created.exit, Exit::Done, "{}", created.text);
        assert!(created.text.contains("created for ring demo"), "{}", created.text);
        assert!(created.text.contains("hint: kubectl palladion task watch"), "{}", created.text);
        assert_eq!(fake.count("cassandratasks"), number + 1, "{line}");
        let state = fake.state();
        let tasks =
            state.store.objects.iter().filter(|((plural, _, _), _)| plural == "cassandratasks");
        let kind = line.split(' ').nth(2).unwrap().replace('-', "");
        let task = tasks.map(|(_, t)| t).find(|t| {
            let name = t["metadata"]["name"].as_str().unwrap_or_default();
            name.starts_with(&format!("{kind}-demo-")) && seen.insert(name.to_string())
        });
        specs.push(format!("$ {line}\n{}", task.unwrap()["spec"]));
    }
    insta::assert_snapshot!(specs.join("\n"));
    let unknown = typed(&fake, "task run flush dmeo").await;
    assert_eq!(unknown.exit, Exit::NotFound);
    assert_eq!(typed(&fake, "task run flush demo --rack a --dry-run").await.exit, Exit::Done);
    assert_eq!(fake.count("cassandratasks"), lines.len(), "it was only tried");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_destroys_is_confirmed_by_name() {
    let fake = demo();
    let removal = "task run remove-datacenter demo --datacenter dc2 --host-id h1,h2";
    let fewer =
        "task run replication demo --keyspace shop --datacenter dc2 --factor 1 --allow-fewer";
    let snapshot = "task run clear-snapshot demo --name before";
    for line in [snapshot, "task run scrub demo --skip-corrupted", removal, fewer] {
        assert_eq!(typed(&fake, line).await.exit, Exit::Usage, "nobody to ask: {line}");
        assert_eq!(
            type_with(&fake, line, Answers::Given("other\n".into())).await.exit,
            Exit::Refused,
            "{line}"
        );
    }
    assert_eq!(fake.count("cassandratasks"), 0, "nothing was stored");
    let asked = type_with(
        &fake,
        "task run clear-snapshot demo --name before",
        Answers::Given("before\n".into()),
    )
    .await;
    assert_eq!(asked.exit, Exit::Done, "{}", asked.text);
    assert!(asked.text.contains("What only the snapshot holds will be lost"), "{}", asked.text);
    let asked =
        type_with(&fake, "task run scrub demo --skip-corrupted", Answers::Given("demo\n".into()))
            .await;
    assert_eq!((asked.exit, fake.count("cassandratasks")), (Exit::Done, 2));
    for (line, words) in [(removal, "h1 and h2"), (fewer, "replication factor 1 in datacenter dc2")]
    {
        let asked = type_with(&fake, line, Answers::Given("dc2\n".into())).await;
        assert_eq!(asked.exit, Exit::Done, "{}", asked.text);
        assert!(asked.text.contains(words), "{}", asked.text);
    }
    for line in ["scrub demo", "replication demo --keyspace shop --datacenter dc2 --factor 3"] {
        let done = typed(&fake, &format!("task run {line}")).await;
        assert_eq!(done.exit, Exit::Done, "nothing is lost");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_destroys_is_confirmed_by_name_by_schedule_too() {
    let templates = [
        (json!({ "clearSnapshot": { "name": "before" } }), "before"),
        (json!({ "scrub": { "corrupted": "Skip" } }), "demo"),
    ];
    for (template, name) in templates {
        let fake = demo();
        schedule(&fake, "nightly");
        fake.edit("cassandrataskschedules", "default", "nightly", |schedule| {
            schedule["spec"]["taskTemplate"] = json!({ "spec": template });
        });
        let line = "schedule run nightly";
        assert_eq!(typed(&fake, line).await.exit, Exit::Usage, "nobody to ask");
        let other = type_with(&fake, line, Answers::Given("other\n".into())).await;
        assert_eq!(other.exit, Exit::Refused, "{}", other.text);
        assert_eq!(fake.count("cassandratasks"), 0, "nothing was stored");
        assert_eq!(typed(&fake, &format!("{line} --dry-run")).await.exit, Exit::Done);
        let given = type_with(&fake, line, Answers::Given(format!("{name}\n"))).await;
        assert_eq!((given.exit, fake.count("cassandratasks")), (Exit::Done, 1), "{}", given.text);
        let fake = demo();
        schedule(&fake, "nightly");
        fake.edit("cassandrataskschedules", "default", "nightly", |schedule| {
            schedule["spec"]["taskTemplate"] = json!({ "spec": template });
        });
        let sure = typed(&fake, &format!("{line} --yes")).await;
        assert_eq!(sure.exit, Exit::Done, "{}", sure.text);
    }
}

#[tokio::test(start_paused = true)]
async fn schedules_are_listed_suspended_and_resumed() {
    let fake = demo();
    insta::assert_snapshot!("no_schedules", typed(&fake, "schedule list demo").await.text);
    schedule(&fake, "nightly");
    insta::assert_snapshot!("schedules", typed(&fake, "schedule list demo").await.text);
    insta::assert_snapshot!("schedules_wide", typed(&fake, "schedule list -A -o wide").await.text);
    assert_eq!(typed(&fake, "schedule list dmeo").await.exit, Exit::NotFound);
    let stored = || fake.get("cassandrataskschedules", "default", "nightly").unwrap();
    let tried = typed(&fake, "schedule suspend nightly --dry-run").await;
    assert!(tried.text.contains("suspend: true"), "{}", tried.text);
    assert!(stored()["spec"]["suspend"].is_null());
    let suspended = typed(&fake, "schedule suspend nightly").await;
    assert_eq!((suspended.exit, &stored()["spec"]["suspend"]), (Exit::Done, &json!(true)));
    let resumed = typed(&fake, "schedule resume nightly").await;
    assert_eq!((resumed.exit, &stored()["spec"]["suspend"]), (Exit::Done, &json!(false)));
    insta::assert_snapshot!("schedule_suspended", [suspended.text, resumed.text].join("\n\n"));
    let nobody = typed(&fake, "schedule suspend nightly --wait=5s").await;
    assert_eq!(nobody.exit, Exit::TimeOut, "no operator looks at it");
}

#[tokio::test(start_paused = true)]
async fn a_schedule_is_run_now_by_its_template() {
    let fake = demo();
    schedule(&fake, "nightly");
    let tried = typed(&fake, "schedule run nightly --dry-run").await;
    insta::assert_snapshot!("schedule_run_dry", tried.text);
    assert_eq!(fake.count("cassandratasks"), 0);
    let run = typed(&fake, "schedule run nightly").await;
    assert_eq!(run.exit, Exit::Done);
    insta::assert_snapshot!("schedule_run", run.text);
    assert_eq!(fake.count("cassandratasks"), 1);
    assert_eq!(typed(&fake, "schedule run nigthly").await.exit, Exit::NotFound);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_it_is_done_and_tells_how_a_task_ended() {
    let fake = demo();
    task(&fake, "at-work", "Running");
    let other = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(20)).await;
        other.edit("cassandratasks", "default", "at-work", |t| {
            t["status"]["phase"] = json!("Failed");
            let keyspaces = json!([
                { "name": "shop", "state": "Failed", "message": "no space left on device" },
                { "name": "system_auth", "state": "Succeeded" },
            ]);
            t["status"]["members"] = json!([
                { "name": "demo-dc1-a-0", "state": "Succeeded", "keyspaces": keyspaces },
                { "name": "demo-dc1-a-1", "state": "Failed", "reason": "NotEnoughDisk",
                  "message": "shop.orders needs 12 GiB", "keyspaces": keyspaces },
                { "name": "demo-dc1-b-0", "state": "Waiting" },
            ]);
        });
    });
    let ended = typed(&fake, "task watch at-work").await;
    assert_eq!(ended.exit, Exit::NotWell);
    insta::assert_snapshot!(ended.text);
}

#[tokio::test(start_paused = true)]
async fn events_are_those_of_the_ring_alone() {
    let fake = demo();
    rings::events(&fake);
    insta::assert_snapshot!(typed(&fake, "events demo").await.text);
}

#[tokio::test(start_paused = true)]
async fn reasons_are_explained_without_a_connection() {
    let fake = Fake::new();
    insta::assert_snapshot!(typed(&fake, "explain datatooold").await.text);
    let all = typed(&fake, "explain").await.text;
    assert!(all.lines().count() > 50);
    assert_eq!(fake.requests(|_| true), 0);
}

#[tokio::test(start_paused = true)]
async fn plan_asks_the_operators_own_mind_and_writes_nothing() {
    let fake = demo();
    let plan = typed(&fake, "plan demo").await;
    insta::assert_snapshot!(plan.text);
    fake.edit("cassandraclusters", "default", "demo", |ring| {
        ring["spec"]["paused"] = json!(true);
        ring["status"]["decidedWith"]["version"] = json!("99.0.0");
    });
    insta::assert_snapshot!("plan_of_a_paused_ring", typed(&fake, "plan demo").await.text);
    assert_eq!(fake.writes(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_spec_that_the_operator_refuses_needs_a_person() {
    let fake = demo();
    fake.delete("storageclasses", "", "standard");
    let plan = typed(&fake, "plan demo").await;
    assert_eq!(plan.exit, Exit::NotWell);
    insta::assert_snapshot!(plan.text);
}

#[tokio::test(start_paused = true)]
async fn a_plan_on_less_than_all_facts_says_what_is_missing() {
    let fake = demo();
    fake.fault(|seen| match seen.target.plural.as_str() {
        "nodes" | "services" => Action::Refuse(403),
        _ => Action::Pass,
    });
    let plan = typed(&fake, "plan demo").await;
    assert_eq!(plan.exit, Exit::NoRight);
    insta::assert_snapshot!(plan.text);
}

#[tokio::test(start_paused = true)]
async fn a_watch_shows_what_has_changed_and_nothing_else() {
    let fake = demo();
    let other = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(20)).await;
        let failed = json!({ "state": "Failed", "reason": "ServerFailed", "since": rings::NOW });
        other.edit("cassandramembers", "default", "demo-dc1-a-1", |m| {
            m["status"]["server"] = failed
        });
        tokio::time::sleep(std::time::Duration::from_secs(20)).await;
        other.fault(|_| Action::Refuse(503));
        other.cut_watches();
    });
    let watched = typed(&fake, "members demo -w").await;
    insta::assert_snapshot!(watched.text);
}

#[test]
fn an_end_of_the_reader_is_no_trouble() {
    let trouble = Trouble::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
    assert_eq!(trouble.exit, Exit::Done);
}

#[tokio::test(start_paused = true)]
async fn the_repair_of_a_ring_is_shown_member_by_member() {
    let fake = demo();
    let bare = typed(&fake, "repair status demo").await;
    assert_eq!(bare.exit, Exit::NotWell, "nothing covers it");
    insta::assert_snapshot!("repair_of_nothing", bare.text);
    let names = ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"];
    let known = |oldest: &str, late: &str, never: u64| {
        json!({
            "oldestAt": oldest, "dueAt": "2026-01-01T00:30:00Z", "behindAt": late,
            "unsafeAt": "2026-01-03T00:00:00Z", "neverRanges": never, "ranges": 16,
        })
    };
    let later = "2026-01-02T00:00:00Z";
    for name in names {
        fake.edit("cassandramembers", "default", name, |member| {
            member["spec"]["repair"] = json!({});
            member["status"]["repair"] = known("2025-12-26T00:00:00Z", later, 0);
        });
    }
    fake.edit("cassandramembers", "default", names[0], |member| {
        member["spec"]["job"] = json!({ "id": "n-0-1", "repair": { "scope": "Due" } });
        member["status"]["job"] = json!({
            "id": "n-0-1", "state": "Running", "keyspace": "shop", "table": "orders",
            "done": 11, "total": 27,
        });
        member["status"]["pressure"] = json!("High");
    });
    let well = typed(&fake, "repair status demo").await;
    assert_eq!(well.exit, Exit::Done);
    insta::assert_snapshot!("repair_in_time", well.text);
    // Of one that has left nothing is repaired any more.
    fake.edit("cassandramembers", "default", names[2], |member| {
        member["spec"]["run"] = json!("Terminated");
        member["spec"]["repair"] = json!(null);
    });
    let without = typed(&fake, "repair status demo").await;
    assert_eq!(without.exit, Exit::Done, "{}", without.text);
    assert!(!without.text.contains(names[2]), "{}", without.text);
    fake.edit("cassandramembers", "default", names[2], |member| {
        member["spec"]["run"] = json!("Running");
        member["spec"]["repair"] = json!({});
    });
    fake.edit("cassandramembers", "default", names[1], |member| {
        member["status"]["repair"] = known("2025-12-20T00:00:00Z", "2026-01-01T00:50:00Z", 3);
    });
    fake.edit("cassandramembers", "default", names[2], |member| {
        member["status"]["repair"]["message"] = json!("the server requires a user name");
    });
    let late = typed(&fake, "repair status demo -o wide").await;
    assert_eq!(late.exit, Exit::NotWell);
    insta::assert_snapshot!("repair_late", late.text);
    let data = typed(&fake, "repair status demo -o json").await.text;
    assert!(data.contains("\"neverRanges\": 3"), "{data}");
    assert_eq!(typed(&fake, "repair status dmeo").await.exit, Exit::NotFound);
}
