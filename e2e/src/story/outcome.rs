//! What became of the steps: printed as it happens, counted at the end.

use std::time::Duration;

/// What became of a step. One that was not played has not passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not, and how.
    Failed(String),
    /// It was not played, and why.
    NotRun(String),
}

/// All steps that were asked for, in the order in which their ends were reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    ended: Vec<(String, Outcome)>,
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

impl Report {
    /// A step begins.
    pub fn begins(title: &str) {
        println!("step {title}");
    }

    /// A step has ended.
    pub fn ends(&mut self, title: String, outcome: Outcome, took: Duration) {
        match &outcome {
            Outcome::Passed => println!("step {title}: passed in {}", seconds(took)),
            Outcome::Failed(why) => {
                println!("step {title}: FAILED after {}: {why}", seconds(took));
            }
            Outcome::NotRun(why) => println!("step {title}: not run: {why}"),
        }
        self.ended.push((title, outcome));
    }

    /// Something besides the steps has failed.
    pub fn fails(&mut self, title: String, why: String) {
        self.ends(title, Outcome::Failed(why), Duration::ZERO);
    }

    /// All that was reported.
    pub fn ended(&self) -> &[(String, Outcome)] {
        &self.ended
    }

    fn count(&self, is_so: impl Fn(&Outcome) -> bool) -> usize {
        self.ended.iter().filter(|(_, outcome)| is_so(outcome)).count()
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.count(|o| matches!(o, Outcome::Failed(_)))
    }

    /// The counts, as Rust's own test binaries close: whoever counts those
    /// counts these.
    pub fn closing_line(&self, took: Duration) -> String {
        let (passed, failed) = (self.count(|o| *o == Outcome::Passed), self.failed());
        let not_run = self.count(|o| matches!(o, Outcome::NotRun(_)));
        let word = if failed == 0 { "ok" } else { "FAILED" };
        format!(
            "test result: {word}. {passed} passed; {failed} failed; {not_run} ignored; 0 measured; 0 filtered out; finished in {:.2}s",
            took.as_secs_f64()
        )
    }

    /// The names of those that failed, each on a line, and the counts.
    pub fn close(&self, took: Duration) {
        for (title, outcome) in &self.ended {
            if let Outcome::Failed(_) = outcome {
                println!("failed: {title}");
            }
        }
        println!("{}", self.closing_line(took));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_was_not_run_is_not_counted_as_passed() {
        let mut report = Report::default();
        report.ends("a/one".into(), Outcome::Passed, Duration::from_secs(2));
        report.fails("a/two".into(), "left != right".into());
        report.ends("a/three".into(), Outcome::NotRun("no ring".into()), Duration::ZERO);
        let line = report.closing_line(Duration::from_secs(3));
        let counts = "test result: FAILED. 1 passed; 1 failed; 1 ignored;";
        assert!(line.starts_with(counts), "{line}");
    }
}
