//! The stories on testbeds. Some testbeds work beside each other: a ring spends most of its time
//! waiting for timers, and one alone leaves the machine idle. Which stories share one the
//! stories' own program says, by the durations on record.

use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use palladion_e2e::story::{Durations, Length};
use palladion_testbed::progress::Lines;
use palladion_testbed::{Cluster, ClusterName, Config};

use super::programs::{self, Program};
use super::steps::Tally;
use crate::install;

/// Stories repeat what is too long for landing where this is set to 1.
const SOAK: &str = "PALLADION_SOAK";
/// The program that writes rows and checks them.
const CHECKER: &str = "PALLADION_CHECKER";
/// The command line for people.
const CLI: &str = "PALLADION_CLI";
/// The testbed of a story.
const TESTBED: &str = "PALLADION_TESTBED";
/// All testbeds of a run, with commas between, for the last act, which looks back on it.
const TESTBEDS: &str = "PALLADION_TESTBEDS";

/// What one testbed uses at most with its rings, 2 GiB were seen, and room
/// for the server's caches of files.
const ROOM_GIB: u64 = 4;

/// How many testbeds there is memory for, of so many that were asked for. Says so where it is
/// not all of them.
fn with_room(asked: usize) -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let Some(available) = available_gib(&text) else { return asked };
    let count = fitting(asked, available);
    if count < asked {
        eprintln!(
            "{available} GiB of memory are free, and {ROOM_GIB} are needed for each testbed: the stories run on {count} of {asked}, and take longer"
        );
    }
    count
}

/// At least one, which says itself what it lacks.
fn fitting(asked: usize, gib: u64) -> usize {
    asked.min(usize::try_from(gib / ROOM_GIB).unwrap_or(asked)).max(1)
}

/// Whole GiB that can be had without swapping; `None` where the kernel does not say.
fn available_gib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024 / 1024)
}

/// Which stories, and what becomes of the testbeds and the record.
#[derive(Args)]
pub struct Playing {
    /// Play only the story of this name, or the steps whose `story/step` contains this, on fresh
    /// rings, on one testbed
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Play only this step and those after it in its story, on one testbed
    #[arg(long, value_name = "WORDS", conflicts_with = "only")]
    from: Option<String>,
    /// Testbeds that work beside each other, from 1 to 4; each needs 4 GiB of memory. Three unless
    /// it is said, and two in a soak, whose repetitions take more of the processors
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=4), conflicts_with_all = ["only", "from"])]
    testbeds: Option<u8>,
    /// Name the stories and their steps instead of playing them
    #[arg(long)]
    pub list: bool,
    /// Play nothing more after a failure, and keep the testbeds as they stand, to look at it
    #[arg(long)]
    keep: bool,
    /// Write down how long each story took: the testbeds' shares are balanced by that
    #[arg(long)]
    record: bool,
}

impl Playing {
    /// Has somebody named some, instead of all?
    pub fn is_part(&self) -> bool {
        self.words().is_some()
    }

    fn words(&self) -> Option<[&str; 2]> {
        let only = self.only.as_deref().map(|words| ["--only", words]);
        only.or(self.from.as_deref().map(|words| ["--from", words]))
    }
}

/// What is played, and where.
pub struct Bench<'a> {
    /// The name of the first testbed.
    pub name: &'a ClusterName,
    /// What a person asks for.
    pub playing: &'a Playing,
    /// How often the stories repeat what they do.
    pub length: Length,
}

impl Bench<'_> {
    fn testbeds(&self) -> Result<Vec<ClusterName>> {
        let by_length = match self.length {
            Length::Landing => 3,
            Length::Soak => 2,
        };
        let asked = self.playing.testbeds.map_or(by_length, usize::from);
        let count = if self.playing.is_part() { 1 } else { with_room(asked) };
        (1..=count)
            .map(|n| match n {
                1 => Ok(self.name.clone()),
                n => ClusterName::parse(&format!("{}{n}", self.name.as_str())),
            })
            .collect()
    }

    /// The stories' program, with what was chosen of them.
    fn stories(&self, program: &Program, testbed: &ClusterName) -> Command {
        let mut command = program.command(&[]);
        command
            .args(self.playing.words().iter().flatten())
            .env(CHECKER, install::built().join("palladion-checker"))
            .env(CLI, install::built().join("kubectl-palladion"))
            .env(TESTBED, testbed.as_str())
            .env_remove(TESTBEDS)
            .env_remove(SOAK);
        if self.length == Length::Soak {
            command.env(SOAK, "1");
        }
        if self.playing.keep {
            command.arg("--keep");
        }
        command
    }

    /// Ask the stories' program.
    fn asked(&self, program: &Program, arguments: &[&str]) -> Result<String> {
        let mut command = self.stories(program, self.name);
        command.args(arguments).stderr(Stdio::inherit());
        let output = command.output().context("running the stories' program")?;
        if !output.status.success() {
            bail!("the stories' program does not answer; what it says is above");
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Name what would be played.
    pub fn list(&self) -> Result<()> {
        print!("{}", self.asked(&programs::stories()?, &["--list"])?);
        Ok(())
    }
}

/// Play the stories on testbeds that are made for them, and taken down again.
pub fn run(bench: &Bench, tally: &mut Tally) -> Result<()> {
    let program = programs::stories()?;
    // A name that nobody has is refused before a testbed is made for it.
    bench.asked(&program, &["--list"])?;
    let names = bench.testbeds()?;
    // One that an earlier run left behind is not what a fresh machine has.
    down(&names)?;
    let outcome = on_testbeds(bench, &program, &names, tally);
    tally.ended(outcome);
    if bench.playing.keep {
        for name in &names {
            eprintln!("kept: cargo xtask testbed --name {name} down");
        }
    } else {
        down(&names)?;
    }
    if bench.playing.record { record(bench.length, tally) } else { Ok(()) }
}

fn record(length: Length, tally: &Tally) -> Result<()> {
    let mut durations = Durations::recorded()?;
    for (story, took) in &tally.told_whole {
        durations.record(length, story, *took);
    }
    let path = Durations::path();
    std::fs::write(&path, durations.text()).with_context(|| format!("writing {}", path.display()))
}

fn down(names: &[ClusterName]) -> Result<()> {
    names.iter().try_for_each(|name| Cluster::down(name, &mut Lines))
}

fn on_testbeds(
    bench: &Bench,
    program: &Program,
    names: &[ClusterName],
    tally: &mut Tally,
) -> Result<()> {
    if let [name] = names {
        let cluster = prepare(name)?;
        return play(&cluster, "", &mut bench.stories(program, name), tally);
    }
    let lanes = bench.asked(program, &["--lanes", &names.len().to_string()])?;
    let lanes = shared_out(names, &lanes);
    let broken = thread::scope(|scope| {
        let (mut running, mut broken) = (Vec::new(), 0);
        // A testbed comes up while the stories on the one before it run.
        for (name, stories) in &lanes {
            let cluster = match prepare(name) {
                Ok(cluster) => cluster,
                Err(error) => {
                    tally.ended(Err(error.context(format!("making the testbed {name}"))));
                    broken += 1;
                    break;
                }
            };
            running.push(scope.spawn(move || {
                let (mut tally, mut command) = (Tally::default(), bench.stories(program, name));
                command.args(stories.iter().flat_map(|story| ["--story", story]));
                let outcome = play(&cluster, &format!("[{name}] "), &mut command, &mut tally);
                (tally, outcome)
            }));
        }
        for lane in running {
            let ended = lane.join().map_err(|_| anyhow!("a lane of stories broke"));
            broken += usize::from(!took_over(tally, ended));
        }
        broken
    });
    if broken > 0 {
        bail!("{broken} of {} testbeds did not serve, so nobody looks back on rights", lanes.len());
    }
    let all: Vec<&str> = lanes.iter().map(|(name, _)| name.as_str()).collect();
    let cluster = Cluster::attach(bench.name)?;
    let mut command = bench.stories(program, bench.name);
    command.env(TESTBEDS, all.join(",")).arg("--last-act");
    play(&cluster, "", &mut command, tally)
}

/// Which testbed plays which stories. One that has none is not made: without a
/// name it would play them all.
fn shared_out<'a>(
    names: &'a [ClusterName],
    lanes: &'a str,
) -> Vec<(&'a ClusterName, Vec<&'a str>)> {
    let lanes = lanes.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut shared: Vec<_> = names.iter().zip(lanes).collect();
    shared.retain(|(_, stories)| !stories.is_empty());
    shared
}

/// What a lane has counted counts, also where its testbed broke; did it not?
fn took_over(tally: &mut Tally, ended: Result<(Tally, Result<()>)>) -> bool {
    let (counted, outcome) = ended.unwrap_or_else(|error| (Tally::default(), Err(error)));
    let is_well = outcome.is_ok();
    tally.add(counted);
    tally.ended(outcome);
    is_well
}

fn prepare(name: &ClusterName) -> Result<Cluster> {
    let config = Config { name: name.clone(), ..Config::default() };
    let cluster = Cluster::up(&config, &mut Lines)?;
    // Some stories probe by a command in the container, a right that is not given by default.
    install::install(&cluster, &["zonedStatefulSet.allowExec=true"], &mut Lines)
        .context("installing Palladion")?;
    Ok(cluster)
}

fn play(cluster: &Cluster, prefix: &str, command: &mut Command, tally: &mut Tally) -> Result<()> {
    let (failed_before, counted_before) = (tally.failures.len(), tally.counts);
    tally.step("stories on the testbed", prefix, command)?;
    if tally.failures.len() == failed_before && tally.counts == counted_before {
        tally.failures.push(format!("{prefix}the stories ended without a count"));
    }
    if tally.failures.len() > failed_before {
        // A part of the testbed that has ended explains more than the stories can.
        eprintln!("{prefix}the testbed is {}", cluster.status()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_testbed_without_stories_is_not_made() {
        let names = ["ci", "ci2"].map(|name| ClusterName::parse(name).expect("a name"));
        assert_eq!(shared_out(&names, "roll\n\n"), [(&names[0], vec!["roll"])]);
        assert_eq!(shared_out(&names, "roll heal\nring\n")[1], (&names[1], vec!["ring"]));
    }

    #[test]
    fn what_a_lane_counted_before_it_broke_counts() {
        let counts = super::super::steps::Counts { passed: 3, failed: 0, ignored: 0 };
        let counted = || Tally { counts, ..Tally::default() };
        let mut tally = counted();
        assert!(!took_over(&mut tally, Ok((counted(), Err(anyhow!("its testbed ended"))))));
        assert!(!took_over(&mut tally, Err(anyhow!("a lane of stories broke"))));
        assert_eq!(tally.closing_line(), "6 passed, 2 failed");
        assert!(took_over(&mut tally, Ok((counted(), Ok(())))));
    }

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal:       24624312 kB\nMemAvailable:   22020096 kB\n";
        assert_eq!(available_gib(text), Some(21));
        assert_eq!(available_gib(""), None);
        assert_eq!(
            [fitting(2, 21), fitting(3, 11), fitting(2, 8), fitting(2, 7), fitting(2, 0)],
            [2, 2, 2, 1, 1]
        );
    }
}
