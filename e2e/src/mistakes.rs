//! Mistakes in manifests: a condition names each in time. What only Kubernetes can find out
//! is counted from when it has said so itself.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use serde_json::Value;

use crate::bed::{bed, condition, text, wait_for};

/// Issue: a condition within 10 s.
pub const NAMED_IN: Duration = Duration::from_secs(10);
/// A scheduler has to look, or a kubelet to try, before there is anything to be named.
const TRIED_IN: Duration = Duration::from_secs(90);

/// What a condition says of a mistake.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// The condition.
    pub type_: &'static str,
    /// Its reason.
    pub reason: Reason,
    /// Parts of its message: what is wrong, and the next step.
    pub words: &'static [&'static str],
}

/// Who finds a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The operator, in the manifest and in what is there.
    Operator,
    /// The scheduler, which finds no node for a pod.
    Scheduler,
    /// The kubelet, which cannot start a container.
    Kubelet,
    /// The agent of the pod, once it runs.
    Agent,
}

/// Wait until an object says this, in time after it was applied at `applied`. Its pods have
/// names that begin with `pods`.
pub fn wait_named(
    (namespace, kind, name): (&str, &str, &str),
    said: &Said,
    (finder, pods): (Finder, &str),
    applied: Instant,
) {
    let mut since = match finder {
        Finder::Operator => applied,
        Finder::Scheduler => {
            seen((namespace, pods), "the scheduler to find no node", is_unscheduled)
        }
        // A pod of the mistake before this one may be there still: it fails in other words.
        Finder::Kubelet => {
            seen((namespace, pods), "the kubelet to fail", |pod| fails_by(pod, said.words))
        }
        Finder::Agent => seen((namespace, pods), "the agent to run", runs),
    };
    // The pod of the mistake before may be the one that runs: counted is from the last that begins.
    let limit = if finder == Finder::Agent { TRIED_IN } else { NAMED_IN };
    let (mut last, mut begun) = (Value::Null, BTreeSet::new());
    let found = wait_for(&format!("{name} to say {said:?}"), limit, || {
        if finder == Finder::Agent {
            let running = bed().list(namespace, "pods")?;
            let ours = running.iter().filter(|pod| text(pod, "/metadata/name").starts_with(pods));
            for pod in ours.filter(|pod| runs(pod)) {
                if begun.insert(text(pod, "/metadata/uid").to_string()) && begun.len() > 1 {
                    since = Instant::now();
                }
            }
        }
        let object = bed().get(namespace, kind, name)?.unwrap_or_default();
        last = condition(&object, said.type_);
        let message = text(&last, "/message");
        let is_said = last["reason"] == said.reason.as_str()
            && said.words.iter().all(|word| message.contains(word));
        Ok(is_said.then(|| since.elapsed()))
    });
    let took = found.unwrap_or_else(|e| panic!("{e:#}; {} is {last}", said.type_));
    println!("{name}: {} after {} ms: {}", said.reason, took.as_millis(), text(&last, "/message"));
    assert!(took <= NAMED_IN, "{name}: {} was named after {took:?}", said.reason);
}

/// When a pod was first seen like this.
fn seen((namespace, pods): (&str, &str), what: &str, is_so: impl Fn(&Value) -> bool) -> Instant {
    let found = wait_for(what, TRIED_IN, || {
        let all = bed().list(namespace, "pods")?;
        let mut ours = all.iter().filter(|pod| text(pod, "/metadata/name").starts_with(pods));
        Ok(ours.any(&is_so).then(Instant::now))
    });
    found.unwrap_or_else(|e| panic!("pods {pods}: {e:#}"))
}

fn is_unscheduled(pod: &Value) -> bool {
    condition(pod, "PodScheduled")["status"] == "False"
}

/// Whether a container waits, and the kubelet says why with one of these words.
fn fails_by(pod: &Value, words: &[&str]) -> bool {
    let lists = ["initContainerStatuses", "containerStatuses"];
    let mut all =
        lists.iter().flat_map(|list| pod["status"][*list].as_array().into_iter().flatten());
    all.any(|container| {
        let message = text(container, "/state/waiting/message");
        words.iter().any(|word| message.contains(word))
    })
}

fn runs(pod: &Value) -> bool {
    let all = pod["status"]["containerStatuses"].as_array();
    let is_running = |container: &Value| container["state"]["running"].is_object();
    all.is_some_and(|all| !all.is_empty() && all.iter().all(is_running))
}
