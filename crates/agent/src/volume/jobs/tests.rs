//! Notes: what fits, and what survives.

use super::*;
use palladion_api::task::{FlushTask, Work};

fn job(id: &str) -> Job {
    Job {
        id: id.into(),
        task: "task".into(),
        epoch: 1,
        host_id: "h".into(),
        volume_id: "v".into(),
        deadline_seconds: 600,
        wanted: palladion_api::member::JobWanted::Run,
        pace_seconds: None,
        grant: None,
        work: Work { flush: Some(FlushTask::default()), ..Default::default() },
    }
}

#[test]
fn what_a_server_says_fits_into_the_status() {
    let (mut notes, now) = (Notes::default(), Timestamp::UNIX_EPOCH);
    notes.begin(&job("a"), &"pod".into(), "t", now);
    let page = "ä".repeat(5000);
    let (state, message) = (KeyspaceState::Failed, Some(page.clone()));
    notes.finish_keyspace(KeyspaceResult::of("k".into(), state, 0, message));
    notes.end(Ended::by(JobState::Failed, JobCause::ServerError, page), now);
    let status = notes.status(Some("a")).unwrap();
    let messages = [&status.message, &status.results[0].message];
    assert!(messages.iter().all(|m| m.as_ref().unwrap().chars().count() == CHARACTERS + 1));
}

#[test]
fn notes_survive_and_a_file_that_cannot_be_read_is_none_of_no_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let volume =
        Volume::new(directory.path().to_path_buf(), palladion_api::cluster::Mode::Cassandra);
    std::fs::create_dir_all(directory.path().join(".palladion")).unwrap();
    assert_eq!(volume.jobs().unwrap(), Notes::default());
    let mut notes = Notes::default();
    for id in ["a", "b"] {
        notes.begin(&job(id), &"pod".into(), "t", Timestamp::UNIX_EPOCH);
        notes.call(Item { keyspace: "k".into(), table: None });
    }
    volume.save_jobs(&notes).unwrap();
    let read = volume.jobs().unwrap();
    assert_eq!(read, notes);
    assert!(read.knows("a") && read.knows("b") && !read.knows("c"));
    std::fs::write(directory.path().join(".palladion/jobs.json"), "{").unwrap();
    assert!(volume.jobs().is_err());
}
