//! What became of a permit to start, or of an intent to leave.

use palladion_api::ids::{HostId, PodUid, StaticAddress, VolumeId};
use palladion_api::member::Word;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// Why a permit or an intent is refused. The operator quotes it after various subjects,
    /// so that no sentence says `it`.
    pub enum Refused {
        OtherPod { meant: PodUid, own: PodUid } => "the permit is for the pod with UID {meant}, but this pod has UID {own}";
        OtherVolume { meant: VolumeId, own: VolumeId } => "expected volume {meant}, but this is volume {own}";
        OtherHostId { meant: HostId, own: HostId } => "expected host ID {meant}, but the ledger on this volume has {own}";
        NoHostId => "the permit names no host ID";
        NoOwnHostId => "the ledger on this volume contains no host ID";
        Unknown { word: Word, version: &'static str } => "this agent (version {version}) does not support `{word}`; a rollout of the rack upgrades the agent";
        GivenUp => "a user has terminated this volume for good, so no server will start on it again";
        UsedBefore => "the permit was already used";
        ServerRuns => "a server is already running";
        NoAddress => "the permit names no address to replace";
        OtherAddress { meant: StaticAddress, own: StaticAddress } => "the permit is for the member that had address {meant}, but the ledger on this volume has {own}";
        LeavesElsewhere { before: StaticAddress, now: StaticAddress } => "the member was leaving the ring under address {before}, but its CassandraMember now has {now}, and a leaving member starts again only under the address that the ring knows";
        NoOwnAddress => "the ledger on this volume contains no address";
        NoSeeds => "the member has no seeds other than itself, so its server would silently start a separate ring";
        NamesNoTokens => "a permit with `kind: Restore` must name whose tokens the member starts with";
        TokensOfOther { kind: String } => "a permit with `kind: {kind}` cannot name tokens to start with";
        TokensNotNoted { source: HostId } => "the tokens of member {source} of the backup are not noted on this volume";
        TokensUnreadable => "the tokens that are noted on this volume (`.palladion/tokens.json`) cannot be read";
        OtherSource { meant: HostId, noted: HostId } => "expected the tokens of member {meant} of the backup, but those of member {noted} are noted on this volume";
        OtherTokens { meant: String, noted: String } => "expected tokens with hash {meant}, but those that are noted on this volume have hash {noted}";
        TokenCount { noted: usize, configured: u32 } => "{noted} tokens are noted on this volume, but the configuration of this pod sets `num_tokens` to {configured}";
        ScyllaTokens => "Scylla cannot start with the tokens of a backup";
        WrongVolume { kind: String, data: String, volume: String } => "a permit with `kind: {kind}` and `data: {data}` cannot be used on a volume in state {volume}";
    }

    /// How a permit ended otherwise.
    pub enum Ended {
        Withdrawn => "the permit was withdrawn while no server was running";
    }

    /// Why a member does not leave with its datacenter.
    pub enum NotWithDatacenter {
        NotKnown => "the server sees no member of its own datacenter, so what has copies here is not known";
        NotCounted => "no keyspace could be read, so what has copies in the datacenter is not known";
        NotPlaced { address: StaticAddress } => "the datacenter of the member with address {address} is not known, so neither is where copies are";
        Uneven { keyspaces: Names } => "{keyspaces} do not count copies by datacenter; set their replication to NetworkTopologyStrategy first";
        NotAgreed => "the servers of the ring do not agree on the schema, so a keyspace may have copies here that this server does not know yet";
        NoOther { datacenter: String } => "the server sees no member of another datacenter than {datacenter}, so its data would be lost";
        Named { keyspaces: Names, datacenter: String } => "{keyspaces} have copies in datacenter {datacenter}; drop the datacenter from their replication first";
        OnlyHere { keyspaces: Names, datacenter: String } => "{keyspaces} have copies in datacenter {datacenter} alone";
    }

    /// How an intent to leave ended.
    pub enum Left {
        Before => "the member had already left the ring";
        Unknown => "the server exited while the member was leaving; only the other members can report whether the member has left";
        Failed => "the server reports mode DECOMMISSION_FAILED (see its log)";
    }
}

impl Refused {
    /// A newer operator asks for it.
    pub fn unknown(word: Word) -> Self {
        Self::Unknown { word, version: env!("CARGO_PKG_VERSION") }
    }
}
