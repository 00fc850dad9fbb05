//! Jobs of a member: why they are not begun, and how they end.

use palladion_api::ids::{HostId, VolumeId};
use palladion_api::member::Word;

palladion_api::sentences! {
    /// Why a job is not begun.
    pub enum Refused {
        OtherVolume { named: VolumeId, found: VolumeId } => "the job is for volume {named}, but this is volume {found}; nothing was done";
        OtherHostId { named: HostId, found: HostId } => "the job is for host ID {named}, but this is host ID {found}; nothing was done";
        OldEpoch { epoch: i64, seen: i64 } => "the job is from leader epoch {epoch}, but a job from epoch {seen} was received before; nothing was done";
        Word { word: Word, version: &'static str } => "the job requests `{word}`, which this agent (version {version}) does not support; a rollout of the rack upgrades the agent";
        Body { version: &'static str } => "the job requests work that this agent (version {version}) does not support; a rollout of the rack upgrades the agent";
    }

    /// What ended while a job ran.
    pub enum Interrupted {
        Pod => "the pod ended while the job was running";
        Server => "the server ended while the job was running";
        Exit { code: i32 } => "the server exited with code {code} while the job was running";
    }

    /// How a job ended that was stopped on request.
    pub enum Aborted {
        Never => "stopped before it began";
    }
}

impl Refused {
    /// A newer operator asks for it.
    pub fn word(word: Word) -> Self {
        Self::Word { word, version: env!("CARGO_PKG_VERSION") }
    }

    /// A newer operator asks for work that has no name here.
    pub fn body() -> Self {
        Self::Body { version: env!("CARGO_PKG_VERSION") }
    }
}
