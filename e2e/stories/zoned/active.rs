//! Active and passive pods.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::{Value, json};

/// Time for the label to move, on top of the probe's period × threshold.
const SLACK: Duration = Duration::from_secs(2);

pub fn story() -> Story {
    Story::named("zoned-active")
        .step("exactly one active pod is reached and fails over", exactly_one)
        .step("a pod is active by a command in the container", by_command)
        .into()
}

/// Seconds until exactly one other pod is active; more than one is never seen.
pub fn fail_over(zoned: &Zoned, from: &str, within: Duration) -> Duration {
    let begin = Instant::now();
    let deadline = within + SLACK;
    loop {
        let active = zoned.active();
        assert!(active.len() <= 1, "two pods are active: {active:?}");
        if active.first().is_some_and(|a| a != from) {
            return begin.elapsed();
        }
        // Asking takes time of its own on a busy machine: a generous end, and
        // the figure is told.
        assert!(
            begin.elapsed() < deadline + Duration::from_secs(5),
            "no fail-over from {from}: {active:?}"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub fn endpoints(zoned: &Zoned, service: &str) -> Result<Vec<String>> {
    let slices = bed().list(zoned.namespace, "endpointslices")?;
    let of_service =
        slices.iter().filter(|s| s["metadata"]["labels"]["kubernetes.io/service-name"] == service);
    let endpoints = of_service.flat_map(|s| s["endpoints"].as_array().cloned().unwrap_or_default());
    Ok(endpoints.filter_map(|e| e["targetRef"]["name"].as_str().map(str::to_string)).collect())
}

pub fn one_active(zoned: &Zoned) -> String {
    wait_for("a pod to be active", PATIENCE, || {
        let active = zoned.active();
        match active.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            more => bail!("{more:?} are active"),
        }
    })
    .expect("one active pod")
}

fn exactly_one() {
    let queue = Zoned::start("zoned-active", "queue", &example("active-passive"));
    let first = one_active(&queue);
    wait_for("the Service to reach only it", PATIENCE, || {
        Ok((endpoints(&queue, "queue-active")? == [first.clone()]).then_some(()))
    })
    .expect("endpoints");

    // The probe fails: period 1 s × threshold 2.
    bed().exec(queue.namespace, &first, &["busybox", "rm", "/tmp/lead"]).expect("stop leading");
    let took = fail_over(&queue, &first, Duration::from_secs(2));
    eprintln!("fail-over after a failing probe: {took:?} (period 1 s, threshold 2)");
    let second = one_active(&queue);
    wait_for("the Service to follow", PATIENCE, || {
        Ok((endpoints(&queue, "queue-active")? == [second.clone()]).then_some(()))
    })
    .expect("endpoints");

    // It is not given back, and a deleted pod is followed at once.
    bed().exec(queue.namespace, &first, &["busybox", "touch", "/tmp/lead"]).expect("lead again");
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(queue.active(), std::slice::from_ref(&second));
    bed()
        .cluster
        .kubectl(&["delete", "pod", &second, "-n", queue.namespace, "--wait=false"])
        .expect("delete");
    let took = fail_over(&queue, &second, Duration::from_secs(0));
    eprintln!("fail-over after the active pod was deleted: {took:?}");
    assert_eq!(one_active(&queue), first);
    queue.end();
}

/// Takes the right to run commands in pods from the operator, and gives it back.
struct WithoutExec {
    binding: String,
}

impl WithoutExec {
    const NAME: &str = "palladion-exec";

    fn take() -> Self {
        let words = format!("get clusterrolebinding {} -o json", Self::NAME);
        let binding = bed().kubectl(&words).expect("the binding");
        let words = format!("delete clusterrolebinding {}", Self::NAME);
        bed().kubectl(&words).expect("take the right");
        Self { binding }
    }
}

impl Drop for WithoutExec {
    fn drop(&mut self) {
        let mut binding: Value = serde_json::from_str(&self.binding).unwrap_or_default();
        let meta = binding["metadata"].take();
        binding["metadata"] = json!({
            "name": meta["name"], "labels": meta["labels"], "annotations": meta["annotations"],
        });
        let given = bed().cluster.kubectl_with_input(&["create", "-f", "-"], &binding.to_string());
        if let Err(error) = given {
            eprintln!("cannot give the right back: {error:#}");
        }
    }
}

fn by_command() {
    let lock = Zoned::start("zoned-exec", "lock", &example("exec-probe"));
    let first = one_active(&lock);

    // Without the right nobody knows anything: it is said, and no label moves.
    let without = WithoutExec::take();
    let told = lock.wait("the missing right to be named", PATIENCE, |o| {
        o["status"].to_string().contains(Reason::ProbeUnanswered.as_str())
    });
    assert!(told["status"].to_string().contains("pods/exec"), "{}", told["status"]);
    assert_eq!(lock.active(), std::slice::from_ref(&first));
    drop(without);
    lock.wait("the probes to be answered again", PATIENCE, |o| {
        !o["status"].to_string().contains(Reason::ProbeUnanswered.as_str())
    });

    bed().exec(lock.namespace, &first, &["busybox", "rm", "/tmp/lead"]).expect("let go");
    let took = fail_over(&lock, &first, Duration::from_secs(2));
    eprintln!("fail-over after a failing command: {took:?} (period 1 s, threshold 2)");
    lock.end();
}
