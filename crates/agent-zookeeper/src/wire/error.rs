//! Why a server did not do what it was asked for.

use super::jute::Malformed;
use crate::words::calls::{NotDone, WireError};
use std::fmt;
use std::net::SocketAddr;

/// Why there is no answer, or not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection, or it broke. A server that serves nobody closes it; and so does
    /// one that is taken out of the ensemble by this very request, after it was done.
    Io {
        /// Its address.
        address: SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// No answer in time.
    Late {
        /// Its address.
        address: SocketAddr,
    },
    /// The answer is none.
    Malformed(#[from] Malformed),
    /// An answer to something else.
    OtherAnswer {
        /// Number of our request.
        asked: i32,
        /// Number in the answer.
        answered: i32,
    },
    /// The server makes no session.
    NoSession,
    /// The server says no.
    Refused(Refusal),
}

/// A server's no, by its number (`KeeperException.Code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The ensemble of the new configuration would have no quorum now.
    NewConfigNoQuorum,
    /// Another change of the configuration is under way.
    ReconfigInProgress,
    /// The configuration has another version by now.
    BadVersion,
    /// We may not do that.
    NoAuth,
    /// Password or user is wrong.
    AuthFailed,
    /// This server changes no configuration: it runs alone (`standaloneEnabled`).
    Unimplemented,
    /// `reconfigEnabled` is not set.
    ReconfigDisabled,
    /// The request makes no sense to it.
    BadArguments,
    /// There is no such node.
    NoNode,
    /// The session has ended.
    SessionExpired,
    /// Something else.
    Other(i32),
}

impl Refusal {
    /// By its number; `None` for "done".
    pub fn of(code: i32) -> Option<Self> {
        Some(match code {
            0 => return None,
            -6 => Refusal::Unimplemented,
            -8 => Refusal::BadArguments,
            -13 => Refusal::NewConfigNoQuorum,
            -14 => Refusal::ReconfigInProgress,
            -101 => Refusal::NoNode,
            -102 => Refusal::NoAuth,
            -103 => Refusal::BadVersion,
            -112 => Refusal::SessionExpired,
            -115 => Refusal::AuthFailed,
            -123 => Refusal::ReconfigDisabled,
            other => Refusal::Other(other),
        })
    }
}

impl From<Refusal> for NotDone {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NewConfigNoQuorum => NotDone::NewConfigNoQuorum,
            Refusal::ReconfigInProgress => NotDone::ReconfigInProgress,
            Refusal::BadVersion => NotDone::BadVersion,
            Refusal::NoAuth => NotDone::NoAuth,
            Refusal::AuthFailed => NotDone::AuthFailed,
            Refusal::Unimplemented => NotDone::Unimplemented,
            Refusal::ReconfigDisabled => NotDone::ReconfigDisabled,
            Refusal::BadArguments => NotDone::BadArguments,
            Refusal::NoNode => NotDone::NoNode,
            Refusal::SessionExpired => NotDone::SessionExpired,
            Refusal::Other(code) => NotDone::Other { code },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Error::Io { address, .. } => WireError::Unreachable { address: address.to_string() },
            Error::Late { address } => WireError::Late { address: address.to_string() },
            Error::Malformed(_) => WireError::Malformed,
            Error::OtherAnswer { asked, answered } => {
                WireError::OtherAnswer { asked: *asked, answered: *answered }
            }
            Error::NoSession => WireError::NoSession,
            Error::Refused(refusal) => return NotDone::from(*refusal).fmt(f),
        };
        said.fmt(f)
    }
}
