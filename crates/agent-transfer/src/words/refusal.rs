//! Why a transfer is not begun, in the status of its member.

use palladion_api::ids::{HostId, VolumeId};

palladion_api::sentences! {
    /// Why a transfer is not begun.
    pub enum Refusal {
        OtherMember { host: HostId } => "the transfer is for the member with host ID {host}, which this one is not; nothing was done";
        OtherVolume { volume: VolumeId } => "the transfer is for volume {volume}, which this one is not; nothing was done";
        NeverStarted => "the member has never started, and this work needs its server; nothing was done";
        HasStarted { host: HostId } => "the member has started before, with host ID {host}, and keeps the tokens that it has; nothing was done";
        OlderEpoch { epoch: i64, newest: i64 } => "the transfer is from leader epoch {epoch}, but one from epoch {newest} was received before; nothing was done";
        RecordUnread => "cannot read .palladion/transfer.json on the volume, so it is not known what was begun; abort the backup, then remove that file";
        RepositoryUnread => "cannot read .palladion/repository.json on the volume, so it is not known which repository is the ring's; restore that file from another member of the ring";
        OtherRepository { ordered: String, noted: String } => "the transfer is for repository {ordered}, but the backups of this ring are in repository {noted}; nothing was done: use the store of that repository";
        Work { version: &'static str } => "the transfer requests work that this agent (version {version}) does not support; a rollout of the rack upgrades the agent";
        Word { field: &'static str, word: String, version: &'static str } => "the transfer has `{word}` as its {field}, which this agent (version {version}) does not support; a rollout of the rack upgrades the agent";
    }
}

impl Refusal {
    /// A newer operator asks for work that has no name here.
    pub fn work() -> Self {
        Self::Work { version: env!("CARGO_PKG_VERSION") }
    }

    /// A newer operator uses a word that is not known here.
    pub fn word(field: &'static str, word: &str) -> Self {
        Self::Word { field, word: word.to_string(), version: env!("CARGO_PKG_VERSION") }
    }
}
