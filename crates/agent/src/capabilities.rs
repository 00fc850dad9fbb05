//! What differs between the server versions: one table, so that adding a
//! version is adding a row.

use std::fmt;

/// A minor version of Cassandra that we know how to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// 4.0
    V4_0,
    /// 4.1
    V4_1,
    /// 5.0
    V5_0,
}

/// How settings with a unit are spelled in `cassandra.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// The unit is in the name, the value is a number (4.0).
    InName,
    /// The unit is in the value (4.1 and later; the old names are still read,
    /// but old and new together are refused).
    InValue,
}

/// Signature of `upgradeSSTables`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeSstables {
    /// Without a limit on the age of the SSTables (4.0).
    ByVersion,
    /// With one (4.1 and later).
    ByVersionAndAge,
}

/// What a join does with the progress of an earlier try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapProgress {
    /// Resumed by itself, quietly; nothing to say.
    Resumed,
    /// Refused, unless told to begin afresh (`cassandra.reset_bootstrap_progress`, CASSANDRA-17679).
    MustBeReset,
}

/// Where a server tells that its join has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedJoin {
    /// In its log only; the mode stays JOINING for ever (4.x).
    InLog,
    /// In its mode, JOINING_FAILED.
    InMode,
}

/// Where a server tells that its decommission has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedLeave {
    /// To its caller only; the mode stays LEAVING for ever, as of one that is under way (4.x).
    ToCaller,
    /// In its mode, DECOMMISSION_FAILED.
    InMode,
}

/// How the limit of streams is told while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamThroughput {
    /// One limit, in megabits per second (4.0).
    Megabits,
    /// In MiB/s, and a second limit for whole SSTables (4.1 and later).
    MebibytesAndWholeTables,
}

/// Whether a server deletes a snapshot by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotLife {
    /// It is kept until it is cleared (4.0).
    Unlimited,
    /// It can be given a time to live (4.1 and later, CASSANDRA-16789).
    Limited,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Which version line.
    pub line: Line,
    /// Spelling of settings.
    pub units: Units,
    /// Signature of `upgradeSSTables`.
    pub upgrade_sstables: UpgradeSstables,
    /// Progress of an earlier bootstrap.
    pub bootstrap_progress: BootstrapProgress,
    /// How a failed join shows.
    pub failed_join: FailedJoin,
    /// How a failed leave shows.
    pub failed_leave: FailedLeave,
    /// The limit of streams.
    pub stream_throughput: StreamThroughput,
    /// How long a snapshot is kept.
    pub snapshot_life: SnapshotLife,
}

impl Capabilities {
    /// Does the server read keys and certificates from PEM files?
    pub fn reads_pem(self) -> bool {
        match self.line {
            Line::V4_0 => false,
            Line::V4_1 | Line::V5_0 => true,
        }
    }
}

/// All versions.
pub const TABLE: [Capabilities; 3] = [
    Capabilities {
        line: Line::V4_0,
        units: Units::InName,
        upgrade_sstables: UpgradeSstables::ByVersion,
        bootstrap_progress: BootstrapProgress::Resumed,
        failed_join: FailedJoin::InLog,
        failed_leave: FailedLeave::ToCaller,
        stream_throughput: StreamThroughput::Megabits,
        snapshot_life: SnapshotLife::Unlimited,
    },
    Capabilities {
        line: Line::V4_1,
        units: Units::InValue,
        upgrade_sstables: UpgradeSstables::ByVersionAndAge,
        bootstrap_progress: BootstrapProgress::MustBeReset,
        failed_join: FailedJoin::InLog,
        failed_leave: FailedLeave::ToCaller,
        stream_throughput: StreamThroughput::MebibytesAndWholeTables,
        snapshot_life: SnapshotLife::Limited,
    },
    Capabilities {
        line: Line::V5_0,
        units: Units::InValue,
        upgrade_sstables: UpgradeSstables::ByVersionAndAge,
        bootstrap_progress: BootstrapProgress::MustBeReset,
        failed_join: FailedJoin::InMode,
        failed_leave: FailedLeave::InMode,
        stream_throughput: StreamThroughput::MebibytesAndWholeTables,
        snapshot_life: SnapshotLife::Limited,
    },
];

/// The row of a version such as `5.0.5`, if one covers it.
pub fn of(version: &str) -> Option<Capabilities> {
    let matches = |row: &&Capabilities| {
        let line = row.line.to_string();
        version
            .strip_prefix(&line)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    };
    TABLE.iter().find(matches).copied()
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Line::V4_0 => "4.0",
            Line::V4_1 => "4.1",
            Line::V5_0 => "5.0",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_find_their_row() {
        for (version, line) in [
            ("4.0.18", Line::V4_0),
            ("4.1", Line::V4_1),
            ("4.1.9", Line::V4_1),
            ("5.0-rc1", Line::V5_0),
            ("5.0.5", Line::V5_0),
        ] {
            assert_eq!(of(version).unwrap().line, line, "{version}");
        }
        for version in ["3.11.5", "5.01", "5.1", "6.0", "", "latest"] {
            assert!(of(version).is_none(), "{version}");
        }
    }
}
