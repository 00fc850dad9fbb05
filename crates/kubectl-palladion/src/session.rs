//! What a verb is given: where it prints, whom it may ask, and the connection,
//! which is made when the first verb needs it.

use crate::clean;
use crate::exit::Trouble;
use crate::paint::{Paint, Tone};
use crate::place::At;
use crate::words::answer::Note;
use jiff::Timestamp;
use palladion_engine::door::{Door, Way};
use std::io::Write;

/// Who answers questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Whoever sits at the terminal.
    Terminal,
    /// Nobody: standard input is no terminal.
    Nobody,
    /// A test.
    Given(String),
}

/// See the module.
pub struct Session<'a> {
    /// Standard output.
    pub out: &'a mut (dyn Write + Send),
    /// Standard error.
    pub notes: &'a mut (dyn Write + Send),
    /// Who answers questions.
    pub answers: Answers,
    /// Colour on standard output.
    pub paint: Paint,
    /// The time.
    pub clock: fn() -> Timestamp,
    /// The connection, once there is one.
    pub door: Option<Door>,
    /// Where it looks, as it was typed: a command that is suggested says the same.
    pub at: At,
}

impl Session<'_> {
    /// Print a line.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn print(&mut self, line: &str) -> Result<(), Trouble> {
        let line = match self.paint {
            Paint::On => clean::painted(line),
            Paint::Off => clean::line(line),
        };
        self.write(&line)
    }

    /// Print the lines of a text.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn print_text(&mut self, text: &str) -> Result<(), Trouble> {
        self.write(&clean::lines(text))
    }

    /// Print a line on the way to an end that the exit code says: a reader of
    /// the output who has gone does not change it.
    ///
    /// # Errors
    /// The output cannot be written for another reason.
    pub fn tell(&mut self, line: &str) -> Result<(), Trouble> {
        self.print(line).or_else(Trouble::unless_nobody_reads)
    }

    fn write(&mut self, text: &str) -> Result<(), Trouble> {
        writeln!(self.out, "{text}")?;
        Ok(self.out.flush()?)
    }

    /// Say something beside the output.
    pub fn note(&mut self, note: &Note) {
        // Whoever does not read it does not miss it.
        let _ = writeln!(self.notes, "note: {}", clean::line(&note.to_string()));
    }

    /// Text in its colour.
    pub fn painted(&self, tone: Tone, text: &str) -> String {
        self.paint.paint(tone, text)
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// The connection.
    ///
    /// # Errors
    /// There is no way to the API server.
    pub async fn door(&mut self, way: &Way) -> Result<Door, Trouble> {
        if let Some(door) = &self.door {
            return Ok(door.clone());
        }
        // Not before a verb needs it: it costs milliseconds. Fails only if a
        // provider is there already, and then that one serves.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let door = Door::open(way).await?;
        self.door = Some(door.clone());
        Ok(door)
    }
}
