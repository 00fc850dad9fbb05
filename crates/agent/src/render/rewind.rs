//! A server that replays an archived commit log: which writes it takes, of all that it is given
//! (`CommitLog.recover`) until it is started again. Its own log must be drained before.

use jiff::Timestamp;

/// What a server is started with for a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewind {
    /// Up to which time writes are taken, in seconds since 1970.
    pub to: i64,
    /// Of which tables, as `keyspace.table`: never none.
    pub tables: Vec<String>,
}

/// The file, which a server finds beside its `cassandra.yaml`.
pub const FILE: &str = "commitlog_archiving.properties";

/// The file's content: `restore_point_in_time` in GMT, in the format that all of 4.0 to 5.0 read
/// (`CommitLogArchiver.format`). Timestamps of writes are in microseconds.
pub fn properties(rewind: &Rewind) -> String {
    let to = Timestamp::from_second(rewind.to).unwrap_or_default();
    let to = to.strftime("%Y:%m:%d %H:%M:%S");
    format!("restore_point_in_time={to}\nprecision=MICROSECONDS\n")
}

/// The option of the JVM that says of which tables writes are taken
/// (`CommitLogReplayer.ReplayFilter`): without it what the system of another ring has written is
/// taken, too. 4.1 knows no keyspaces in it.
pub fn option(rewind: &Rewind) -> String {
    format!("-Dcassandra.replayList={}", rewind.tables.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_tables_are_as_the_server_reads_them() {
        let rewind = Rewind { to: 1_777_897_805, tables: vec!["k.a".into(), "k.b".into()] };
        let expected = "restore_point_in_time=2026:05:04 12:30:05\nprecision=MICROSECONDS\n";
        assert_eq!(properties(&rewind), expected);
        assert_eq!(option(&rewind), "-Dcassandra.replayList=k.a,k.b");
    }
}
