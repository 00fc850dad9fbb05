//! Jobs of a member: why they are not begun, and how they end.

use jiff::Timestamp;
use palladion_api::ids::{HostId, VolumeId};
use palladion_api::member::Word;
use palladion_api::words::{Count, Names};

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
        Connection => "the connection to the server broke while the job was running";
        Agent => "the agent restarted while the job was running";
        Exit { code: i32 } => "the server exited with code {code} while the job was running";
        Unheard { minutes: u64 } => "the agent could not reach the Kubernetes API server for {minutes} minutes and stopped its repair, because other members may be repairing the same ranges by now";
    }

    /// How a job ended that was stopped on request.
    pub enum Aborted {
        Never => "stopped before it began";
        Asked => "stopped on request";
        LeftRunning { keyspace: String, numbers: Names, seconds: u64 } => "stopped on request, but the server has not ended repair {numbers} of keyspace {keyspace} within {seconds} s; its sessions may still run, and end with a restart of the server at the latest";
        UnheardLeft { minutes: u64, keyspace: String, numbers: Names, seconds: u64 } => "the agent could not reach the Kubernetes API server for {minutes} minutes and stopped its repair, but the server has not ended repair {numbers} of keyspace {keyspace} within {seconds} s; its sessions may still run, and end with a restart of the server at the latest";
        LeftWaiting { keyspace: String, table: String, seconds: u64 } => "stopped on request, but the server has not ended its work on table {keyspace}.{table} within {seconds} s, and shows no compaction of it that could be stopped; while all compaction threads are busy with other work, it begins when one of them is free";
        LeftUnanswered { doing: String, seconds: u64 } => "stopped on request, but the server has not responded within {seconds} s to {doing}; it may still be at it, and ends with a restart of the server at the latest";
    }

    /// How a job ended well.
    pub enum Done {
        Keyspaces { keyspaces: Names } => "completed for keyspaces: {keyspaces}";
        Segments { segments: Count, keyspaces: Names } => "repaired {segments} of keyspaces: {keyspaces}";
        /// Of one keyspace.
        NotRecorded { why: String } => "repaired, but not recorded as repaired, because {why}; a schedule that covers the ring repairs these ranges once more when they are due";
        NothingDue => "no range is due for repair";
        NoKeyspaces => "no keyspace requires this job";
        Snapshot { name: String } => "took snapshot {name}";
        Cleared { name: String } => "cleared snapshot {name}";
        Replicated { keyspaces: Names, datacenter: String, factor: u32 } => "datacenter {datacenter} has {factor} copies of keyspaces: {keyspaces}";
        /// Of one keyspace.
        AlreadyReplicated => "it was so already";
        ReplicatedBefore { before: String } => "before: {before}";
        Removed { members: Count, datacenter: String } => "removed {members} of datacenter {datacenter} from the ring";
        Levels { loggers: Names, seconds: u32 } => "set the levels of {loggers} for {seconds} s";
    }

    /// How a job failed.
    pub enum Failed {
        Deadline { seconds: u32 } => "did not complete within {seconds} s and was stopped";
        DeadlineLeft { seconds: u32, left: String } => "did not complete within {seconds} s: {left}";
        StoppedByOther { keyspace: String, table: String } => "the server stopped work on table {keyspace}.{table}, but not at the request of this task; somebody may have run `nodetool stop`";
        Busy { keyspace: String, table: String, seconds: u64 } => "other compactions of table {keyspace}.{table} could not be cancelled for {seconds} s";
        NoSuchKeyspace { keyspace: String } => "keyspace {keyspace} does not exist or has no tables";
        NoSuchTable { keyspace: String, table: String } => "table {keyspace}.{table} does not exist";
        NoRoom { keyspace: String, table: String, needed: u64, free: u64 } => "table {keyspace}.{table} has {needed} bytes, and {free} bytes are free on the volume; a compaction may need as much space as the table";
        RepairFailed { keyspace: String, why: String } => "repair of keyspace {keyspace} failed: {why}";
        NotClear { why: String } => "cannot tell what is due for repair: {why}";
        RingChanged { keyspace: String } => "the ring or its schema changed during a repair of keyspace {keyspace}, so it does not count";
        NothingToRepair { keyspace: String } => "the server found nothing to repair in keyspace {keyspace}, although its ranges have copies on other members; that does not count";
        ReplicasDown { groups: Count, members: Names } => "left out {groups} of ranges, because these members, which have copies of them, are down: {members}";
        TooLong { keyspace: String, seconds: u64 } => "a segment of keyspace {keyspace} was not repaired within {seconds} s and was stopped";
        TooLongLeft { keyspace: String, numbers: Names, seconds: u64, ends: u64 } => "a segment of keyspace {keyspace} was not repaired within {seconds} s, and the server has not ended repair {numbers} within {ends} s; its sessions may still run, and end with a restart of the server at the latest";
        Segments { failed: usize, segments: usize, tries: u32, why: String } => "{failed} of {segments} segments failed {tries} times and rest for up to an hour: {why}";
        Resting { segments: Count, tries: u32, until: Timestamp } => "left out {segments} that failed {tries} times, and repaired all else that was due; they rest until {until}";
        RepairForgotten { keyspace: String } => "the server no longer has a record of the repair of keyspace {keyspace}, so it is not known to be complete; see the log of the server, and repair the keyspace again";
        SnapshotExists { name: String } => "snapshot {name} already exists; choose another name, or clear it first";
        /// What the agent was doing, and what the server answered.
        Server { why: String } => "{why}";
    }

    /// What a job waits for that goes on.
    pub enum Waits {
        NotClear { why: String, every: u64, until: Timestamp } => "cannot tell what is due for repair ({why}); the repair waits and looks again every {every} s until {until}";
        Again { why: String, until: Timestamp } => "a segment was not repaired ({why}); it is tried again after {until}";
        Spared { until: Timestamp } => "the repair pauses until {until} at the latest, because the server has more to do than it gets done; it goes on as soon as that is over, or when ranges are late";
        Paced { until: Timestamp } => "the repair pauses until {until}, so that clients feel little of it";
    }

    /// What is told where the notes fail.
    pub enum Trouble {
        Notes { why: String } => "cannot read or write the record of jobs on the volume: {why}";
        Repairs { why: String } => "cannot write the record of repairs on the volume: {why}";
        Transfer { why: String } => "cannot keep the record of the backup's transfer on the volume: {why}; it is begun when that is put right";
        Levels { why: String } => "cannot restore log levels: {why}";
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
