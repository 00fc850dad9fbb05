//! Why a node did not do what it was asked for.

use crate::words::calls::WireError;
use std::fmt;

/// Why there is no answer, or not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection to the management API, or it broke. A node whose application is stopped,
    /// that is drained or pauses, has none.
    Http {
        /// What was asked for.
        path: &'static str,
        /// The cause.
        source: reqwest::Error,
    },
    /// No answer in time.
    Late {
        /// What was asked for.
        what: String,
    },
    /// The management API does not take the agent's user or password.
    Unauthorized,
    /// It answered otherwise than expected.
    Status {
        /// What was asked for.
        path: &'static str,
        /// The code.
        code: u16,
    },
    /// More than an answer may have.
    TooLong {
        /// What was asked for.
        what: String,
    },
    /// The answer is none.
    Unclear {
        /// What was asked for.
        what: String,
        /// Why it is none.
        source: serde_json::Error,
    },
    /// A program of the image could not be run.
    Run {
        /// Which.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// It said no, or failed.
    Refused {
        /// What was asked for, without any value that was given by its input.
        what: String,
        /// Exit code; none where it was killed.
        code: Option<i32>,
        /// The last telling line of what it said.
        said: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Error::Http { path, .. } => WireError::Unreachable { path: (*path).into() },
            Error::Late { what } => WireError::Late { what: what.clone() },
            Error::Unauthorized => WireError::Unauthorized,
            Error::Status { path, code } => WireError::Status { path: (*path).into(), code: *code },
            Error::TooLong { what } => WireError::TooLong { what: what.clone() },
            Error::Unclear { what, .. } => WireError::Unclear { what: what.clone() },
            Error::Run { program, .. } => WireError::Run { program: program.clone() },
            Error::Refused { what, code, said } => {
                let code = code.map_or_else(|| "none".to_string(), |code| code.to_string());
                WireError::Refused { what: what.clone(), code, said: said.clone() }
            }
        };
        said.fmt(f)
    }
}

impl Error {
    /// The same, with these words in place of what the program said: of a call that is given
    /// secrets it may repeat them, and what is said here stands in status and log.
    #[must_use]
    pub fn saying(self, words: impl fmt::Display) -> Self {
        match self {
            Error::Refused { what, code, said: _ } => {
                Error::Refused { what, code, said: words.to_string() }
            }
            Error::Http { .. }
            | Error::Late { .. }
            | Error::Unauthorized
            | Error::Status { .. }
            | Error::TooLong { .. }
            | Error::Unclear { .. }
            | Error::Run { .. } => self,
        }
    }

    /// Has the node, as far as is known, done nothing of what it was asked for? What was not
    /// answered may have been done.
    pub fn is_a_no(&self) -> bool {
        match self {
            Error::Refused { code: Some(_), .. }
            | Error::Unauthorized
            | Error::Status { .. }
            | Error::Run { .. } => true,
            Error::Refused { code: None, .. }
            | Error::Http { .. }
            | Error::Late { .. }
            | Error::TooLong { .. }
            | Error::Unclear { .. } => false,
        }
    }
}
