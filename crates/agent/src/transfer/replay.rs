//! The archived commit log of one member of a backup is replayed by the server of the member that
//! has its place: the child brings segments, whole and hashed, and the server replays one after the
//! other (`CommitLog.recover`). What it has replayed is in SSTables when it answers, and twice is
//! the same as once, so a try that ends begins again at the segment that was not noted yet.
//!
//! The server is one that was started for it, as the loop sees to ([`crate::decide::rewind`]): it
//! takes no write that is later than the time, and of no table but those that are restored. It is
//! asked for that time before each segment, as one that was started otherwise would replay all.
//!
//! A segment that a server cannot read ends it. Each is noted before the server gets it, so that
//! one that ends server after server ends the restore.

use super::attempt::Talk;
use super::load::{remove, room};
use super::loaded::{self, Journal};
use super::step::{Halt, Step, ask, child, other};
use super::{Bench, down};
use crate::admin::Error;
use palladion_agent_transfer::assign::restore::{NextSegments, segments};
use palladion_agent_transfer::replay::plan;
use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::ReplayWork;
use std::path::Path;

/// Bytes of segments that are fetched at a time.
const BATCH: u64 = 1024 * 1024 * 1024;
/// So often a segment is given to a server that does not replay it.
const MOST_TRIES: u32 = 5;
/// Milliseconds, and microseconds, of a second.
const OF_SECOND: [i64; 2] = [1000, 1_000_000];

/// Replay it.
///
/// # Errors
/// It cannot go on now, or never will.
pub async fn replay(bench: &Bench, work: &ReplayWork, talk: &mut Talk) -> Step<Done> {
    let id = &bench.order.id;
    let path = loaded::path(&bench.own.state, id);
    let into = loaded::folder(&bench.restores, id);
    let mut journal = Journal::open(&path, id, &work.manifest_hash);
    loop {
        tell(&journal, talk);
        let limit = room(bench)?.0.min(BATCH);
        let (skip, plan, into) = (journal.done, plan(&path), into.clone());
        let next = NextSegments { skip, limit, plan, into: into.clone() };
        let told = segments(&bench.order, &bench.own, (work, next));
        let Done::Segments { files, bytes, all_segments } = child(told, talk).await? else {
            return Err(other());
        };
        journal.of = all_segments;
        for file in &files {
            let segment = into.join(file);
            is_rewound(bench, work, talk).await?;
            begun(&mut journal, &path, file)?;
            // What cannot be ended is noted before the try is.
            one(bench, &segment, file).await?;
            (journal.done, journal.tries, journal.starts) = (journal.done + 1, 0, 0);
            journal.save(&path)?;
            tell(&journal, talk);
            if *talk.stop.borrow() {
                return Err(Halt::Ended);
            }
        }
        journal.bytes += bytes;
        journal.save(&path)?;
        remove(&into)?;
        if files.is_empty() && journal.done < all_segments {
            return Err(other());
        }
        if journal.done >= all_segments {
            return Ok(Done::Replayed { segments: journal.done, bytes: journal.bytes });
        }
    }
}

fn tell(journal: &Journal, talk: &Talk) {
    talk.progress.send_modify(|progress| {
        (progress.files, progress.of) = (journal.done, journal.of);
    });
}

/// Whatever is noted of its start, the server itself says what it takes.
async fn is_rewound(bench: &Bench, work: &ReplayWork, talk: &mut Talk) -> Step<()> {
    bench.same_server()?;
    let to = work.to.0.as_second();
    let asked = async { bench.jobs()?.point_in_time().await.map_err(down) };
    let found = ask(talk, asked).await?;
    let is_to = OF_SECOND.iter().any(|of| to.checked_mul(*of) == Some(found));
    if is_to { Ok(()) } else { Err(Stopped::NotRewound.into()) }
}

/// Noted before the server gets it.
fn begun(journal: &mut Journal, path: &Path, file: &str) -> Result<(), Stopped> {
    if journal.tries >= MOST_TRIES {
        return Err(Stopped::ReplayEnds { file: file.to_string(), tries: journal.tries });
    }
    journal.tries += 1;
    journal.save(path)
}

async fn one(bench: &Bench, segment: &Path, file: &str) -> Result<(), Stopped> {
    let replayed = bench.jobs()?.recover(segment).await;
    replayed.map_err(|error| match error {
        Error::Failed { message: why, .. } => Stopped::NotReplayed { file: file.to_string(), why },
        Error::Http { .. } | Error::Status { .. } | Error::Unsupported(_) => down(error),
    })?;
    // The answer is that of the server that was asked.
    bench.same_server()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_that_ends_server_after_server_ends_the_restore() {
        let folder = tempfile::tempdir().unwrap();
        let path = loaded::path(folder.path(), "r1-replay-1");
        for tries in 1..=MOST_TRIES {
            let mut journal = Journal::open(&path, "r1-replay-1", "ab");
            begun(&mut journal, &path, "CommitLog-7-1.log").unwrap();
            assert_eq!(Journal::open(&path, "r1-replay-1", "ab").tries, tries);
        }
        let mut journal = Journal::open(&path, "r1-replay-1", "ab");
        let why = begun(&mut journal, &path, "CommitLog-7-1.log").unwrap_err();
        assert!(matches!(why, Stopped::ReplayEnds { tries: MOST_TRIES, .. }), "{why}");
        // The next segment has tries of its own.
        journal.tries = 0;
        begun(&mut journal, &path, "CommitLog-7-2.log").unwrap();
    }
}
