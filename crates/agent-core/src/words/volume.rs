//! About a data volume whose own files contradict each other, or cannot be read by this build.

palladion_api::sentences! {
    /// What is wrong with its marker and its ledger.
    pub enum Wrong {
        NewerLedger { path: String, format: u32 } => "the ledger on {path} has format {format}, which this agent cannot read; a newer version of Palladion wrote it: upgrade the operator to that version";
        TwoIds { path: String } => "the marker and the ledger on {path} name different volumes; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
    }
}
