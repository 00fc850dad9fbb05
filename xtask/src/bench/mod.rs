//! `cargo xtask bench`: the figures of the project, taken in one run on one
//! testbed and written to a report with the conditions they were taken under.

mod backups;
mod change;
mod durability;
mod jobs;
mod leases;
mod look;
mod lost;
mod report;
mod ring;
mod roll;
mod services;
mod stop;
mod zoned;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use palladion_testbed::progress::{Lines, Progress};
use palladion_testbed::{Cluster, ClusterName, Config};
use serde_json::{Value, json};

use crate::{demo, install};
use report::Report;

#[derive(Args)]
pub struct Arguments {
    /// Which testbed it runs on; it is recreated
    #[arg(long, default_value = "bench", value_parser = ClusterName::parse)]
    name: ClusterName,
    /// How long to watch the system at rest, in seconds
    #[arg(long, default_value_t = 600)]
    idle_seconds: u64,
    /// What to measure
    #[arg(long, value_enum, default_value_t = Suite::Ring)]
    suite: Suite,
    /// MiB of data on each replica, for `--suite jobs` and `--suite backups`
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(24..=65536))]
    mib: u32,
    /// Where to write the report; by default into docs/benchmarks
    #[arg(long)]
    report: Option<String>,
}

/// Each has a report of its own.
#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// A ring of Cassandra
    Ring,
    /// A ZonedStatefulSet
    Zoned,
    /// What it costs that writes are on the disk before they are acknowledged
    Durability,
    /// What jobs cost, and our repair against nodetool's
    Jobs,
    /// The leader's Lease while an API server with half a core stores a thousand rings
    Leases,
    /// What backups and restores cost, and what clients feel of them
    Backups,
    /// What the services of a stack cost, and how soon they hear of a change
    Services,
}

impl Suite {
    fn report(self) -> &'static str {
        match self {
            Suite::Ring => "docs/benchmarks/ring.md",
            Suite::Zoned => "docs/benchmarks/zonedstatefulset.md",
            Suite::Durability => "docs/benchmarks/durability.md",
            Suite::Jobs => "docs/benchmarks/jobs.md",
            Suite::Leases => "docs/benchmarks/leases.md",
            Suite::Backups => "docs/benchmarks/backups.md",
            Suite::Services => "docs/benchmarks/services.md",
        }
    }
}

const MANIFEST: &str = "examples/cassandra/two-racks.yaml";
const CLUSTER: &str = "two-racks";
const OPERATOR: &str = "system:serviceaccount:palladion-system:palladion-operator";
/// Racks and members of the manifest.
const RACKS: u64 = 2;
const MEMBERS: u64 = 3;

/// The ring of [`MANIFEST`] in the clear and for everybody, so that figures can be compared with
/// those of rings without TLS.
fn manifest() -> Result<Value> {
    let path = install::root().join(MANIFEST);
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut manifest: Value =
        serde_yaml::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
    manifest["spec"]["auth"] = json!({ "mode": "Off" });
    manifest["spec"]["tls"] =
        json!({ "client": { "mode": "Off" }, "internode": { "mode": "Off" } });
    Ok(manifest)
}

pub fn run(arguments: &Arguments) -> Result<()> {
    Cluster::down(&arguments.name, &mut Lines)?;
    let outcome = match arguments.suite {
        Suite::Ring => measure(arguments),
        Suite::Zoned => measure_zoned(arguments),
        Suite::Durability => measure_durability(arguments),
        Suite::Jobs => measure_jobs(arguments),
        Suite::Leases => measure_leases(arguments),
        Suite::Backups => measure_backups(arguments),
        Suite::Services => measure_services(arguments),
    };
    Cluster::down(&arguments.name, &mut Lines)?;
    let report = outcome?;
    let path = arguments.report.as_deref();
    let path = install::root().join(path.unwrap_or(arguments.suite.report()));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    }
    std::fs::write(&path, &report).with_context(|| format!("writing {}", path.display()))?;
    println!("{report}");
    Ok(())
}

/// One with Palladion on it, and with these values of the chart.
fn testbed(arguments: &Arguments, values: &[&str]) -> Result<Cluster> {
    let config = Config { name: arguments.name.clone(), ..Config::default() };
    let cluster = Cluster::up(&config, &mut Lines)?;
    install::install(&cluster, values, &mut Lines)?;
    Ok(cluster)
}

fn measure_zoned(arguments: &Arguments) -> Result<String> {
    let cluster = testbed(arguments, &["zonedStatefulSet.allowExec=true"])?;
    zoned::measure(&cluster, &arguments.name, arguments.idle_seconds)
}

fn measure_durability(arguments: &Arguments) -> Result<String> {
    durability::measure(&testbed(arguments, &[])?)
}

fn measure_jobs(arguments: &Arguments) -> Result<String> {
    let watched = Duration::from_secs(arguments.idle_seconds);
    jobs::measure(&testbed(arguments, &[])?, watched, arguments.mib)
}

fn measure_backups(arguments: &Arguments) -> Result<String> {
    backups::measure(&testbed(arguments, &[])?, arguments.mib)
}

fn measure_services(arguments: &Arguments) -> Result<String> {
    services::measure(testbed(arguments, &[])?, Duration::from_secs(arguments.idle_seconds))
}

/// On a control plane alone: no pod runs, and the operator runs beside it.
fn measure_leases(arguments: &Arguments) -> Result<String> {
    let config = Config { name: arguments.name.clone(), nodes: 0, ..Config::default() };
    let cluster = Cluster::up(&config, &mut Lines)?;
    install::install(&cluster, &["replicas=0"], &mut Lines)?;
    leases::measure(&cluster)
}

fn measure(arguments: &Arguments) -> Result<String> {
    let mut report = Report::default();
    Lines.note("the demo, as a user starts it");
    // The first run fills the caches, where they are empty.
    demo::first_answer(&arguments.name)?;
    Cluster::down(&arguments.name, &mut Lines)?;
    let (_, _, took) = demo::first_answer(&arguments.name)?;
    Cluster::down(&arguments.name, &mut Lines)?;
    report.row(
        "`cargo xtask demo`, warm cache, to the first CQL answer",
        "≤ 90 s",
        format!("{:.0} s", took.as_secs_f64()),
    );
    let cluster = testbed(arguments, &[])?;
    std::thread::sleep(Duration::from_secs(5));
    Lines.note("creating the ring");
    ring::creation(&cluster, &mut report)?;
    let watched = Duration::from_secs(arguments.idle_seconds);
    Lines.note(&format!("watching the system at rest for {} s", watched.as_secs()));
    ring::rest(&cluster, watched, &mut report)?;
    Lines.note("one member more, and one less");
    change::grow(&cluster, &mut report)?;
    change::shrink(&cluster, &mut report)?;
    Lines.note("a rolling restart under load");
    roll::under_load(&cluster, &mut report)?;
    Lines.note("one member, and then the ring, stopped and started");
    stop::and_start(&cluster, &mut report)?;
    Lines.note("a machine that is lost, in a ring of its own");
    cluster.kubectl(&["delete", "cassandracluster", CLUSTER])?;
    lost::node(cluster, &mut report)?;
    report.text(&look::conditions(&format!(
        "{MANIFEST} (two racks, three members, Cassandra 5.0.5, heap and delays as in the manifest)"
    ))?)
}
