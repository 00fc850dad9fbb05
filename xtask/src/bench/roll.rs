//! Every member is restarted, one after the other, while a client reads and
//! writes at QUORUM.

use std::time::{Duration, Instant};

use anyhow::Result;
use palladion_e2e::wait_for;
use palladion_testbed::Cluster;
use serde_json::{Value, json};

use super::look;
use super::report::Report;
use super::{CLUSTER, MEMBERS};

/// The pod with the client.
const CLIENT: &str = "bench-client";
/// A server must be known to drivers before the next one goes.
const PATIENCE: Duration = Duration::from_secs(400);

/// Writes and reads back, some twenty times a second until told to stop, and counts what failed
/// although the driver tried the next host three times.
const PROGRAM: &str = r#"
import os, sys, time, uuid
from cassandra import ConsistencyLevel
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import RetryPolicy, RoundRobinPolicy
from cassandra.query import SimpleStatement
class NextHost(RetryPolicy):
    def again(self, retry_num):
        return (self.RETRY_NEXT_HOST, None) if retry_num < 3 else (self.RETHROW, None)
    def on_read_timeout(self, *a, **k): return self.again(k.get('retry_num', a[-1]))
    def on_write_timeout(self, *a, **k): return self.again(k.get('retry_num', a[-1]))
    def on_unavailable(self, *a, **k): return self.again(k.get('retry_num', a[-1]))
    def on_request_error(self, *a, **k): return self.again(k.get('retry_num', a[-1]))
profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), retry_policy=NextHost(), consistency_level=ConsistencyLevel.QUORUM, request_timeout=10)
cluster = Cluster([sys.argv[1]], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=20)
session = cluster.connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS bench WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
session.execute("CREATE TABLE IF NOT EXISTS bench.rows (id uuid PRIMARY KEY, text text)")
open('/tmp/began', 'w').close()
done = failed = 0
why = {}
while not os.path.exists('/tmp/stop') and done < 2000000:
    key = uuid.uuid4()
    time.sleep(0.02)
    for text in ("INSERT INTO bench.rows (id, text) VALUES (%s, 'x')", "SELECT text FROM bench.rows WHERE id = %s"):
        done += 1
        try:
            rows = session.execute(SimpleStatement(text, is_idempotent=True), (key,))
            if text.startswith('SELECT') and rows.one() is None:
                raise Exception('a row that was written is not found')
        except Exception as error:
            failed += 1
            why[type(error).__name__ + ': ' + str(error)[:120]] = why.get(type(error).__name__, 0) + 1
print('done', done, 'failed', failed, why)
"#;

/// A change of the environment, which every member has to restart for.
pub fn under_load(cluster: &Cluster, report: &mut Report) -> Result<()> {
    let image = "--image=palladion.dev/tools:dev";
    let mut run = vec!["run", CLIENT, image, "--image-pull-policy=Never"];
    run.extend(["--restart=Never", "--command", "--"]);
    let host = format!("{CLUSTER}-client");
    run.extend(["python3", "-c", PROGRAM, &host]);
    cluster.kubectl(&run)?;
    until("the client to have begun", || {
        let began = cluster.kubectl(&["exec", CLIENT, "--", "ls", "/tmp/began"]);
        Ok(began.is_ok())
    })?;
    let before = uids(cluster)?;
    let begin = Instant::now();
    let env = json!({ "env": [{ "name": "RESTARTED_BY", "value": "bench" }] });
    look::patch_spec(cluster, &env)?;
    until("every member to be restarted", || {
        let after = uids(cluster)?;
        let all_new = after.iter().all(|uid| !before.contains(uid));
        let members = usize::try_from(MEMBERS)?;
        Ok(all_new && after.len() == members && look::status(cluster, look::is_settled)?)
    })?;
    let took = begin.elapsed().as_secs_f64();
    cluster.kubectl(&["exec", CLIENT, "--", "touch", "/tmp/stop"])?;
    let mut said = String::new();
    until("the client to end", || {
        said = cluster.kubectl(&["logs", CLIENT])?;
        Ok(said.contains("done "))
    })?;
    report.row(
        "QUORUM requests that failed during a rolling restart, RF 3, after retries of the driver",
        "0",
        said.trim(),
    );
    report.row("rolling restart of all members", "", format!("{took:.1} s"));
    Ok(())
}

fn uids(cluster: &Cluster) -> Result<Vec<String>> {
    let uid = |p: &Value| p["metadata"]["uid"].as_str().map(str::to_string);
    Ok(look::pods(cluster)?.iter().filter_map(uid).collect())
}

fn until(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    wait_for(what, PATIENCE, || Ok(is_so()?.then_some(())))
}
