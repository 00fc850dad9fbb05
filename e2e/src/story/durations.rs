//! How long each story took when that was last recorded: what the lanes are
//! balanced by. `cargo xtask test --record` writes the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Length, Step, Story};

const RECORDED: &str = include_str!("../../durations.txt");
const HEADING: &str = "# Seconds that each story took; the lanes are balanced by them. Written by `cargo xtask test --record` and `cargo xtask soak --record`.\n";
const TOLD: &str = "told whole: ";
/// Of a story that has not been recorded: its ring, and each of its steps on it.
const GUESS_ON_RING: u64 = 60;
/// The same for a step without a ring.
const GUESS_ON_TESTBED: u64 = 30;

/// The line that tells how long a whole story took.
pub(super) fn told_whole(story: &str, took: Duration) -> String {
    format!("{TOLD}{story} in {} s", took.as_secs())
}

/// What such a line says, if it is one.
pub fn read_told_whole(line: &str) -> Option<(String, Duration)> {
    let (story, took) = line.strip_prefix(TOLD)?.rsplit_once(" in ")?;
    let seconds = took.strip_suffix(" s")?.parse().ok()?;
    Some((story.to_string(), Duration::from_secs(seconds)))
}

/// Seconds by length and story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    seconds: BTreeMap<(Length, String), u64>,
}

fn word(length: Length) -> &'static str {
    match length {
        Length::Landing => "landing",
        Length::Soak => "soak",
    }
}

impl Durations {
    /// Those on record.
    ///
    /// # Errors
    /// The file is not what [`Durations::text`] writes.
    pub fn recorded() -> Result<Self> {
        Self::read(RECORDED)
    }

    fn read(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = |line: &str| {
            let mut words = line.split_whitespace();
            let length = match words.next()? {
                "landing" => Length::Landing,
                "soak" => Length::Soak,
                _ => return None,
            };
            Some(((length, words.next()?.to_string()), words.next()?.parse().ok()?))
        };
        let seconds = lines.map(|line| {
            read(line).with_context(|| format!("reading {line:?} in e2e/durations.txt"))
        });
        Ok(Self { seconds: seconds.collect::<Result<_>>()? })
    }

    /// How long a story will take in a run of this length, in seconds.
    pub fn expected(&self, length: Length, story: &Story) -> u64 {
        let steps: Vec<&Step> = story.steps.iter().filter(|step| step.length <= length).collect();
        if steps.is_empty() {
            return 0;
        }
        let of = |length: Length| self.seconds.get(&(length, story.name.to_string())).copied();
        of(length).or_else(|| of(Length::Landing)).unwrap_or_else(|| {
            let on_rings = steps.iter().filter(|step| step.ring.is_some()).count() as u64;
            let rings = on_rings.min(1);
            (on_rings + rings) * GUESS_ON_RING + (steps.len() as u64 - on_rings) * GUESS_ON_TESTBED
        })
    }

    /// A story took so long.
    pub fn record(&mut self, length: Length, story: &str, took: Duration) {
        self.seconds.insert((length, story.to_string()), took.as_secs().max(1));
    }

    /// As the file has it.
    pub fn text(&self) -> String {
        let mut text = HEADING.to_string();
        for ((length, story), seconds) in &self.seconds {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{} {story} {seconds}", word(*length));
        }
        text
    }

    /// Where the file is, in the checkout that this was built from.
    pub fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("durations.txt")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_the_file_is_so_written() {
        let recorded = Durations::recorded().expect("should be read");
        assert_eq!(Durations::read(&recorded.text()).expect("should be read"), recorded);
        assert_eq!(recorded.text(), RECORDED, "cargo xtask test --record writes it");
        assert!(Durations::read("landing roll").is_err());
    }

    #[test]
    fn the_line_of_a_whole_story_is_read_again() {
        let took = Duration::from_secs(61);
        let line = told_whole("zoned-active", took);
        assert_eq!(read_told_whole(&line), Some(("zoned-active".to_string(), took)));
        assert_eq!(read_told_whole("step zoned-active/one: passed in 3.0 s"), None);
    }

    #[test]
    fn a_story_without_a_record_is_guessed_by_its_steps() {
        fn nothing() {}
        let story: Story =
            Story::named("new").step("one", nothing).step("two", nothing).in_soak().into();
        let mut durations = Durations::default();
        assert_eq!(durations.expected(Length::Landing, &story), GUESS_ON_TESTBED);
        assert_eq!(durations.expected(Length::Soak, &story), 2 * GUESS_ON_TESTBED);
        durations.record(Length::Landing, "new", Duration::from_secs(7));
        assert_eq!(durations.expected(Length::Landing, &story), 7);
        assert_eq!(durations.expected(Length::Soak, &story), 7);
    }
}
