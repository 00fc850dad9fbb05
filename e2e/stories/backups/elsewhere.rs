//! Tables come into another ring, of another shape, with passwords and TLS as a new ring has
//! them, from a store that is not its own.

use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, a_ring, bed, s3, wait_for};
use serde_json::Value;

use super::restored::{BACKUP, backed_up};
use super::{SOON, every, store};

const ELSEWHERE: &str = "elsewhere";

/// Two members, whose own backups go elsewhere, too.
fn manifest(source: &str) -> String {
    let (endpoint, id, secret) = (store().endpoint(), s3::ID, s3::SECRET);
    let backup = format!(
        "backup: {{store: {{s3: {{bucket: backups, prefix: rings/{ELSEWHERE}, endpoint: \"{endpoint}\", addressing: Path, transport: Plain}}}}}}"
    );
    let wanted = a_ring().racks(&[("a", 1), ("b", 1)]).secure_by_default();
    let ring = wanted.line(Box::leak(backup.into_boxed_str())).manifest(ELSEWHERE);
    format!(
        "{ring}
---
apiVersion: v1
kind: Secret
metadata: {{name: {ELSEWHERE}-backup}}
stringData: {{accessKeyId: none, secretAccessKey: none, source.accessKeyId: {id}, source.secretAccessKey: {secret}, source.store: \"{source}\"}}
"
    )
}

fn restore() -> Value {
    bed().get(ELSEWHERE, "cassandrarestore", "moved").expect("get").unwrap_or_default()
}

pub fn with_passwords_and_tls() {
    let there = backed_up();
    let backup = bed().get(super::NAMESPACE, "cassandrabackup", BACKUP).expect("get").expect("it");
    let status = |name: &str| text(&backup, &format!("/status/{name}")).to_string();
    let place = format!("s3://{}/rings/demo", s3::BUCKET);
    let ring = Ring::with_client(bed(), ELSEWHERE).expect("a client");
    bed().apply(ELSEWHERE, &manifest(&format!("{place} http://another:1"))).expect("apply");
    ring.wait_ready(2).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let moved = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraRestore
metadata: {{name: moved}}
spec:
  cluster: {ELSEWHERE}
  mode: Tables
  source:
    store: {{s3: {{bucket: {}, prefix: rings/demo, endpoint: \"{endpoint}\", addressing: Path, transport: Plain}}}}
    repositoryID: {}
    backupID: {}
    manifestHash: {}
",
        s3::BUCKET,
        status("repositoryID"),
        status("id"),
        status("manifestHash"),
        endpoint = store().endpoint(),
    );
    bed().apply(ELSEWHERE, &moved).expect("the restore is accepted");
    // Credentials go to the place alone that they are for.
    wait_for("the restore to miss them", SOON, || {
        let told = condition(&restore(), "Complete");
        let is_named = told["message"].as_str().is_some_and(|said| said.contains("source.store"));
        Ok((told["reason"] == Reason::StoreUnreachable.as_str() && is_named).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", restore()["status"]));
    let right = format!("{place} {}", store().endpoint());
    bed().apply(ELSEWHERE, &manifest(&right)).expect("apply");
    let mut last = Value::Null;
    wait_for("the restore to end", SOON * 2, || {
        last = restore();
        Ok(last["status"]["endedAt"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&last, "/status/phase"), "Complete", "{}", last["status"]);
    assert_eq!(last["status"]["shares"].as_array().map(Vec::len), Some(3), "of three members");
    let secret = |key: &str| {
        let template = format!("go-template={{{{ .data.{key} | base64decode }}}}");
        let name = format!("{ELSEWHERE}-superuser");
        bed()
            .cluster
            .kubectl(&["get", "secret", &name, "-n", ELSEWHERE, "-o", &template])
            .expect("the Secret")
    };
    let map = bed().get(ELSEWHERE, "configmap", &format!("{ELSEWHERE}-client-ca"));
    let map = map.expect("get").expect("the authority for clients");
    let authority = map["data"]["ca.crt"].as_str().expect("the key `ca.crt`").to_string();
    let (user, password) = (secret("username"), secret("password"));
    let ask = |statement: &str| -> Vec<String> {
        let command = ["python3", "-c", PROGRAM, &authority, &user, &password, statement];
        let said = ring.in_client(&command).expect("an answer");
        said.lines().map(str::to_string).collect()
    };
    let here = every::rows_by(&ask, every::KEYSPACE);
    assert_eq!(here, every::rows(&there, every::KEYSPACE));
    let count = format!("SELECT count(*) FROM {}.rows", super::taken::TABLES);
    assert_eq!(ask(&count), there.cql(&[&count]).expect("a number"));
    bed().remove_namespace(ELSEWHERE).expect("removed");
}

/// A client with a password, over TLS.
const PROGRAM: &str = r"
import ssl, sys
from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
authority, user, password, statement = sys.argv[1:5]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.load_verify_locations(cadata=authority)
profile = ExecutionProfile(consistency_level=ConsistencyLevel.QUORUM, request_timeout=20)
cluster = Cluster(['elsewhere-client'], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, ssl_context=context, auth_provider=PlainTextAuthProvider(user, password), connect_timeout=20, control_connection_timeout=20)
for row in cluster.connect().execute(statement):
    print(*row)
cluster.shutdown()
";
