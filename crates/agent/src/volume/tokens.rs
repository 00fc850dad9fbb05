//! The tokens of a first start, noted before there is a permit for it: those that one member of a
//! backup had. They outlast a wipe of the data, and go when clients are let in. A file of its
//! own: an older agent refuses a ledger with fields that it does not know.

use super::{Volume, durable};
use crate::words::files::Doing;
use anyhow::{Context, Result};
use palladion_api::ids::HostId;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;

const FILE: &str = "tokens.json";

/// The note.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TokensNote {
    /// The member of the backup that had them.
    pub source: HostId,
    /// Of the manifest of the backup.
    pub manifest_hash: String,
    /// The tokens.
    pub tokens: Vec<String>,
    /// Their hash, as it was reported.
    pub tokens_hash: String,
}

/// What is noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FirstTokens {
    /// Nothing: this member was never to begin with tokens of a backup, or has let clients in.
    #[default]
    None,
    /// These.
    Noted(Box<TokensNote>),
    /// There is a note, and it cannot be read.
    Unreadable,
}

impl Volume {
    /// What is noted of the tokens of the first start.
    pub fn tokens(&self) -> FirstTokens {
        match durable::read_json::<TokensNote>(&self.own(FILE)) {
            Ok(None) => FirstTokens::None,
            Ok(Some(note)) => FirstTokens::Noted(Box::new(note)),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "cannot read the tokens that are noted for the first start");
                FirstTokens::Unreadable
            }
        }
    }

    /// Note them; on return that survives a power cut.
    pub fn save_tokens(&self, note: &TokensNote) -> Result<()> {
        durable::write_json(&self.own(FILE), note)
    }

    /// Nobody needs them any more.
    pub fn remove_tokens(&self) -> Result<()> {
        let path = self.own(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => {
                Err(error).with_context(|| Doing::Remove { path: path.display().to_string() })
            }
            Ok(()) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::cluster::Mode;

    #[test]
    fn a_note_is_replaced_and_one_that_cannot_be_read_is_not_taken_for_none() {
        let directory = tempfile::tempdir().unwrap();
        let volume = Volume::new(directory.path().to_path_buf(), Mode::Cassandra);
        volume.take(&"m-0".into(), None).unwrap();
        assert_eq!(volume.inspect().unwrap().tokens, FirstTokens::None);
        volume.remove_tokens().unwrap();
        let note = |source: &str| TokensNote {
            source: HostId::new(source),
            manifest_hash: "ab".into(),
            tokens: vec!["-5".into()],
            tokens_hash: "cd".into(),
        };
        for source in ["h1", "h2"] {
            volume.save_tokens(&note(source)).unwrap();
            let found = volume.inspect().unwrap().tokens;
            assert_eq!(found, FirstTokens::Noted(Box::new(note(source))));
        }
        fs::write(volume.own(FILE), "{").unwrap();
        assert_eq!(volume.inspect().unwrap().tokens, FirstTokens::Unreadable);
        volume.remove_tokens().unwrap();
        assert_eq!(volume.inspect().unwrap().tokens, FirstTokens::None);
    }
}
