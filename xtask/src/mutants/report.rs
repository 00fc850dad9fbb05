//! The table of what became of each mutant.

use std::fmt::{self, Display, Formatter};

use super::list::Mutant;

/// What became of a mutant.
pub enum Outcome {
    /// These tests failed.
    Caught(Vec<String>),
    /// All its tests passed: they do not try the rule.
    Survived,
    /// It could not be tried: the mutant or its list of tests is wrong.
    Unfit(String),
}

/// What became of all.
#[derive(Default)]
pub struct Report {
    rows: Vec<String>,
    caught: usize,
}

impl Report {
    /// Add a mutant.
    pub fn add(&mut self, mutant: &Mutant, outcome: Outcome, seconds: u64) {
        let Mutant { name, rule, breaks, .. } = mutant;
        self.rows.push(format!("| {rule} | `{name}`: {breaks} | {outcome} | {seconds} |"));
        self.caught += usize::from(matches!(outcome, Outcome::Caught(_)));
    }

    /// How many were not caught by a test.
    pub fn not_caught(&self) -> usize {
        self.rows.len() - self.caught
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Caught(by) => match by.as_slice() {
                [first] => write!(f, "caught by `{first}`"),
                [first, rest @ ..] => write!(f, "caught by `{first}` and {} more", rest.len()),
                [] => write!(f, "caught"),
            },
            Outcome::Survived => write!(f, "SURVIVED"),
            Outcome::Unfit(why) => write!(f, "NOT TRIED: {why}"),
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "**{} of {} caught.**\n", self.caught, self.rows.len())?;
        writeln!(f, "| rule | mutant | outcome | s |\n|---|---|---|---|")?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
