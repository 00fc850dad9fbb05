//! One step of a test run: its output is passed on, and the counts are read
//! from it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use palladion_e2e::story::read_told_whole;

/// Counts of tests that ran.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that say themselves that they did not run.
    pub ignored: u64,
}

/// What has run so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// The tests of all steps.
    pub counts: Counts,
    /// The steps that failed, by name, and what failed within them.
    pub failures: Vec<String>,
    /// What the test programs say of their failures, for the end of the run.
    pub reasons: Vec<String>,
    /// How long each story took that was told whole and passed.
    pub told_whole: Vec<(String, Duration)>,
    /// Is what a program says of its failures being read?
    pub is_in_reasons: bool,
}

/// Lines of a test program about its failures that stand at the end of the run again: enough for
/// a few tests, and none hides those of the next program.
const MOST_REASONS: usize = 120;

impl Tally {
    /// Take over what another one counted.
    pub fn add(&mut self, other: Tally) {
        self.count(other.counts);
        self.failures.extend(other.failures);
        self.reasons.extend(other.reasons);
        self.told_whole.extend(other.told_whole);
    }

    /// What could not be done at all counts as a failure of the run, which is
    /// closed like any other.
    pub fn ended(&mut self, outcome: anyhow::Result<()>) {
        self.failures.extend(outcome.err().map(|error| format!("{error:#}")));
    }

    fn count(&mut self, counts: Counts) {
        self.counts.passed += counts.passed;
        self.counts.failed += counts.failed;
        self.counts.ignored += counts.ignored;
    }

    /// Take over what a line of a step's output tells.
    fn read(&mut self, line: &str) {
        if let Some(found) = result_line(line) {
            self.count(found);
            self.is_in_reasons = false;
        }
        self.is_in_reasons |= line == "failures:";
        if self.is_in_reasons && self.reasons.len() < MOST_REASONS {
            self.reasons.push(line.to_string());
        }
        if let Some(title) = line.strip_prefix("failed: ") {
            self.failures.push(title.to_string());
        }
        self.told_whole.extend(read_told_whole(line));
    }

    /// The run in one line. A failed check that is no test, such as
    /// formatting, counts as one.
    pub fn closing_line(&self) -> String {
        let Counts { passed, failed, ignored } = self.counts;
        let failed = failed.max(u64::try_from(self.failures.len()).unwrap_or(1));
        let skipped = match ignored {
            0 => String::new(),
            n => format!(", {n} skipped"),
        };
        format!("{passed} passed, {failed} failed{skipped}")
    }

    /// Run one step with each line of its output behind `prefix`, and count.
    ///
    /// # Errors
    /// If it could not be started. A step that fails is counted.
    pub fn step(&mut self, name: &str, prefix: &str, command: &mut Command) -> Result<()> {
        eprintln!("{prefix}== {name}");
        let begin = Instant::now();
        let (passed, within) =
            run_counting(command, prefix).with_context(|| format!("running {name}"))?;
        let named = within.failures.len();
        self.add(within);
        let took = begin.elapsed().as_secs_f64();
        if passed {
            eprintln!("{prefix}== {name}: passed in {took:.0} s");
        } else {
            eprintln!("{prefix}== {name}: FAILED after {took:.0} s");
            // What failed within it says more, where it is named.
            if named == 0 {
                self.failures.push(name.to_string());
            }
        }
        Ok(())
    }

    /// What is no test but must be done, with its time; where it cannot be, the run has failed.
    pub fn timed(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        eprintln!("== {name}");
        let begin = Instant::now();
        let outcome = work();
        let how = if outcome.is_ok() { "done in" } else { "FAILED after" };
        eprintln!("== {name}: {how} {:.0} s", begin.elapsed().as_secs_f64());
        self.ended(outcome);
    }
}

fn run_counting(command: &mut Command, prefix: &str) -> Result<(bool, Tally)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    // Steps beside each other are told apart by what is before their lines.
    if !prefix.is_empty() {
        command.stderr(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().context("reading its output")?;
    let stderr = child.stderr.take();
    let mut within = Tally::default();
    thread::scope(|scope| -> Result<()> {
        if let Some(stderr) = stderr {
            scope.spawn(move || each_line(stderr, |line| eprintln!("{prefix}{line}")));
        }
        each_line(stdout, |line| {
            println!("{prefix}{line}");
            within.read(line);
        })
    })?;
    Ok((child.wait()?.success(), within))
}

/// Output of tests need not be text throughout.
fn each_line(from: impl Read, mut each: impl FnMut(&str)) -> Result<()> {
    for line in BufReader::new(from).split(b'\n') {
        each(&String::from_utf8_lossy(&line?));
    }
    Ok(())
}

/// The closing line of one test binary: `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn result_line(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |word: &str| {
        rest.split("; ")
            .find_map(|part| part.strip_suffix(word))
            .and_then(|n| n.trim().parse().ok())
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
        ignored: number("ignored")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_closing_line_of_a_test_binary() {
        let line = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.01s";
        let counts = result_line(line).expect("should be read");
        assert_eq!((counts.passed, counts.failed, counts.ignored), (3, 2, 1));
        assert!(result_line("test decide::joins ... ok").is_none());
    }

    #[test]
    fn a_step_is_counted_with_and_without_a_prefix() {
        let line = "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        for prefix in ["", "[two] "] {
            let mut tally = Tally::default();
            let mut command = Command::new("sh");
            command.args(["-c", &format!("echo '{line}'; echo aside >&2; exit 1")]);
            tally.step("a shell", prefix, &mut command).expect("sh is everywhere");
            assert_eq!(tally.closing_line(), "2 passed, 1 failed");
            assert_eq!(tally.failures, ["a shell"]);
        }
    }

    #[test]
    fn what_could_not_be_done_is_closed_as_a_failure() {
        let mut tally =
            Tally { counts: Counts { passed: 3, ..Counts::default() }, ..Tally::default() };
        tally.ended(Err(anyhow::anyhow!("no room").context("making a testbed")));
        tally.ended(Ok(()));
        assert_eq!(tally.failures, ["making a testbed: no room"]);
        assert_eq!(tally.closing_line(), "3 passed, 1 failed");
    }

    #[test]
    fn what_failed_within_a_step_is_named_in_its_place() {
        let mut tally = Tally::default();
        let mut command = Command::new("sh");
        let lines = "failed: roll/one\nfailed: roll/two\ntold whole: scale in 61 s\ntest result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        command.args(["-c", &format!("printf '{lines}\n'; exit 1")]);
        tally.step("stories", "", &mut command).expect("sh is everywhere");
        assert_eq!(tally.failures, ["roll/one", "roll/two"]);
        assert_eq!(tally.reasons, Vec::<String>::new());
        assert_eq!(tally.closing_line(), "3 passed, 2 failed");
        assert_eq!(tally.told_whole, [("scale".to_string(), Duration::from_secs(61))]);
    }

    #[test]
    fn what_a_program_says_of_its_failures_stands_at_the_end_again() {
        let lines = "running 2 tests\ntest one ... FAILED\n\nfailures:\n\n---- one stdout ----\nleft: 3\n\nfailures:\n    one\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\nafter";
        let mut tally = Tally::default();
        lines.lines().for_each(|line| tally.read(line));
        let reasons = ["failures:", "", "---- one stdout ----", "left: 3", "", "failures:"];
        assert_eq!(tally.reasons[..6], reasons);
        assert_eq!(tally.reasons.last().map(String::as_str), Some(""));
        // Each program has its own share.
        let mut all = Tally::default();
        let mut many = Tally::default();
        many.read("failures:");
        (0..1000).for_each(|number| many.read(&number.to_string()));
        all.add(many);
        all.add(tally);
        assert!(all.reasons.iter().any(|line| line == "left: 3"));
        assert!(all.reasons.len() < 200);
    }
}
