//! Our repair against `nodetool repair -full` alone, and what the agents take for it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use palladion_testbed::Cluster;
use palladion_testbed::progress::{Lines, Progress};
use serde_json::{Value, json};

use super::super::report::Report;
use super::super::{CLUSTER, look};
use super::{data, task};

/// Both, one after the other and then again: what else the machine does meets both.
const ROUNDS: usize = 2;
/// The smallest that a task takes: each member has many.
const SEGMENT: u64 = 64 << 20;
/// Until what was repaired is due again.
const AGAIN: Duration = Duration::from_secs(60);
/// Until the operator has given members what a schedule covers.
const SOON: Duration = Duration::from_secs(60);

fn ours() -> Value {
    json!({ "repair": { "keyspaces": ["bench"] } })
}

/// In segments, by grants, as a covering schedule has it done, in this share of the time.
fn of_what_is_due(percent: u32) -> Value {
    json!({ "repair": { "scope": "Due", "intensityPercent": percent, "segmentBytes": SEGMENT } })
}

/// Which keyspaces may be due only a covering schedule says; suspended, it begins nothing itself.
/// Everything is due before any repair, and then so many seconds after the last one.
fn cover(cluster: &Cluster, within: Option<u64>) -> Result<()> {
    let mut schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": "bench" },
        "spec": { "cluster": CLUSTER, "suspend": true, "cover": { "keyspaces": ["bench"] } },
    });
    if let Some(within) = within {
        schedule["spec"]["cover"]["withinSeconds"] = json!(within);
    }
    cluster.kubectl_with_input(&["apply", "-f", "-"], &schedule.to_string())?;
    // Before a member has it, other ranges are due.
    let all_have_it = || -> Result<bool> {
        let members = look::get(cluster, &["cassandramembers"])?;
        let members = members["items"].as_array().cloned().unwrap_or_default();
        let has_it = |member: &Value| {
            let repair = &member["spec"]["repair"];
            repair.is_object() && repair["withinSeconds"].as_u64() == within
        };
        Ok(!members.is_empty() && members.iter().all(has_it))
    };
    let begin = Instant::now();
    while !all_have_it()? {
        ensure!(begin.elapsed() < SOON, "the members are not given what the schedule covers");
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

/// On one member: with three copies and three members that is every range of the ring.
fn of_nodetool(cluster: &Cluster) -> Result<Duration> {
    let pod = look::member_pods(cluster)?.into_iter().next().context("a ring without members")?;
    let begin = Instant::now();
    data::in_server(cluster, &pod, &["nodetool", "repair", "-full", "bench"])?;
    Ok(begin.elapsed())
}

/// All replicas hold the same, and nothing was repaired yet.
pub fn of_consistent_data(
    cluster: &Cluster,
    (mib, idle): (u32, Duration),
    report: &mut Report,
) -> Result<()> {
    cover(cluster, None)?;
    watched(cluster, "what is due", &of_what_is_due(100), report)?;
    super::at_rest(cluster, idle, "a schedule that covers the ring", report)?;
    let due = of_half_the_time(cluster, mib, report)?;
    cluster.kubectl(&["delete", "cassandrataskschedule", "bench"])?;
    let (mut theirs, mut own) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        Lines.note(&format!("repair of consistent data, round {round} of {ROUNDS}"));
        theirs.push(of_nodetool(cluster)?);
        own.push(task::run(cluster, "repair", &ours())?);
    }
    row(report, &format!("{mib} MiB of consistent data"), &own, &theirs);
    let of_due = format!("{mib} MiB of consistent data that is due, in segments of 64 MiB,");
    row(report, &of_due, &[due], &theirs[..1]);
    watched(cluster, "everything", &ours(), report)
}

/// A repair that pauses takes so much longer; how long it takes without pauses, and looked at by
/// nobody.
fn of_half_the_time(cluster: &Cluster, mib: u32, report: &mut Report) -> Result<Duration> {
    cover(cluster, Some(AGAIN.as_secs()))?;
    let mut took = Vec::new();
    for percent in [100, 50] {
        Lines.note(&format!("repair of what is due, {percent} % of the time"));
        std::thread::sleep(AGAIN + Duration::from_secs(5));
        took.push(task::run(cluster, "pace", &of_what_is_due(percent))?);
    }
    let whole = took[0];
    let took: Vec<f64> = took.iter().map(Duration::as_secs_f64).collect();
    report.row(
        &format!("a repair of {mib} MiB that is due with `intensityPercent: 50` / with 100, ratio"),
        "2",
        format!("{:.1} s / {:.1} s = {:.2}", took[1], took[0], took[1] / took[0]),
    );
    Ok(whole)
}

/// Each row is on one replica alone: two thirds of what a member should hold are missing.
pub fn of_differing_data(cluster: &Cluster, mib: u32, report: &mut Report) -> Result<()> {
    let differing = || -> Result<()> {
        Lines.note(&format!("writing {mib} MiB, each row to one replica"));
        data::write(cluster, mib / 3, data::Copies::One)?;
        data::keep(cluster, data::Copies::All)
    };
    differing()?;
    Lines.note("repair of differing data, by nodetool");
    let theirs = of_nodetool(cluster)?;
    differing()?;
    Lines.note("repair of differing data, by a task");
    let own = task::run(cluster, "repair", &ours())?;
    row(report, &format!("{mib} MiB of differing data"), &[own], &[theirs]);
    Ok(())
}

fn row(report: &mut Report, what: &str, own: &[Duration], theirs: &[Duration]) {
    let sum = |all: &[Duration]| all.iter().map(Duration::as_secs_f64).sum::<f64>();
    let each = |all: &[Duration]| {
        let each: Vec<String> = all.iter().map(|d| format!("{:.1}", d.as_secs_f64())).collect();
        each.join(", ")
    };
    report.row(
        &format!("a repair of {what} by a task / by `nodetool repair -full` alone, ratio"),
        "≤ 1.1",
        format!("{} s / {} s = {:.2}", each(own), each(theirs), sum(own) / sum(theirs)),
    );
}

/// What the agents take meanwhile. The looks take a part of the machine, so its time is an upper
/// bound.
fn watched(cluster: &Cluster, what: &str, spec: &Value, report: &mut Report) -> Result<()> {
    Lines.note(&format!("memory of the agents during a repair of {what}"));
    let before = look::agent_memory(cluster)?;
    let begin = Instant::now();
    task::create(cluster, "memory", spec)?;
    let (mut resident, mut proportional) = (0.0_f64, 0.0_f64);
    let (mut looks, mut waits) = (0, BTreeMap::new());
    let ended = loop {
        let status = task::status(cluster, "memory")?;
        if !status["endedAt"].is_null() {
            break status;
        }
        let now = look::agent_memory(cluster)?;
        resident = resident.max(now.resident);
        proportional = proportional.max(now.proportional);
        looks += 1;
        for why in what_members_wait_for(cluster)? {
            *waits.entry(why).or_insert(0) += 1;
        }
    };
    let took = begin.elapsed();
    ensure!(ended["phase"] == "Done", "the repair of {what} has ended: {ended}");
    cluster.kubectl(&["delete", "cassandratask", "memory"])?;
    report.row(
        &format!("init and agent together, largest of three (what both share counted twice / once), before and during a repair of {what} in {:.0} s", took.as_secs_f64()),
        "",
        format!(
            "{:.1} / {:.1} MiB, {resident:.1} / {proportional:.1} MiB",
            before.resident, before.proportional
        ),
    );
    for (why, seen) in waits {
        Lines.note(&format!("in {seen} of {looks} looks: {why}"));
    }
    Ok(())
}

/// That a server has more to do than it gets done, and what members say that they wait for:
/// their times count for the time of a repair, and are not its work.
fn what_members_wait_for(cluster: &Cluster) -> Result<Vec<String>> {
    let members = look::get(cluster, &["cassandramembers"])?;
    let mut all = Vec::new();
    for member in members["items"].as_array().into_iter().flatten() {
        let name = member["metadata"]["name"].as_str().unwrap_or_default();
        if let Some(pressure) = member["status"]["pressure"].as_str() {
            all.push(format!("{name}: pressure {pressure}"));
        }
        if let Some(message) = member["status"]["job"]["message"].as_str() {
            // Without its time, so that it is one.
            let (what, _) = message.split_once(" until ").unwrap_or((message, ""));
            all.push(format!("{name}: {what}"));
        }
    }
    Ok(all)
}
