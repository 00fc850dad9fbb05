//! How a cluster begins, and what clients find.

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::rabbitmq::{Client, Cluster, PATIENCE};
use palladion_e2e::service::operator_rests;

use super::NAMESPACE;

/// One whose nodes have each a machine of its own.
const APART: &str = "rmq-apart";

/// One that is deleted and created again, and whose nodes come back on their claims.
const AGAIN: &str = "rmq-again";

/// Is there one of an earlier step that is as it was formed?
fn is_well(name: &str) -> bool {
    let found = bed().get(name, "rabbitmqcluster", name).expect("get");
    found.is_some_and(|found| {
        found["status"]["nodes"] == "3/3" && condition(&found, "Degraded")["status"] == "False"
    })
}

/// The cluster of an earlier step, if it is as it was formed, or a new one.
pub fn three() -> Cluster {
    three_of(NAMESPACE)
}

/// The same, where the object, the nodes and a volume go.
pub fn three_again() -> Cluster {
    three_of(AGAIN)
}

fn three_of(name: &'static str) -> Cluster {
    match is_well(name) {
        true => Cluster { name },
        false => Cluster::form(name, 3, &[]),
    }
}

/// The same, where each of them can be kept away by itself.
pub fn three_apart() -> Cluster {
    match is_well(APART) {
        true => Cluster { name: APART },
        false => Cluster::form_apart(APART, 3),
    }
}

pub fn formed_once() {
    let cluster = Cluster::form(NAMESPACE, 3, &[]);
    let status = cluster.service().status();
    assert_eq!(text(&status, "/initialized/member"), cluster.service().member_name(0));
    assert_eq!(status["service"]["active"], true);
    assert_eq!(status["service"]["ready"], 3);
    // Each node's own word: one cluster of all three.
    for ordinal in 0..3 {
        let told = cluster.ctl(ordinal, &["eval", "length(rabbit_mnesia:cluster_nodes(running))."]);
        assert_eq!(told.trim(), "3", "{}", cluster.service().member_name(ordinal));
    }
    // What is published through one node is there for clients of the others.
    let user = cluster.user().expect("the Secret");
    let nodes = cluster.forwarded().expect("forwarded");
    assert_eq!(nodes.len(), 3);
    cluster.client().queue("greetings", "quorum").expect("a queue");
    for (number, node) in nodes.iter().enumerate() {
        let mut client = Client::open(*node, user.login()).expect("a connection");
        client.publish("greetings", &format!("hello {number}")).expect("confirmed");
        let there = Client::open(nodes[(number + 1) % 3], user.login()).expect("a connection");
        let found = { there }.take("greetings").expect("an answer");
        assert_eq!(found, Some(format!("hello {number}")));
    }
    let guest = Client::open(nodes[0], ("guest", "guest"));
    assert!(guest.is_err(), "everybody knows the password of guest");
}

/// Between `join_cluster` and `start_app` the agent calls the command line twice, which takes a
/// second each. `$0` is what the first node is called by.
const KILL: &str = r#"
    cd /var/lib/rabbitmq
    for _ in $(seq 3000); do
        if grep -q -F "$0" rabbit@*/cluster_nodes.config 2>/dev/null; then
            for process in /proc/[0-9]*; do
                if grep -q beam.smp $process/comm 2>/dev/null; then kill -9 ${process#/proc/}; fi
            done
            ls -R .
            exit 0
        fi
        sleep 0.1
    done
    exit 1
"#;

/// The first one serves only beside it, so that nobody could replace it either.
pub fn killed_before_it_starts() {
    let cluster = Cluster::form("rmq-young", 1, &[]);
    let service = cluster.service();
    let first = format!("rabbit@{}.", service.member_name(0));
    let second = service.member_name(1);
    cluster.set_nodes(3);
    let kill = ["sh", "-c", KILL, &first];
    let left = wait_for("the second node to be taken in", PATIENCE, || {
        // Its container may not run yet.
        Ok(bed().exec(cluster.name, &second, &kill).ok())
    })
    .expect("killed");
    println!("what join_cluster has left:\n{left}");
    assert!(left.contains("schema.DAT") && !left.contains("quorum"), "killed too late:\n{left}");
    let volume = service.member(1)["spec"]["volumeID"].clone();
    service.delete_pod(1, 1);
    cluster.wait_nodes(3);
    assert_eq!(service.member(1)["spec"]["volumeID"], volume, "it is the same volume");
    service.end();
}

/// Evaluated in the virtual machine of the first node, as the whole takes a tenth of a second: it
/// waits until its tables name another node, ends that one's machine after so many milliseconds,
/// and says how many names stood in that one's own file: two where it named itself alone.
fn end_when_named(milliseconds: u32) -> String {
    format!(
        "K = mnesia:system_info(db_nodes), \
         (fun Wait() -> case mnesia:system_info(db_nodes) -- K of \
         [] -> timer:sleep(1), Wait(); \
         [J | _] -> timer:sleep({milliseconds}), \
         F = rpc:call(J, rabbit_node_monitor, cluster_status_filename, []), \
         {{ok, B}} = rpc:call(J, file, read_file, [F]), \
         rpc:cast(J, erlang, halt, [137, [{{flush, false}}]]), \
         {{J, length(binary:split(B, <<\"rabbit@\">>, [global])) - 1}} end end)()."
    )
}

/// The others name it from then on, whatever its own file says. It goes on in the same container,
/// where its permit is in use, and in its next pod; as the second of two, without which the first
/// one does not come back, and as one of more.
pub fn killed_while_it_is_taken_in() {
    let cluster = Cluster::form("rmq-taken-in", 1, &[]);
    let service = cluster.service();
    let mut inside = 0;
    for (nodes, milliseconds) in [(3, 0), (5, 20)] {
        let end = end_when_named(milliseconds);
        let ends = std::thread::spawn(move || cluster.ctl(0, &["eval", &end]));
        cluster.set_nodes(nodes);
        let said = ends.join().expect("the first node says whom it has ended");
        println!("whom it has ended, and the names in that one's own file: {said}");
        // Whichever pod of the two was there first joins first.
        let is_it = |n: &u32| said.contains(&format!("rabbit@{}.", service.member_name(*n)));
        let ordinal = (nodes - 2..nodes).find(is_it);
        let ordinal = ordinal.unwrap_or_else(|| panic!("another one was ended: {said}"));
        // A long term is printed on several lines.
        let said: String = said.split_whitespace().collect();
        inside += u32::from(said.ends_with(",2}"));
        let volume = service.member(ordinal)["spec"]["volumeID"].clone();
        if nodes == 5 {
            service.delete_pod(ordinal, 1);
        }
        cluster.wait_nodes(nodes);
        assert_eq!(service.member(ordinal)["spec"]["volumeID"], volume, "it is the same volume");
    }
    assert!(inside > 0, "both were ended too late");
    service.end();
}

pub fn at_rest() {
    three().wait_nodes(3);
    operator_rests();
}
