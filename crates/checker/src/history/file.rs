//! A history's file: one JSON document a line, each given to the kernel before
//! what it tells of goes on, so that a checker that is killed has told all.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::{Action, Attempt, Ending, History, Micros, Outcome, Record, Run};
use crate::level::Level;

/// Reads a history. A last line that was not written to its end is no error;
/// any other line that cannot be read is.
pub fn read(path: &Path) -> Result<History> {
    let reading = || format!("reading the history {}", path.display());
    let text = std::fs::read_to_string(path).with_context(reading)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut records = Vec::new();
    for (index, line) in whole.lines().enumerate() {
        let record: Record = serde_json::from_str(line)
            .with_context(|| format!("{}, line {}", reading(), index + 1))?;
        records.push(record);
    }
    Ok(History::from_records(records))
}

/// Adds to a history. One at a time: the file is locked while it lives.
pub struct Recorder {
    path: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    next_id: u64,
    clock: Clock,
}

/// Wall time at the beginning, and the machine's steady clock from then on;
/// never twice the same, and never before what the history already tells of.
struct Clock {
    begin: Instant,
    base: Micros,
    last: Micros,
}

impl Clock {
    fn after(last: Micros) -> Result<Self> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).context("reading the clock")?;
        let base = Micros::try_from(wall.as_micros()).context("reading the clock")?;
        Ok(Self { begin: Instant::now(), base, last })
    }

    fn now(&mut self) -> Micros {
        let passed = Micros::try_from(self.begin.elapsed().as_micros()).unwrap_or(Micros::MAX);
        self.last = self.base.saturating_add(passed).max(self.last + 1);
        self.last
    }
}

impl Recorder {
    /// Goes on with a history, or begins one with this seed; returns what it
    /// already tells of.
    pub fn open(path: &Path, seed: u64, keyspace: &str) -> Result<(Self, History)> {
        let opening = || format!("opening the history {}", path.display());
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(path)
            .with_context(opening)?;
        if let Err(error) = file.try_lock() {
            bail!("{}: another checker writes to it ({error})", opening());
        }
        end_torn_line(path, &file).with_context(opening)?;
        let history = read(path)?;
        let seed = history.runs.first().map_or(seed, |run| run.seed);
        let mut inner =
            Inner { file, next_id: history.next_id(), clock: Clock::after(history.last_moment())? };
        let run = Run { at: inner.clock.now(), seed, keyspace: keyspace.to_owned() };
        let recorder = Self { path: path.to_owned(), inner: Mutex::new(inner) };
        recorder.with(|inner| write(inner, &Record::Run(run.clone())))?;
        Ok((recorder, History { runs: [history.runs, vec![run]].concat(), ..history }))
    }

    /// Notes what is about to be sent. `action` is given the attempt's number.
    pub fn attempt(
        &self,
        key: i64,
        level: Level,
        action: impl FnOnce(u64) -> Action,
    ) -> Result<Attempt> {
        self.with(|inner| {
            let id = inner.next_id;
            let attempt = Attempt { id, at: inner.clock.now(), key, action: action(id), level };
            inner.next_id += 1;
            write(inner, &Record::Attempt(attempt.clone()))?;
            Ok(attempt)
        })
    }

    /// Notes how it ended.
    pub fn outcome(&self, id: u64, outcome: Outcome) -> Result<()> {
        self.with(|inner| {
            let ending = Ending { id, at: inner.clock.now(), outcome };
            write(inner, &Record::Outcome(ending))
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> Result<T>) -> Result<T> {
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        act(&mut inner).with_context(|| format!("writing the history {}", self.path.display()))
    }
}

fn write(inner: &mut Inner, record: &Record) -> Result<()> {
    let mut line = serde_json::to_vec(record).context("as JSON")?;
    line.push(b'\n');
    Ok(inner.file.write_all(&line)?)
}

/// Cut off, so that the next record begins a line: a torn attempt was not sent,
/// and a torn answer leaves its attempt unknown.
fn end_torn_line(path: &Path, file: &File) -> Result<()> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        file.set_len(u64::try_from(whole)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(version: u64) -> impl FnOnce(u64) -> Action {
        move |_| Action::Put { version }
    }

    #[test]
    fn a_history_is_read_as_it_was_written_and_goes_on_where_it_ended() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let path = directory.path().join("history");
        let (recorder, empty) = Recorder::open(&path, 7, "checked").expect("should open");
        assert!(empty.operations.is_empty());
        let first = recorder.attempt(1, Level::All, put(1)).expect("should write");
        recorder.outcome(first.id, Outcome::Acknowledged).expect("should write");
        let second = recorder.attempt(1, Level::One, put(2)).expect("should write");
        assert!(second.at > first.at);
        assert!(Recorder::open(&path, 7, "checked").is_err(), "two at a time");
        drop(recorder);
        let (recorder, history) = Recorder::open(&path, 8, "checked").expect("should open");
        assert_eq!(history.runs.iter().map(|run| run.seed).collect::<Vec<_>>(), [7, 7]);
        assert_eq!(history.operations[0].acknowledged(), Some(Level::All));
        assert_eq!(history.operations[1].acknowledged(), None);
        assert!(matches!(history.operations[1].outcome, Outcome::Unknown { .. }));
        let third = recorder.attempt(1, Level::One, put(3)).expect("should write");
        assert_eq!(third.id, second.id + 1);
        assert!(third.at > second.at);
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_a_torn_line_in_the_middle_is_an_error() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let path = directory.path().join("history");
        let (recorder, _) = Recorder::open(&path, 7, "checked").expect("should open");
        recorder.attempt(1, Level::One, put(1)).expect("should write");
        drop(recorder);
        let whole = std::fs::read_to_string(&path).expect("should read");
        std::fs::write(&path, format!("{whole}{{\"outc")).expect("should write");
        assert_eq!(read(&path).expect("should read").operations.len(), 1);
        let (recorder, _) = Recorder::open(&path, 7, "checked").expect("should open");
        recorder.attempt(2, Level::One, put(1)).expect("should write");
        assert_eq!(read(&path).expect("should read").operations.len(), 2);
        std::fs::write(&path, format!("{{\"outc\n{whole}")).expect("should write");
        assert!(read(&path).is_err());
    }

    #[test]
    fn records_are_plain_json() {
        let attempt = Attempt {
            id: 3,
            at: 5,
            key: 9,
            action: Action::Swap { from: None, to: "9.3".into() },
            level: Level::Quorum,
        };
        let text = serde_json::to_string(&Record::Attempt(attempt)).expect("should serialise");
        let wanted = r#"{"attempt":{"id":3,"at":5,"key":9,"action":{"swap":{"from":null,"to":"9.3"}},"level":"QUORUM"}}"#;
        assert_eq!(text, wanted);
        let ending = Ending { id: 3, at: 6, outcome: Outcome::Found { value: None } };
        let text = serde_json::to_string(&Record::Outcome(ending)).expect("should serialise");
        assert_eq!(text, r#"{"outcome":{"id":3,"at":6,"result":"found","value":null}}"#);
    }
}
