//! TLS between members: whom port 7000 takes, and a ring that is taken there and back under load.

use std::time::Duration;

use palladion_e2e::{Ring, WantedRing, Writes, a_ring, bed, wait_for};
use serde_json::Value;

/// Three restarts of each of three members.
const STEPS_IN: Duration = Duration::from_secs(1500);
/// Members learn of another authority, and servers read what changed every ten minutes: first
/// whom to trust, then what they show.
const FOLLOWED_IN: Duration = Duration::from_secs(2400);
/// Who was restarted last has its hints within half a minute of coming up: 21 s were seen.
const HINTS: Duration = Duration::from_secs(60);
const RING: &str = "internode";
/// Between members alone.
const REQUIRE: &str =
    r#"tls: {internode: {mode: Require, certificates: {operator: {}}}, client: {mode: "Off"}}"#;

/// Whom a member's port 7000 takes.
#[derive(Debug, PartialEq, Eq)]
struct Takes {
    /// Whoever speaks in the clear.
    plain: bool,
    /// Whoever speaks TLS and shows no certificate.
    nameless: bool,
    /// Whoever shows a certificate of another authority.
    strangers: bool,
}

const NOBODY_ELSE: Takes = Takes { plain: false, nameless: false, strangers: false };
const IN_THE_CLEAR: Takes = Takes { plain: true, nameless: false, strangers: false };

/// What port 7000 of each member says to somebody who is no member.
fn asked(ring: &Ring<'_>) -> Vec<Takes> {
    let (_, certificate, key) = super::certificate();
    asked_with(ring, &certificate, &key)
}

/// The same to somebody who shows this certificate.
fn asked_with(ring: &Ring<'_>, certificate: &str, key: &str) -> Vec<Takes> {
    let members = ring.members().expect("members");
    let address = |m: &Value| m["spec"]["address"].as_str().expect("its address").to_string();
    let ask = |address: String| {
        let command = ["python3", "-c", PROGRAM, &address, certificate, key];
        let said = ring.in_client(&command).expect("an answer");
        let took = |who: &str| match said.lines().find_map(|line| line.strip_prefix(who)) {
            Some(" taken") => true,
            Some(" refused") => false,
            other => panic!("{who}: {other:?} in {said}"),
        };
        Takes { plain: took("plain"), nameless: took("nameless"), strangers: took("stranger") }
    };
    members.iter().map(address).map(ask).collect()
}

/// Does a member take whoever shows this certificate?
pub fn is_taken(ring: &Ring<'_>, (certificate, key): &(String, String)) -> bool {
    let takes: Vec<bool> =
        asked_with(ring, certificate, key).iter().map(|takes| takes.strangers).collect();
    assert!(takes.windows(2).all(|pair| pair[0] == pair[1]), "they differ: {takes:?}");
    takes.first().copied().unwrap_or_default()
}

/// Of a ring that was made with it.
pub fn nobody_else_is_taken(ring: &Ring<'_>) {
    for takes in asked(ring) {
        assert_eq!(takes, NOBODY_ELSE);
    }
    let cluster = ring.cluster().expect("cluster");
    assert_eq!(cluster["status"]["internodeTls"], "Require");
}

fn wanted(mode: &'static str) -> WantedRing {
    a_ring().racks(&[("a", 2), ("b", 1)]).rows(3).line(mode)
}

fn step(ring: &Ring<'_>) -> String {
    ring.cluster().expect("cluster")["status"]["internodeTls"].as_str().unwrap_or("Off").to_string()
}

/// A ring in the clear takes to TLS while clients write, and goes back.
pub fn there_and_back_under_load() {
    let (off, require) = (r#"tls: {internode: {mode: "Off"}, client: {mode: "Off"}}"#, REQUIRE);
    let ring = Ring::create(bed(), RING, &wanted(off)).expect("the ring should form");
    for takes in asked(&ring) {
        assert_eq!(takes, IN_THE_CLEAR, "the question can tell");
    }
    for (line, end, way) in [
        (require, "Require", ["Accept", "Prefer", "Require"]),
        (off, "Off", ["Prefer", "Accept", "Off"]),
    ] {
        let writing = ring.writing(Writes::Rows).expect("writing");
        bed().apply(RING, &wanted(line).manifest(RING)).expect("apply");
        let mut seen = vec![step(&ring)];
        wait_for("the last step", STEPS_IN, || {
            let now = step(&ring);
            if seen.last() != Some(&now) {
                seen.push(now.clone());
            }
            Ok((now == end).then_some(()))
        })
        .unwrap_or_else(|error| panic!("{seen:?}: {error:#}"));
        ring.wait_members(3).expect("all ready");
        ring.wait_settled().expect("nothing is left to do");
        assert!(seen.ends_with(&way.map(String::from)), "{seen:?}");
        writing.stop().expect("written");
        std::thread::sleep(HINTS);
        ring.check_data().expect("all rows, on every replica");
        let expected = if end == "Off" { IN_THE_CLEAR } else { NOBODY_ELSE };
        for takes in asked(&ring) {
            assert_eq!(takes, expected);
        }
    }
    bed().remove_namespace(RING).expect("removed");
}

/// The keys of the authorities are lost: members come to trust another one before any of them
/// shows what it signs, and nobody is restarted.
pub fn a_lost_authority_is_followed() {
    let ring = Ring::create(bed(), RING, &wanted(REQUIRE)).expect("the ring should form");
    let before = (ring.pod_uids().expect("uids"), issuers(&ring));
    assert_eq!(before.1.len(), 3, "each shows one");
    let writing = ring.writing(Writes::Rows).expect("writing");
    let lost = serde_json::json!({ "data": null });
    bed().patch("palladion-system", "secret", "palladion-authorities", &lost).expect("lost");
    let forgotten = r#"patch cassandracluster internode -n internode --subresource=status --type=merge -p {"status":{"authorities":{"internode-1":null}}}"#;
    bed().kubectl(forgotten).expect("forgotten");
    wait_for("all members to show another certificate", FOLLOWED_IN, || {
        let now = issuers(&ring);
        Ok((now.len() == 3 && now.iter().all(|by| !before.1.contains(by))).then_some(()))
    })
    .expect("the new authority signs");
    ring.wait_settled().expect("nothing is left to do");
    // The servers read what is there by then.
    std::thread::sleep(Duration::from_secs(660));
    // Connections of before would live on: one that comes anew has none.
    let first = ring.member_names().expect("names").remove(0);
    bed().delete(RING, "pod", &first).expect("delete");
    ring.wait_members(3).expect("all ready");
    ring.wait_well().expect("all see each other");
    writing.stop().expect("written");
    ring.check_data().expect("all rows, on every replica");
    let after = ring.pod_uids().expect("uids");
    let kept = after.iter().filter(|pod| before.0.contains(pod)).count();
    assert_eq!(kept, 2, "nobody else was restarted");
    nobody_else_is_taken(&ring);
    bed().remove_namespace(RING).expect("removed");
}

/// Who signed what each member shows.
fn issuers(ring: &Ring<'_>) -> Vec<String> {
    let members = ring.members().expect("members");
    let of = |m: &Value| m["status"]["tls"]["internode"]["issuer"].as_str().map(str::to_string);
    members.iter().filter_map(of).collect()
}

/// A server that takes whoever speaks in the clear waits for the rest of a greeting; one that
/// does not ends the connection. With TLS 1.2 a server that wants a certificate says so before
/// the handshake ends.
const PROGRAM: &str = r#"
import socket, ssl, sys, tempfile
address, certificate, key = sys.argv[1:4]
def plain():
    with socket.create_connection((address, 7000), timeout=20) as connection:
        connection.sendall(bytes.fromhex('CA552DFA00'))
        connection.settimeout(3)
        try:
            return bool(connection.recv(1))
        except socket.timeout:
            return True
        except OSError:
            return False
def tls(shows):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    if shows:
        with tempfile.NamedTemporaryFile('w', suffix='.pem') as file:
            file.write(key + certificate)
            file.flush()
            context.load_cert_chain(file.name)
    with socket.create_connection((address, 7000), timeout=20) as connection:
        connection.settimeout(5)
        try:
            with context.wrap_socket(connection) as secured:
                secured.settimeout(3)
                try:
                    return bool(secured.recv(1))
                except socket.timeout:
                    return True
        except OSError:
            return False
for who, taken in [('plain', plain()), ('nameless', tls(False)), ('stranger', tls(True))]:
    print(who, 'taken' if taken else 'refused')
"#;
