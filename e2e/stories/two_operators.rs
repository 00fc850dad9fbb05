//! Two operators at once against the real API server. The first is stopped by
//! SIGSTOP at a chosen write, after its fence was looked at and before the write
//! is sent, for longer than its Lease lasts. The second leads and finishes the
//! work. Then the first goes on: nothing of what it had in hand may take effect.
//! The judge is the audit log, in which each has a name of its own.

use std::time::Duration;

use palladion_e2e::fields::CAUSE_INITIALIZE;
use palladion_e2e::outside::{
    Outside, STOP_BEFORE_WRITES, is_of_lease, lease, program, took_effect,
};
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, bed, wait_for};
use palladion_testbed::audit::{AuditEntry, AuditMark};
use rustix::process::Signal;
use serde_json::{Value, json};

const NAMESPACE: &str = "two-operators";
const TASK: &str = "once";
const OLD: &str = "operator-old";
const NEW: &str = "operator-new";
/// A ring of one needs well under a minute for all its writes.
const COMES: Duration = Duration::from_secs(240);
/// The Lease of a stopped leader lasts 15 s from when it was seen last.
const FOLLOWS: Duration = Duration::from_secs(60);
/// A leader that wakes finds out at its next renewal, 5 s at most.
const NOTICES: Duration = Duration::from_secs(60);
/// What it had in hand would have been sent by then.
const LINGERS: Duration = Duration::from_secs(5);

pub fn story() -> Story {
    Story::named("two-operators")
        .breaks_machines()
        .step(
            "a leader that was frozen in the middle of a creation writes nothing when it wakes",
            || frozen_at(Change::Creation, 9),
        )
        .step("nor does one that was frozen at any other write of it", || {
            for write in [1, 2, 3, 5, 7, 12, 16, 20] {
                frozen_at(Change::Creation, write);
            }
        })
        .in_soak()
        .step("nor one that was frozen while a member joined", || {
            for write in [1, 2, 4, 7, 11] {
                frozen_at(Change::Join, write);
            }
        })
        .in_soak()
        .step("nor one that was frozen while a member left", || {
            for write in [1, 2, 4, 7] {
                frozen_at(Change::Leave, write);
            }
        })
        .in_soak()
        .step("nor one that was frozen while members restarted", || {
            for write in [1, 3, 6, 10] {
                frozen_at(Change::Rollout, write);
            }
        })
        .in_soak()
        .step("nor one that was frozen while a task ran, and each member did it once", || {
            for write in [1, 2, 4, 6, 8] {
                frozen_at(Change::Task, write);
            }
        })
        .in_soak()
        .into()
}

/// What is under way when the first operator is frozen.
#[derive(Clone, Copy, Debug)]
enum Change {
    Creation,
    Join,
    Leave,
    Rollout,
    Task,
}

impl Change {
    /// The members before and after; a ring of none is still to be made.
    fn members(self) -> (u32, u32) {
        match self {
            Self::Creation => (0, 1),
            Self::Join => (1, 2),
            Self::Leave => (3, 2),
            Self::Rollout | Self::Task => (2, 2),
        }
    }

    /// What is asked for while the first operator leads.
    fn manifest(self) -> String {
        let ring = of(self.members().1);
        match self {
            Self::Creation | Self::Join | Self::Leave => ring.manifest(NAMESPACE),
            Self::Rollout => ring.line("config: { concurrent_reads: 8 }").manifest(NAMESPACE),
            // A second snapshot of the same name fails.
            Self::Task => json!({
                "apiVersion": "palladion.dev/v1alpha1",
                "kind": "CassandraTask",
                "metadata": { "name": TASK },
                "spec": { "cluster": NAMESPACE, "snapshot": { "name": "once" } },
            })
            .to_string(),
        }
    }

    /// The second operator has finished what was asked for.
    fn wait_done(self) {
        match self {
            Self::Creation | Self::Join | Self::Leave | Self::Rollout => {}
            Self::Task => {
                let done = "--for=condition=Complete --timeout=120s";
                bed()
                    .kubectl(&format!("wait cassandratask/{TASK} -n {NAMESPACE} {done}"))
                    .expect("the second finishes the task");
                let task = bed().get(NAMESPACE, "cassandratask", TASK).expect("the task");
                let task = task.expect("it is there");
                let members = task["status"]["members"].as_array().expect("its members");
                let once = |m: &Value| m["state"] == "Succeeded" && m["tries"] == 1;
                assert!(members.len() == 2 && members.iter().all(once), "{}", task["status"]);
            }
        }
    }
}

fn of(members: u32) -> WantedRing {
    a_ring().racks(&[("a", members)])
}

fn start(name: &str, environment: &[(&str, String)]) -> Outside {
    let operator = Outside::start(&bed().cluster, &program(), name, environment);
    let mut operator = operator.expect("the operator should start");
    operator.wait_leads(&bed().cluster, FOLLOWS).expect("it should lead");
    operator
}

/// Freeze the first operator before its `write`-th write of a change.
fn frozen_at(change: Change, write: u64) {
    let (before, after) = change.members();
    bed().fresh_namespace(NAMESPACE).expect("namespace");
    // The first operator's writes are counted: none may be about what an earlier story left.
    bed().wait_namespaces_gone().expect("what earlier stories made");
    let ring = Ring::at(bed(), NAMESPACE);
    if before > 0 {
        bed().apply(NAMESPACE, &of(before).manifest(NAMESPACE)).expect("apply");
        ring.wait_members(before).expect("the ring forms");
    }
    bed().scale_operator(0).expect("no operator inside");
    let mark = bed().cluster.audit_mark().expect("the audit log");

    let mut old = start(OLD, &[(STOP_BEFORE_WRITES, write.to_string())]);
    bed().apply(NAMESPACE, &change.manifest()).expect("apply");
    wait_for("the first operator to stop", COMES, || Ok(old.is_stopped()?.then_some(())))
        .unwrap_or_else(|error| panic!("{change:?} has no write {write}: {error:#}"));

    let new = start(NEW, &[]);
    ring.wait_members(after).expect("the second finishes what the first began");
    ring.wait_settled().expect("nothing is left to do");
    change.wait_done();
    assert!(old.is_stopped().expect("its state"), "it was frozen all the while");
    old.signal(Signal::CONT).expect("thawed");
    let ended = old.wait_ended(NOTICES).expect("a leader that was deposed ends");
    assert!(!ended.success(), "it says that it was deposed: {ended}");
    std::thread::sleep(LINGERS);

    let holder = lease(&bed().cluster).expect("the lease")["spec"]["holderIdentity"].to_string();
    assert!(holder.contains(NEW), "the second leads on: {holder}");
    judge(mark, write, &old, &new, change);
    check(&ring, after);

    new.end().expect("the second ends");
    bed().scale_operator(1).expect("an operator inside");
    bed().remove_namespace(NAMESPACE).expect("clean up");
}

/// Nothing of the first took effect once the second led; and the log would show it.
fn judge(mark: AuditMark, write: u64, old: &Outside, new: &Outside, change: Change) {
    let of_new = new.asked(&bed().cluster, mark).expect("the audit log");
    let led = of_new.iter().find(|e| is_of_lease(e) && took_effect(e)).expect("it took the lease");
    let of_old = old.asked(&bed().cluster, mark).expect("the audit log");
    let (early, late): (Vec<&AuditEntry>, Vec<&AuditEntry>) =
        of_old.iter().filter(|e| took_effect(e)).partition(|e| e.time < led.time);
    assert!(late.is_empty(), "frozen at write {write} of {change:?}, it wrote: {late:#?}");
    let objects = early.iter().filter(|e| !is_of_lease(e) && e.resource != "events").count() as u64;
    assert!(objects < write, "{objects} writes before it was frozen at write {write}");
    // Refused ones count as sent.
    assert!(objects * 2 >= write - 1, "only {objects} of {} writes are in the log", write - 1);
    let renewed = early.iter().filter(|e| is_of_lease(e)).count();
    assert!(renewed > 0, "it took the lease");
    println!("frozen at write {write} of {change:?}: {objects} writes before, none after");
}

/// The same ring as without any of it.
fn check(ring: &Ring<'_>, members: u32) {
    let found = ring.members().expect("members");
    let mut ids: Vec<_> = found.iter().map(|m| m["status"]["hostID"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), members as usize, "host IDs: {ids:?}");
    let starts = found.iter().flat_map(|m| m["status"]["startHistory"].as_array()).flatten();
    let initialized = starts.filter(|s| s["cause"] == CAUSE_INITIALIZE).count();
    assert_eq!(initialized, 1, "the ring was initialized once");
}
