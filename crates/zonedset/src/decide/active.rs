//! Which pods are labelled active. With `Single` the label is taken from the old
//! pod before the new one gets it, and the new one gets it only while the
//! owner's status names it: never two, whatever happens between. With
//! `AllPassing` it is as in QuarksStatefulSet.

use super::draft::Draft;
use super::pods::patch_pod;
use crate::facts::Facts;
use crate::validate::{Valid, port};
use crate::words::active::{Doing, Happened, Inactive, PassedOver, Problem};
use jiff::SignedDuration;
use palladion_api::zoned_stateful_set::{ActivePassiveMode, ActiveProbe, names};
use palladion_plan::words::Several;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Event, Fence, ObjectKey, ProbeAction, ProbeKey, ProbeRequest, Step, Verdict};
use serde_json::json;

/// What is known of a pod's probes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Health {
    /// All pass.
    Passing,
    /// One fails.
    Failing(Inactive),
    /// The question cannot be put.
    Unknown(String),
    /// No answer yet.
    Unasked,
}

/// The probes to ask: of every pod that has an address and is not ending.
pub fn probes(facts: &Facts<'_>, valid: &Valid) -> Vec<ProbeRequest> {
    let pods = facts.pods().filter(|p| !p.terminating && p.phase == "Running");
    pods.flat_map(|pod| {
        let probes = valid.spec.active_passive_probes.iter();
        probes.filter_map(move |(container, probe)| request(valid, pod, container, probe))
    })
    .collect()
}

fn request(
    valid: &Valid,
    pod: &PodFact,
    container: &str,
    probe: &ActiveProbe,
) -> Option<ProbeRequest> {
    let seconds = |s: u32| SignedDuration::from_secs(s.into());
    Some(ProbeRequest {
        key: key(pod, container),
        pod: ObjectKey::new(crate::resources::POD, &valid.namespace, &pod.name),
        action: action(valid, pod, container, probe)?,
        period: seconds(probe.period_seconds),
        timeout: seconds(probe.timeout_seconds),
        failure_threshold: probe.failure_threshold,
        success_threshold: probe.success_threshold,
    })
}

fn key(pod: &PodFact, container: &str) -> ProbeKey {
    ProbeKey { pod_uid: pod.uid.clone(), name: container.to_string() }
}

fn action(
    valid: &Valid,
    pod: &PodFact,
    container: &str,
    probe: &ActiveProbe,
) -> Option<ProbeAction> {
    let template = &valid.spec.template.spec.template;
    if let Some(exec) = &probe.exec {
        return Some(ProbeAction::Exec {
            container: container.to_string(),
            command: exec.command.clone(),
        });
    }
    let address = pod.address.clone()?;
    if let Some(http) = &probe.http_get {
        let headers = http.http_headers.iter().map(|h| (h.name.clone(), h.value.clone())).collect();
        let port = port(template, container, &http.port)?;
        return Some(ProbeAction::Http { address, port, path: http.path.clone(), headers });
    }
    if let Some(tcp) = &probe.tcp_socket {
        return Some(ProbeAction::Tcp { address, port: port(template, container, &tcp.port)? });
    }
    let grpc = probe.grpc.as_ref()?;
    let service = grpc.service.clone().unwrap_or_default();
    Some(ProbeAction::Grpc { address, port: grpc.port, service })
}

/// Give and take the label.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if valid.spec.active_passive_probes.is_empty() {
        for pod in facts.pods().filter(|p| is_labelled(p)) {
            take(valid, pod, Inactive::NoProbes, draft);
        }
        return;
    }
    report_unanswered(facts, valid, draft);
    match valid.spec.active_passive_mode {
        ActivePassiveMode::AllPassing => all_passing(facts, valid, draft),
        ActivePassiveMode::Single => single(facts, valid, draft),
    }
}

fn all_passing(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for pod in facts.pods() {
        match (health(facts, valid, pod), is_labelled(pod)) {
            (Health::Passing, false) if pod.is_ready() => give(valid, pod, None, draft),
            (Health::Failing(why), true) => take(valid, pod, why, draft),
            (Health::Passing | Health::Failing(_) | Health::Unknown(_) | Health::Unasked, _) => {}
        }
    }
    report_none(facts, valid, draft);
}

fn single(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let named = facts.status.active_uid.as_ref();
    let labelled: Vec<&PodFact> = facts.pods().filter(|p| is_labelled(p)).collect();
    // The active pod stays for as long as nothing is known against it.
    let mut holder = None;
    for pod in &labelled {
        match health(facts, valid, pod) {
            Health::Failing(why) => take(valid, pod, why, draft),
            Health::Passing | Health::Unknown(_) | Health::Unasked
                if holder.is_none() && named.is_none_or(|n| *n == pod.uid) =>
            {
                holder = Some(*pod);
            }
            Health::Passing | Health::Unknown(_) | Health::Unasked => {
                take(valid, pod, Inactive::Other, draft);
            }
        }
    }
    if holder.is_some() {
        return;
    }
    let candidate =
        facts.pods().find(|p| p.is_ready() && health(facts, valid, p) == Health::Passing);
    let Some(pod) = candidate else {
        return report_none(facts, valid, draft);
    };
    if named != Some(&pod.uid) {
        let seen = vec![("/status/activeUid".into(), json!(named))];
        let doing = Doing::NameActive { pod: pod.name.clone() };
        draft.steps.push(Step::compare_and_set(json!({ "activeUid": pod.uid }), seen, doing));
    }
    let fence = Fence {
        object: ObjectKey::new(crate::resources::ZONED_SET, &valid.namespace, &valid.name),
        pointer: "/status/activeUid".into(),
        expected: json!(pod.uid),
        lock: None,
    };
    give(valid, pod, Some(fence), draft);
}

fn give(valid: &Valid, pod: &PodFact, fence: Option<Fence>, draft: &mut Draft) {
    let patch = json!({ "metadata": { "labels": { names::POD_ACTIVE: names::ACTIVE } } });
    let step = patch_pod(valid, pod, patch, Doing::Label { pod: pod.name.clone() });
    let event = Event::normal(Happened::Active { pod: pod.name.clone() });
    draft.steps.push(step.fenced(fence).announced(event));
}

fn take(valid: &Valid, pod: &PodFact, why: Inactive, draft: &mut Draft) {
    let patch = json!({ "metadata": { "labels": { names::POD_ACTIVE: null } } });
    let step = patch_pod(valid, pod, patch, Doing::Unlabel { pod: pod.name.clone() });
    let event = Event::normal(Happened::Inactive { pod: pod.name.clone(), why });
    draft.steps.push(step.announced(event));
}

/// Does the pod carry the active label?
pub fn is_labelled(pod: &PodFact) -> bool {
    pod.labels.get(names::POD_ACTIVE).map(String::as_str) == Some(names::ACTIVE)
}

fn health(facts: &Facts<'_>, valid: &Valid, pod: &PodFact) -> Health {
    if pod.terminating {
        return Health::Failing(Inactive::Terminating);
    }
    if matches!(pod.phase.as_str(), "Failed" | "Succeeded") {
        return Health::Failing(Inactive::Ended { pod: pod.words() });
    }
    let mut so_far = Health::Passing;
    for container in valid.spec.active_passive_probes.keys() {
        let result = facts.snapshot.probes.get(&key(pod, container));
        match result.map(palladion_plan::Observed::known) {
            Some(Ok(result)) => match result.verdict {
                Verdict::Passing => {}
                Verdict::Failing => {
                    return Health::Failing(Inactive::ProbeFails {
                        container: container.clone(),
                        message: result.message.clone(),
                    });
                }
            },
            Some(Err(why)) => so_far = Health::Unknown(why.to_string()),
            None if so_far == Health::Passing => so_far = Health::Unasked,
            None => {}
        }
    }
    so_far
}

/// Name a probe that cannot be asked: no label moves for it, so nothing fails over.
fn report_unanswered(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for pod in facts.pods() {
        if let Health::Unknown(why) = health(facts, valid, pod) {
            draft.report(Problem::Unanswered { pod: pod.name.clone(), why });
            return;
        }
    }
}

/// Say why no pod is active.
fn report_none(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut pods = Vec::new();
    for pod in facts.pods() {
        let (name, state) = (pod.name.clone(), pod.words());
        pods.push(match health(facts, valid, pod) {
            Health::Passing if pod.is_ready() => return,
            Health::Passing => PassedOver::NotReady { pod: name },
            Health::Failing(Inactive::ProbeFails { container, message }) => {
                PassedOver::Fails { pod: name, container, message }
            }
            Health::Failing(
                Inactive::NoProbes
                | Inactive::Other
                | Inactive::Terminating
                | Inactive::Ended { .. },
            ) => PassedOver::NotRunning { pod: state },
            Health::Unknown(why) => PassedOver::NoAnswer { pod: name, why },
            // It has been there for a moment only; the answer comes.
            Health::Unasked if pod.phase == "Running" => return,
            Health::Unasked => PassedOver::NotRunning { pod: state },
        });
    }
    draft.report(match pods.is_empty() {
        true => Problem::NoPod,
        false => Problem::NoneActive { pods: Several(pods) },
    });
}
