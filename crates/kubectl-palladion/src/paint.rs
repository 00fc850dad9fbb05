//! Colour, for terminals only. Everything reads without it.

use clap::ValueEnum;
use std::io::IsTerminal;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Text.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Changing, or waited for.
    Busy,
    /// Wrong.
    Bad,
    /// A heading.
    Head,
}

/// All that [`Paint::paint`] ever puts around a text.
pub const SEQUENCES: [&str; 5] = ["\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31;1m"];

/// Is it used?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Yes.
    On,
    /// No.
    Off,
}

impl Paint {
    /// As was asked, on this output.
    pub fn of(colour: Colour, output: &impl IsTerminal) -> Self {
        let is_wanted = match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                !refused && output.is_terminal()
            }
        };
        if is_wanted { Paint::On } else { Paint::Off }
    }

    /// The text in its colour.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Paint::Off, _) | (Paint::On, Tone::Plain) => return text.to_string(),
            (Paint::On, Tone::Good) => "32",
            (Paint::On, Tone::Busy) => "33",
            (Paint::On, Tone::Bad) => "31;1",
            (Paint::On, Tone::Head) => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
