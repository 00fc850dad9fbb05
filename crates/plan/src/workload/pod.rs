//! A pod in the few words that decisions need, and what keeps it from running.

mod containers;
#[cfg(test)]
mod tests;

pub use containers::{InitContainer, InitState};

use super::words::ContainerState;
use super::words::{MemberPod, PodState};
use crate::object::{Meta, Object, Resource};
use crate::plan::{Event, Fence, Loss, Step};
use crate::proof::Proof;
use jiff::Timestamp;
use palladion_api::ids::{PodUid, Uid};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Waiting reasons that are steps on the way and no trouble.
const ON_THE_WAY: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// A pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodFact {
    /// Name.
    pub name: String,
    /// Unique ID.
    pub uid: PodUid,
    /// Its version, as it was seen.
    pub resource_version: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// The StatefulSet revision that it was made from.
    pub revision: String,
    /// The number at the end of its name.
    pub ordinal: i32,
    /// Node, once scheduled.
    pub node: Option<String>,
    /// Address, once given.
    pub address: Option<String>,
    /// Phase.
    pub phase: String,
    /// Since when it is ready; `None` = it is not.
    pub ready_since: Option<Timestamp>,
    /// Since when it is not ready; `None` = it is.
    pub not_ready_since: Option<Timestamp>,
    /// Is it being deleted?
    pub terminating: bool,
    /// When the time ends that it has for its end.
    pub ends_by: Option<Timestamp>,
    /// The scheduler's message, while it cannot be placed.
    pub unschedulable: Option<String>,
    /// What keeps a container from running.
    pub trouble: Option<PodTrouble>,
    /// Its init containers, in their order.
    pub init: Vec<InitContainer>,
    /// Containers that run, ready or not.
    pub running: Vec<String>,
    /// Those of them that are not ready.
    pub unready: Vec<String>,
    /// Since when all of them run: the last of them was started then.
    pub running_since: Option<Timestamp>,
    /// Since when its Node waits to start its containers, for a volume or for its network.
    /// `None`: they may start, or its kubelet has not said.
    pub unmounted_since: Option<Timestamp>,
}

/// What the agent of a member's pod has reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// Nothing yet.
    Nothing,
    /// Something, and not how the volume is.
    NoVolume,
    /// How the volume is.
    Volume,
}

/// What keeps a pod from running, in Kubernetes' words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodTrouble {
    /// `ImagePullBackOff`, `CrashLoopBackOff`, `OOMKilled` …
    pub reason: String,
    /// The message.
    pub message: String,
}

/// What a person has to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodTroubleKind {
    /// The name of an image, or the way to its registry.
    ImagePull,
    /// The limit of the memory.
    OutOfMemory,
    /// What the container says.
    Other,
}

impl PodTrouble {
    /// What of it a person has to look at.
    pub fn kind(&self) -> PodTroubleKind {
        match self.reason.as_str() {
            "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull" => {
                PodTroubleKind::ImagePull
            }
            "OOMKilled" => PodTroubleKind::OutOfMemory,
            _ => PodTroubleKind::Other,
        }
    }
}

/// What to keep of a pod; for [`crate::Keep::Projection`], read by [`PodFact::read`].
pub fn project(object: &Value) -> Value {
    let status = &object["status"];
    let waiting: Vec<Value> = ["initContainerStatuses", "containerStatuses"]
        .iter()
        .filter_map(|key| status[*key].as_array())
        .flatten()
        .filter_map(|c| {
            let waiting = c["state"]["waiting"]["reason"].as_str()?;
            Some(json!({
                "name": c["name"],
                "reason": waiting,
                "message": c["state"]["waiting"]["message"],
                "last": c["lastState"]["terminated"]["reason"],
                "exitCode": c["lastState"]["terminated"]["exitCode"],
            }))
        })
        .collect();
    let ready = condition(object, "Ready");
    let containers_may_start = condition(object, "PodReadyToStartContainers");
    json!({
        "node": object["spec"]["nodeName"],
        "address": status["podIP"],
        "phase": status["phase"],
        "reason": status["reason"],
        "message": status["message"],
        "readySince": if ready["status"] == "True" { ready["lastTransitionTime"].clone() } else { Value::Null },
        "notReadySince": if ready["status"] == "False" { ready["lastTransitionTime"].clone() } else { Value::Null },
        "scheduled": { "status": condition(object, "PodScheduled")["status"], "message": condition(object, "PodScheduled")["message"] },
        "waiting": waiting,
        "init": containers::project_init(object),
        "running": containers::project_running(object),
        "unready": containers::project_unready(object),
        "runningSince": containers::project_running_since(object),
        "unmountedSince": if containers_may_start["status"] == "False" { containers_may_start["lastTransitionTime"].clone() } else { Value::Null },
    })
}

fn condition<'a>(object: &'a Value, type_: &str) -> &'a Value {
    const NONE: &Value = &Value::Null;
    let all = object["status"]["conditions"].as_array();
    all.and_then(|all| all.iter().find(|c| c["type"] == type_)).unwrap_or(NONE)
}

impl PodFact {
    /// Its Node, if that is known and not ready: what runs there nobody knows.
    pub fn silent_node(&self, nodes: &BTreeMap<String, bool>) -> Option<&str> {
        let node = self.node.as_deref()?;
        (nodes.get(node) == Some(&false)).then_some(node)
    }

    /// Read a projected pod.
    pub fn read(object: &Object) -> Self {
        let text = |pointer: &str| object.str_at(pointer).map(str::to_string);
        let unscheduled = object.str_at("/scheduled/status") == Some("False");
        let revision = object.meta.labels.get("controller-revision-hash").cloned();
        let ordinal = object.meta.name.rsplit('-').next().and_then(|n| n.parse().ok());
        let time = |pointer: &str| -> Option<Timestamp> { object.str_at(pointer)?.parse().ok() };
        let ready_since = time("/readySince");
        // Before the kubelet has said anything of it, it was never ready.
        let not_ready_since = time("/notReadySince").or(object.meta.creation_timestamp);
        let is_to_start = text("/phase").as_deref() == Some("Pending") && text("/node").is_some();
        Self {
            name: object.meta.name.clone(),
            uid: PodUid::from(&object.meta.uid),
            resource_version: object.meta.resource_version.clone(),
            labels: object.meta.labels.clone(),
            annotations: object.meta.annotations.clone(),
            revision: revision.unwrap_or_default(),
            ordinal: ordinal.unwrap_or_default(),
            node: text("/node"),
            address: text("/address").filter(|a| !a.is_empty()),
            phase: text("/phase").unwrap_or_default(),
            ready_since,
            not_ready_since: not_ready_since.filter(|_| ready_since.is_none()),
            terminating: object.meta.is_terminating(),
            ends_by: object.meta.deletion_timestamp,
            unschedulable: unscheduled.then(|| text("/scheduled/message").unwrap_or_default()),
            trouble: trouble(object),
            init: containers::read_init(&object.body),
            running: containers::read_names(&object.body["running"]),
            unready: containers::read_names(&object.body["unready"]),
            running_since: time("/runningSince"),
            unmounted_since: time("/unmountedSince")
                .filter(|_| is_to_start && !object.meta.is_terminating()),
        }
    }

    /// Is it ready, and not on its way out?
    pub fn is_ready(&self) -> bool {
        self.ready_since.is_some() && !self.terminating
    }

    /// From when on it counts as available: ready for this many seconds.
    pub fn available_at(&self, min_ready_seconds: i32) -> Option<Timestamp> {
        let since = self.ready_since.filter(|_| !self.terminating)?;
        Some(since + jiff::SignedDuration::from_secs(min_ready_seconds.max(0).into()))
    }

    /// Can it never run as it is: unschedulable, or a container that does not start?
    pub fn is_stuck(&self) -> bool {
        !self.terminating && (self.unschedulable.is_some() || self.trouble.is_some())
    }

    /// What keeps its server from running, by the name of that container. What fails beside a
    /// server that runs, as a container that somebody injected, says nothing of the server.
    pub fn trouble_of(&self, is_the_server: impl Fn(&str) -> bool) -> Option<&PodTrouble> {
        let runs = self.running.iter().any(|name| is_the_server(name));
        self.trouble.as_ref().filter(|_| !runs)
    }

    /// Hash of what it was made from.
    pub fn spec_hash(&self) -> Option<&str> {
        self.annotations.get(palladion_api::labels::SPEC_HASH).map(String::as_str)
    }

    /// Delete it as it was seen, so that its set creates it again: this pod and
    /// no later one of its name. `proof` says why its process may end.
    pub fn removal(
        &self,
        (resource, namespace): (Resource, &str),
        proof: Proof,
        doing: impl Display,
        fence: Option<Fence>,
        event: Option<Event>,
    ) -> Step {
        Step::delete_as_seen(resource, &self.seen(namespace), Loss::Process, doing)
            .proven(proof)
            .fenced(fence)
            .announced(event)
    }

    /// What a write to this pod, as it was seen, must name.
    pub fn seen(&self, namespace: &str) -> Meta {
        Meta {
            name: self.name.clone(),
            namespace: namespace.to_string(),
            uid: Uid::from(&self.uid),
            resource_version: self.resource_version.clone(),
            ..Meta::default()
        }
    }

    /// How far it is, as the pod of a member whose agent has reported so much.
    pub fn of_member(&self, reported: Reported) -> MemberPod {
        if self.terminating {
            return MemberPod::Terminating;
        }
        match (&self.unschedulable, &self.trouble, reported) {
            (Some(message), _, _) => MemberPod::Unschedulable { message: message.clone() },
            (None, Some(trouble), _) => {
                let PodTrouble { reason, message } = trouble.clone();
                MemberPod::Failing { reason, message }
            }
            (None, None, Reported::Nothing) => MemberPod::Silent { phase: self.phase.clone() },
            (None, None, Reported::NoVolume) => MemberPod::NoVolume,
            (None, None, Reported::Volume) => MemberPod::Running,
        }
    }

    /// How it is, for people.
    pub fn words(&self) -> PodState {
        let pod = self.name.clone();
        if self.terminating {
            return PodState::Terminating { pod };
        }
        match (&self.unschedulable, &self.trouble) {
            (Some(message), _) => PodState::Unschedulable { pod, message: message.clone() },
            (None, Some(trouble)) => {
                let PodTrouble { reason, message } = trouble.clone();
                PodState::Failing { pod, reason, message }
            }
            (None, None) if self.is_ready() => PodState::Ready { pod },
            (None, None) => PodState::NotReady { pod, phase: self.phase.clone() },
        }
    }
}

fn trouble(object: &Object) -> Option<PodTrouble> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    if object.str_at("/phase") == Some("Failed") {
        let reason = object.str_at("/reason").unwrap_or("Failed").to_string();
        let said = Some(text(&object.body["message"])).filter(|said| !said.is_empty());
        let message = said.unwrap_or_else(|| ContainerState::PodFailed.to_string());
        return Some(PodTrouble { reason, message });
    }
    let waiting = object.at("/waiting")?.as_array()?;
    let container =
        waiting.iter().find(|c| c["reason"].as_str().is_some_and(|r| !ON_THE_WAY.contains(&r)))?;
    let reason = match (container["last"].as_str(), container["reason"].as_str()) {
        (Some("OOMKilled"), _) => "OOMKilled".to_string(),
        // The kubelet goes to and fro between the two with every try.
        (_, Some("ErrImagePull")) => "ImagePullBackOff".to_string(),
        _ => text(&container["reason"]),
    };
    let name = text(&container["name"]);
    let message = match (container["reason"].as_str(), container["exitCode"].as_i64()) {
        // The kubelet tells its pause, which changes with every try.
        (Some("CrashLoopBackOff"), Some(code)) => {
            ContainerState::Exits { pod: object.meta.name.clone(), container: name, code }
        }
        _ => match settled(&text(&container["message"])) {
            "" => ContainerState::WaitingUnexplained { container: name },
            said => ContainerState::Waiting { container: name, message: said.to_string() },
        },
    };
    Some(PodTrouble { reason, message: message.to_string() })
}

/// The part of a message that stays the same from one try to the next: what the
/// kubelet puts before, and the end with its ports and addresses, are left out.
fn settled(message: &str) -> &str {
    const LONGEST: usize = 160;
    let start = message.find("ErrImagePull: ").map_or(0, |at| at + "ErrImagePull: ".len());
    let message = &message[start..];
    if message.len() <= LONGEST {
        return message;
    }
    let cut = (0..=LONGEST).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
    let short = &message[..cut];
    short.rfind(": ").map_or(short, |at| &short[..at])
}
