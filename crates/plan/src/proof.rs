//! Proofs: why a step that could hurt may be taken. A mind makes them in one
//! place, the steps carry them, and the linter looks at them once more.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// How long a view of others counts. Long enough for those that look every few
/// seconds, short enough that one that went down since is seen by the rest.
pub const FRESH: SignedDuration = SignedDuration::from_secs(30);

/// What a proof rests on. The words are those of any group whose parts look
/// after each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum ProofKind {
    /// Fresh views of others: all are well but for those that the step is about.
    AllWell,
    /// Fresh views of others, enough to speak for the rest: it is dead.
    Dead,
    /// The same by whoever is left: a person has named it, and answers for it.
    DeadAsNamed,
    /// Views of others, enough to speak for the rest: it is out of the group.
    Gone,
    /// The same by whoever is left: a person has named it, and answers for it.
    GoneAsNamed,
    /// It says itself that nothing of it runs, and all others see it down.
    Down,
    /// There is no group yet: everything that exists was reported empty.
    AllEmpty,
    /// Nothing runs in it that anybody uses.
    Idle,
    /// Nothing of the group is on it: it was never a part of it.
    NeverPart,
    /// It is on record that it has left; who said so then is recorded with it.
    Left,
    /// Nobody is in it any more.
    Vacant,
    /// Something newer does its work.
    Superseded,
    /// A person has written in the spec that it should stop.
    Wanted,
    /// The owner is being deleted, and this goes with it.
    OwnerDeleted,
}

impl ProofKind {
    /// How old it may be; `None` = of any age.
    pub fn lifetime(self) -> Option<SignedDuration> {
        match self {
            ProofKind::AllWell | ProofKind::Dead | ProofKind::DeadAsNamed | ProofKind::Down => {
                Some(FRESH)
            }
            // Who is out comes back only as somebody else.
            ProofKind::Gone | ProofKind::GoneAsNamed => None,
            // Read for this very decision.
            ProofKind::AllEmpty
            | ProofKind::Idle
            | ProofKind::NeverPart
            | ProofKind::Left
            | ProofKind::Vacant
            | ProofKind::Superseded
            | ProofKind::Wanted
            | ProofKind::OwnerDeleted => Some(SignedDuration::ZERO),
        }
    }
}

/// Why a step that could hurt may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    kind: ProofKind,
    about: Vec<String>,
    as_of: Timestamp,
    text: String,
}

impl Proof {
    /// Only what gathers evidence makes one; a test of the workspace sees to it.
    /// `about` are all names and identities of what the proof is about.
    pub fn new(kind: ProofKind, about: Vec<String>, as_of: Timestamp, text: String) -> Self {
        Self { kind, about, as_of, text }
    }

    /// What it rests on.
    pub fn kind(&self) -> ProofKind {
        self.kind
    }

    /// Is it about what has this name or identity?
    pub fn is_about(&self, name: &str) -> bool {
        !name.is_empty() && self.about.iter().any(|a| a == name)
    }

    /// All names and identities of what it is about.
    pub fn about(&self) -> &[String] {
        &self.about
    }

    /// Since when what it rests on is known, at the latest.
    pub fn as_of(&self) -> Timestamp {
        self.as_of
    }

    /// For people and records.
    pub fn text(&self) -> &str {
        &self.text
    }
}
