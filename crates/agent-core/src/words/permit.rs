//! What became of a permit to start, or of an intent to leave.

use palladion_api::ids::{PodUid, VolumeId};
use palladion_api::member::Word;
use palladion_api::service_member::{MemberVolumeState, ServicePermit};

palladion_api::sentences! {
    /// Why a permit or an intent is refused. The operator quotes it after various subjects,
    /// so that no sentence says `it`.
    pub enum Refused {
        OtherPod { meant: PodUid, own: PodUid } => "the permit is for the pod with UID {meant}, but this pod has UID {own}";
        OtherVolume { meant: VolumeId, own: VolumeId } => "expected volume {meant}, but this is volume {own}";
        Unknown { word: Word, version: &'static str } => "this agent (version {version}) does not support `{word}`; a rollout upgrades the agent";
        UsedBefore => "the permit was already used";
        ServerRuns => "a server is already running";
        WrongVolume { kind: String, data: String, volume: String } => "a permit with `kind: {kind}` and `data: {data}` cannot be used on a volume in state {volume}";
    }

    /// How a permit ended otherwise.
    pub enum Ended {
        Withdrawn => "the permit was withdrawn while no server was running";
        Failed { tries: u32 } => "the server exited {tries} times before it was a member";
    }
}

impl Refused {
    /// A newer operator asks for it.
    pub fn unknown(word: Word) -> Self {
        Self::Unknown { word, version: env!("CARGO_PKG_VERSION") }
    }

    /// It does not fit the volume that is here.
    pub fn wrong_volume(permit: &ServicePermit, state: MemberVolumeState) -> Self {
        let (kind, data) = (format!("{:?}", permit.kind), format!("{:?}", permit.data));
        Self::WrongVolume { kind, data, volume: format!("{state:?}") }
    }
}
