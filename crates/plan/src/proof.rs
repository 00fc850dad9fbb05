//! Proofs: why a step that could hurt may be taken. A mind makes them in one
//! place, the steps carry them, and the linter looks at them once more.

use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{HostId, MemberName, VolumeId};
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
    /// All report by themselves that everybody is well, and nobody comes or goes.
    Quiet,
    /// Nothing runs in it that anybody uses.
    Idle,
    /// Those that have it already are well with it.
    Tried,
    /// Nothing of the group is on it: it was never a part of it.
    NeverPart,
    /// Fresh views of others: all are well, and it is none of them.
    NeverJoined,
    /// It is on record that it has left; who said so then is recorded with it.
    Left,
    /// Nobody is in it any more.
    Vacant,
    /// Something newer does its work.
    Superseded,
    /// A person has written in the spec that it should stop, or become another.
    Wanted,
    /// The owner is being deleted, and this goes with it.
    OwnerDeleted,
}

impl ProofKind {
    /// All kinds.
    pub const ALL: [ProofKind; 17] = [
        ProofKind::AllWell,
        ProofKind::Dead,
        ProofKind::DeadAsNamed,
        ProofKind::Gone,
        ProofKind::GoneAsNamed,
        ProofKind::Down,
        ProofKind::AllEmpty,
        ProofKind::Quiet,
        ProofKind::Idle,
        ProofKind::Tried,
        ProofKind::NeverPart,
        ProofKind::NeverJoined,
        ProofKind::Left,
        ProofKind::Vacant,
        ProofKind::Superseded,
        ProofKind::Wanted,
        ProofKind::OwnerDeleted,
    ];

    /// Its name, as a plan shows it.
    pub fn name(self) -> &'static str {
        match self {
            ProofKind::AllWell => "AllWell",
            ProofKind::Dead => "Dead",
            ProofKind::DeadAsNamed => "DeadAsNamed",
            ProofKind::Gone => "Gone",
            ProofKind::GoneAsNamed => "GoneAsNamed",
            ProofKind::Down => "Down",
            ProofKind::AllEmpty => "AllEmpty",
            ProofKind::Quiet => "Quiet",
            ProofKind::Idle => "Idle",
            ProofKind::Tried => "Tried",
            ProofKind::NeverPart => "NeverPart",
            ProofKind::NeverJoined => "NeverJoined",
            ProofKind::Left => "Left",
            ProofKind::Vacant => "Vacant",
            ProofKind::Superseded => "Superseded",
            ProofKind::Wanted => "Wanted",
            ProofKind::OwnerDeleted => "OwnerDeleted",
        }
    }

    /// How old it may be; `None` = of any age.
    pub fn lifetime(self) -> Option<SignedDuration> {
        match self {
            ProofKind::AllWell
            | ProofKind::Dead
            | ProofKind::DeadAsNamed
            | ProofKind::Down
            | ProofKind::NeverJoined => Some(FRESH),
            // Who is out comes back only as somebody else.
            ProofKind::Gone | ProofKind::GoneAsNamed => None,
            // Read for this very decision.
            ProofKind::AllEmpty
            | ProofKind::Quiet
            | ProofKind::Idle
            | ProofKind::Tried
            | ProofKind::NeverPart
            | ProofKind::Left
            | ProofKind::Vacant
            | ProofKind::Superseded
            | ProofKind::Wanted
            | ProofKind::OwnerDeleted => Some(SignedDuration::ZERO),
        }
    }
}

/// A name or an identity of what a proof is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Identity {
    /// A member of a ring.
    Member(MemberName),
    /// A server that is, or was, in a ring.
    Host(HostId),
    /// A volume of a member.
    Volume(VolumeId),
    /// An object, by its name.
    Object(String),
}

impl Identity {
    /// As objects of the API write it.
    pub fn as_str(&self) -> &str {
        match self {
            Identity::Member(name) => name.as_str(),
            Identity::Host(id) => id.as_str(),
            Identity::Volume(id) => id.as_str(),
            Identity::Object(name) => name,
        }
    }
}

/// Why a step that could hurt may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    kind: ProofKind,
    about: Vec<Identity>,
    as_of: Timestamp,
    text: String,
}

/// The right to make proofs. A mind has one type with it, private to its
/// `evidence` folder: nobody else can name it. A test of the workspace reads
/// the sources for other types to which somebody gives the right.
pub trait MakesProofs {}

impl Proof {
    /// `about` are all names and identities of what the proof is about.
    ///
    /// ```
    /// use palladion_plan::proof::{Identity, MakesProofs, Proof, ProofKind};
    ///
    /// struct Gathered;
    /// impl MakesProofs for Gathered {}
    /// let now = jiff::Timestamp::UNIX_EPOCH;
    /// let about = vec![Identity::Member("a-0".into())];
    /// Proof::new(Gathered, ProofKind::Idle, about, now, "it is not ready".into());
    /// ```
    ///
    /// Without the right there is no proof:
    ///
    /// ```compile_fail
    /// use palladion_plan::proof::{Identity, MakesProofs, Proof, ProofKind};
    ///
    /// struct Decider;
    /// let now = jiff::Timestamp::UNIX_EPOCH;
    /// let about = vec![Identity::Member("a-0".into())];
    /// Proof::new(Decider, ProofKind::Idle, about, now, "it is not ready".into());
    /// ```
    pub fn new(
        _by: impl MakesProofs,
        kind: ProofKind,
        about: Vec<Identity>,
        as_of: Timestamp,
        text: String,
    ) -> Self {
        Self { kind, about, as_of, text }
    }

    /// What it rests on.
    pub fn kind(&self) -> ProofKind {
        self.kind
    }

    /// Is it about what a step calls by this name or identity?
    pub fn is_about(&self, name: &str) -> bool {
        !name.is_empty() && self.about.iter().any(|a| a.as_str() == name)
    }

    /// All names and identities of what it is about.
    pub fn about(&self) -> &[Identity] {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of their own list, so that a slip in the code is seen.
    #[test]
    fn views_of_others_count_for_a_while_and_who_is_out_stays_out() {
        let of_a_while = [
            ProofKind::AllWell,
            ProofKind::Dead,
            ProofKind::DeadAsNamed,
            ProofKind::Down,
            ProofKind::NeverJoined,
        ];
        let for_ever = [ProofKind::Gone, ProofKind::GoneAsNamed];
        for kind in ProofKind::ALL {
            let lifetime = match (of_a_while.contains(&kind), for_ever.contains(&kind)) {
                (true, _) => Some(SignedDuration::from_secs(30)),
                (false, true) => None,
                (false, false) => Some(SignedDuration::ZERO),
            };
            assert_eq!(kind.lifetime(), lifetime, "{kind:?}");
        }
    }
}
