//! A container of a user beside the servers: what it reaches, and what it does not.

use palladion_e2e::{Ring, a_ring, bed};

use super::NAMESPACE;

const POD: &str = "secure-dc1-a-0";
/// What every start of a ring with sidecars has.
const PASSWORD: [&str; 4] = ["-u", "palladion", "-pwf", "/run/palladion/jmx.password"];
/// What Jolokia says to whoever does not know its password.
const JOLOKIA: &str = "
import urllib.request, urllib.error
try:
    print(urllib.request.urlopen('http://127.0.0.1:8778/jolokia/version').status)
except urllib.error.HTTPError as error:
    print(error.code)
";

/// It shares the loopback address of the pod; the doors there ask for passwords that it does not have.
pub fn reaches_the_network_of_the_pod_alone() {
    let wanted = a_ring().racks(&[("a", 1), ("b", 1)]).secure_by_default().line(
        "sidecars: [{name: prober, image: \"palladion.dev/tools:dev\", command: [/bin/busybox, sleep, \"1000000\"]}]",
    );
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    ring.wait_ready(wanted.members()).expect("the ring should form");
    ring.wait_settled().expect("settled");
    assert_eq!(in_sidecar(&["/bin/busybox", "id", "-u"]).expect("its user").trim(), "65532");
    let code = in_sidecar(&["python3", "-c", JOLOKIA]).expect("an answer of Jolokia");
    assert_eq!(code.trim(), "401");
    in_sidecar(&["/bin/busybox", "touch", "/tmp/its-own"]).expect("its own /tmp");
    for kept_from_it in [
        ["/bin/busybox", "touch", "/its-own"],
        ["/bin/busybox", "ls", "/var/run/secrets/kubernetes.io/serviceaccount"],
        ["/bin/busybox", "ls", "/var/lib/cassandra"],
        ["/bin/busybox", "ls", "/run/palladion"],
    ] {
        in_sidecar(&kept_from_it).expect_err("kept from it");
    }
    // The same address, for whoever has the password and whoever has not.
    bed().exec(NAMESPACE, POD, &["nodetool", "status"]).expect_err("JMX asks");
    let known = [&["nodetool"][..], &PASSWORD, &["status"]].concat();
    let said = bed().exec(NAMESPACE, POD, &known).expect("with the password");
    assert_eq!(said.matches("UN ").count(), 2, "{said}");
    bed().remove_namespace(NAMESPACE).expect("removed");
}

fn in_sidecar(command: &[&str]) -> anyhow::Result<String> {
    let place = ["exec", "-n", NAMESPACE, POD, "-c", "prober", "--"];
    bed().cluster.kubectl(&[&place[..], command].concat())
}
