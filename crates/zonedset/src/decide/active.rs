//! Which pods are labelled active. With `Single` the label is taken from the old
//! pod before the new one gets it, and the new one gets it only while the
//! owner's status names it: never two, whatever happens between. With
//! `AllPassing` it is as in QuarksStatefulSet.

use super::pods::patch_pod;
use super::{Draft, normal};
use crate::facts::Facts;
use crate::validate::{Valid, port};
use jiff::SignedDuration;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::{ActivePassiveMode, ActiveProbe, names};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Fence, ObjectKey, ProbeAction, ProbeKey, ProbeRequest, Step, Verdict};
use serde_json::json;

/// What is known of a pod's probes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Health {
    /// All pass.
    Passing,
    /// One fails.
    Failing(String),
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
            take(valid, pod, "there are no active probes any more", draft);
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
            (Health::Passing, false) if pod.is_ready() => give(facts, valid, pod, None, draft),
            (Health::Failing(why), true) => take(valid, pod, &why, draft),
            (Health::Passing | Health::Failing(_) | Health::Unknown(_) | Health::Unasked, _) => {}
        }
    }
    report_none(facts, valid, draft);
}

fn single(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let named = facts.status.active_uid.as_deref();
    let labelled: Vec<&PodFact> = facts.pods().filter(|p| is_labelled(p)).collect();
    // The active pod stays for as long as nothing is known against it.
    let mut holder = None;
    for pod in &labelled {
        match health(facts, valid, pod) {
            Health::Failing(why) => take(valid, pod, &why, draft),
            Health::Passing | Health::Unknown(_) | Health::Unasked
                if holder.is_none() && named.is_none_or(|n| n == pod.uid) =>
            {
                holder = Some(*pod);
            }
            Health::Passing | Health::Unknown(_) | Health::Unasked => {
                take(valid, pod, "another pod is the active one", draft);
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
    if named != Some(pod.uid.as_str()) {
        draft.steps.push(Step::Claim {
            status: json!({ "activeUid": pod.uid }),
            seen: vec![("/status/activeUid".into(), json!(named))],
            doing: format!("name pod {} the active one", pod.name),
            event: None,
        });
    }
    let fence = Fence {
        object: ObjectKey::new(crate::resources::ZONED_SET, &valid.namespace, &valid.name),
        pointer: "/status/activeUid".into(),
        expected: json!(pod.uid),
    };
    give(facts, valid, pod, Some(fence), draft);
}

fn give(facts: &Facts<'_>, valid: &Valid, pod: &PodFact, fence: Option<Fence>, draft: &mut Draft) {
    debug_assert!(!facts.snapshot.owner.meta.name.is_empty());
    let patch = json!({ "metadata": { "labels": { names::POD_ACTIVE: names::ACTIVE } } });
    let mut step = patch_pod(valid, pod, patch, format!("label pod {} active", pod.name));
    if let Step::Patch { fence: slot, event, .. } = &mut step {
        *slot = fence;
        *event = normal(Reason::ActivePod, format!("pod {} is active", pod.name));
    }
    draft.steps.push(step);
}

fn take(valid: &Valid, pod: &PodFact, why: &str, draft: &mut Draft) {
    let patch = json!({ "metadata": { "labels": { names::POD_ACTIVE: null } } });
    let mut step =
        patch_pod(valid, pod, patch, format!("take the active label from pod {}", pod.name));
    if let Step::Patch { event, .. } = &mut step {
        *event =
            normal(Reason::ActivePod, format!("pod {} is not active any more: {why}", pod.name));
    }
    draft.steps.push(step);
}

/// Does the pod carry the active label?
pub fn is_labelled(pod: &PodFact) -> bool {
    pod.labels.get(names::POD_ACTIVE).map(String::as_str) == Some(names::ACTIVE)
}

fn health(facts: &Facts<'_>, valid: &Valid, pod: &PodFact) -> Health {
    if pod.terminating {
        return Health::Failing("it is ending".into());
    }
    if matches!(pod.phase.as_str(), "Failed" | "Succeeded") {
        return Health::Failing(pod.words());
    }
    let mut so_far = Health::Passing;
    for container in valid.spec.active_passive_probes.keys() {
        let result = facts.snapshot.probes.get(&key(pod, container));
        match result.map(palladion_plan::Observed::known) {
            Some(Ok(result)) => match result.verdict {
                Verdict::Passing => {}
                Verdict::Failing => {
                    return Health::Failing(format!(
                        "the probe of container {container} fails: {}",
                        result.message
                    ));
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
            draft.trouble(Reason::ProbeUnanswered, format!("pod {}: {why}", pod.name));
            return;
        }
    }
}

/// Say why no pod is active.
fn report_none(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut failing = Vec::new();
    for pod in facts.pods() {
        match health(facts, valid, pod) {
            Health::Passing if pod.is_ready() => return,
            Health::Passing => {
                failing.push(format!("{}, though its probe passes", pod.words()));
            }
            Health::Failing(why) => failing.push(format!("pod {}: {why}", pod.name)),
            Health::Unknown(why) => failing.push(format!("pod {}: no answer: {why}", pod.name)),
            // It has been there for a moment only; the answer comes.
            Health::Unasked if pod.phase == "Running" => return,
            Health::Unasked => failing.push(pod.words()),
        }
    }
    let words = match failing.is_empty() {
        true => "there is no pod that could be".to_string(),
        false => failing.join("; "),
    };
    draft.trouble(Reason::NoActivePod, format!("no pod is active: {words}"));
}
