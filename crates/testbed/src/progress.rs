//! How the testbed tells what it is doing and how long that usually takes.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Who wants to know. All methods are called from one thread.
pub trait Progress {
    /// A stage begins; `usual` is how long it takes when the cache is cold.
    fn started(&mut self, what: &str, usual: Duration);
    /// The stage begun last has ended well.
    fn finished(&mut self, what: &str, took: Duration);
    /// Something worth a line.
    fn note(&mut self, text: &str);
}

/// Tells nobody.
#[derive(Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn started(&mut self, _what: &str, _usual: Duration) {}
    fn finished(&mut self, _what: &str, _took: Duration) {}
    fn note(&mut self, _text: &str) {}
}

/// Plain lines on standard error, readable in a log.
#[derive(Debug, Default)]
pub struct Lines;

impl Progress for Lines {
    fn started(&mut self, what: &str, usual: Duration) {
        if usual >= Duration::from_secs(2) {
            eprintln!("{what} (usually about {}) ...", rough(usual));
        } else {
            eprintln!("{what} ...");
        }
    }

    fn finished(&mut self, what: &str, took: Duration) {
        eprintln!("{what}: done in {:.1} s", took.as_secs_f64());
    }

    fn note(&mut self, text: &str) {
        eprintln!("{text}");
    }
}

/// Runs a stage between its two reports.
pub fn stage<T>(
    progress: &mut dyn Progress,
    what: &str,
    usual: Duration,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    progress.started(what, usual);
    let start = Instant::now();
    let result = work()?;
    progress.finished(what, start.elapsed());
    Ok(result)
}

/// A duration as a person says it.
pub fn rough(duration: Duration) -> String {
    match duration.as_secs() {
        0..=90 => format!("{} s", duration.as_secs()),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        assert_eq!(rough(Duration::from_secs(45)), "45 s");
        assert_eq!(rough(Duration::from_secs(300)), "5 min");
    }
}
