//! How an operation ended, where its system does not matter.

use palladion_api::ids::VolumeId;
use palladion_api::member::Word;

palladion_api::sentences! {
    /// Why an operation was not done.
    pub enum Failed {
        Interrupted => "the agent restarted while the operation was running";
        OtherVolume { named: VolumeId, found: VolumeId } => "the operation is for volume {named}, but this is volume {found}; nothing was done";
        Unknown { word: Word, version: &'static str } => "the operation requests `{word}`, which this agent (version {version}) does not support, so nothing was done; a rollout upgrades the agent";
    }
}

impl Failed {
    /// A newer operator asks for it.
    pub fn unknown(word: Word) -> Self {
        Self::Unknown { word, version: env!("CARGO_PKG_VERSION") }
    }
}
