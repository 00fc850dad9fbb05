//! Why a transfer is not begun, in the status of its member.

palladion_api::sentences! {
    /// Why a transfer is not begun.
    pub enum Refusal {
        OtherMember { host: String } => "the transfer is for the member with host ID {host}, which this one is not";
        OtherVolume { volume: String } => "the transfer is for volume {volume}, which this one is not";
        OlderEpoch { epoch: u64, newest: u64 } => "epoch {epoch} has ordered the transfer, and this member has had an order of epoch {newest}";
        RecordUnread => "cannot read .palladion/transfer.json on the volume, so it is not known what was begun; abort the backup, then remove that file";
    }
}
