//! All machines lose their power at one moment, and their disks what was not yet written to them:
//! what a replica has acknowledged is there. The volumes are disks of their own, cut off for real.

use std::time::Duration;

use anyhow::Result;
use palladion_e2e::story::Story;
use palladion_e2e::wanted::WantedRing;
use palladion_e2e::{Bed, Ring, Writes, a_ring, bed};

const NAMESPACE: &str = "power";
const MEMBERS: u32 = 3;
/// Room for a server's commit log, its data and their journal.
const DISK_MIB: u32 = 1024;
/// Longer than the period in which Cassandra's default writes, shorter than that in which the
/// kernel does so by itself.
const WRITING: Duration = Duration::from_secs(15);

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .breaks_machines()
        .step("what was acknowledged outlives the loss of power of all machines", nothing_is_lost)
        .in_soak()
        .step("with periodic commit logs it does not, and the check says so", periodic_loses)
        .in_soak()
        .into()
}

/// Disks of their own for all volumes, until it is dropped.
struct Disks<'a> {
    bed: &'a Bed,
    volumes: Vec<String>,
}

impl<'a> Disks<'a> {
    fn give(bed: &'a Bed) -> Self {
        let volumes = bed.free_volumes().expect("no test before this one should keep a volume");
        let disks = Self { bed, volumes };
        power_off(bed);
        for volume in &disks.volumes {
            bed.cluster.give_disk(volume, DISK_MIB).expect("a disk");
        }
        power_on(bed);
        disks
    }
}

impl Drop for Disks<'_> {
    fn drop(&mut self) {
        power_off(self.bed);
        for volume in &self.volumes {
            if let Err(error) = self.bed.cluster.take_disk(volume) {
                eprintln!("{error:#}");
            }
        }
        power_on(self.bed);
    }
}

fn power_off(bed: &Bed) {
    for node in bed.cluster.nodes() {
        bed.cluster.power_off(node).expect("power off");
    }
}

fn power_on(bed: &Bed) {
    for node in bed.cluster.nodes() {
        bed.cluster.power_on(node).expect("power on");
    }
    for node in bed.cluster.nodes() {
        bed.wait_node_is_back(node).expect("a Node that is ready");
    }
}

fn wanted() -> WantedRing {
    a_ring().racks(&[("a", 1), ("b", 1), ("c", 1)])
}

/// A ring is written to, all machines lose their power and get it back; what the check says.
fn after_a_loss_of_power(wanted: &WantedRing) -> Result<()> {
    let bed = bed();
    bed.remove_namespace(NAMESPACE).expect("a clean start");
    let disks = Disks::give(bed);
    let manifest = wanted.manifest(NAMESPACE);
    let ring = Ring::create_from(bed, NAMESPACE, &manifest, MEMBERS).expect("the ring should form");
    ring.wait_settled().expect("settled");
    for (member, _) in ring.pod_uids().expect("members") {
        let df = ["df", "--output=source", "/var/lib/cassandra"];
        let said = bed.exec(NAMESPACE, &member, &df).expect("df");
        assert!(said.contains("/dev/loop"), "{member} has no disk of its own: {said}");
    }
    ring.write_data(MEMBERS).expect("rows should be written");
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    std::thread::sleep(WRITING);
    writing.kill().expect("killed");
    ring.ends_at_once();
    power_off(bed);
    power_on(bed);
    ring.wait_ready(MEMBERS).expect("all ready");
    ring.wait_settled().expect("settled");
    ring.restart_client().expect("client");
    let said = ring.check_data();
    bed.remove_namespace(NAMESPACE).expect("clean up");
    drop(disks);
    said
}

fn nothing_is_lost() {
    after_a_loss_of_power(&wanted()).expect("all rows");
}

fn periodic_loses() {
    let periodic = wanted().line("config: {commitlog_sync: periodic}");
    let error = after_a_loss_of_power(&periodic).expect_err("rows are missing");
    let said = format!("{error:#}");
    assert!(said.contains("the ring's data is wrong"), "{said}");
    println!("as Cassandra has it with its own default: {said}");
}
