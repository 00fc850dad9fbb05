//! The fake server's commit log: to which time it was started to replay, and what it was given. As
//! the real one it ends at a segment that it cannot read.

use super::fake_server::told;
use palladion_backup::hash::Hash;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A file of this name says how often a server ends at the next segment.
pub const ENDS: &str = "recover-ends";

/// A file of this name says how often a server is not drained, although it answers as if it was.
pub const UNDRAINED: &str = "drain-fails";

/// The mode after a drain.
pub fn drained() -> &'static str {
    let left = fs::read_to_string(UNDRAINED).ok().and_then(|text| text.parse::<u32>().ok());
    match left.filter(|left| *left > 0) {
        Some(left) => {
            fs::write(UNDRAINED, (left - 1).to_string()).unwrap();
            "DRAINING"
        }
        None => "DRAINED",
    }
}

static TO: OnceLock<i64> = OnceLock::new();

/// At its start it reads what it is to replay.
pub fn open(config: &Path, tables: Option<String>) {
    let file = config.with_file_name("commitlog_archiving.properties");
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("restore_point_in_time="));
    let to = line.map(|line| {
        let time = jiff::civil::DateTime::strptime("%Y:%m:%d %H:%M:%S", line).unwrap();
        time.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_millisecond()
    });
    TO.set(to.unwrap_or(i64::MAX)).unwrap();
    // A plain start has neither, and one for a replay has both.
    if to.is_some() || tables.is_some() {
        told(&format!("replays {} up to {}", tables.unwrap(), to.unwrap()));
    }
}

/// In milliseconds since 1970.
pub fn point_in_time() -> Value {
    json!(TO.get().unwrap())
}

/// Replay a segment.
pub fn recover(segment: &Path) {
    let bytes = fs::read(segment).unwrap();
    let name = segment.file_name().unwrap().to_str().unwrap();
    told(&format!("recover {name} {} {}", bytes.len(), Hash::of(&bytes)));
    let left: u32 = fs::read_to_string(ENDS).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    if left > 0 {
        fs::write(ENDS, (left - 1).to_string()).unwrap();
        std::process::exit(100);
    }
}
