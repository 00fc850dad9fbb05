//! Tasks, as the figures need them: created, followed to their end, taken back.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use palladion_testbed::Cluster;
use serde_json::{Value, json};

use super::super::{CLUSTER, look};

/// A repair of many GiB takes its time.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
const LOOK: Duration = Duration::from_millis(200);
const ENDS: [&str; 5] = ["Done", "Partial", "Refused", "Aborted", "Failed"];

/// Ask for this, as a user does.
pub fn create(cluster: &Cluster, name: &str, spec: &Value) -> Result<()> {
    let mut spec = spec.clone();
    spec["cluster"] = json!(CLUSTER);
    let task = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": name },
        "spec": spec,
    });
    cluster.kubectl_with_input(&["apply", "-f", "-"], &task.to_string()).map(drop)
}

/// Do this on all members, and say how long it took; the task goes again.
pub fn run(cluster: &Cluster, name: &str, spec: &Value) -> Result<Duration> {
    let begin = Instant::now();
    create(cluster, name, spec)?;
    let took = wait(cluster, name, "Done", begin)?;
    delete(cluster, name)?;
    Ok(took)
}

/// Take it back, and say after how long it has ended.
pub fn abort(cluster: &Cluster, name: &str) -> Result<Duration> {
    let begin = Instant::now();
    let patch = r#"{"spec":{"abort":true}}"#;
    cluster.kubectl(&["patch", "cassandratask", name, "--type=merge", "-p", patch])?;
    let took = wait(cluster, name, "Aborted", begin)?;
    delete(cluster, name)?;
    Ok(took)
}

/// Its status now.
pub fn status(cluster: &Cluster, name: &str) -> Result<Value> {
    Ok(look::get(cluster, &["cassandratask", name])?["status"].clone())
}

fn wait(cluster: &Cluster, name: &str, phase: &str, begin: Instant) -> Result<Duration> {
    while begin.elapsed() < PATIENCE {
        let status = status(cluster, name)?;
        let now = status["phase"].as_str().unwrap_or_default();
        if ENDS.contains(&now) {
            ensure!(now == phase, "task {name} is {now}: {status}");
            return Ok(begin.elapsed());
        }
        std::thread::sleep(LOOK);
    }
    bail!("waited {} s for task {name}", PATIENCE.as_secs())
}

fn delete(cluster: &Cluster, name: &str) -> Result<()> {
    cluster.kubectl(&["delete", "cassandratask", name]).map(drop)
}
