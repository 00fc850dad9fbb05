//! `cargo xtask demo`: a real Cassandra ring on a real Kubernetes, with proof
//! that it answers CQL.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use clap::Args;
use palladion_testbed::progress::{Lines, Progress};
use palladion_testbed::{Cluster, ClusterName, Config};
use serde_json::Value;

use crate::install;

#[derive(Args)]
pub struct Arguments {
    /// Remove the demo: no process, namespace, mount or cgroup stays
    #[arg(long)]
    down: bool,
    /// Which testbed it runs on
    #[arg(long, default_value = "palladion", value_parser = ClusterName::parse)]
    name: ClusterName,
}

const MANIFEST: &str = "examples/cassandra/two-racks.yaml";
const CLUSTER: &str = "two-racks";
/// A ring of three takes about a minute; ten times that means it will not come.
const PATIENCE: Duration = Duration::from_secs(600);
const TOOLS: &str = "palladion.dev/tools:dev";
/// What the client does: a keyspace with three copies, a row, and the row read back at QUORUM.
const CLIENT: &str = r#"
import ssl, sys
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra import ConsistencyLevel
profile = ExecutionProfile(consistency_level=ConsistencyLevel.QUORUM, request_timeout=20)
service, user, password, authority = sys.argv[1:5]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.load_verify_locations(cadata=authority)
cluster = Cluster([service], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, ssl_context=context,
    auth_provider=PlainTextAuthProvider(user, password), connect_timeout=20, control_connection_timeout=20)
session = cluster.connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS demo WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
session.execute("CREATE TABLE IF NOT EXISTS demo.greetings (id int PRIMARY KEY, text text)")
session.execute("INSERT INTO demo.greetings (id, text) VALUES (1, 'written at QUORUM to three copies')")
for row in session.execute("SELECT text FROM demo.greetings WHERE id = 1"):
    print("read back at QUORUM:", row.text)
print("members the client sees:", ", ".join(sorted(h.address + " in rack " + h.rack for h in cluster.metadata.all_hosts())))
cluster.shutdown()
"#;

pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.down {
        return Cluster::down(&arguments.name, &mut Lines);
    }
    let (cluster, said, took) = first_answer(&arguments.name)?;
    println!("\n{said}");
    println!("first CQL answer {:.0} s after the start of this command\n", took.as_secs_f64());
    show_ring(&cluster)?;
    hints(&cluster, &arguments.name);
    Ok(())
}

/// The demo's ring on a testbed, what it answered, and how long that took.
pub fn first_answer(name: &ClusterName) -> Result<(Cluster, String, Duration)> {
    let begin = Instant::now();
    let config = Config { name: name.clone(), ..Config::default() };
    let cluster = Cluster::up(&config, &mut Lines)?;
    install::install(&cluster, &[], &mut Lines)?;
    let manifest = install::root().join(MANIFEST);
    let manifest = manifest.to_string_lossy();
    Lines.note(&format!("applying {MANIFEST}"));
    cluster.kubectl(&["apply", "-f", &manifest])?;
    start_client(&cluster)?;
    wait_for_ring(&cluster, begin)?;
    let said = ask(&cluster)?;
    Ok((cluster, said, begin.elapsed()))
}

/// The client's pod starts while the ring forms.
fn start_client(cluster: &Cluster) -> Result<()> {
    if cluster.kubectl(&["get", "pod", "client"]).is_ok() {
        return Ok(());
    }
    let arguments = [
        "run",
        "client",
        "--image",
        TOOLS,
        "--image-pull-policy",
        "Never",
        "--restart",
        "Never",
        "--command",
        "--",
        "/bin/busybox",
        "sleep",
        "1000000",
    ];
    cluster.kubectl(&arguments).map(drop)
}

/// Say what happens until all members are ready, each thing once.
fn wait_for_ring(cluster: &Cluster, begin: Instant) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let mut last = String::new();
    while Instant::now() < deadline {
        let status = status(cluster);
        // One question that a busy machine leaves unanswered is no end.
        let words = match &status {
            Ok(status) => describe(status),
            Err(error) => format!("no answer: {error:#}"),
        };
        if words != last {
            eprintln!("[{:>4} s] {words}", begin.elapsed().as_secs());
            last = words;
        }
        if status.is_ok_and(|s| is_complete(&s)) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    bail!(
        "the ring did not form in {} s; it says: {last}. Next: cargo xtask testbed kubectl describe cassandracluster {CLUSTER}",
        PATIENCE.as_secs()
    )
}

fn status(cluster: &Cluster) -> Result<Value> {
    let text = cluster.kubectl(&["get", "cassandracluster", CLUSTER, "-o", "json"])?;
    let object: Value = serde_json::from_str(&text).context("reading the cluster's status")?;
    Ok(object["status"].clone())
}

fn condition<'a>(status: &'a Value, type_: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|c| c["type"] == type_)
}

fn describe(status: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let part = |type_: &str| {
        condition(status, type_).map(|c| format!("{}: {}", text(&c["reason"]), text(&c["message"])))
    };
    let members = status["members"].as_str().unwrap_or("0/?");
    let doing = part("Progressing").unwrap_or_else(|| "waiting for the operator".into());
    let trouble = condition(status, "Degraded")
        .filter(|c| c["status"] == "True")
        .and_then(|_| part("Degraded"));
    match trouble {
        Some(trouble) => format!("{members} members ready. {doing} (needs attention: {trouble})"),
        None => format!("{members} members ready. {doing}"),
    }
}

fn is_complete(status: &Value) -> bool {
    let members = status["members"].as_str().and_then(|m| m.split_once('/'));
    members.is_some_and(|(ready, wanted)| ready == wanted && ready != "0")
}

fn ask(cluster: &Cluster) -> Result<String> {
    let service = format!("{CLUSTER}-client.default.svc.cluster.local");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let said = access(cluster).and_then(|Access { user, password, authority }| {
            let who = [&service, &user, &password, &authority].map(String::as_str);
            let words = ["exec", "client", "--", "python3", "-c", CLIENT];
            cluster.kubectl(&[words.as_slice(), &who].concat())
        });
        match said {
            Ok(said) => return Ok(said),
            Err(error) if Instant::now() > deadline => {
                return Err(error.context("asking the ring by CQL"));
            }
            Err(_) => std::thread::sleep(Duration::from_secs(1)),
        }
    }
}

/// What a client of the ring needs: the operator has created it.
struct Access {
    user: String,
    password: String,
    authority: String,
}

fn access(cluster: &Cluster) -> Result<Access> {
    let part = |kind: &str, name: &str, pointer: &str| -> Result<String> {
        let text = cluster.kubectl(&["get", kind, name, "-o", "json"])?;
        let object: Value = serde_json::from_str(&text).context("reading what clients need")?;
        let part = object.pointer(pointer).and_then(Value::as_str);
        Ok(part.with_context(|| format!("{kind} {name} lacks {pointer}"))?.to_string())
    };
    let secret = format!("{CLUSTER}-superuser");
    let decoded = |pointer: &str| -> Result<String> {
        let text = BASE64.decode(part("secret", &secret, pointer)?).context("decoding base64")?;
        String::from_utf8(text).context("reading a user")
    };
    Ok(Access {
        user: decoded("/data/username")?,
        password: decoded("/data/password")?,
        authority: part("configmap", &format!("{CLUSTER}-client-ca"), "/data/ca.crt")?,
    })
}

/// The ring as each member sees it.
fn show_ring(cluster: &Cluster) -> Result<()> {
    let text = cluster.kubectl(&[
        "get",
        "cassandramembers",
        "-l",
        &format!("palladion.dev/cluster={CLUSTER}"),
        "-o",
        "json",
    ])?;
    let list: Value = serde_json::from_str(&text).context("reading the members")?;
    println!(
        "{:<20} {:<6} {:<16} {:<10} {:<38} SEES",
        "MEMBER", "RACK", "ADDRESS", "MODE", "HOST ID"
    );
    for member in list["items"].as_array().into_iter().flatten() {
        let field = |pointer: &str| member.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
        let sees = seen(&member["status"]["ring"]);
        println!(
            "{:<20} {:<6} {:<16} {:<10} {:<38} {sees}",
            field("/metadata/name"),
            field("/spec/rack"),
            field("/status/address"),
            field("/status/server/mode"),
            field("/status/hostID")
        );
    }
    Ok(())
}

/// What a member says of the ring; it may have said nothing yet.
fn seen(ring: &Value) -> String {
    let Some(members) = ring["members"].as_u64() else {
        return "not told yet".to_string();
    };
    match ring["exceptions"].as_array().map_or(0, Vec::len) {
        0 => format!("{members} members, all up and normal"),
        odd => format!("{members} members, {odd} not up and normal"),
    }
}

fn hints(cluster: &Cluster, name: &ClusterName) {
    // The commands mean this testbed when none is named.
    let named =
        if *name == ClusterName::default() { String::new() } else { format!(" --name {name}") };
    let kubectl = format!("cargo xtask testbed{named} kubectl");
    println!("\nTry next (each line works as it is):");
    println!("  export KUBECONFIG={}", cluster.kubeconfig().display());
    println!("  {kubectl} get cassandraclusters,cassandramembers,pods -o wide");
    println!(
        "  {kubectl} get secret {CLUSTER}-superuser -o jsonpath='{{.data.password}}' | base64 -d"
    );
    println!("  {kubectl} delete pod {CLUSTER}-dc1-a-1   # it comes back with its data");
    println!("  cargo xtask demo --down{named}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_that_has_told_nothing_is_not_said_to_see_all_well() {
        assert_eq!(seen(&Value::Null), "not told yet");
        let odd = json!({ "members": 3, "exceptions": [{ "liveness": "Down" }] });
        assert_eq!(seen(&odd), "3 members, 1 not up and normal");
        let well = json!({ "members": 3 });
        assert_eq!(seen(&well), "3 members, all up and normal");
    }
}
