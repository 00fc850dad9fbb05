//! `cargo xtask bench`: the figures of the project, taken in one run on one
//! testbed and written to a report with the conditions they were taken under.

mod change;
mod look;
mod report;
mod ring;
mod roll;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use palladion_testbed::progress::{Lines, Progress};
use palladion_testbed::{Cluster, ClusterName, Config};

use crate::install;
use report::Report;

#[derive(Args)]
pub struct Arguments {
    /// Which testbed it runs on; it is made anew
    #[arg(long, default_value = "bench", value_parser = ClusterName::parse)]
    name: ClusterName,
    /// How long to watch the system at rest, in seconds
    #[arg(long, default_value_t = 600)]
    idle_seconds: u64,
    /// Where to write the report
    #[arg(long, default_value = "docs/benchmarks/ring.md")]
    report: String,
}

const MANIFEST: &str = "examples/cassandra/two-racks.yaml";
const CLUSTER: &str = "two-racks";
const OPERATOR: &str = "system:serviceaccount:palladion-system:palladion";
/// Racks and members of the manifest.
const RACKS: u64 = 2;
const MEMBERS: u64 = 3;

pub fn run(arguments: &Arguments) -> Result<()> {
    Cluster::down(&arguments.name, &mut Lines)?;
    let outcome = measure(arguments);
    Cluster::down(&arguments.name, &mut Lines)?;
    let report = outcome?;
    let path = install::root().join(&arguments.report);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    }
    std::fs::write(&path, &report).with_context(|| format!("writing {}", path.display()))?;
    println!("{report}");
    Ok(())
}

fn measure(arguments: &Arguments) -> Result<String> {
    let config = Config {
        name: arguments.name.clone(),
        ..Config::default()
    };
    let cluster = Cluster::up(&config, &mut Lines)?;
    install::install(&cluster, &[], &mut Lines)?;
    std::thread::sleep(Duration::from_secs(5));
    let mut report = Report::default();
    Lines.note("creating the ring");
    ring::creation(&cluster, &mut report)?;
    let watched = Duration::from_secs(arguments.idle_seconds);
    Lines.note(&format!(
        "watching the system at rest for {} s",
        watched.as_secs()
    ));
    ring::rest(&cluster, watched, &mut report)?;
    Lines.note("one member more, and one less");
    change::grow(&cluster, &mut report)?;
    change::shrink(&cluster, &mut report)?;
    Lines.note("a rolling restart under load");
    roll::under_load(&cluster, &mut report)?;
    report.text(&look::conditions()?)
}
