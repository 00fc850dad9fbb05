//! Two regions that share a lock, on real servers: a namespace each for east and west, an operator
//! each beside the testbed, which looks after its own namespace alone, and a real etcd with TLS
//! and users; then the same with Leases. To the lock the two rings are one: they have one name,
//! and their namespaces are mapped to one group. They have no member in common, so what gossip
//! would show of the other region is not tried here.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::outside::{Outside, STOP_BEFORE_LOCKED_WRITES, program};
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, bed, wait_for};
use palladion_testbed::lock_store::{LockStore, program as etcd};
use rustix::process::Signal;
use serde_json::{Value, json};

/// As long as the OperatorConfig of these steps says.
const TTL: Duration = Duration::from_secs(60);
/// Leading, and a first member.
const COMES: Duration = Duration::from_secs(300);
/// What happens at the next look at the lock, at the latest.
const SOON: Duration = Duration::from_secs(60);
/// For how long nothing may happen.
const QUIET: Duration = Duration::from_secs(45);
/// The account whose rights the operators have.
const SERVICE_ACCOUNT: &str = "palladion-operator";
const ACCOUNTS_NAMESPACE: &str = "palladion-system";
/// The namespace of the Leases.
const LEASES: &str = "region-locks";

pub fn story() -> Story {
    Story::named("regions")
        .breaks_machines()
        .step("two regions that are created at once initialize one ring", created_at_once)
        .in_soak()
        .step("members of two regions join one after the other, and at rest nobody asks", joined)
        .in_soak()
        .step("a holder that is killed in a join is waited for", killed_in_a_join)
        .in_soak()
        .step("a holder that is stopped before a write writes nothing late", || {
            for write in [1, 2, 3] {
                stopped_before(write);
            }
        })
        .in_soak()
        .step("without the store servers come back and work waits", without_the_store)
        .in_soak()
        .step("a bad image stays in its region", bad_image)
        .in_soak()
        .step("the same with Leases", with_leases)
        .in_soak()
        .into()
}

/// One of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    East,
    West,
}

const BOTH: [Of; 2] = [Of::East, Of::West];

impl Of {
    fn name(self) -> &'static str {
        match self {
            Of::East => "east",
            Of::West => "west",
        }
    }

    fn ring(self) -> Ring<'static> {
        Ring::at(bed(), self.name())
    }

    fn apply(self, wanted: &WantedRing) {
        bed().apply(self.name(), &wanted.manifest(self.name())).expect("apply");
    }

    fn status(self) -> Value {
        self.ring().cluster().expect("the cluster")["status"].clone()
    }

    /// Does it wait for this?
    fn waits_for(self, reason: Reason) -> bool {
        let status = self.status();
        let mut waits = status["waits"].as_array().into_iter().flatten();
        waits.any(|wait| wait["reason"] == reason.as_str())
    }

    fn wait_for(self, reason: Reason) {
        let what = format!("{} to wait for {reason}", self.name());
        wait_for(&what, SOON, || Ok(self.waits_for(reason).then_some(()))).expect("it waits");
    }

    /// A person allows the ring that is refused for the record beside the lock.
    fn allow(self) {
        let (ring, refused) = (self.ring(), Reason::InitializedElsewhere);
        let message = ring.wait_reason("Degraded", refused, COMES).expect("it is refused");
        let (_, nonce) = message.split_once("allow-initialization=").expect("a nonce is shown");
        let nonce = nonce.split('`').next().unwrap_or_default();
        let annotations = json!({ "palladion.dev/allow-initialization": nonce });
        let patch = json!({ "metadata": { "annotations": annotations } });
        bed().patch(self.name(), "cassandracluster", self.name(), &patch).expect("annotated");
    }
}

/// So many members, in a ring that is shared.
fn of(members: u32) -> WantedRing {
    a_ring().racks(&[("a", members)]).line("ringName: shared").line("ring: {lock: Region}")
}

/// The store, and where its files are.
struct Store {
    etcd: LockStore,
    _files: tempfile::TempDir,
}

/// Two empty regions and a store; operators come after it.
fn begin() -> Store {
    bed().scale_operator(0).expect("no operator inside");
    for region in BOTH {
        bed().fresh_namespace(region.name()).expect("namespace");
        let own = own_namespace(region);
        bed().fresh_namespace(&own).expect("namespace of the operator");
        let account = format!("{ACCOUNTS_NAMESPACE}:{SERVICE_ACCOUNT}");
        let lead = format!(
            "create role leader -n {own} --verb=get,create,update --resource=leases.coordination.k8s.io"
        );
        bed().kubectl(&lead).expect("role");
        let bind =
            format!("create rolebinding leader -n {own} --role=leader --serviceaccount={account}");
        bed().kubectl(&bind).expect("binding");
    }
    bed().wait_namespaces_gone().expect("what earlier steps made");
    let files = tempfile::tempdir().expect("a directory");
    let program = etcd().expect("the program etcd of the testbed");
    let etcd = LockStore::start(&program, files.path(), &["east", "west"]).expect("etcd starts");
    configure(&json!({ "etcd": { "endpoints": [etcd.endpoint()] } }));
    Store { etcd, _files: files }
}

/// What `regionLock` is besides time and groups.
fn configure(kept: &Value) {
    let mut lock = json!({
        "ttlSeconds": TTL.as_secs(),
        "groups": { "east": "shared", "west": "shared" },
    });
    for (name, value) in kept.as_object().into_iter().flatten() {
        lock[name] = value.clone();
    }
    let config = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "OperatorConfig",
        "metadata": { "name": "default" }, "spec": { "regionLock": lock },
    });
    bed().apply("default", &config.to_string()).expect("settings");
}

fn own_namespace(region: Of) -> String {
    format!("operator-{}", region.name())
}

/// The operator of a region.
fn operator(region: Of, credentials: &Path, environment: &[(&str, String)]) -> Outside {
    let flags = [
        format!("--watch-namespace={}", region.name()),
        format!("--region={}", region.name()),
        format!("--region-lock-directory={}", credentials.display()),
    ];
    let mut all = vec![("POD_NAMESPACE", own_namespace(region))];
    all.extend_from_slice(environment);
    let name = format!("operator-{}", region.name());
    let started = Outside::start_with(&bed().cluster, &program(), &name, &flags, &all);
    let operator = started.expect("the operator should start");
    wait_for("the operator to lead", COMES, || {
        let lease = bed().get(&own_namespace(region), "lease", "palladion-operator")?;
        let holder = lease.unwrap_or_default()["spec"]["holderIdentity"].to_string();
        Ok(holder.contains(&format!("{name}_")).then_some(()))
    })
    .expect("it should lead");
    operator
}

fn started(store: &Store, region: Of) -> Outside {
    operator(region, &store.etcd.credentials(region.name()).expect("credentials"), &[])
}

/// A ring of one in each region.
fn rings_of_one() {
    Of::East.apply(&of(1));
    Of::East.ring().wait_members(1).expect("the ring of the east forms");
    Of::West.apply(&of(1));
    Of::West.allow();
    Of::West.ring().wait_members(1).expect("the ring of the west forms");
}

fn end(operators: Vec<Outside>) {
    for operator in operators {
        operator.end().expect("the operator ends");
    }
    for region in BOTH {
        bed().remove_namespace(region.name()).expect("clean up");
        bed().remove_namespace(&own_namespace(region)).expect("clean up");
    }
    let words = "delete operatorconfig default --ignore-not-found";
    bed().kubectl(words).expect("clean up");
    bed().scale_operator(1).expect("an operator inside");
}

/// When each start of a region's members began, and when it was over.
fn starts(region: Of) -> Vec<(String, String)> {
    let members = region.ring().members().expect("members");
    let all = members.iter().flat_map(|m| m["status"]["startHistory"].as_array()).flatten();
    let time = |start: &Value, field: &str| start[field].as_str().map(str::to_string);
    // One that neither became NORMAL nor ended is under way still.
    let over = |start: &Value| time(start, "normalAt").or_else(|| time(start, "endedAt"));
    let now = jiff::Timestamp::now().to_string();
    all.map(|start| {
        let began = time(start, "startedAt").expect("each start has a time");
        (began, over(start).unwrap_or_else(|| now.clone()))
    })
    .collect()
}

/// No start of one region began while one of the other was under way.
fn no_starts_overlap() {
    let (east, west) = (starts(Of::East), starts(Of::West));
    assert!(!east.is_empty() && !west.is_empty(), "east {east:?}, west {west:?}");
    for (began, ended) in &east {
        for (other_began, other_ended) in &west {
            let apart = ended <= other_began || other_ended <= began;
            assert!(apart, "east {began} to {ended}, west {other_began} to {other_ended}");
        }
    }
    println!("{} starts in the east and {} in the west, none at once", east.len(), west.len());
}

fn no_lock_is_held(store: &Store) {
    wait_for("the lock to be released", SOON, || {
        let held = store.etcd.keys("/palladion/rings/groups/shared/shared/lock")?;
        Ok(held.is_empty().then_some(()))
    })
    .expect("it is released");
}

/// (a)
fn created_at_once() {
    let store = begin();
    let operators: Vec<Outside> = BOTH.map(|region| started(&store, region)).into();
    BOTH.iter().for_each(|region| region.apply(&of(1)));
    let refused = |region: &Of| {
        let degraded = region.ring().condition("Degraded").ok().flatten().unwrap_or_default();
        degraded["reason"] == Reason::InitializedElsewhere.as_str()
    };
    let other = wait_for("one to be refused", COMES, || Ok(BOTH.into_iter().find(refused)));
    let other = other.expect("one is refused");
    let first = if other == Of::East { Of::West } else { Of::East };
    first.ring().wait_members(1).expect("the other one forms");
    assert_eq!(starts(other), [], "nothing was started there");
    let records =
        store.etcd.keys("/palladion/rings/groups/shared/shared/initialized").expect("etcd");
    assert!(records.len() == 1 && records[0].1.contains(first.name()), "{records:?}");
    other.allow();
    other.ring().wait_members(1).expect("a person has allowed it");
    no_starts_overlap();
    no_lock_is_held(&store);
    end(operators);
}

/// (b) and (g)
fn joined() {
    let store = begin();
    let operators: Vec<Outside> = BOTH.map(|region| started(&store, region)).into();
    rings_of_one();
    BOTH.iter().for_each(|region| region.apply(&of(2)));
    for region in BOTH {
        region.ring().wait_members(2).expect("both grow");
    }
    no_starts_overlap();
    no_lock_is_held(&store);
    let begun = Instant::now();
    while begun.elapsed() < QUIET {
        assert_eq!(store.etcd.connections().expect("its connections"), 0, "nobody asks at rest");
        std::thread::sleep(Duration::from_millis(20));
    }
    end(operators);
}

/// Wait until the second member of a region has begun its permit.
fn wait_begun(region: Of) {
    let what = format!("a member of {} to begin", region.name());
    wait_for(&what, COMES, || {
        let members = region.ring().members()?;
        let begun = members.iter().any(|m| m["status"]["permit"]["state"] == "Used");
        Ok(begun.then_some(()))
    })
    .expect("it begins");
}

/// (c)
fn killed_in_a_join() {
    let store = begin();
    let (mut east, west) = (started(&store, Of::East), started(&store, Of::West));
    rings_of_one();
    Of::East.apply(&of(2));
    wait_begun(Of::East);
    east.signal(Signal::KILL).expect("killed");
    east.wait_ended(SOON).expect("it ends");
    let killed = Instant::now();
    Of::West.apply(&of(2));
    Of::West.wait_for(Reason::WaitingForRegion);
    wait_begun(Of::West);
    let waited = killed.elapsed();
    assert!(waited + Duration::from_secs(16) >= TTL, "west began {waited:?} after the kill");
    Of::West.ring().wait_members(2).expect("west grows");
    // Its server has gone on; what is left to do for its turn does the next operator.
    let again = started(&store, Of::East);
    Of::East.ring().wait_members(2).expect("east grows");
    no_lock_is_held(&store);
    end(vec![again, west]);
}

/// (d)
fn stopped_before(write: u64) {
    let store = begin();
    let west = started(&store, Of::West);
    let first = started(&store, Of::East);
    rings_of_one();
    first.end().expect("the first operator of the east ends");
    let mark = bed().cluster.audit_mark().expect("the audit log");
    let credentials = store.etcd.credentials("east").expect("credentials");
    let mut old =
        operator(Of::East, &credentials, &[(STOP_BEFORE_LOCKED_WRITES, write.to_string())]);
    Of::East.apply(&of(2));
    wait_for("the operator of the east to stop", COMES, || Ok(old.is_stopped()?.then_some(())))
        .unwrap_or_else(|error| panic!("there is no write {write}: {error:#}"));
    let before = old.asked(&bed().cluster, mark).expect("the audit log").len();
    assert!(is_held_by(&store, Of::East), "it stopped with the lock");
    let stopped = Instant::now();
    Of::West.apply(&of(2));
    Of::West.wait_for(Reason::WaitingForRegion);
    wait_begun(Of::West);
    let waited = stopped.elapsed();
    assert!(waited + Duration::from_secs(16) >= TTL, "west began {waited:?} after the stop");
    let joiner = || Of::East.ring().member(&second(Of::East)).expect("the joiner")["spec"].clone();
    let as_it_stood = joiner();
    old.signal(Signal::CONT).expect("thawed");
    let mut looks = 0;
    while is_held_by(&store, Of::West) {
        let now = joiner();
        for field in ["start", "begin"] {
            assert_eq!(now[field], as_it_stood[field], "stopped at {write}, it wrote {field} late");
        }
        assert_eq!(starts(Of::East).len(), 1, "nothing begins beside the west");
        looks += 1;
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(looks > 10, "it was awake for only {looks} looks while the west held the lock");
    println!("stopped before write {write}, after {before} requests: {looks} looks, nothing late");
    old.wait_ended(SOON).expect("its leadership is over, and it ends");
    Of::West.ring().wait_members(2).expect("west grows");
    let again = started(&store, Of::East);
    Of::East.ring().wait_members(2).expect("east grows");
    no_starts_overlap();
    no_lock_is_held(&store);
    end(vec![again, west]);
}

/// The member that joins a ring of one.
fn second(region: Of) -> String {
    format!("{}-dc1-a-1", region.name())
}

fn is_held_by(store: &Store, region: Of) -> bool {
    let held = store.etcd.keys("/palladion/rings/groups/shared/shared/lock").expect("etcd");
    held.iter().any(|(_, value)| value.contains(region.name()))
}

/// (e)
fn without_the_store() {
    let mut store = begin();
    let operators: Vec<Outside> = BOTH.map(|region| started(&store, region)).into();
    rings_of_one();
    let members = Of::East.ring().member_names().expect("names");
    let member = members.first().expect("a member").clone();
    let host_id = Of::East.ring().member(&member).expect("a member")["status"]["hostID"].clone();
    store.etcd.kill().expect("etcd is gone");
    bed().delete("east", "pod", &member).expect("delete");
    Of::East.ring().wait_ready(1).expect("it comes back by itself");
    let back = Of::East.ring().member(&member).expect("a member");
    assert_eq!(back["status"]["hostID"], host_id, "the same member");
    Of::East.apply(&of(2));
    Of::East.wait_for(Reason::RegionLockUnavailable);
    std::thread::sleep(QUIET);
    assert_eq!(starts(Of::East).len(), 2, "nobody joined without the lock");
    store.etcd.begin().expect("etcd is back");
    Of::East.ring().wait_members(2).expect("then it goes on");
    no_lock_is_held(&store);
    end(operators);
}

/// (f)
fn bad_image() {
    let store = begin();
    let operators: Vec<Outside> = BOTH.map(|region| started(&store, region)).into();
    rings_of_one();
    let uids = Of::West.ring().pod_uids().expect("uids");
    let image = json!({ "spec": { "repository": "palladion.dev/there-is-none" } });
    bed().patch("east", "cassandracluster", "east", &image).expect("patched");
    wait_for("the east to take the lock", COMES, || Ok(is_held_by(&store, Of::East).then_some(())))
        .expect("it holds the lock");
    let change = json!({ "spec": { "config": { "concurrent_reads": 8 } } });
    bed().patch("west", "cassandracluster", "west", &change).expect("patched");
    Of::West.wait_for(Reason::WaitingForRegion);
    std::thread::sleep(TTL);
    assert!(Of::West.waits_for(Reason::WaitingForRegion), "{}", Of::West.status());
    assert_eq!(Of::West.ring().pod_uids().expect("uids"), uids, "west keeps its revision");
    let good = json!({ "spec": { "repository": "palladion.dev/cassandra" } });
    bed().patch("east", "cassandracluster", "east", &good).expect("patched");
    for region in BOTH {
        region.ring().wait_members(1).expect("both roll then");
    }
    end(operators);
}

/// The hub is the testbed itself.
fn with_leases() {
    let store = begin();
    bed().fresh_namespace(LEASES).expect("namespace");
    configure(&json!({ "lease": { "namespace": LEASES } }));
    let directory = tempfile::tempdir().expect("a directory");
    let credentials = BOTH.map(|region| {
        let own = directory.path().join(region.name());
        fs::create_dir_all(&own).expect("a directory");
        let groups = ["system:masters"];
        let kubeconfig = own.join("kubeconfig");
        bed().cluster.kubeconfig_for(&kubeconfig, region.name(), &groups).expect("kubeconfig");
        own
    });
    let operators: Vec<Outside> = BOTH
        .into_iter()
        .zip(&credentials)
        .map(|(region, credentials)| operator(region, credentials, &[]))
        .collect();
    rings_of_one();
    BOTH.iter().for_each(|region| region.apply(&of(2)));
    for region in BOTH {
        region.ring().wait_members(2).expect("both grow");
    }
    no_starts_overlap();
    wait_for("the Lease to be released", SOON, || {
        let leases = bed().list(LEASES, "leases")?;
        let is_free = |lease: &Value| lease["spec"]["holderIdentity"] == "";
        Ok((leases.len() == 1 && leases.iter().all(is_free)).then_some(()))
    })
    .expect("it is released");
    assert!(store.etcd.keys("/palladion/").expect("etcd").is_empty(), "nobody asked the etcd");
    end(operators);
    bed().remove_namespace(LEASES).expect("clean up");
}
