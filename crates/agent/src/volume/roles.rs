//! What is noted of security beside the ledger, which older agents read, too: the roles of the
//! ring, what no server on this volume is started without, and whether it takes clients.

use super::tokens::FirstTokens;
use super::{Volume, durable};
use anyhow::Result;
use palladion_api::member::Guard;
use serde::{Deserialize, Serialize};

/// Whether a server on this volume may be spoken to by others.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roles {
    /// Nothing is noted: a ring that asks nobody, or that an older agent has started.
    #[default]
    NotNoted,
    /// A sealed start was begun. Until ours are there and the default one is closed, every
    /// start is sealed.
    Sealing,
    /// Ours are there. No server on this volume makes the default one.
    Made,
    /// The note cannot be read, or was written by a newer agent. Whoever has its data starts as
    /// usual, and makes no role.
    #[serde(other)]
    Unreadable,
}

/// The file.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Of the roles.
    #[serde(default)]
    pub roles: Roles,
    /// What no server is started without; nothing where no operator has ever said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Vec<Guard>>,
    /// The ring is being restored: every start is closed to clients, until an order opens the
    /// member. An older agent does not know this word, and would start the server open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

const FILE: &str = "auth.json";

impl Volume {
    /// That a note cannot be read keeps no member from its data. What it says of the floor the
    /// operator says again. Whether clients are kept out is said by another file then: tokens are
    /// noted where a ring begins with a backup, and until its members are opened. So a ring
    /// that was never restored, or is open, is never closed by a note that is torn.
    pub(super) fn note(&self, tokens: &FirstTokens) -> Note {
        match durable::read_json::<Note>(&self.own(FILE)) {
            Ok(read) => read.unwrap_or_default(),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "cannot read what is noted of security");
                let closed = *tokens != FirstTokens::None;
                Note { roles: Roles::Unreadable, floor: None, closed }
            }
        }
    }

    /// Note what is known of security; on return it survives a power cut.
    pub fn save_note(&self, note: &Note) -> Result<()> {
        durable::write_json(&self.own(FILE), note)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::TokensNote;
    use super::*;
    use palladion_api::cluster::Mode;
    use std::fs;

    fn volume() -> (tempfile::TempDir, Volume) {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        (directory, volume)
    }

    #[test]
    fn a_note_that_cannot_be_read_is_not_taken_for_none() {
        let (_directory, volume) = volume();
        volume.take(&"m-0".into(), None).unwrap();
        assert_eq!(volume.inspect().unwrap().note, Note::default());
        for roles in [Roles::Sealing, Roles::Made] {
            let note = Note { roles, floor: Some(vec![Guard::Password]), closed: true };
            volume.save_note(&note).unwrap();
            assert_eq!(volume.inspect().unwrap().note, note);
        }
        for torn in ["{", "", r#"{"roles":"OfANewerAgent"}"#] {
            fs::write(volume.own("auth.json"), torn).unwrap();
            assert_eq!(volume.inspect().unwrap().note.roles, Roles::Unreadable, "{torn}");
        }
    }

    #[test]
    fn a_torn_note_closes_a_member_that_is_being_restored_and_no_other_one() {
        let (_directory, volume) = volume();
        volume.take(&"m-0".into(), None).unwrap();
        let closed = || volume.inspect().unwrap().note.closed;
        fs::write(volume.own("auth.json"), "{").unwrap();
        assert!(!closed(), "it was never restored");
        fs::write(volume.own("tokens.json"), "{").unwrap();
        assert!(closed(), "nor can the other one be read");
        let note = TokensNote {
            source: "h1".into(),
            manifest_hash: String::new(),
            tokens: vec!["1".into()],
            tokens_hash: String::new(),
        };
        volume.save_tokens(&note).unwrap();
        assert!(closed());
        volume.remove_tokens().unwrap();
        assert!(!closed(), "it is open");
        volume.save_tokens(&note).unwrap();
        volume.save_note(&Note::default()).unwrap();
        assert!(!closed(), "the note can be read, and says so");
    }
}
