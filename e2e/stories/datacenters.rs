//! One ring over two datacenters, each a CassandraCluster in a namespace of its own: the second one
//! joins, and takes no client before it has what keyspaces place in it.

mod clients;

use std::time::Duration;

use clients::{Client, Hammer, Writer};
use palladion_api::reasons::Reason;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, bed, wait_for};
use serde_json::{Value, json};

const EAST: &str = "east";
const WEST: &str = "west";
const RING: &str = "ringName: orders";
/// Rows that are there before the second datacenter is.
const ROWS: u32 = 1000;
const SOON: Duration = Duration::from_secs(180);
/// Two members join, are rebuilt one after the other, and repaired.
const ADDED_IN: Duration = Duration::from_secs(900);

pub fn story() -> Story {
    Story::named("datacenters")
        .step(
            "a datacenter joins a ring, takes clients when it has their rows, and leaves it",
            || is_added(Security::Off),
        )
        .in_soak()
        .step(
            "so does one whose members have another authority, and its users are those of the ring",
            || is_added(Security::ByDefault),
        )
        .in_soak()
        .into()
}

/// With authentication and TLS, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Security {
    Off,
    ByDefault,
}

/// The datacenter that the ring begins with.
fn east(security: Security) -> WantedRing {
    of(security, &[("a", 1), ("b", 1)]).line("ring: {lock: None}")
}

/// The one that joins it.
fn west(security: Security) -> WantedRing {
    let seeds = "externalSeeds: [{name: east, addresses: [east-dc1-a-0.east.svc.cluster.local, east-dc1-b-0.east.svc.cluster.local]}]";
    of(security, &[("a", 1), ("b", 1)])
        .datacenter("dc2")
        .line("ring: {origin: Existing, lock: None}")
        .line(seeds)
}

fn of(security: Security, racks: &[(&'static str, u32)]) -> WantedRing {
    let wanted = a_ring()
        .racks(racks)
        .moves_under_load()
        .line(RING)
        .line("network: {clusterIPsAreRouted: true}");
    match security {
        Security::Off => wanted,
        Security::ByDefault => wanted.secure_by_default(),
    }
}

fn is_added(security: Security) {
    let first = Ring::create(bed(), EAST, &east(security)).expect("the ring should form");
    if security == Security::Off {
        // With TLS the authority of the other one is to be named with its seeds.
        lists_the_other(&first);
    }
    let second = Ring::with_client(bed(), WEST).expect("a client");
    let user = match security {
        Security::Off => None,
        Security::ByDefault => Some(login()),
    };
    let here = Client::new(&first, "dc1", user.as_ref());
    let there = Client::new(&second, "dc2", user.as_ref());
    here.said(
        "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
    );
    here.said("CREATE TABLE shop.orders (id int PRIMARY KEY, word text)");
    here.writes(0, ROWS);
    let manifest = match security {
        Security::Off => west(security).manifest(WEST),
        Security::ByDefault => trusting(&first, &west(security)),
    };
    let hammer = Hammer::begin(&second, &there, &["west-dc2-a-0", "west-dc2-b-0"], ROWS);
    bed().apply(WEST, &manifest).expect("apply");
    if security == Security::ByDefault {
        trusted(&first, &second);
    }
    stays_closed(&first, &second);
    // Rows go on being written where the clients are, while the others are rebuilt.
    here.writes(ROWS, 2 * ROWS);
    let copies = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTask",
        "metadata": { "name": "to-west" },
        "spec": { "cluster": EAST, "replication": {
            "keyspaces": ["shop"], "datacenter": "dc2", "factor": 2 } },
    });
    bed().apply(EAST, &copies.to_string()).expect("apply");
    wait_for("the task to end", SOON, || {
        let task = bed().get(EAST, "cassandratask", "to-west")?;
        let phase = task.map(|task| task["status"]["phase"].clone()).unwrap_or_default();
        assert_ne!(phase, "Failed", "{:?}", bed().get(EAST, "cassandratask", "to-west"));
        Ok((phase == "Done").then_some(()))
    })
    .expect("copies in the other datacenter");
    here.writes(2 * ROWS, 3 * ROWS);
    wait_for("the second datacenter to take clients", ADDED_IN, || {
        Ok((second.cluster()?["status"]["members"] == "2/2").then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(&second)));
    // Long enough for a client to meet them open.
    std::thread::sleep(Duration::from_secs(20));
    let came = hammer.end();
    println!("{came:?}");
    assert_eq!(came.fewer, 0, "a client found too few rows: {came:?}");
    assert!(came.refused > 20 && came.all > 0, "it was never closed, or never open: {came:?}");
    // Every row, by each member alone, the ones that were written on the way, too.
    for member in ["west-dc2-a-0", "west-dc2-b-0"] {
        assert_eq!(there.rows_at(member), 3 * ROWS, "{member}");
    }
    for member in ["east-dc1-a-0", "east-dc1-b-0"] {
        assert_eq!(here.rows_at(member), 3 * ROWS, "{member}");
    }
    all_copies_are_named(&here);
    goes_on_as_one_ring(&first, &second, (&here, &there));
    leaves_again(&first, &second, (&here, &there));
    bed().remove_namespace(WEST).expect("removed");
    bed().remove_namespace(EAST).expect("removed");
}

/// The first lists the seeds of the other one as soon as it is initialized, and restarts nobody.
fn lists_the_other(first: &Ring<'_>) {
    let pods = first.pod_uids().expect("pods");
    let seeds = json!([{ "name": "west", "addresses": ["west-dc2-a-0.west.svc.cluster.local"] }]);
    let patch = json!({ "spec": { "externalSeeds": seeds } });
    bed().patch(EAST, "cassandracluster", EAST, &patch).expect("patched");
    first.wait_settled().unwrap_or_else(|error| panic!("{error:#}: {}", conditions(first)));
    assert_eq!(first.pod_uids().expect("pods"), pods);
}

fn conditions(ring: &Ring<'_>) -> String {
    let of_member =
        |member: &Value| format!("{}: {}", member["metadata"]["name"], member["status"]["server"]);
    let members = ring.members().unwrap_or_default();
    let members: Vec<String> = members.iter().map(of_member).collect();
    let cluster = ring.cluster().map(|c| c["status"]["conditions"].to_string());
    format!("{} {members:?}", cluster.unwrap_or_default())
}

/// The members have joined, in a ring of four, and take nobody.
fn stays_closed(first: &Ring<'_>, second: &Ring<'_>) {
    wait_for("four members in one ring", ADDED_IN, || {
        let mut views = first.members()?;
        views.extend(second.members()?);
        let sees_all = |member: &Value| {
            let ring = &member["status"]["ring"];
            ring["members"] == 4 && ring["exceptions"].as_array().is_none_or(Vec::is_empty)
        };
        Ok((views.len() == 4 && views.iter().all(sees_all)).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {} {}", conditions(first), conditions(second)));
    let said = second
        .wait_reason("Progressing", Reason::RebuildOwed, SOON)
        .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(second)));
    println!("while it is closed: {said}");
    assert_eq!(second.cluster().expect("cluster")["status"]["members"], "0/2");
    let normal = first.condition("AllRegionsNormal").expect("cluster").expect("the condition");
    assert_eq!(normal["status"], "True", "{normal}");
}

/// The system keyspaces name both, and nobody has dropped the other.
fn all_copies_are_named(here: &Client<'_, '_>) {
    let said = here.said("SELECT keyspace_name, replication FROM system_schema.keyspaces");
    for keyspace in ["shop", "system_auth", "system_distributed", "system_traces"] {
        let line = said.lines().find(|line| line.starts_with(keyspace)).unwrap_or_default();
        assert!(line.contains("'dc1': '2'") && line.contains("'dc2': '2'"), "{said}");
    }
}

/// A member restarts, and a datacenter grows: as in a ring of one datacenter.
fn goes_on_as_one_ring(
    first: &Ring<'_>,
    second: &Ring<'_>,
    (here, there): (&Client<'_, '_>, &Client<'_, '_>),
) {
    let ids = second.host_ids().expect("host IDs");
    bed().kubectl("delete pod west-dc2-a-0 -n west --wait=true").expect("deleted");
    second.wait_ready(2).expect("it comes back open");
    assert_eq!(second.host_ids().expect("host IDs"), ids);
    assert_eq!(there.rows_at("west-dc2-a-0"), 3 * ROWS);
    // The first one grows beside the other.
    let wider = first.cluster().expect("cluster");
    let mut racks = wider["spec"]["datacenter"]["racks"].clone();
    racks[0]["members"] = json!(2);
    bed()
        .patch(
            EAST,
            "cassandracluster",
            EAST,
            &json!({ "spec": { "datacenter": { "racks": racks } } }),
        )
        .expect("patched");
    first.wait_ready(3).unwrap_or_else(|error| panic!("{error:#}: {}", conditions(first)));
    first.wait_settled().unwrap_or_else(|error| panic!("{error:#}: {}", conditions(first)));
    assert_eq!(here.rows_at("east-dc1-a-1"), 3 * ROWS, "through the new member");
    assert_eq!(there.rows_at("west-dc2-b-0"), 3 * ROWS);
    let said = here.said("SELECT keyspace_name, replication FROM system_schema.keyspaces");
    let auth = said.lines().find(|line| line.starts_with("system_auth")).unwrap_or_default();
    assert!(auth.contains("'dc1': '3'") && auth.contains("'dc2': '2'"), "{said}");
}

/// The second one leaves: what clients write there at LOCAL_ONE until its ports close is not lost.
fn leaves_again(
    first: &Ring<'_>,
    second: &Ring<'_>,
    (here, there): (&Client<'_, '_>, &Client<'_, '_>),
) {
    let both = ["west-dc2-a-0", "west-dc2-b-0"];
    assert!(both.iter().all(|m| !there.open_ports(m).is_empty()), "a port that is open is seen");
    let writer = Writer::begin(second, there, "west-dc2-a-0", 3 * ROWS);
    std::thread::sleep(Duration::from_secs(5));
    let leave = json!({ "spec": { "datacenter": { "leave": true } } });
    bed().patch(WEST, "cassandracluster", WEST, &leave).expect("patched");
    let said = second
        .wait_reason("Progressing", Reason::LeaveRefused, ADDED_IN)
        .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(second)));
    println!("once it is repaired: {said}");
    assert!(said.contains("shop"), "{said}");
    let written = wait_for("the writer to be refused", SOON, || Ok(writer.acknowledged()));
    let written = written.expect("its port is closed");
    println!("{written} rows were written on the way");
    assert!(written > 0, "nothing was written at LOCAL_ONE");
    let members = second.members().expect("members");
    // What the server says of its port, and not how it was started.
    let is_closed = |member: &Value| member["status"]["server"]["nativeTransport"] == false;
    assert!(members.len() == 2 && members.iter().all(is_closed), "{}", conditions(second));
    for member in both {
        assert_eq!(there.open_ports(member), "", "{member}");
    }
    // A restart opens nobody.
    bed().kubectl("delete pod west-dc2-b-0 -n west --wait=true").expect("deleted");
    wait_for("the member to be back, closed", SOON, || {
        let normal = |m: &Value| m["status"]["server"]["mode"] == "NORMAL" && is_closed(m);
        Ok(second.members()?.iter().all(normal).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(second)));
    for member in both {
        assert_eq!(there.open_ports(member), "", "{member} after a restart");
    }
    let drop = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTask",
        "metadata": { "name": "not-in-west" },
        "spec": { "cluster": EAST, "replication": {
            "keyspaces": ["shop"], "datacenter": "dc2", "factor": 0, "lowering": "Allow" } },
    });
    bed().apply(EAST, &drop.to_string()).expect("apply");
    wait_for("the second datacenter to have left", ADDED_IN, || {
        let left = second.condition("DatacenterLeft")?;
        Ok(left.is_some_and(|left| left["status"] == "True").then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(second)));
    wait_for("the ring to be that of the first alone", SOON, || {
        let is_alone = |m: &Value| m["status"]["ring"]["members"] == 3;
        Ok(first.members()?.iter().all(is_alone).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(first)));
    // One more may have been written, and not acknowledged.
    let rows = 3 * ROWS + written;
    for member in ["east-dc1-a-0", "east-dc1-b-0", "east-dc1-a-1"] {
        let found = here.rows_at(member);
        assert!(found == rows || found == rows + 1, "{member}: {found} of {rows}");
    }
    wait_for("the system keyspaces to drop it", SOON, || {
        let said = here.said("SELECT keyspace_name, replication FROM system_schema.keyspaces");
        Ok((!said.contains("dc2")).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {}", conditions(first)));
    first.wait_settled().unwrap_or_else(|error| panic!("{error:#}: {}", conditions(first)));
}

/// User and password of the ring.
fn login() -> (String, String) {
    let text = |key: &str| {
        let template = format!("go-template={{{{ .data.{key} | base64decode }}}}");
        let words = ["get", "secret", "east-superuser", "-n", EAST, "-o", &template];
        bed().cluster.kubectl(&words).expect("the Secret")
    };
    (text("username"), text("password"))
}

/// The second datacenter with the users of the first, whose authority it trusts.
fn trusting(first: &Ring<'_>, wanted: &WantedRing) -> String {
    let copied = ["agents", "superuser"].map(|of| {
        let found = bed().get(EAST, "secret", &format!("{EAST}-{of}")).expect("asked");
        let found = found.expect("the Secret of the first");
        json!({ "apiVersion": "v1", "kind": "Secret", "type": found["type"],
                "metadata": { "name": format!("{WEST}-{of}") }, "data": found["data"] })
        .to_string()
    });
    let mut spec: Value = serde_yaml::from_str(&wanted.manifest(WEST)).expect("a manifest");
    spec["spec"]["tls"] = trust(first);
    // What a new ring has by default is said here: a ring that exists has what it has.
    spec["spec"]["auth"] = json!({ "mode": "Password" });
    [copied[0].clone(), copied[1].clone(), spec.to_string()].join("\n---\n")
}

/// TLS with the authority of this one trusted besides.
fn trust(other: &Ring<'_>) -> Value {
    let certificate = wait_for("an authority", SOON, || {
        let cluster = other.cluster()?;
        let all = cluster["status"]["authorities"].as_object().cloned().unwrap_or_default();
        let internode = all.iter().find(|(name, _)| name.starts_with("internode-"));
        Ok(internode.map(|(_, record)| record["certificate"].clone()))
    });
    let operator = json!({ "operator": {} });
    json!({
        "internode": { "mode": "Require", "certificates": operator,
            "additionalTrust": [{ "name": other.name, "certificate": certificate.expect("an authority") }] },
        "client": { "mode": "Require", "certificates": operator },
    })
}

/// The first trusts the second one as well, and its servers have read it.
fn trusted(first: &Ring<'_>, second: &Ring<'_>) {
    let tls = trust(second);
    bed()
        .patch(EAST, "cassandracluster", EAST, &json!({ "spec": { "tls": tls } }))
        .expect("patched");
    wait_for("the first to trust the second", Duration::from_secs(900), || {
        let trusts = |member: &Value| {
            member["status"]["tls"]["internode"]["trusts"].as_array().map_or(0, Vec::len) >= 2
        };
        Ok(first.members()?.iter().all(trusts).then_some(()))
    })
    .expect("what they take is on record");
    // Whoever was not taken until then waits for a person.
    bed().kubectl("delete pod west-dc2-a-0 -n west --ignore-not-found").expect("deleted");
}
