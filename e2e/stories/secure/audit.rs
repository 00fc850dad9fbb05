//! What clients do stands in the log of the servers, a line of JSON for each entry.

use palladion_e2e::{Ring, a_ring, bed};
use serde_json::Value;

use super::{Client, NAMESPACE};

const POD: &str = "secure-dc1-a-0";
const SECRET_OF_A_ROLE: &str = "nobody reads this";
/// A statement that would begin a line of its own, and end the text of its entry.
const FORGED: &str = "INSERT INTO loud.t (k, v) VALUES (1, 'a\"}\n{\"time\":\"2000-01-01\",\"audit\":\"user:nobody|\\')";

/// Who did what is there, also what failed; no password, and nothing of keyspaces that are left
/// out.
pub fn says_who_did_what() {
    let wanted = a_ring()
        .racks(&[("a", 1)])
        .line("auth: {mode: Password, superuserSecretName: people}")
        .line("audit: {excludedKeyspaces: [quiet]}");
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    let people = super::credential("people", "owner", "of the owner");
    bed().apply(NAMESPACE, &people).expect("apply");
    bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    ring.wait_ready(wanted.members()).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let owner = Client { ring: &ring, user: "owner", password: "of the owner", authority: "" };
    let replication = "WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}";
    let role = format!("CREATE ROLE clerk WITH PASSWORD = '{SECRET_OF_A_ROLE}' AND LOGIN = true");
    owner.said(&[
        &format!("CREATE KEYSPACE loud {replication}"),
        &format!("CREATE KEYSPACE quiet {replication}"),
        "CREATE TABLE loud.t (k int PRIMARY KEY, v text)",
        "CREATE TABLE quiet.t (k int PRIMARY KEY, v text)",
        FORGED,
        "INSERT INTO quiet.t (k, v) VALUES (1, 'of the quiet one')",
        &role,
    ]);
    assert!(Client { password: "wrong", ..owner }.is_kept_out());
    let log = bed().kubectl(&format!("logs -n {NAMESPACE} {POD} -c cassandra")).expect("its log");
    for password in [SECRET_OF_A_ROLE, "of the owner"] {
        assert!(!log.contains(password), "a password stands in the log");
    }
    let entries: Vec<String> = log
        .lines()
        .filter(|line| line.starts_with("{\"time\":"))
        .map(|line| {
            let entry: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            entry["audit"].as_str().unwrap_or_else(|| panic!("no entry: {line}")).to_string()
        })
        .collect();
    let of = |words: &[&str]| -> Vec<&String> {
        let has = |entry: &&String| words.iter().all(|word| entry.contains(word));
        entries.iter().filter(has).collect()
    };
    for words in [
        &["user:owner|", "category:DDL", "ks:loud", "CREATE TABLE loud.t"][..],
        &["user:owner|", "category:DML", "ks:loud", FORGED],
        &["user:owner|", "category:DCL", "CREATE ROLE clerk"],
        &["category:AUTH", "type:LOGIN_SUCCESS", "user:owner|"],
        &["category:AUTH", "type:LOGIN_ERROR"],
    ] {
        assert!(!of(words).is_empty(), "{words:?} is not among {entries:?}");
    }
    assert!(of(&["of the quiet one"]).is_empty(), "{entries:?}");
    assert!(entries.iter().all(|entry| entry.starts_with("user:")), "{entries:?}");
    assert!(of(&["user:nobody|", "type:"]).iter().all(|entry| entry.contains("user:owner|")));
    bed().remove_namespace(NAMESPACE).expect("removed");
}
