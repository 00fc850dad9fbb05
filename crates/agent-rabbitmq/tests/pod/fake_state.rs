//! What the fake node and its command line share: a file in the scratch space, where the
//! agent finds no data of a node.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Of a pod whose scratch space this is.
pub struct State(PathBuf);

impl State {
    pub fn of(tmp: &Path) -> Self {
        Self(tmp.join("fake.json"))
    }

    /// In the working directory, as node and command line have it.
    pub fn here() -> Self {
        Self::of(Path::new("."))
    }

    pub fn read(&self) -> Value {
        let text = fs::read_to_string(&self.0).unwrap_or_else(|_| "{}".into());
        serde_json::from_str(&text).unwrap()
    }

    /// Change it; a reader sees one or the other.
    pub fn change<T>(&self, change: impl FnOnce(&mut Value) -> T) -> T {
        let mut state = self.read();
        let made = change(&mut state);
        let part = self.0.with_extension(std::process::id().to_string());
        fs::write(&part, state.to_string()).unwrap();
        fs::rename(part, &self.0).unwrap();
        made
    }

    /// A node that was never started.
    pub fn blank(&self, own: &str, flags: Option<&str>) {
        let enabled = |name: &str| flags.is_none_or(|all| all.split(',').any(|flag| flag == name));
        let flag = |name: &str, stability: &str, is: bool| json!({ "name": name, "stability": stability, "provided_by": "rabbit", "state": if is { "enabled" } else { "disabled" } });
        self.change(|state| {
            *state = json!({
                "app": true, "drained": false, "open": false, "members": [own],
                "away": state["away"], "joins": state["joins"], "hangs": state["hangs"], "inside": state["inside"], "refuse": state["refuse"], "vhosts": ["/"], "permissions": {}, "queues": [],
                "users": { "guest": "guest" }, "tags": { "guest": "administrator" },
                "flags": [
                    flag("quorum_queue", "stable", enabled("quorum_queue")),
                    flag("stream_queue", "stable", false),
                    flag("khepri_db", "experimental", false),
                ],
            });
        });
    }

    /// It has the tables of its cluster. The others are those that the cases name, and their users
    /// are the cluster's.
    pub fn joined(&self, own: &str) -> Vec<String> {
        let mut members = names(&self.read()["joins"]);
        members.push(own.to_string());
        members.sort();
        self.change(|state| {
            state["members"] = json!(members);
            state["users"] = json!({ "palladion": "agent-secret", "contrail": "user-secret" });
            state["tags"] = json!({ "palladion": "monitoring", "contrail": "management" });
            state["vhosts"] = json!(["/", "contrail"]);
            state["permissions"] = json!({ "contrail": ["contrail"] });
        });
        members
    }

    /// Does its application not get on with its start?
    pub fn hangs(&self) -> bool {
        self.read()["hangs"] == true
    }

    pub fn wait_while_it_hangs(&self) {
        while self.hangs() {
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Its command line takes so many seconds to list the queues.
    pub fn takes_its_time(&self) {
        let seconds = self.read()["slow"].as_u64().unwrap_or_default();
        std::thread::sleep(Duration::from_secs(seconds));
    }

    /// Does `join_cluster` not get to its end?
    pub fn hangs_inside(&self) -> bool {
        self.read()["inside"] == true
    }

    pub fn wait_while_it_hangs_inside(&self) {
        while self.hangs_inside() {
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub fn serves(&self) -> bool {
        let state = self.read();
        state["app"] == true && state["drained"] != true
    }
}

pub fn names(list: &Value) -> Vec<String> {
    let all = list.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|name| name.as_str().map(str::to_string)).collect()
}
