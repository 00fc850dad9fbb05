//! A ring from names and members alone: nothing is said of authentication and TLS, and nothing
//! was prepared.

use palladion_e2e::{Ring, a_ring, bed, wait_for};
use serde_json::{Value, json};

use super::hammer::Hammer;
use super::{
    COPIES, Client, NAMESPACE, SOON, a_password_changes, internode, only_who_should_gets_in, policy,
};

const FIRST: &str = "secure-dc1-a-0";
const SECOND: &str = "secure-dc1-b-0";

/// While it is created somebody tries to get in, and nobody does; then it lets in who has what the
/// operator has created.
pub fn lets_in_its_users_alone() {
    let wanted = a_ring().racks(&[("a", 1), ("b", 1)]).moves_under_load().secure_by_default();
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    let services = [FIRST, SECOND].map(|member| format!("{member}.{NAMESPACE}.svc"));
    let hammer = Hammer::begin(NAMESPACE, &services, FIRST);
    bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    ring.wait_ready(wanted.members()).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let came = hammer.end();
    println!("{came:?}");
    let forwarded = &came.forwarded;
    assert_eq!((came.in_, came.in_the_clear), (0, 0), "{came:?}");
    assert_eq!((forwarded.in_, forwarded.in_the_clear), (0, 0), "{came:?}");
    // The tries have met servers: one behind its seal, and then those that ask.
    assert!(came.kept_out > 10 && forwarded.sealed > 0 && forwarded.kept_out > 0, "{came:?}");
    was_sealed_once(&ring);
    let (user, password) = (of_secret("username"), of_secret("password"));
    let authority = authority();
    let ring = ring.over_tls_as(&user, &password, &authority).expect("files for it");
    let admin = Client { ring: &ring, user: &user, password: &password, authority: &authority };
    only_who_should_gets_in(&admin);
    internode::nobody_else_is_taken(&ring);
    ring.write_data(COPIES).expect("rows over TLS");
    ring.check_data().expect("all rows");
    a_password_changes(&ring, &admin);
    says_what_is_settled(&ring);
    policy::comes_is_put_back_and_goes(&ring);
    bed().remove_namespace(NAMESPACE).expect("removed");
}

/// The first member was started behind its seal, and then for clients; nobody else was.
fn was_sealed_once(ring: &Ring<'_>) {
    let causes = |member: &str| -> Vec<String> {
        let member = ring.member(member).expect("member");
        let starts = member["status"]["startHistory"].as_array().cloned().unwrap_or_default();
        starts.iter().filter_map(|s| s["cause"].as_str().map(str::to_string)).collect()
    };
    assert_eq!(causes(FIRST), ["Autonomous", "Initialize"], "newest first");
    assert_eq!(causes(SECOND), ["Join"]);
}

/// What the operator has put there: people read it with kubectl.
pub fn of_secret(key: &str) -> String {
    let template = format!("{{{{ .data.{key} | base64decode }}}}");
    let words = ["get", "secret", "secure-superuser", "-n", NAMESPACE, "-o"];
    let template = format!("go-template={template}");
    bed().cluster.kubectl(&[&words[..], &[template.as_str()]].concat()).expect("the Secret")
}

/// Whom clients trust.
pub fn authority() -> String {
    let text = bed()
        .kubectl(&format!("get configmap {NAMESPACE}-client-ca -n {NAMESPACE} -o json"))
        .expect("the authority for clients");
    let map: Value = serde_json::from_str(&text).expect("JSON");
    map["data"]["ca.crt"].as_str().expect("the key `ca.crt`").to_string()
}

fn says_what_is_settled(ring: &Ring<'_>) {
    let defaults = &ring.cluster().expect("cluster")["status"]["security"]["defaults"];
    let secure = json!({ "auth": "Password", "clientTls": "Require", "internodeTls": "Require" });
    assert_eq!(*defaults, secure);
}

/// A Secret that a user is to bring is waited for, with no server started; then the ring forms
/// with the user that it names.
pub fn waits_for_the_secret_of_a_user() {
    let asking = a_ring()
        .racks(&[("a", 1), ("b", 1)])
        .line("auth: {mode: Password, superuserSecretName: people}");
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    bed().apply(NAMESPACE, &asking.manifest(NAMESPACE)).expect("apply");
    wait_for("the first member to tell", SOON, || {
        let member = ring.member(FIRST)?;
        let said = member["status"]["server"]["message"].as_str().unwrap_or_default();
        Ok(said.contains("auth.superuserSecretName").then_some(()))
    })
    .expect("what it waits for");
    let starts = &ring.member(FIRST).expect("member")["status"]["startHistory"];
    assert!(starts.is_null(), "nobody was started: {starts}");
    let people = super::credential("people", "owner", "of the owner");
    bed().apply(NAMESPACE, &people).expect("apply");
    ring.wait_ready(2).expect("the ring should form");
    ring.wait_settled().expect("settled");
    was_sealed_once(&ring);
    let owner = Client { ring: &ring, user: "owner", password: "of the owner", authority: "" };
    assert!(!owner.is_kept_out(), "{}", owner.said(&["SELECT cluster_name FROM system.local"]));
    let default = Client { user: "cassandra", password: "cassandra", ..owner };
    assert!(default.is_kept_out(), "Cassandra's own superuser is closed");
    assert!(Client { user: "", ..default }.is_kept_out(), "nobody without a user");
    bed().remove_namespace(NAMESPACE).expect("removed");
}
