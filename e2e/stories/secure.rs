//! Rings whose servers ask for a user and a password, and take clients and each other over TLS
//! alone: by default, and as the spec says; they grow and shrink, and a wrong password is told.
//! Others that are to ask without the Secret for it.

mod audit;
mod by_default;
mod hammer;
mod internode;
mod policy;
mod rotation;
mod sidecar;

use std::time::Duration;

use hammer::Hammer;
use palladion_api::reasons::Reason;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, Writes, a_ring, bed, wait_for};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::json;

const NAMESPACE: &str = "secure";
const SOON: Duration = Duration::from_secs(180);
/// A kubelet brings a changed Secret into a pod within a minute and a half.
const SECRET: Duration = Duration::from_secs(300);
/// A member, or two, one after the other.
const RESTARTS_IN: Duration = Duration::from_secs(600);
/// Of each row.
const COPIES: u32 = 2;

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .step(
            "a ring from names and members alone lets in its users alone",
            by_default::lets_in_its_users_alone,
        )
        .step("a ring with authentication and client TLS grows and shrinks", grows_and_shrinks)
        .in_soak()
        .step(
            "a ring in the clear takes to TLS between members under load, and back",
            internode::there_and_back_under_load,
        )
        .in_soak()
        .step(
            "a lost authority of the members is followed by another without a restart",
            internode::a_lost_authority_is_followed,
        )
        .in_soak()
        .step(
            "both authorities are rotated under load without a restart",
            rotation::both_are_rotated_under_load,
        )
        .in_soak()
        .step(
            "authentication without its Secret stops at the first member until it comes",
            stops_before_it_locks_out,
        )
        .in_soak()
        .step(
            "a ring whose superuser a user is to name waits for the Secret with nobody started",
            by_default::waits_for_the_secret_of_a_user,
        )
        .in_soak()
        .step(
            "a sidecar reaches the network of the pod alone",
            sidecar::reaches_the_network_of_the_pod_alone,
        )
        .in_soak()
        .step("what clients do stands in the log of the servers", audit::says_who_did_what)
        .in_soak()
        .into()
}

fn members(a: u32) -> WantedRing {
    with_tls(
        a,
        "tls: {internode: {mode: Require, certificates: {operator: {}}}, client: {mode: Require, certificates: {secretName: secure-tls}}}",
    )
}

fn with_tls(a: u32, tls: &'static str) -> WantedRing {
    a_ring()
        .racks(&[("a", a), ("b", 1)])
        .moves_under_load()
        .line("auth: {mode: Password}")
        .line(tls)
}

/// An authority, and a certificate of it with its key: PEM.
fn certificate() -> (String, String, String) {
    let mut of_authority = CertificateParams::new(Vec::new()).expect("parameters");
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // With the name of its issuer a certificate counts as one that signed itself.
    of_authority.distinguished_name.push(DnType::CommonName, "authority of the story");
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(of_authority, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names = vec![format!("{NAMESPACE}-client.{NAMESPACE}.svc")];
    let mut of_leaf = CertificateParams::new(names).expect("parameters");
    of_leaf.distinguished_name.push(DnType::CommonName, NAMESPACE);
    let leaf = of_leaf.signed_by(&key, &authority).expect("a certificate");
    (authority.pem(), leaf.pem(), key.serialize_pem())
}

fn secret(name: &str, type_: &str, data: &serde_json::Value) -> String {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name },
        "type": type_, "stringData": data,
    })
    .to_string()
}

fn credential(name: &str, user: &str, password: &str) -> String {
    let data = json!({ "username": user, "password": password });
    secret(name, "kubernetes.io/basic-auth", &data)
}

/// Statements of a client, with TLS or without; the rows of the last one, or
/// why the client did not get in.
struct Client<'a> {
    ring: &'a Ring<'a>,
    user: &'a str,
    password: &'a str,
    authority: &'a str,
}

impl Client<'_> {
    fn said(&self, statements: &[&str]) -> String {
        let mut command = vec!["python3", "-c", PROGRAM, self.authority, self.user, self.password];
        command.extend(statements);
        self.ring.in_client(&command).expect("an answer")
    }

    fn is_kept_out(&self) -> bool {
        self.said(&["SELECT cluster_name FROM system.local"]).starts_with("kept out")
    }
}

/// A ring of three that grows and shrinks before the password changes.
fn grows_and_shrinks() {
    secured(&members(2), &[(members(3), 4), (members(2), 3)]);
}

fn secured(wanted: &WantedRing, moves: &[(WantedRing, u32)]) {
    let (authority, leaf, key) = certificate();
    let tls = json!({ "tls.crt": leaf, "tls.key": key, "ca.crt": authority });
    let manifest = [
        credential("secure-agents", "palladion", "first"),
        credential("secure-superuser", "admin", "of the admin"),
        secret("secure-tls", "kubernetes.io/tls", &tls),
        wanted.manifest(NAMESPACE),
    ]
    .join("\n---\n");
    let ring = Ring::create_from(bed(), NAMESPACE, &manifest, wanted.members())
        .expect("the ring should form");
    let ring = ring.over_tls_as("admin", "of the admin", &authority).expect("files for it");
    let admin =
        Client { ring: &ring, user: "admin", password: "of the admin", authority: &authority };
    ring.wait_settled().expect("settled");
    assert_eq!(ring.cluster().expect("cluster")["status"]["systemReplication"], wanted.members());
    only_who_should_gets_in(&admin);
    internode::nobody_else_is_taken(&ring);
    ring.write_data(COPIES).expect("rows over TLS");
    ring.check_data().expect("all rows");
    for (next, all) in moves {
        let writing = ring.writing(Writes::Rows).expect("writing");
        bed().apply(NAMESPACE, &next.manifest(NAMESPACE)).expect("apply");
        ring.wait_members(*all).expect("as many as wanted");
        writing.stop().expect("written");
        ring.check_data().expect("all rows, on every replica");
    }
    a_password_changes(&ring, &admin);
    the_operator_signs(&ring, &admin);
    bed().remove_namespace(NAMESPACE).expect("removed");
}

/// From the Secret to certificates that the operator signs, member by member: who
/// trusts the ring's own authority gets in, who trusts the former one alone does not.
fn the_operator_signs(ring: &Ring<'_>, admin: &Client<'_>) {
    let before = ring.pod_uids().expect("uids");
    let wanted = with_tls(
        2,
        "tls: {internode: {mode: Require, certificates: {operator: {}}}, client: {mode: Require, certificates: {operator: {}}}}",
    );
    bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    wait_for("all members to restart", RESTARTS_IN, || {
        let now = ring.pod_uids()?;
        Ok((now.len() == 3 && now.iter().all(|pod| !before.contains(pod))).then_some(()))
    })
    .expect("each restarts with its own certificate");
    ring.wait_members(3).expect("all ready");
    let authority = by_default::authority();
    let trusting = Client { authority: &authority, ..*admin };
    assert!(
        !trusting.is_kept_out(),
        "{}",
        trusting.said(&["SELECT cluster_name FROM system.local"])
    );
    assert!(admin.is_kept_out(), "no server uses the Secret any more");
    let keys =
        bed().kubectl(&format!("get cassandramembers -n {NAMESPACE} -o json")).expect("members");
    assert!(keys.contains("CERTIFICATE REQUEST") && !keys.contains("PRIVATE KEY"));
}

fn only_who_should_gets_in(admin: &Client<'_>) {
    assert!(!admin.is_kept_out(), "{}", admin.said(&["SELECT cluster_name FROM system.local"]));
    let default = Client { user: "cassandra", password: "cassandra", ..*admin };
    assert!(default.is_kept_out(), "Cassandra's own superuser is closed");
    assert!(Client { user: "", ..*admin }.is_kept_out(), "nobody without a user");
    assert!(Client { authority: "", ..*admin }.is_kept_out(), "nobody without TLS");
}

/// A wrong password is told; a right one is taken without a restart.
fn a_password_changes(ring: &Ring<'_>, admin: &Client<'_>) {
    let uids = ring.pod_uids().expect("uids");
    let wrong = credential("secure-agents", "palladion", "second");
    bed().apply(NAMESPACE, &wrong).expect("apply");
    let told = ring.wait_reason("Degraded", Reason::CredentialsRefused, SECRET).expect("told");
    assert!(told.contains("secure-agents"), "{told}");
    admin.said(&["ALTER ROLE palladion WITH PASSWORD = 'second'"]);
    wait_for("Degraded to be False", SOON, || {
        let degraded = ring.condition("Degraded")?;
        Ok(degraded.filter(|c| c["status"] == "False").map(drop))
    })
    .expect("all is well again");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "nobody was restarted");
}

/// Authentication is turned on without the Secret of the agents: one member has
/// restarted, behind its seal, the others serve as before. With the Secret the rollout
/// goes on. At no time is that member open to the user that everybody knows, whom the
/// servers have made while they asked nobody.
fn stops_before_it_locks_out() {
    let plain = || a_ring().racks(&[("a", 2), ("b", 1)]);
    let ring = Ring::create(bed(), NAMESPACE, &plain()).expect("the ring should form");
    let before = ring.pod_uids().expect("uids");
    let renewed = || {
        let now = ring.pod_uids().expect("uids").into_iter();
        now.filter(|pod| !before.contains(pod)).map(|(name, _)| name).collect::<Vec<_>>()
    };
    let asking = plain().line("auth: {mode: Password}");
    bed().apply(NAMESPACE, &asking.manifest(NAMESPACE)).expect("apply");
    ring.wait_told("Degraded", Reason::RolloutStuck, "secure-agents", RESTARTS_IN).expect("told");
    let first = renewed();
    assert_eq!(first.len(), 1, "{first:?}");
    std::thread::sleep(Duration::from_secs(60));
    assert_eq!(renewed(), first, "nobody else has restarted");
    let hammer = Hammer::begin(NAMESPACE, &[format!("{}.{NAMESPACE}.svc", first[0])], &first[0]);
    std::thread::sleep(Duration::from_secs(10));
    secrets();
    wait_for("the others to restart", RESTARTS_IN, || Ok((renewed().len() == 3).then_some(())))
        .expect("the rollout goes on");
    ring.wait_members(3).expect("all ready");
    let came = hammer.end();
    println!("{came:?}");
    assert_eq!((came.in_, came.forwarded.in_), (0, 0), "{came:?}");
    // The tries have met the seal, and then a server that asks.
    assert!(came.forwarded.sealed > 0 && came.in_the_clear > 10, "{came:?}");
    only_the_admin_gets_in(&ring);
    bed().remove_namespace(NAMESPACE).expect("removed");
}

fn secrets() {
    for (name, user, password) in [
        ("secure-agents", "palladion", "of the agents"),
        ("secure-superuser", "admin", "of the admin"),
    ] {
        bed().apply(NAMESPACE, &credential(name, user, password)).expect("apply");
    }
}

fn only_the_admin_gets_in(ring: &Ring<'_>) {
    let admin = Client { ring, user: "admin", password: "of the admin", authority: "" };
    assert!(!admin.is_kept_out(), "{}", admin.said(&["SELECT cluster_name FROM system.local"]));
    let default = Client { user: "cassandra", password: "cassandra", ..admin };
    assert!(default.is_kept_out(), "Cassandra's own superuser is closed");
    assert!(Client { user: "", ..default }.is_kept_out(), "nobody without a user");
}

const PROGRAM: &str = r#"
import ssl, sys
from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT, NoHostAvailable
authority, user, password = sys.argv[1:4]
context = None
if authority:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=authority)
profile = ExecutionProfile(consistency_level=ConsistencyLevel.QUORUM, request_timeout=20)
cluster = Cluster(['secure-client'], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, ssl_context=context,
    auth_provider=PlainTextAuthProvider(user, password) if user else None, connect_timeout=20, control_connection_timeout=20)
try:
    session = cluster.connect()
except NoHostAvailable as error:
    print('kept out', error)
    sys.exit()
rows = []
for statement in sys.argv[4:]:
    rows = session.execute(statement)
for row in rows:
    print(*row)
cluster.shutdown()
"#;
