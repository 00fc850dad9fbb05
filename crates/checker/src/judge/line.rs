//! The life of one key: every state that it was given, oldest first, and what
//! was acknowledged of it. What a reader finds is a place on this line.

use crate::dice::value_of;
use crate::history::{Action, Micros, Operation, Outcome};
use crate::level::Level;

/// The states of one row or register.
#[derive(Clone, Debug)]
pub struct Line {
    steps: Vec<Step>,
}

/// One change of a key.
#[derive(Clone, Debug)]
struct Step {
    /// `None` for a deletion.
    state: Option<String>,
    fate: Fate,
    at: Micros,
    title: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Acknowledged(Level),
    Unknown,
    /// Surely not done.
    Failed,
}

/// A place on a line: 0 is before the first step.
pub type Place = usize;

/// What a row is found to hold, in the same words as a line's states.
pub fn row_state(version: Option<i64>, value: Option<&str>) -> String {
    let version = version.map_or_else(|| "no version".to_owned(), |v| format!("version {v}"));
    match value {
        Some(value) => format!("{version} with value {value}"),
        None => format!("{version} with no value"),
    }
}

impl Line {
    /// Of a row, from its puts and deletes.
    pub fn of_row(seed: u64, operations: &[&Operation], lost_before: Option<Micros>) -> Self {
        let steps = operations.iter().filter_map(|operation| {
            let key = operation.attempt.key;
            let (state, title) = match &operation.attempt.action {
                Action::Put { version } => {
                    let value = value_of(seed, key, *version);
                    let state = row_state(i64::try_from(*version).ok(), Some(&value));
                    (Some(state), format!("version {version}"))
                }
                Action::Delete { version } => {
                    (None, format!("the deletion after version {}", version - 1))
                }
                Action::Swap { .. } | Action::Read => return None,
            };
            Some(Step::new(operation, state, title, lost_before))
        });
        Self { steps: steps.collect() }
    }

    /// Of a register, from the compare-and-sets that happened, in their order.
    pub fn of_register(chain: &[&Operation], lost_before: Option<Micros>) -> Self {
        let steps = chain.iter().filter_map(|operation| match &operation.attempt.action {
            Action::Swap { to, .. } => {
                let title = format!("value {to}");
                Some(Step::new(operation, Some(to.clone()), title, lost_before))
            }
            Action::Put { .. } | Action::Delete { .. } | Action::Read => None,
        });
        Self { steps: steps.collect() }
    }

    /// Where a reader is who finds this; `None` where it never was a state.
    ///
    /// Finding nothing is taken for the latest deletion that may have happened:
    /// a reader gets the benefit of what nobody can know.
    pub fn place_of(&self, found: Option<&str>) -> Option<Place> {
        let newest = self.steps.iter().rposition(|step| {
            step.state.as_deref() == found && (found.is_some() || step.fate != Fate::Failed)
        });
        match (newest, found) {
            (Some(index), _) => Some(index + 1),
            (None, None) => Some(0),
            (None, Some(_)) => None,
        }
    }

    /// The latest place that was acknowledged at this level or a stronger one.
    pub fn acknowledged(&self, level: Level) -> Place {
        let newest = self
            .steps
            .iter()
            .rposition(|step| matches!(step.fate, Fate::Acknowledged(reached) if reached >= level));
        newest.map_or(0, |index| index + 1)
    }

    /// Whether a reader who finds nothing is right whatever was acknowledged: the
    /// last word may have been a deletion.
    pub fn proves_nothing(&self) -> bool {
        let newest = self.acknowledged(Level::One);
        self.place_of(None).is_some_and(|place| place > newest) || newest == 0
    }

    /// Whether there is something to be found at a place.
    pub fn holds_something(&self, place: Place) -> bool {
        self.step(place).is_some_and(|step| step.state.is_some())
    }

    /// What happened at a place, in words, with times since `begin`.
    pub fn told(&self, place: Place, begin: Micros) -> String {
        let Some(step) = self.step(place) else {
            return "nothing yet".to_owned();
        };
        let seconds = (step.at - begin).max(0) / 1_000_000;
        let fate = match step.fate {
            Fate::Acknowledged(level) => format!("acknowledged at {level}"),
            Fate::Unknown => "of unknown outcome".to_owned(),
            Fate::Failed => "refused".to_owned(),
        };
        format!("{}, {fate} {seconds} s into the history", step.title)
    }

    fn step(&self, place: Place) -> Option<&Step> {
        self.steps.get(place.checked_sub(1)?)
    }
}

impl Step {
    /// What may be lost is as good as of unknown outcome.
    fn new(
        operation: &Operation,
        state: Option<String>,
        title: String,
        lost_before: Option<Micros>,
    ) -> Self {
        let attempt = &operation.attempt;
        let may_be_lost =
            attempt.level == Level::One && lost_before.is_some_and(|loss| attempt.at < loss);
        let fate = match &operation.outcome {
            Outcome::Acknowledged if may_be_lost => Fate::Unknown,
            Outcome::Acknowledged => Fate::Acknowledged(operation.attempt.level),
            Outcome::Failed { .. } => Fate::Failed,
            Outcome::Found { .. } | Outcome::Unknown { .. } => Fate::Unknown,
        };
        Self { state, fate, at: operation.attempt.at, title }
    }
}
