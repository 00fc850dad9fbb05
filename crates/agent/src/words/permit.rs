//! What became of a permit to start, or of an intent to leave.

use palladion_api::ids::{HostId, PodUid, VolumeId};
use palladion_api::member::Word;

palladion_api::sentences! {
    /// Why a permit or an intent is refused. `it` is the permit or the intent.
    pub enum Refused {
        OtherPod { meant: PodUid, own: PodUid } => "it is for pod {meant}, but this is pod {own}";
        OtherVolume { meant: VolumeId, own: VolumeId } => "it is for volume {meant}, but this is volume {own}";
        OtherHostId { meant: HostId, own: HostId } => "it is for host ID {meant}, but this is host ID {own}";
        NoHostId => "it names no host ID";
        NoOwnHostId => "it names a host ID, but the ledger on this volume has none";
        Unknown { word: Word, version: &'static str } => "it requests `{word}`, which this agent (version {version}) does not support";
        UsedBefore => "it was used before";
        ServerRuns => "a server is already running";
        NoAddress => "it names no address to replace";
        NoSeeds => "the member has no seeds other than itself: its server would silently start a separate ring";
        WrongVolume { kind: String, data: String, volume: String } => "permits of kind {kind} with data policy {data} cannot be used on a volume in state {volume}";
    }

    /// How a permit ended otherwise.
    pub enum Ended {
        Withdrawn => "withdrawn while no server was running";
    }

    /// How an intent to leave ended.
    pub enum Left {
        Before => "the member had already left";
        Unknown => "the server exited while the member was leaving; only the other members know whether it has left";
        Failed => "the server reports DECOMMISSION_FAILED";
    }
}

impl Refused {
    /// A newer operator asks for it.
    pub fn unknown(word: Word) -> Self {
        Self::Unknown { word, version: env!("CARGO_PKG_VERSION") }
    }
}
