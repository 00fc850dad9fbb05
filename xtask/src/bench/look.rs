//! Reading the testbed for the figures.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use palladion_e2e::machines::is_ready;
use palladion_testbed::Cluster;
use palladion_testbed::audit::AuditCount;
use serde_json::{Value, json};

use super::CLUSTER;
use crate::install;

pub const MIB: f64 = 1024.0 * 1024.0;

pub fn is_write(count: &AuditCount) -> bool {
    matches!(count.verb.as_str(), "create" | "update" | "patch" | "delete")
        && count.resource != "leases"
        && count.resource != "events"
}

pub fn writes(counts: &[AuditCount]) -> usize {
    counts.iter().filter(|c| is_write(c)).map(|c| c.count).sum()
}

pub fn objects_only(counts: &[AuditCount]) -> usize {
    counts
        .iter()
        .filter(|c| is_write(c) && c.subresource.is_empty() && c.resource != "cassandramembers")
        .map(|c| c.count)
        .sum()
}

pub fn reads(counts: &[AuditCount]) -> usize {
    counts
        .iter()
        .filter(|c| matches!(c.verb.as_str(), "get" | "list") && c.resource != "leases")
        .map(|c| c.count)
        .sum()
}

pub fn watches(counts: &[AuditCount]) -> usize {
    counts.iter().filter(|c| c.verb == "watch").map(|c| c.count).sum()
}

pub fn get(cluster: &Cluster, words: &[&str]) -> Result<Value> {
    let mut all = vec!["get", "-o", "json"];
    all.extend(words);
    serde_json::from_str(&cluster.kubectl(&all)?).with_context(|| format!("reading {words:?}"))
}

pub fn is_settled(status: &Value) -> bool {
    progresses(status, "UpToDate")
}

/// Does the condition `Progressing` give this reason?
pub fn progresses(status: &Value, reason: &str) -> bool {
    status["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|c| c["type"] == "Progressing" && c["reason"] == reason)
}

/// Is this so of the cluster's status now?
pub fn status(cluster: &Cluster, is_so: impl Fn(&Value) -> bool) -> Result<bool> {
    Ok(is_so(&get(cluster, &["cassandracluster", CLUSTER])?["status"]))
}

pub fn wait(cluster: &Cluster, what: &str, done: impl Fn(&Value) -> bool) -> Result<()> {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(300) {
        if done(&get(cluster, &["cassandracluster", CLUSTER])?["status"]) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    bail!("waited 300 s for {what}")
}

/// How long a thing must stay so to be at rest: between two steps an operator
/// may have nothing to do for a moment.
const STAYS: Duration = Duration::from_secs(10);

/// Wait until this is so and stays so; since when it is.
pub fn wait_to_stay(
    cluster: &Cluster,
    what: &str,
    is_so: impl Fn(&Value) -> bool,
) -> Result<Instant> {
    let begin = Instant::now();
    let mut since = None;
    while begin.elapsed() < Duration::from_secs(300) {
        if !status(cluster, &is_so)? {
            since = None;
        } else if let since = *since.get_or_insert_with(Instant::now)
            && since.elapsed() >= STAYS
        {
            return Ok(since);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    bail!("waited 300 s for {what}")
}

/// Resident memory from the operator's own metrics, in MiB.
pub fn operator_memory(cluster: &Cluster) -> Result<f64> {
    let pods = get(
        cluster,
        &["pods", "-n", install::NAMESPACE, "-l", "app.kubernetes.io/name=palladion-operator"],
    )?;
    let ip: Ipv4Addr = pods["items"][0]["status"]["podIP"]
        .as_str()
        .context("the operator has no address")?
        .parse()
        .context("reading the operator's address")?;
    let port = cluster.forward(SocketAddrV4::new(ip, 8080))?;
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))
        .context("asking the operator for its metrics")?;
    std::io::Write::write_all(&mut stream, b"GET /metrics HTTP/1.0\r\n\r\n")?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text)?;
    let line = text.lines().find(|l| l.contains("resident_memory_bytes") && !l.starts_with('#'));
    let bytes: f64 = line
        .and_then(|l| l.split_whitespace().last())
        .context("no resident memory among the operator's metrics")?
        .parse()?;
    Ok(bytes / MIB)
}

/// The pods of the ring's members.
pub fn pods(cluster: &Cluster) -> Result<Vec<Value>> {
    let of_ring = format!("palladion.dev/cluster={CLUSTER}");
    let pods = get(cluster, &["pods", "-l", &of_ring])?;
    let items = pods["items"].as_array();
    Ok(items.context("listing the members' pods")?.clone())
}

pub fn member_pods(cluster: &Cluster) -> Result<Vec<String>> {
    let name = |p: &Value| p["metadata"]["name"].as_str().map(str::to_string);
    Ok(pods(cluster)?.iter().filter_map(name).collect())
}

/// Change the spec of the cluster.
pub fn patch_spec(cluster: &Cluster, spec: &Value) -> Result<()> {
    let patch = json!({ "spec": spec }).to_string();
    let words = ["patch", "cassandracluster", CLUSTER, "--type=merge", "-p"];
    cluster.kubectl(&[&words[..], &[&patch]].concat()).map(drop)
}

/// Resident memory of init and agent of a member.
pub struct AgentMemory {
    /// The sum of both, in MiB: what they share is counted twice.
    pub resident: f64,
    /// The sum of their proportional shares, in MiB: what they share counts once.
    pub proportional: f64,
}

/// The largest sums of init and agent over the members.
pub fn agent_memory(cluster: &Cluster) -> Result<AgentMemory> {
    let script = "for p in /proc/[0-9]*; do if tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '^/mnt/shared/palladion-agent'; then grep -E '^(Rss|Pss):' $p/smaps_rollup; fi; done";
    let mut largest = AgentMemory { resident: 0.0, proportional: 0.0 };
    for pod in member_pods(cluster)? {
        let text =
            cluster.kubectl(&["exec", &pod, "-c", "cassandra", "--", "bash", "-c", script])?;
        let sum = |name: &str| -> f64 {
            let lines = text.lines().filter(|l| l.starts_with(name));
            let kib = lines.filter_map(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
            kib.sum::<f64>() / 1024.0
        };
        largest.resident = largest.resident.max(sum("Rss:"));
        largest.proportional = largest.proportional.max(sum("Pss:"));
    }
    if largest.resident == 0.0 {
        bail!("reading the memory of the agents: none was found");
    }
    Ok(largest)
}

/// Processor time of init and agent of all members so far, in seconds.
pub fn agent_cpu(cluster: &Cluster) -> Result<f64> {
    let script = "for p in /proc/[0-9]*; do if tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '^/mnt/shared/palladion-agent'; then cut -d')' -f2 $p/stat | cut -d' ' -f13,14; fi; done";
    let mut ticks = 0.0;
    for pod in member_pods(cluster)? {
        let text =
            cluster.kubectl(&["exec", &pod, "-c", "cassandra", "--", "bash", "-c", script])?;
        ticks += text.split_whitespace().filter_map(|n| n.parse::<f64>().ok()).sum::<f64>();
    }
    // The kernel counts in hundredths of a second wherever Kubernetes runs.
    Ok(ticks / 100.0)
}

/// When each member's server was first started and when it was NORMAL, in
/// seconds since 1970, in the order of their starts. Members tell whole seconds.
pub fn first_starts(cluster: &Cluster) -> Result<Vec<[f64; 2]>> {
    let members = get(cluster, &["cassandramembers"])?;
    let mut starts: Vec<[f64; 2]> = Vec::new();
    for member in members["items"].as_array().into_iter().flatten() {
        let history = member["status"]["startHistory"].as_array();
        let first =
            history.and_then(|h| h.last()).context("a member has no start in its history")?;
        let at = |field: &str| -> Result<f64> {
            let text = first[field].as_str().context("a start has no time")?;
            seconds(text)
        };
        starts.push([at("startedAt")?, at("normalAt")?]);
    }
    starts.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Ok(starts)
}

fn seconds(text: &str) -> Result<f64> {
    let output = Command::new("date")
        .args(["-u", "-d", text, "+%s.%N"])
        .output()
        .context("reading a time")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

/// Now, in seconds since 1970.
pub fn now() -> Result<f64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(since.as_secs_f64())
}

/// How many pods of the ring are ready.
pub fn ready_pods(cluster: &Cluster) -> Result<usize> {
    Ok(pods(cluster)?.iter().filter(|p| is_ready(p)).count())
}

pub fn conditions(what: &str) -> Result<String> {
    Ok(format!("{}; Kubernetes 1.34 with three nodes on this one machine; {what}", machine()?))
}

/// This machine, and how busy it is.
pub fn machine() -> Result<String> {
    let read =
        |path: &str| std::fs::read_to_string(path).with_context(|| format!("reading {path}"));
    let cpu = read("/proc/cpuinfo")?;
    let cores = cpu.lines().filter(|l| l.starts_with("processor")).count();
    let memory = read("/proc/meminfo")?;
    let total: f64 = memory
        .lines()
        .next()
        .and_then(|l| l.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or_default();
    let load = read("/proc/loadavg")?;
    Ok(format!(
        "{cores} cores, {:.0} GiB of memory, load {} at the end",
        total / 1024.0 / 1024.0,
        load.split_whitespace().next().unwrap_or("?")
    ))
}

/// Now, as Kubernetes writes times.
pub fn clock() -> Result<String> {
    let output = Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .context("reading the clock")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Steps that the operator has carried out since, in its log's words.
pub fn steps_since(cluster: &Cluster, since: &str) -> Result<Vec<String>> {
    let since = format!("--since-time={since}");
    let log = cluster.kubectl(&[
        "logs",
        "deployment/palladion-operator",
        "-n",
        install::NAMESPACE,
        &since,
    ])?;
    let lines = log.lines().filter(|l| l.contains("step carried out"));
    lines
        .map(|line| {
            let line: Value = serde_json::from_str(line).context("reading the operator's log")?;
            let step = line["fields"]["step"].as_str().or(line["step"].as_str());
            Ok(step.context("a step without words in the operator's log")?.to_string())
        })
        .collect()
}

/// Writes of the cluster's status.
pub fn status_writes(counts: &[AuditCount]) -> usize {
    let of_status = |c: &&AuditCount| {
        is_write(c) && c.resource == "cassandraclusters" && c.subresource == "status"
    };
    counts.iter().filter(of_status).map(|c| c.count).sum()
}
