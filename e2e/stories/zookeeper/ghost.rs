//! A node that is cut off from everybody, whose member is replaced meanwhile: when the node
//! is reached again its old server, which ran all the time, serves nobody.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use palladion_e2e::bed;
use palladion_e2e::bed::text;
use palladion_e2e::service::Service;
use palladion_e2e::zookeeper::{Client, Ensemble, Writing};
use palladion_testbed::Node;
use palladion_testbed::faults::Peer;

use super::changes::three_vote;

/// The port of clients.
const CLIENTS: u16 = 2181;
/// After this its agent, which sees that another has its place, has stopped it. Until then it is
/// a follower without a vote: whoever still knows its address may be served by the ensemble.
const STOPPED_IN: Duration = Duration::from_secs(15);
/// For so long it is asked.
const WATCHED: Duration = Duration::from_secs(40);

/// What a server says to a word of four letters, asked on its own node.
fn asked(node: Node, server: SocketAddrV4, word: &str) -> Result<String> {
    let (ip, port) = (server.ip(), server.port());
    let ask = format!("exec 3<>/dev/tcp/{ip}/{port} && printf {word} >&3 && cat <&3");
    let mut command = bed().cluster.in_network_of(node, "timeout")?;
    let output = command.args(["5", "bash", "-c", &ask]).output().context("asking")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same, asked through a port of this machine that is forwarded to it.
fn asked_through(port: u16, word: &str) -> Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).context("connecting")?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).context("setting a limit")?;
    stream.write_all(word.as_bytes()).context("asking")?;
    let mut said = String::new();
    stream.read_to_string(&mut said).context("reading the answer")?;
    Ok(said)
}

/// What came of asking the old server for sessions.
#[derive(Default)]
struct Served {
    asked: usize,
    /// Nodes that it has taken.
    created: Vec<String>,
    /// When it last granted a session.
    last: Option<Duration>,
}

/// No Service sends clients to it.
fn is_on_no_list(service: &Service, server: Ipv4Addr) {
    let slices = bed().list(service.name, "endpointslices").expect("endpoints");
    assert!(!slices.is_empty(), "the Services of its clients have endpoints");
    for slice in &slices {
        let endpoints = slice["endpoints"].as_array().into_iter().flatten();
        let mut addresses = endpoints.flat_map(|e| e["addresses"].as_array().into_iter().flatten());
        let ip = server.to_string();
        assert!(!addresses.any(|address| *address == ip.as_str()), "{ip}: {slice:#}");
    }
}

/// Ask it again and again, as a client that has its address does.
fn ask_for_sessions(port: u16) -> Served {
    let (begin, mut served) = (Instant::now(), Served::default());
    while begin.elapsed() < WATCHED {
        served.asked += 1;
        if let Ok(mut client) = Client::open(port) {
            served.last = Some(begin.elapsed());
            let name = format!("ghost-{}", served.asked);
            if client.create(&format!("/{name}"), "").is_ok() {
                served.created.push(name);
            }
            client.close();
        }
        thread::sleep(Duration::from_millis(200));
    }
    served
}

/// A server that is alone on its node, which is not the first: Services are reached by way of
/// that.
fn alone_on_a_node(service: &Service) -> (u32, Node) {
    let first = bed().cluster.nodes()[0].name();
    let nodes = [0, 1, 2].map(|ordinal| service.node_of(ordinal));
    let is_alone = |ordinal: &u32| {
        let own = service.node_of(*ordinal);
        own != first && nodes.iter().filter(|node| **node == own).count() == 1
    };
    let ordinal = (0..3).find(is_alone).expect("a server alone on a node");
    let node = bed().cluster.node(&service.node_of(ordinal)).expect("its node");
    (ordinal, node)
}

pub fn serves_nobody() {
    let ensemble = Ensemble::form("zk-ghost", 3, &["nodeGoneGraceSeconds: 0"]);
    let service = ensemble.service();
    three_vote(&ensemble);
    let (ordinal, node) = alone_on_a_node(&service);
    bed().move_operator_from(node).expect("moved");
    let (before, name) = (service.member(ordinal), service.member_name(ordinal));
    let pod = bed().get(ensemble.name, "pod", &name).expect("get").expect("its pod");
    let ip: Ipv4Addr = text(&pod, "/status/podIP").parse().expect("an address");
    let old = SocketAddrV4::new(ip, CLIENTS);
    // That nobody answers there later shows nothing where nobody ever did.
    let port = bed().cluster.forward(old).expect("forwarded");
    let said = asked_through(port, "srvr").expect("asked through the forwarded port");
    assert!(said.contains("Mode: "), "the server before it is cut off: {said:?}");
    let writing = Writing::begin_in(&ensemble, 2).expect("writing");
    let begin = Instant::now();
    bed().cluster.cut_node(node, &[Peer::All]).expect("cut");
    bed().cluster.delete_node_object(node).expect("deleted");
    let id = before["spec"]["serverID"].as_i64();
    service.wait("another server in its place", |o| {
        let all = o["status"]["ensemble"].as_array().cloned().unwrap_or_default();
        all.len() == 3 && all.iter().all(|s| s["id"].as_i64() != id)
    });
    ensemble.wait_servers(3);
    let replaced = begin.elapsed();
    writing.follow(&ensemble).expect("through the new one");
    let after = service.member(ordinal);
    assert!(after["spec"]["serverID"].as_i64() > id, "{after:#}");
    assert_ne!(after["spec"]["address"], before["spec"]["address"], "another address");
    // It runs, and has no majority.
    let said = asked(node, old, "srvr").expect("asked");
    assert!(said.contains("not currently serving requests"), "the old server: {said:?}");
    is_on_no_list(&service, ip);
    bed().cluster.heal_node(node).expect("healed");
    let served = ask_for_sessions(port);
    is_on_no_list(&service, ip);
    println!(
        "{} sessions were asked for, the last was granted after {:?}, {} writes were taken",
        served.asked,
        served.last,
        served.created.len()
    );
    assert!(served.last.is_none_or(|last| last < STOPPED_IN), "it serves: {:?}", served.last);
    let said = asked(node, old, "srvr").expect("asked");
    assert!(said.is_empty(), "it was not stopped: {said:?}");
    // What it took until it was stopped, it took as a follower of the ensemble.
    for address in ensemble.addresses() {
        let port = bed().cluster.forward(address).expect("forwarded");
        let names = Client::open(port).expect("a session").children("/").expect("names");
        let lost: Vec<&String> = served.created.iter().filter(|n| !names.contains(n)).collect();
        assert!(lost.is_empty(), "{address} lacks {lost:?}, which the old server took");
    }
    let now = service.member(ordinal);
    for field in ["serverID", "volumeID", "address", "replace"] {
        assert_eq!(now["spec"][field], after["spec"][field], "nothing came of its return");
    }
    bed().cluster.register_node(node).expect("registered");
    bed().wait_node_is_back(node).expect("back");
    ensemble.wait_servers(3);
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!(
        "figure: zk-ghost: {written}; replaced {:.0} s after the cut, sessions of the old server until {:?} after it was healed",
        replaced.as_secs_f64(),
        served.last
    );
    service.end();
}
