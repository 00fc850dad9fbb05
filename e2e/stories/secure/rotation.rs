//! Both authorities of a ring rotated while clients write: nobody is restarted and nothing fails,
//! also of clients that connect again and again; what the former authorities sign counts for
//! nothing afterwards, and their keys are gone.

use std::thread::JoinHandle;
use std::time::Duration;

use palladion_e2e::{Ring, Writes, a_ring, bed, wait_for};
use rcgen::{CertificateParams, DnType, Issuer, KeyPair};
use serde_json::{Value, json};

use super::by_default::{authority, of_secret};
use super::{Client, NAMESPACE, internode};

/// Servers read what changed within 11 minutes: three times of it, and what clients have.
const ROTATED_IN: Duration = Duration::from_secs(3600);
/// So long clients have.
const OVERLAP: u32 = 240;
/// In the pod of the client: while it is there, it connects.
const FLAG: &str = "/tmp/connects";
/// In the pod of the client: whom it trusts.
const TRUSTED: &str = "/tmp/trusted.pem";
const TASKS: [(&str, &str); 2] = [("members", "Internode"), ("clients", "Client")];

/// See the module.
pub fn both_are_rotated_under_load() {
    let wanted = a_ring().racks(&[("a", 2), ("b", 1)]).secure_by_default();
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    ring.wait_ready(wanted.members()).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let (user, password) = (of_secret("username"), of_secret("password"));
    let former = authority();
    let ring = ring.over_tls_as(&user, &password, &former).expect("files for it");
    Client { ring: &ring, user: &user, password: &password, authority: &former }
        .said(&[KEYSPACE, TABLE]);
    let pods = ring.pod_uids().expect("uids");
    let thief = stolen("internode-1");
    assert!(internode::is_taken(&ring, &thief), "whoever has the key gets in");
    ring.write_data(3).expect("rows over TLS");
    let writing = ring.writing(Writes::Rows).expect("writing");
    let connecting = connect(&user, &password, &former);
    for (name, purpose) in TASKS {
        bed().apply(NAMESPACE, &task(name, purpose)).expect("apply");
    }
    wait_for("clients to have time", ROTATED_IN, || {
        Ok(message("clients")?.contains("clients have until").then_some(()))
    })
    .expect("all members trust the new authority");
    let both = authority();
    assert_eq!(both.matches("BEGIN CERTIFICATE").count(), 2, "{both}");
    assert!(both.contains(former.trim()), "the former one is trusted meanwhile");
    trust(&both);
    for (name, _) in TASKS {
        wait_for("the rotation to end", ROTATED_IN, || Ok(has_ended(name)?.then_some(())))
            .unwrap_or_else(|error| panic!("{name}: {}: {error:#}", message(name).expect("task")));
        println!("{name}: {}", message(name).expect("task"));
    }
    ring.wait_settled().expect("nothing is left to do");
    let new = authority();
    assert!(new.matches("BEGIN CERTIFICATE").count() == 1 && !new.contains(former.trim()), "{new}");
    trust(&new);
    std::thread::sleep(Duration::from_secs(20));
    let came = connecting.end();
    println!("connected meanwhile: {came}");
    assert_eq!(came["failed"], 0, "{came}");
    assert!(came["connected"].as_u64().expect("a count") > 500, "{came}");
    let tally = writing.stop().expect("written");
    println!("{tally:?}");
    let ring = ring.over_tls_as(&user, &password, &new).expect("files for it");
    ring.check_data().expect("all rows, on every replica");
    assert_eq!(ring.pod_uids().expect("uids"), pods, "nobody was restarted");
    let client = Client { ring: &ring, user: &user, password: &password, authority: &former };
    nothing_of_the_former_counts(&ring, &client, &new, &thief);
    bed().remove_namespace(NAMESPACE).expect("removed");
}

fn nothing_of_the_former_counts(
    ring: &Ring<'_>,
    client: &Client<'_>,
    new: &str,
    thief: &(String, String),
) {
    assert!(client.is_kept_out(), "whoever trusts the former authority alone");
    let trusting = Client { authority: new, ..*client };
    let asked = trusting.said(&["SELECT cluster_name FROM system.local"]);
    assert!(!asked.starts_with("kept out"), "{asked}");
    assert!(!internode::is_taken(ring, thief), "a certificate of the former authority");
    assert!(internode::is_taken(ring, &stolen("internode-2")), "the question can tell");
    let known = &ring.cluster().expect("cluster")["status"]["authorities"];
    let names: Vec<&String> = known.as_object().expect("authorities").keys().collect();
    assert_eq!(names, ["client-2", "internode-2"]);
    for member in ring.members().expect("members") {
        for purpose in ["client", "internode"] {
            let trusts = &member["status"]["tls"][purpose]["trusts"];
            let new = &known[format!("{purpose}-2")]["fingerprint"];
            assert_eq!(*trusts, json!([new]), "{purpose} of {}", member["metadata"]["name"]);
        }
    }
    let mut kept: Vec<String> = keys().into_iter().map(|(name, _)| name).collect();
    kept.sort();
    assert_eq!(kept, ["client-2", "internode-2"], "the keys of the former ones are gone");
}

fn task(name: &str, purpose: &str) -> String {
    let mut body = json!({ "purpose": purpose });
    if purpose == "Client" {
        body["overlapSeconds"] = json!(OVERLAP);
    }
    json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTask",
        "metadata": { "name": name },
        "spec": { "cluster": NAMESPACE, "rotateAuthority": body },
    })
    .to_string()
}

fn condition(task: &str, type_: &str) -> anyhow::Result<Value> {
    let text = bed().kubectl(&format!("get cassandratask {task} -n {NAMESPACE} -o json"))?;
    let task: Value = serde_json::from_str(&text)?;
    let conditions = task["status"]["conditions"].as_array().cloned().unwrap_or_default();
    Ok(conditions.into_iter().find(|c| c["type"] == type_).unwrap_or_default())
}

fn message(task: &str) -> anyhow::Result<String> {
    let complete = condition(task, "Complete")?;
    Ok(complete["message"].as_str().unwrap_or_default().to_string())
}

fn has_ended(task: &str) -> anyhow::Result<bool> {
    let failed = condition(task, "Failed")?;
    anyhow::ensure!(failed["status"] != "True", "it has failed: {failed}");
    Ok(condition(task, "Complete")?["status"] == "True")
}

/// The keys that the operator has of this ring's authorities, by name: what somebody has who reads
/// the Secret.
fn keys() -> Vec<(String, Value)> {
    let get = "get secret palladion-authorities -n palladion-system -o go-template={{range$k,$v:=.data}}{{$v|base64decode}}{{\"\\n\"}}{{end}}";
    let words: Vec<&str> = get.split(' ').collect();
    let text = bed().cluster.kubectl(&words).expect("the Secret");
    let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = entries.filter(|entry| entry["namespace"] == NAMESPACE);
    ours.map(|entry| (entry["authority"].as_str().unwrap_or_default().to_string(), entry)).collect()
}

/// A certificate with its key that somebody signs who has the key of this authority.
fn stolen(authority: &str) -> (String, String) {
    let known = keys().into_iter().find(|(name, _)| name == authority);
    let (_, entry) = known.expect("its key");
    let text = |field: &str| entry[field].as_str().expect("PEM").to_string();
    let key = KeyPair::from_pem(&text("key")).expect("a key");
    let issuer = Issuer::from_ca_cert_pem(&text("certificate"), key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let mut leaf = CertificateParams::new(vec!["thief".to_string()]).expect("parameters");
    leaf.distinguished_name.push(DnType::CommonName, "thief");
    let leaf = leaf.signed_by(&key, &issuer).expect("a certificate");
    (leaf.pem(), key.serialize_pem())
}

/// A client that connects again and again.
struct Connecting(JoinHandle<String>);

fn connect(user: &str, password: &str, authority: &str) -> Connecting {
    trust(authority);
    bed().exec(NAMESPACE, "client", &["/bin/busybox", "touch", FLAG]).expect("a flag");
    let (user, password) = (user.to_string(), password.to_string());
    Connecting(std::thread::spawn(move || {
        let command = ["python3", "-c", PROGRAM, FLAG, TRUSTED, &user, &password];
        bed().exec(NAMESPACE, "client", &command).expect("a client that connects")
    }))
}

fn trust(authority: &str) {
    // As a kubelet does: replaced as a whole.
    const WRITE: &str =
        "import os, sys; open('/tmp/t', 'w').write(sys.argv[2]); os.rename('/tmp/t', sys.argv[1])";
    let command = ["python3", "-c", WRITE, TRUSTED, authority];
    bed().exec(NAMESPACE, "client", &command).expect("written");
}

impl Connecting {
    fn end(self) -> Value {
        bed()
            .exec(NAMESPACE, "client", &["/bin/busybox", "rm", "-f", FLAG])
            .expect("the flag is removed");
        let said = self.0.join().expect("it should end");
        let last = said.trim().lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|_| panic!("{said}"))
    }
}

const KEYSPACE: &str = "CREATE KEYSPACE IF NOT EXISTS rotated WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS rotated.rows (id int PRIMARY KEY)";

/// Each time a new connection to the next member, with what is trusted by then, and a row at
/// QUORUM.
const PROGRAM: &str = r#"
import json, os, socket, ssl, sys, time
from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import WhiteListRoundRobinPolicy
flag, trusted, user, password = sys.argv[1:5]
members = ['secure-dc1-%s.secure.svc' % name for name in ('a-0', 'a-1', 'b-0')]
connected, errors = 0, []
while os.path.exists(flag):
    member = members[(connected + len(errors)) % len(members)]
    try:
        address = socket.gethostbyname(member)
        profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([address]),
            consistency_level=ConsistencyLevel.QUORUM, request_timeout=20)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(trusted)
        cluster = Cluster([address], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, ssl_context=context,
            auth_provider=PlainTextAuthProvider(user, password), connect_timeout=20, control_connection_timeout=20)
        try:
            cluster.connect().execute('INSERT INTO rotated.rows (id) VALUES (%d)' % connected)
            connected += 1
        finally:
            cluster.shutdown()
    except Exception as error:
        errors.append('%s %d %r' % (member, time.time(), error))
    time.sleep(0.5)
print(json.dumps({'connected': connected, 'failed': len(errors), 'first': errors[:3]}))
"#;
