//! Kubelets: containers start a second after their pod was placed, pods that
//! are being deleted end after a drain, a machine that is down does nothing.

use super::{Kubernetes, Machine};
use crate::object::ObjectKey;
use crate::sim::Activity;
use crate::sim::kinds;
use crate::sim::store::{Store, text};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

/// From placement to running containers.
const START: SignedDuration = SignedDuration::from_secs(1);
/// From deletion to the end of the pod: preStop drains the server.
const DRAIN: SignedDuration = SignedDuration::from_secs(2);
/// An image whose tag contains this word does not exist.
const MISSING_IMAGE: &str = "missing";
/// The condition of a pod by which its kubelet says whether volumes and network are there.
const MAY_START: &str = "PodReadyToStartContainers";

impl<C: Clone + Default> Kubernetes<C> {
    pub(super) fn run_kubelets(&mut self, store: &mut Store) -> Activity {
        let placed: Vec<(ObjectKey, Arc<Value>)> = store
            .list(kinds::POD)
            .filter(|(_, pod)| self.machines.get(text(pod, "/spec/nodeName")) == Some(&Machine::Up))
            .map(|(key, pod)| (key.clone(), pod.clone()))
            .collect();
        placed.into_iter().fold(Activity::default(), |all, (key, pod)| {
            let mounts = !self.without_mounts.contains(text(&pod, "/spec/nodeName"));
            all.and(run_pod(store, &key, &pod, mounts))
        })
    }

    /// Say whether a pod is ready.
    pub fn set_ready(&self, store: &mut Store, key: &ObjectKey, ready: bool) {
        let Some(pod) = store.get(key).cloned() else {
            return;
        };
        if is_ready(&pod) == ready || text(&pod, "/status/phase") != "Running" {
            return;
        }
        let mut status = pod["status"].clone();
        let is = if ready { "True" } else { "False" };
        let at = store.now + self.kubelets_ahead;
        let condition = json!({ "type": "Ready", "status": is, "lastTransitionTime": at });
        let rest = status["conditions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|c| c["type"] != "Ready")
            .cloned();
        status["conditions"] = rest.chain([condition]).collect();
        let _ = store.put_status(key, status);
    }
}

fn run_pod(store: &mut Store, key: &ObjectKey, pod: &Value, mounts: bool) -> Activity {
    let time = |value: &str| value.parse::<Timestamp>().ok();
    if let Some(deleted) = time(text(pod, "/metadata/deletionTimestamp")) {
        let end = deleted + DRAIN;
        if store.now < end {
            return Activity::default().at(end);
        }
        store.remove(key);
        return Activity::ACTED;
    }
    if text(pod, "/status/phase") != "Pending" {
        return Activity::default();
    }
    let placed = time(text(pod, "/status/conditions/0/lastTransitionTime")).unwrap_or(store.now);
    let start = placed + START;
    if store.now < start {
        return Activity::default().at(start);
    }
    if !mounts {
        return waits_for_volumes(store, key, pod);
    }
    let of = |list: &str| pod["spec"][list].as_array().into_iter().flatten();
    let all = || of("initContainers").chain(of("containers"));
    let missing = all().map(|c| text(c, "/image")).find(|i| i.contains(MISSING_IMAGE));
    // Of containers that wait for one that comes before them the last is shown.
    let lacking = || of("containers").find(|c| Some(text(c, "/image")) == missing);
    let shown: Vec<&Value> = match missing {
        Some(_) => lacking().or_else(|| of("containers").last()).into_iter().collect(),
        None => of("containers").collect(),
    };
    let (phase, state) = if let Some(image) = missing {
        (
            "Pending",
            json!({ "waiting": { "reason": "ImagePullBackOff", "message": format!("Back-off pulling image {image}") } }),
        )
    } else {
        ("Running", json!({ "running": { "startedAt": store.now } }))
    };
    let mut status = json!({
        "phase": phase,
        "conditions": mounted(pod),
        "containerStatuses":
            shown.iter().map(|c| json!({ "name": c["name"], "state": state })).collect::<Vec<_>>(),
    });
    if phase == "Running" {
        status["podIP"] = json!(address(pod));
    }
    match store.put_status(key, status.clone()) {
        Ok(_) if pod["status"] != status => Activity::ACTED,
        Ok(_) | Err(_) => Activity::default(),
    }
}

/// The conditions of a pod whose containers may start.
fn mounted(pod: &Value) -> Value {
    let all = pod["status"]["conditions"].as_array().into_iter().flatten();
    all.filter(|c| c["type"] != MAY_START).cloned().collect()
}

/// What a kubelet says of a pod whose volumes it cannot mount; it tries for as long as the pod
/// is there.
fn waits_for_volumes(store: &mut Store, key: &ObjectKey, pod: &Value) -> Activity {
    let all = || pod["status"]["conditions"].as_array().into_iter().flatten();
    if all().any(|c| c["type"] == MAY_START) {
        return Activity::default();
    }
    let waits = json!({ "type": MAY_START, "status": "False", "lastTransitionTime": store.now });
    let conditions: Vec<Value> = all().cloned().chain([waits]).collect();
    let _ = store.put_status(key, json!({ "phase": "Pending", "conditions": conditions }));
    Activity::ACTED
}

/// Another one for each pod.
fn address(pod: &Value) -> String {
    let number = text(pod, "/metadata/uid").rsplit('-').next().and_then(|n| n.parse().ok());
    let number: u16 = number.unwrap_or_default();
    format!("10.1.{}.{}", number / 256, number % 256)
}

/// Is a pod ready?
pub(super) fn is_ready(pod: &Value) -> bool {
    pod["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|c| c["type"] == "Ready" && c["status"] == "True")
}
