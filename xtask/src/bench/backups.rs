//! What backups and restores cost: memory of the process that moves bytes, what a second backup
//! sends again, what clients feel, and a restore against a copy of the same bytes.

mod clients;
mod memory;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use palladion_e2e::s3::{BUCKET, ID, S3, SECRET};
use palladion_testbed::Cluster;
use palladion_testbed::progress::{Lines, Progress};
use serde_json::{Value, json};

use super::jobs::data;
use super::report::Report;
use super::{CLUSTER, MANIFEST, MEMBERS, look};
use look::MIB;

const PATIENCE: Duration = Duration::from_secs(3600);
const LOOK: Duration = Duration::from_millis(200);
/// Of all volumes.
const NAMES: &str = "{{range .items}}{{.metadata.name}} {{end}}";
/// One row in a hundred is written again.
const ONE_IN: u32 = 100;
/// Of each member, in the second comparison of what clients feel.
const LIMIT: u64 = 8 * 1024 * 1024;
/// The highest rate that a spec takes.
const HIGHEST: u64 = 1_000_000_000_000;

/// Take the figures on a testbed with Palladion on it; so many MiB on each replica.
pub fn measure(cluster: &Cluster, mib: u32) -> Result<String> {
    let mut report = Report::default();
    disks(cluster, mib)?;
    let store = S3::on(cluster)?;
    Lines.note("creating a ring");
    create(cluster, &store)?;
    data::client(cluster)?;
    Lines.note(&format!("writing {mib} MiB to each replica"));
    data::write(cluster, mib, data::Copies::All)?;
    memory::watch(cluster)?;
    limit(cluster, Speed::Unlimited)?;
    Lines.note("a first backup");
    let (first, took) = backup(cluster, "first", &["bench"])?;
    speeds(cluster, (&first, took), &mut report)?;
    Lines.note("one row in a hundred again, and a second backup");
    data::rewrite(cluster, mib, ONE_IN)?;
    let (second, took) = backup(cluster, "second", &["bench"])?;
    let (sent, of) = (figure(&second, "sentBytes"), figure(&second, "bytes"));
    report.row(
        "second backup after 1 % of the rows were written again: bytes that are sent, of all that it has; its time",
        "≤ 1.5 %",
        format!("{:.2} %; {:.1} s", 100.0 * sent / of, took.as_secs_f64()),
    );
    restored(cluster, (&first, mib), &mut report)?;
    clients::compared(cluster, mib, &mut report)?;
    let most = memory::most(cluster)?;
    report.row(
        "most memory of a process that moves bytes, of all backups and the restore",
        "≤ 64 MiB",
        format!("{most:.1} MiB"),
    );
    let conditions = look::conditions(&format!(
        "{MANIFEST} (three members, Cassandra 5.0.5), {mib} MiB of random bytes on each replica, RF 3, on an ext4 in a file for each; the store is s3s-fs in one process on the same machine, so servers, agents, clients, store and disk share two cores"
    ))?;
    report.page("Figures of backups", "cargo xtask bench --suite backups", &conditions)
}

/// Volumes on disks of their own: how much of one is free, without which no backup begins, says
/// nothing of the machine then.
fn disks(cluster: &Cluster, mib: u32) -> Result<()> {
    let volumes = cluster.kubectl(&["get", "pv", "-o", "go-template", "--template", NAMES])?;
    for node in cluster.nodes() {
        cluster.power_off(node)?;
    }
    for volume in volumes.split_whitespace() {
        cluster.give_disk(volume, 1024 + mib * 16)?;
    }
    for node in cluster.nodes() {
        cluster.power_on(node)?;
    }
    let ready = ["wait", "--for=condition=Ready", "node", "--all", "--timeout=180s"];
    cluster.kubectl(&ready).map(drop)
}

fn create(cluster: &Cluster, store: &S3) -> Result<()> {
    let mut manifest = super::manifest()?;
    manifest["spec"]["backup"] = json!({ "store": { "s3": {
        "bucket": BUCKET, "prefix": "bench", "endpoint": store.endpoint(),
        "addressing": "Path", "transport": "Plain",
    } } });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": format!("{CLUSTER}-backup") },
        "stringData": { "accessKeyId": ID, "secretAccessKey": SECRET },
    });
    cluster.kubectl_with_input(&["apply", "-f", "-"], &secret.to_string())?;
    cluster.kubectl_with_input(&["apply", "-f", "-"], &manifest.to_string())?;
    let members = format!("{MEMBERS}/{MEMBERS}");
    look::wait_to_stay(cluster, "the members", |s| {
        s["members"] == members.as_str() && look::is_settled(s)
    })
    .map(drop)
}

/// Of the upload, against reading and hashing the same bytes by one process.
fn speeds(
    cluster: &Cluster,
    (status, took): (&Value, Duration),
    report: &mut Report,
) -> Result<()> {
    const READ: &str = "cd /var/lib/cassandra/data/bench && sync && s=$(date +%s.%N) && find . -name '*-Data.db' -not -path '*/snapshots/*' | xargs cat | sha256sum >/dev/null && e=$(date +%s.%N) && b=$(find . -name '*-Data.db' -not -path '*/snapshots/*' | xargs cat | wc -c) && echo $b $s $e";
    let (bytes, seconds) = timed(cluster, READ)?;
    let sent = figure(status, "sentBytes") / MIB;
    report.row(
        "first backup, all members at once: what is sent, from creation of the object to Complete, and both together",
        "",
        format!(
            "{sent:.0} MiB, {:.1} s, {:.0} MiB/s",
            took.as_secs_f64(),
            sent / took.as_secs_f64()
        ),
    );
    report.row(
        "`Data.db` files of one member, read and hashed by `cat | sha256sum`, nothing beside it",
        "",
        format!("{:.0} MiB/s", bytes / MIB / seconds),
    );
    Ok(())
}

/// All rows are thrown away and restored, against copying as many bytes once.
fn restored(cluster: &Cluster, (first, mib): (&Value, u32), report: &mut Report) -> Result<()> {
    Lines.note("a restore");
    const COPY: &str = "cd /var/lib/cassandra && rm -rf copied && mkdir copied && sync && s=$(date +%s.%N) && cp -r data/bench copied/ && sync && e=$(date +%s.%N) && b=$(du -sb copied | cut -f1) && rm -rf copied && echo $b $s $e";
    let (copied, seconds) = timed(cluster, COPY)?;
    let copy = copied / MIB / seconds;
    data::empty(cluster)?;
    let restore = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraRestore",
        "metadata": { "name": "back" },
        "spec": {
            "cluster": CLUSTER, "mode": "Tables", "source": { "backup": "first" },
            "tables": [{ "from": "bench" }],
        },
    });
    let begun = Instant::now();
    cluster.kubectl_with_input(&["apply", "-f", "-"], &restore.to_string())?;
    let (status, took) = ended(cluster, "cassandrarestore", "back", begun)?;
    let (loaded, all) = (figure(&status, "bytes"), figure(first, "bytes"));
    ensure!(loaded > all * 0.5, "the restore has loaded {loaded} bytes of {all}: {status}");
    let (loaded, seconds) = (loaded / MIB, took.as_secs_f64());
    report.row(
        &format!("restore of {mib} MiB of rows, of which the backup has three copies, into the running ring: files loaded, time, and both together"),
        "",
        format!("{loaded:.0} MiB, {seconds:.1} s, {:.0} MiB/s", loaded / seconds),
    );
    report.row(
        "`cp -r` of one member's files and `sync`, nothing beside it",
        "",
        format!("{copy:.0} MiB/s"),
    );
    report.row(
        "time of the restore / time of copying as many bytes as it has loaded / ratio",
        "",
        format!("{seconds:.1} s / {:.1} s / {:.1}", loaded / copy, seconds * copy / loaded),
    );
    Ok(())
}

/// Bytes and seconds of a command on one member.
fn timed(cluster: &Cluster, command: &str) -> Result<(f64, f64)> {
    let pod = &look::member_pods(cluster)?[0];
    let said = data::in_server(cluster, pod, &["bash", "-c", command])?;
    let words: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [bytes, begin, end] = words[..] else {
        bail!("measuring on {pod}: {said}");
    };
    Ok((bytes, (end - begin).max(0.001)))
}

fn ask(cluster: &Cluster, name: &str, keyspaces: &[&str]) -> Result<()> {
    let backup = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraBackup",
        "metadata": { "name": name },
        "spec": { "cluster": CLUSTER, "keyspaces": keyspaces },
    });
    cluster.kubectl_with_input(&["apply", "-f", "-"], &backup.to_string()).map(drop)
}

fn backup(cluster: &Cluster, name: &str, keyspaces: &[&str]) -> Result<(Value, Duration)> {
    let begun = Instant::now();
    ask(cluster, name, keyspaces)?;
    ended(cluster, "cassandrabackup", name, begun)
}

fn ended(cluster: &Cluster, kind: &str, name: &str, begun: Instant) -> Result<(Value, Duration)> {
    while begun.elapsed() < PATIENCE {
        let status = look::get(cluster, &[kind, name])?["status"].clone();
        match status["phase"].as_str() {
            Some("Complete") => return Ok((status, begun.elapsed())),
            Some("Failed" | "Aborted") => bail!("{kind} {name} has failed: {status}"),
            _ => std::thread::sleep(LOOK),
        }
    }
    bail!("{kind} {name} has not ended")
}

/// Wait until members send.
fn sends(cluster: &Cluster, name: &str) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let status = look::get(cluster, &["cassandrabackup", name])?["status"].clone();
        match status["phase"].as_str() {
            Some("Uploading") => return Ok(()),
            Some("Complete" | "Failed" | "Aborted") => bail!("{name} was too fast: {status}"),
            _ => std::thread::sleep(LOOK),
        }
    }
    bail!("cassandrabackup {name} does not begin")
}

fn figure(status: &Value, name: &str) -> f64 {
    status["totals"][name].as_f64().unwrap_or_default()
}

/// How fast members send.
#[derive(Clone, Copy)]
enum Speed {
    /// As fast as it goes.
    Unlimited,
    /// As clients let them.
    AsFelt,
    /// So many bytes a second, always.
    Fixed(u64),
}

fn limit(cluster: &Cluster, speed: Speed) -> Result<()> {
    let (most, least) = match speed {
        Speed::Unlimited => (None, Some(HIGHEST)),
        Speed::AsFelt => (None, None),
        Speed::Fixed(bytes) => (Some(bytes), Some(bytes)),
    };
    let limits = json!({ "bytesPerSecond": most, "minimumBytesPerSecond": least });
    look::patch_spec(cluster, &json!({ "backup": { "limits": limits } })).context("setting limits")
}
