//! Tables come into another ring, of another shape, with passwords and TLS as a new ring has
//! them, from a store that is not its own.

use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, a_ring, bed, s3, wait_for};
use serde_json::Value;

use super::login::Login;
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
    let superuser = Login::superuser(ELSEWHERE);
    let ask = |statement: &str| superuser.ask("QUORUM", &[statement]).expect("an answer");
    let here = every::rows_by(&ask, every::KEYSPACE);
    assert_eq!(here, every::rows(&there, every::KEYSPACE));
    let count = format!("SELECT count(*) FROM {}.rows", super::taken::TABLES);
    assert_eq!(ask(&count), there.cql(&[&count]).expect("a number"));
    bed().remove_namespace(ELSEWHERE).expect("removed");
}
