//! People who ask for a replacement: by label, by task.

use std::time::Duration;

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::json;

use super::{NAMESPACE, SOON};

pub(super) fn of_a_living_member(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let name = ring.member_names().expect("names")[0].clone();
    for kind in ["cassandramember", "service"] {
        bed()
            .kubectl(&format!("label {kind} {name} -n {NAMESPACE} palladion.dev/replace="))
            .expect("label");
        wait_for("the label to be taken off", SOON, || {
            let object = bed().get(NAMESPACE, kind, &name)?.unwrap_or_default();
            let label = &object["metadata"]["labels"]["palladion.dev/replace"];
            Ok(label.is_null().then_some(()))
        })
        .expect("consumed");
    }
    let words = wait_for("the refusal to be told", SOON, || {
        let told = told(Reason::MemberIsLive)?;
        Ok(told.into_iter().find(|t| t.contains("up and normal")))
    })
    .expect("told");
    assert!(words.contains(&name), "{words}");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(ring.member(&name).expect("member")["spec"]["replace"].is_null());
}

/// Events of the ring that say this.
fn told(reason: Reason) -> Result<Vec<String>> {
    let events = bed().list(NAMESPACE, "events.events.k8s.io")?;
    Ok(events
        .iter()
        .filter(|e| e["reason"] == reason.as_str())
        .map(|e| text(e, "/note").to_string())
        .collect())
}

/// Make a task that replaces a member; with its volume named, if one is given.
pub(super) fn ask_to_replace(task: &str, member: &str, volume_id: Option<&str>) {
    let mut replace = json!({ "member": member });
    if let Some(volume_id) = volume_id {
        replace["volumeID"] = json!(volume_id);
    }
    let manifest = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": task },
        "spec": { "cluster": NAMESPACE, "replace": replace },
    });
    bed().apply(NAMESPACE, &manifest.to_string()).expect("the task is accepted");
}

/// Wait until a task is in this phase, and return what its condition says.
pub(super) fn wait_task(task: &str, phase: &str, patience: Duration) -> String {
    wait_for(&format!("the task {task} to be {phase}"), patience, || {
        let task = bed().get(NAMESPACE, "cassandratask", task)?;
        let status = &task.unwrap_or_default()["status"];
        let message = text(status, "/conditions/0/message").to_string();
        Ok((status["phase"] == phase).then_some(message))
    })
    .expect("the task should come to that")
}

pub(super) fn that_cannot_be_done(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let name = ring.member_names().expect("names")[0].clone();
    for (task, member, volume, why) in [
        ("alive", name.as_str(), None, "it is up and normal"),
        ("nobody", "heal-dc1-c-0", None, "existing members: heal-dc1-a-0"),
        // That it lives comes first.
        ("volume", name.as_str(), Some("another"), "MemberIsLive: "),
    ] {
        ask_to_replace(task, member, volume);
        let words = wait_task(task, "Refused", SOON);
        assert!(words.contains(why), "{task}: {words}");
        // Who waits for the end of a task does not wait for ever.
        let waits = format!("wait cassandratask/{task} -n {NAMESPACE} --for=condition=Failed");
        bed().kubectl(&waits).expect("a refused task has failed");
    }
    // Whoever wants tasks out of the way says so, and the last of a kind stays all the same.
    for task in ["alive", "nobody", "volume"] {
        let patch = r#"-p={"spec":{"ttlSecondsAfterFinished":0}}"#;
        bed()
            .kubectl(&format!("patch cassandratask {task} -n {NAMESPACE} --type=merge {patch}"))
            .expect("the time of a task can be changed");
    }
    let left = || bed().list(NAMESPACE, "cassandratasks");
    wait_for("ended tasks to be deleted", SOON, || Ok((left()?.len() == 1).then_some(())))
        .expect("all but the last of their kind");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(left().expect("tasks").len(), 1, "the last of its kind is kept");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
}
