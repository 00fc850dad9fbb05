//! Clients outside of the Kubernetes cluster: members announce addresses of load balancers, or of
//! their pods, and a real driver that verifies them connects to nothing else.
//!
//! The testbed has no cloud. A stand-in for its controller of load balancers writes the status of
//! the Services, as one would; the rest is real: kube-proxy takes connections to these addresses to
//! the members, from the ranges of the spec alone. The client is a pod, since no interface of the
//! testbed ends outside of it: for kube-proxy it is an address as any other.

use std::time::Duration;

use palladion_api::names;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, bed, wait_for};
use serde_json::{Value, json};

const NAMESPACE: &str = "balancers";
const FIRST: &str = "balancers-dc1-a-0";
const SECOND: &str = "balancers-dc1-a-1";
const THIRD: &str = "balancers-dc1-b-0";
/// Of a network that documents are written with: nobody has them.
const ADDRESSES: [(&str, &str); 3] =
    [(FIRST, "203.0.113.1"), (SECOND, "203.0.113.2"), (THIRD, "203.0.113.3")];
/// What one of them gets later.
const OTHER: &str = "203.0.113.9";
/// A range in which nobody is.
const NOBODY: &str = "192.0.2.0/24";
const SOON: Duration = Duration::from_secs(240);
/// A member gets at most one certificate in ten minutes, and is restarted after it.
const NAMED_IN: Duration = Duration::from_secs(1200);
/// Three members, one after the other.
const RESTARTS_IN: Duration = Duration::from_secs(900);

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .step(
            "a driver that verifies names reaches members at their load balancers alone",
            a_driver_reaches_members_at_their_load_balancers,
        )
        .in_soak()
        .step(
            "a driver that verifies names reaches members at their pods, and at new ones",
            a_driver_reaches_members_at_their_pods,
        )
        .in_soak()
        .into()
}

fn network(range: &str) -> Value {
    json!({ "broadcast": { "clients": "LoadBalancer", "sourceRanges": [range] } })
}

fn wanted(range: &str) -> WantedRing {
    let line = format!("network: {}", network(range));
    a_ring().racks(&[("a", 2), ("b", 1)]).secure_by_default().line(Box::leak(line.into_boxed_str()))
}

fn a_driver_reaches_members_at_their_load_balancers() {
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    let own = own_range(&ring);
    bed().apply(NAMESPACE, &wanted(&own).manifest(NAMESPACE)).expect("apply");
    nobody_starts_without_an_address(&ring);
    for (member, address) in ADDRESSES {
        give(member, address);
    }
    ring.wait_ready(3).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let client = Client { ring: &ring, authority: authority(), password: password() };
    let given: Vec<&str> = ADDRESSES.map(|(_, address)| address).into();
    assert_eq!(client.finds(given[0]).expect("the driver connects"), given);
    let points = &ring.cluster().expect("cluster")["status"]["contactPoints"];
    assert!(points[0].as_str().is_some_and(|point| point.starts_with("203.0.113.")), "{points}");

    only_its_ranges_are_let_in(&ring, &client, &own);
    an_address_changes(&ring, &client);
    back_to_the_service_network(&ring);
    bed().remove_namespace(NAMESPACE).expect("removed");
}

/// Addresses of pods are new with each pod, and certificates follow.
fn a_driver_reaches_members_at_their_pods() {
    let wanted = a_ring().racks(&[("a", 2), ("b", 1)]).secure_by_default();
    let wanted = wanted.line("network: {broadcast: {clients: PodIP}}");
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    ring.wait_ready(3).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let client = Client { ring: &ring, authority: authority(), password: password() };
    let before = pods();
    is_found_at(&client, &before);
    bed().delete(NAMESPACE, "pod", FIRST).expect("deleted");
    wait_for("another address", SOON, || Ok((pods()[0] != before[0]).then_some(())))
        .expect("a pod has an address of its own");
    ring.wait_members(3).expect("all ready");
    let after = pods();
    assert_eq!(after[1..], before[1..], "nobody else is restarted");
    is_found_at(&client, &after);
    bed().remove_namespace(NAMESPACE).expect("removed");
}

/// The addresses of the members' pods, as far as they have one.
fn pods() -> Vec<String> {
    let address = |member: &str| {
        let pod = bed().get(NAMESPACE, "pod", member).expect("an answer").unwrap_or_default();
        text(&pod, "/status/podIP").to_string()
    };
    [FIRST, SECOND, THIRD].map(address).into()
}

/// A driver finds these addresses, and no others, from each of them.
fn is_found_at(client: &Client<'_>, addresses: &[String]) {
    let mut all = addresses.to_vec();
    all.sort();
    for address in addresses {
        let found = wait_for("certificates that name the pods", NAMED_IN, || {
            Ok(client.finds(address).ok().filter(|found| *found == all))
        });
        found.unwrap_or_else(|e| panic!("{e:#}: {:?}", client.finds(address)));
    }
}

/// The range of the client alone.
fn own_range(ring: &Ring<'_>) -> String {
    ring.in_client(&["/bin/busybox", "true"]).expect("its pod");
    // The kubelet reports it a moment after the container has started.
    let address = wait_for("the address of the pod of the client", SOON, || {
        let pod = bed().get(NAMESPACE, "pod", "client")?.unwrap_or_default();
        let address = text(&pod, "/status/podIP");
        Ok((!address.is_empty()).then(|| address.to_string()))
    })
    .expect("it has one");
    format!("{address}/32")
}

fn nobody_starts_without_an_address(ring: &Ring<'_>) {
    let told = ring
        .wait_reason("Progressing", Reason::WaitingForAddress, SOON)
        .expect("the ring waits for addresses");
    assert!(told.contains("kubectl describe -n balancers service balancers-dc1-"), "{told}");
    wait_for("all agents to wait for addresses", SOON, || {
        let members = ring.members()?;
        let waits = |member: &&Value| {
            text(member, "/status/server/reason") == Reason::WaitingForAddress.as_str()
        };
        Ok((members.iter().filter(waits).count() == 3).then_some(()))
    })
    .expect("each waits");
    for member in ring.members().expect("members") {
        let starts = &member["status"]["startHistory"];
        assert!(starts.is_null(), "nobody was started: {starts}");
    }
}

/// As the controller of a cloud does.
fn give(member: &str, address: &str) {
    let service = balancer(member);
    wait_for("the Service of the load balancer", SOON, || {
        bed().get(NAMESPACE, "service", &service)
    })
    .expect("the operator creates it");
    let status = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": address }] } } });
    let status = status.to_string();
    let patch = ["patch", "service", &service, "-n", NAMESPACE, "--subresource=status"];
    let patch = [&patch[..], &["--type=merge", "-p", &status]].concat();
    bed().cluster.kubectl(&patch).expect("the status is taken");
}

fn balancer(member: &str) -> String {
    names::load_balancer(&palladion_api::ids::MemberName::new(member))
}

/// A client that knows one address, and trusts the authority of the ring.
struct Client<'a> {
    ring: &'a Ring<'a>,
    authority: String,
    password: String,
}

impl Client<'_> {
    /// The addresses that it finds from one of them, sorted: those of `system.local` and
    /// `system.peers_v2`. It has run a statement on each of them, over TLS that names it.
    fn finds(&self, contact: &str) -> Result<Vec<String>, String> {
        let command = ["python3", "-c", PROGRAM, contact, &self.authority, &self.password];
        let said = self.ring.in_client(&command).expect("an answer of the program");
        match said.trim().strip_prefix("found ") {
            Some(found) => Ok(found.split(' ').map(str::to_string).collect()),
            None => Err(said),
        }
    }

    /// Can it connect at all?
    fn reaches(&self, address: &str) -> bool {
        let said = self.ring.in_client(&["python3", "-c", CONNECT, address]).expect("an answer");
        match said.trim() {
            "connected" => true,
            "kept out" => false,
            other => panic!("{other}"),
        }
    }
}

/// From elsewhere nobody connects, and nobody is restarted for it.
fn only_its_ranges_are_let_in(ring: &Ring<'_>, client: &Client<'_>, own: &str) {
    let before = ring.pod_uids().expect("uids");
    for (range, lets_in) in [(NOBODY, false), (own, true)] {
        let patch = json!({ "spec": { "network": network(range) } });
        bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &patch).expect("patch");
        for (member, address) in ADDRESSES {
            let ranges = || {
                let service = bed().get(NAMESPACE, "service", &balancer(member))?;
                let ranges = service.map(|s| s["spec"]["loadBalancerSourceRanges"].clone());
                Ok(ranges.filter(|ranges| *ranges == json!([range])))
            };
            wait_for("the ranges of the Service", SOON, ranges).expect("as the spec says");
            let what = format!("{address} to let in {own}: {lets_in}");
            wait_for(&what, SOON, || Ok((client.reaches(address) == lets_in).then_some(())))
                .expect("kube-proxy follows");
        }
        // Within the cluster the ring is reached as ever: clients' Service has no such ranges.
        assert!(client.reaches(&format!("{NAMESPACE}-client")));
    }
    assert_eq!(ring.pod_uids().expect("uids"), before, "nobody is restarted");
}

/// The load balancer of one member has another address: its server is restarted in its pod, and is
/// found at the new one by a name that its certificate has by then.
fn an_address_changes(ring: &Ring<'_>, client: &Client<'_>) {
    let (before, third) = (ring.pod_uids().expect("uids"), ADDRESSES[2].1);
    let starts = |member: &str| {
        let member = ring.member(member).expect("member");
        text(&member, "/status/startHistory/0/startedAt").to_string()
    };
    let others = [starts(FIRST), starts(SECOND)];
    give(THIRD, OTHER);
    wait_for("the new address to be announced", NAMED_IN, || {
        let member = ring.member(THIRD)?;
        Ok((text(&member, "/status/server/clientAddress") == OTHER).then_some(()))
    })
    .expect("announced");
    ring.wait_members(3).expect("all ready");
    let found = client.finds(ADDRESSES[0].1).expect("the driver connects");
    assert_eq!(found, [ADDRESSES[0].1, ADDRESSES[1].1, OTHER]);
    assert_eq!(client.finds(OTHER).expect("from there too"), found);
    assert!(!client.reaches(third), "nobody has that address any more");
    assert_eq!(ring.pod_uids().expect("uids"), before, "in its pod");
    assert_eq!([starts(FIRST), starts(SECOND)], others, "no other server was restarted");
}

/// The load balancers go with a rollout, and members announce their ClusterIPs again.
fn back_to_the_service_network(ring: &Ring<'_>) {
    let before = ring.pod_uids().expect("uids");
    let patch = json!({ "spec": { "network": null } });
    bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &patch).expect("patch");
    wait_for("all members to restart", RESTARTS_IN, || {
        let now = ring.pod_uids()?;
        Ok((now.len() == 3 && now.iter().all(|pod| !before.contains(pod))).then_some(()))
    })
    .expect("a rollout");
    ring.wait_members(3).expect("all ready");
    for (member, _) in ADDRESSES {
        let is_gone = || {
            let service = bed().get(NAMESPACE, "service", &balancer(member))?;
            Ok(service.is_none().then_some(()))
        };
        wait_for("the load balancer to go", SOON, is_gone).expect("deleted");
        let member = ring.member(member).expect("member");
        assert!(member["spec"]["clientAddress"].is_null(), "{}", member["spec"]);
        assert!(member["status"]["server"]["clientAddress"].is_null());
    }
}

fn password() -> String {
    let template = "go-template={{ .data.password | base64decode }}";
    let secret = format!("{NAMESPACE}-superuser");
    let words = ["get", "secret", secret.as_str(), "-n", NAMESPACE, "-o", template];
    bed().cluster.kubectl(&words).expect("the Secret")
}

/// Whom clients trust.
fn authority() -> String {
    let map = bed().get(NAMESPACE, "configmap", &names::client_ca(NAMESPACE)).expect("an answer");
    text(&map.expect("the authority for clients"), "/data/ca.crt").to_string()
}

const PROGRAM: &str = r#"
import ssl, sys
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster
from cassandra.policies import DCAwareRoundRobinPolicy
contact, authority, password = sys.argv[1:4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED
context.load_verify_locations(cadata=authority)
cluster = Cluster([contact], ssl_context=context, auth_provider=PlainTextAuthProvider("admin", password),
    load_balancing_policy=DCAwareRoundRobinPolicy("dc1"), connect_timeout=20, control_connection_timeout=20)
try:
    session = cluster.connect(wait_for_all_pools=True)
    found = set()
    for host in cluster.metadata.all_hosts():
        local = session.execute("SELECT rpc_address FROM system.local", host=host, timeout=20).one()
        peers = session.execute("SELECT native_address FROM system.peers_v2", host=host, timeout=20)
        seen = {str(local.rpc_address)} | {str(peer.native_address) for peer in peers}
        assert host.address == str(local.rpc_address), (host.address, local)
        assert not found or found == seen, (found, seen)
        found = seen
    assert found == {host.address for host in cluster.metadata.all_hosts()}, found
    print("found", *sorted(found))
except Exception as error:
    print(type(error).__name__, error)
finally:
    cluster.shutdown()
"#;

const CONNECT: &str = r#"
import socket, sys
try:
    socket.create_connection((sys.argv[1], 9042), 3).close()
    print("connected")
except OSError:
    print("kept out")
"#;
