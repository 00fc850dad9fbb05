//! The containers of a pod as far as decisions need them: the init containers in
//! their order, and those that run and are not ready.

use super::PodFact;
use jiff::Timestamp;
use serde_json::{Value, json};

/// An init container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitContainer {
    /// Its name.
    pub name: String,
    /// ID of its last start; `None` = it was never started.
    pub id: Option<String>,
    /// What it does.
    pub state: InitState,
    /// What it has said at its end.
    pub said: Option<String>,
    /// Its variables that are the operator's own, as its spec has them.
    pub variables: Vec<Value>,
}

/// What names of such variables begin with.
const OWN: &str = "PALLADION_";

/// What an init container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitState {
    /// It was not started, or will be started again.
    Waiting,
    /// It runs since this time, by the clock of its node.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended.
    Ended {
        /// Its exit code.
        code: i64,
    },
}

impl PodFact {
    /// Has it a node, and none of its containers was started yet? The kubelet prepares its
    /// volumes, or waits for what they are made from.
    pub fn awaits_volumes(&self) -> bool {
        let is_waiting = |c: &InitContainer| c.id.is_none() && c.state == InitState::Waiting;
        self.node.is_some()
            && !self.terminating
            && self.trouble.is_none()
            && self.running.is_empty()
            && !self.init.is_empty()
            && self.init.iter().all(is_waiting)
    }
}

/// What to keep of the init containers: those of the spec, in its order.
pub(super) fn project_init(object: &Value) -> Value {
    let statuses = object["status"]["initContainerStatuses"].as_array();
    let status = |name: &Value| {
        statuses.and_then(|all| all.iter().find(|s| s["name"] == *name)).unwrap_or(&Value::Null)
    };
    let names = object["spec"]["initContainers"].as_array().into_iter().flatten();
    let all = names.map(|container| {
        let name = &container["name"];
        let status = status(name);
        json!({
            "name": name,
            "id": status["containerID"],
            "since": status["state"]["running"]["startedAt"],
            "code": status["state"]["terminated"]["exitCode"],
            "said": status["state"]["terminated"]["message"],
            "variables": own_variables(container),
        })
    });
    all.collect()
}

/// Of other variables nothing is kept: there may be many, and a secret among them.
fn own_variables(container: &Value) -> Vec<Value> {
    let all = container["env"].as_array().into_iter().flatten();
    let is_own = |variable: &&Value| variable["name"].as_str().is_some_and(|n| n.starts_with(OWN));
    all.filter(is_own).cloned().collect()
}

/// Names of containers that run.
pub(super) fn project_running(object: &Value) -> Value {
    running(object).map(|s| s["name"].clone()).collect()
}

/// Names of containers that run and are not ready.
pub(super) fn project_unready(object: &Value) -> Value {
    running(object).filter(|s| s["ready"] == false).map(|s| s["name"].clone()).collect()
}

/// When the last of the containers that run was started.
pub(super) fn project_running_since(object: &Value) -> Value {
    let started = running(object).filter_map(|s| s["state"]["running"]["startedAt"].as_str());
    // All of them in the same notation, which sorts as the times do.
    started.max().map_or(Value::Null, Value::from)
}

fn running(object: &Value) -> impl Iterator<Item = &Value> {
    let statuses = object["status"]["containerStatuses"].as_array().into_iter().flatten();
    statuses.filter(|s| s["state"]["running"].is_object())
}

/// The init containers of a projected pod.
pub(super) fn read_init(projected: &Value) -> Vec<InitContainer> {
    let all = projected["init"].as_array().into_iter().flatten();
    all.map(|container| {
        let since = container["since"].as_str().and_then(|t| t.parse().ok());
        let state = match (since, container["code"].as_i64()) {
            (Some(since), _) => InitState::Running { since },
            (None, Some(code)) => InitState::Ended { code },
            (None, None) => InitState::Waiting,
        };
        let text = |field: &str| container[field].as_str().filter(|t| !t.is_empty());
        InitContainer {
            name: text("name").unwrap_or_default().to_string(),
            id: text("id").map(str::to_string),
            state,
            said: text("said").map(str::to_string),
            variables: container["variables"].as_array().cloned().unwrap_or_default(),
        }
    })
    .collect()
}

/// Names of containers in a list of a projected pod.
pub(super) fn read_names(projected: &Value) -> Vec<String> {
    let names = projected.as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn init_of(pod: Value) -> Vec<InitContainer> {
        read_init(&json!({ "init": project_init(&pod) }))
    }

    #[test]
    fn init_containers_are_in_the_order_of_the_spec_with_what_the_kubelet_says() {
        let pod = json!({
            "spec": { "initContainers": [{ "name": "first" }, { "name": "second" }, { "name": "third" }] },
            "status": { "initContainerStatuses": [
                { "name": "second", "containerID": "c://2", "state": { "running": { "startedAt": "2026-01-01T00:00:05Z" } } },
                { "name": "first", "containerID": "c://1", "state": { "terminated": { "exitCode": 0, "message": "done" } } },
                { "name": "third", "containerID": "", "state": { "waiting": { "reason": "PodInitializing" } } },
            ] },
        });
        let since = "2026-01-01T00:00:05Z".parse().expect("a time");
        let of = |name: &str, id: Option<&str>, state| InitContainer {
            name: name.into(),
            id: id.map(str::to_string),
            state,
            said: None,
            variables: Vec::new(),
        };
        let done = Some("done".to_string());
        assert_eq!(
            init_of(pod),
            [
                InitContainer {
                    said: done,
                    ..of("first", Some("c://1"), InitState::Ended { code: 0 })
                },
                of("second", Some("c://2"), InitState::Running { since }),
                of("third", None, InitState::Waiting),
            ]
        );
    }

    #[test]
    fn of_the_variables_of_an_init_container_those_of_the_operator_are_kept() {
        let own = json!({ "name": "PALLADION_CONFIG_KEY", "value": "kernel" });
        let secret = json!({ "name": "PASSWORD", "value": "s3cret" });
        let found = init_of(json!({ "spec": { "initContainers": [
            { "name": "init", "env": [secret, own] },
        ] } }));
        assert_eq!(found[0].variables, [own]);
    }

    #[test]
    fn before_the_kubelet_has_seen_a_pod_its_init_containers_wait() {
        let found = init_of(json!({ "spec": { "initContainers": [{ "name": "init" }] } }));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].state, InitState::Waiting);
        assert_eq!(init_of(json!({ "spec": {} })), []);
    }

    #[test]
    fn a_container_that_runs_and_is_not_ready_is_named() {
        let pod = json!({ "status": { "containerStatuses": [
            { "name": "a", "ready": false, "state": { "running": {} } },
            { "name": "b", "ready": true, "state": { "running": {} } },
            { "name": "c", "ready": false, "state": { "waiting": {} } },
        ] } });
        assert_eq!(read_names(&project_unready(&pod)), ["a"]);
        assert_eq!(read_names(&project_running(&pod)), ["a", "b"]);
    }
}
