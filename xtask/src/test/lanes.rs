//! The tests on testbeds. Two testbeds work beside each other: a ring spends
//! most of its time waiting for timers, and one alone leaves the machine idle.

use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow};
use palladion_testbed::progress::Lines;
use palladion_testbed::{Cluster, ClusterName, Config};

use super::steps::Tally;
use crate::install;

/// Tests repeat what is too long for landing where this is set to 1.
const SOAK: &str = "PALLADION_SOAK";
/// The testbed of a test.
const TESTBED: &str = "PALLADION_TESTBED";
/// All testbeds of a run, with commas between, for the tests that look back on it.
const TESTBEDS: &str = "PALLADION_TESTBEDS";

/// Which test files share a testbed, so that all end at about the same time.
/// Those of one testbed run one after another, in the order of their names.
const LANES: [&[&str]; 2] = [
    &[
        "admission",
        "chart",
        "creation_under_fire",
        "disk",
        "ring",
        "upgrade",
        "wrong_input",
        "zoned",
    ],
    &["heal", "roll", "scale"],
];
/// Looks back on what the others made the operator do.
const LAST: &str = "zz_rights";

/// What two testbeds use at most with their rings, 4 GiB were seen, and room
/// for the server's caches of files.
const ROOM_GIB: u64 = 8;

/// Is there memory for two testbeds? Says so where there is not.
fn has_room() -> bool {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = available_gib(&text);
    let has_room = available.is_none_or(|gib| gib >= ROOM_GIB);
    if !has_room {
        eprintln!(
            "less than {ROOM_GIB} GiB of memory are free: all tests run on one testbed, which takes twice as long"
        );
    }
    has_room
}

/// Whole GiB that can be had without swapping; `None` where the kernel does not say.
fn available_gib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024 / 1024)
}

/// How often the tests repeat what they do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As often as landing has time for.
    Landing,
    /// As often as the issues ask for.
    Soak,
}

/// What runs, and where.
pub struct Bench<'a> {
    /// The name of the first testbed.
    pub name: &'a ClusterName,
    /// Leave the testbeds up afterwards.
    pub keep: bool,
    /// Only tests whose name contains this, all on one testbed.
    pub only: Option<&'a str>,
    /// How often the tests repeat what they do.
    pub length: Length,
}

impl Bench<'_> {
    fn testbeds(&self) -> Result<Vec<ClusterName>> {
        let count = if self.only.is_some() || !has_room() { 1 } else { LANES.len() };
        (1..=count)
            .map(|n| match n {
                1 => Ok(self.name.clone()),
                n => ClusterName::parse(&format!("{}{n}", self.name.as_str())),
            })
            .collect()
    }

    /// Which tests of a binary run; those that take minutes do in a soak alone.
    fn chosen(&self) -> Vec<&str> {
        let long = (self.length == Length::Soak).then_some("--include-ignored");
        self.only.into_iter().chain(long).collect()
    }

    fn cargo_test(&self, testbed: &ClusterName) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command
            .current_dir(install::root())
            .args(["test", "--package", "palladion-e2e", "--locked"])
            .env(TESTBED, testbed.as_str());
        if self.length == Length::Soak {
            command.env(SOAK, "1");
        }
        command
    }
}

/// Run the tests on testbeds that are made for them, and taken down again.
pub fn run(bench: &Bench, tally: &mut Tally) -> Result<()> {
    let names = bench.testbeds()?;
    // One that an earlier run left behind is not what a fresh machine has.
    down(&names)?;
    let outcome = on_testbeds(bench, &names, tally);
    if bench.keep {
        for name in &names {
            eprintln!("kept: cargo xtask testbed --name {name} down");
        }
    } else {
        down(&names)?;
    }
    outcome
}

fn down(names: &[ClusterName]) -> Result<()> {
    names.iter().try_for_each(|name| Cluster::down(name, &mut Lines))
}

fn on_testbeds(bench: &Bench, names: &[ClusterName], tally: &mut Tally) -> Result<()> {
    // Once, and not by both lanes at a time.
    tally.step(
        "building the tests on the testbed",
        "",
        bench.cargo_test(bench.name).arg("--no-run"),
    )?;
    if let [name] = names {
        let cluster = prepare(name)?;
        let mut command = bench.cargo_test(name);
        command.args(["--no-fail-fast", "--"]).args(bench.chosen());
        return tests(&cluster, "", &mut command, tally);
    }
    thread::scope(|scope| -> Result<()> {
        let mut lanes = Vec::new();
        // A testbed comes up while the tests on the one before it run.
        let mut prepared = Ok(());
        for (name, files) in names.iter().zip(LANES) {
            let cluster = match prepare(name) {
                Ok(cluster) => cluster,
                Err(error) => {
                    prepared = Err(error.context(format!("making the testbed {name}")));
                    break;
                }
            };
            lanes.push(scope.spawn(move || -> Result<Tally> {
                let mut tally = Tally::default();
                let mut command = bench.cargo_test(name);
                command
                    .args(files.iter().flat_map(|file| ["--test", file]))
                    .args(["--no-fail-fast", "--"])
                    .args(bench.chosen());
                tests(&cluster, &format!("[{name}] "), &mut command, &mut tally)?;
                Ok(tally)
            }));
        }
        for lane in lanes {
            tally.add(lane.join().map_err(|_| anyhow!("a lane of tests broke"))??);
        }
        prepared
    })?;
    let all: Vec<&str> = names.iter().map(ClusterName::as_str).collect();
    let cluster = Cluster::attach(bench.name)?;
    let mut command = bench.cargo_test(bench.name);
    command.env(TESTBEDS, all.join(",")).args(["--lib", "--test", LAST, "--no-fail-fast", "--"]);
    tests(&cluster, "", &mut command, tally)
}

fn prepare(name: &ClusterName) -> Result<Cluster> {
    let config = Config { name: name.clone(), ..Config::default() };
    let cluster = Cluster::up(&config, &mut Lines)?;
    // Some tests probe by a command in the container, a right that is not given by default.
    install::install(&cluster, &["zonedStatefulSet.allowExec=true"], &mut Lines)
        .context("installing Palladion")?;
    Ok(cluster)
}

fn tests(cluster: &Cluster, prefix: &str, command: &mut Command, tally: &mut Tally) -> Result<()> {
    command.args(["--test-threads", "1", "--nocapture"]);
    let failed_before = tally.failures.len();
    tally.step("tests on the testbed", prefix, command)?;
    if tally.failures.len() > failed_before {
        // A part of the testbed that has ended explains more than the tests can.
        eprintln!("{prefix}the testbed is {}", cluster.status()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal:       24624312 kB\nMemAvailable:   22020096 kB\n";
        assert_eq!(available_gib(text), Some(21));
        assert_eq!(available_gib(""), None);
    }

    #[test]
    fn every_file_of_tests_is_in_exactly_one_lane() {
        let mut files: Vec<String> = fs::read_dir(install::root().join("e2e/tests"))
            .expect("the tests on the testbed")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| {
                let stem = path.file_stem().expect("a name");
                stem.to_string_lossy().into_owned()
            })
            .collect();
        files.sort();
        let mut named: Vec<&str> = LANES.concat();
        named.push(LAST);
        named.sort_unstable();
        assert_eq!(files, named);
        assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len());
    }
}
