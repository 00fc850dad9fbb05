//! How an answer is printed: a table, or JSON or YAML for programs.

use crate::exit::Trouble;
use crate::session::Session;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns
    #[default]
    Table,
    /// More columns
    Wide,
    /// JSON, for programs
    Json,
    /// YAML, for programs
    Yaml,
}

/// The flag of verbs with more columns to show.
#[derive(Clone, Copy, Debug, Args)]
pub struct Output {
    /// What is printed
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,
}

/// What verbs without wide columns print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Plain {
    /// Text
    #[default]
    Table,
    /// JSON, for programs
    Json,
    /// YAML, for programs
    Yaml,
}

/// The flag of such verbs.
#[derive(Clone, Copy, Debug, Args)]
pub struct PlainOutput {
    /// What is printed
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Plain,
}

impl From<Plain> for Format {
    fn from(plain: Plain) -> Self {
        match plain {
            Plain::Table => Format::Table,
            Plain::Json => Format::Json,
            Plain::Yaml => Format::Yaml,
        }
    }
}

impl Format {
    /// The data as text, for programs; `None` where a table is printed.
    pub fn data(self, data: &impl Serialize) -> Option<String> {
        let value = || serde_json::to_value(data).unwrap_or(Value::Null);
        match self {
            Format::Table | Format::Wide => None,
            Format::Json => serde_json::to_string_pretty(&value()).ok(),
            Format::Yaml => serde_yaml::to_string(&value()).ok().map(|t| t.trim_end().to_string()),
        }
    }

    /// Are there more columns?
    pub fn is_wide(self) -> bool {
        self == Format::Wide
    }
}

/// Print the data for programs, or else these lines. That nobody reads them to
/// their end does not change the exit code.
///
/// # Errors
/// The output cannot be written.
pub fn print(
    session: &mut Session<'_>,
    format: Format,
    data: &impl Serialize,
    lines: impl FnOnce() -> Vec<String>,
) -> Result<(), Trouble> {
    match format.data(data) {
        Some(text) => session.print_text(&text),
        None => lines().iter().try_for_each(|line| session.print(line)),
    }
    .or_else(Trouble::unless_nobody_reads)
}
