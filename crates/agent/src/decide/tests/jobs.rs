//! The job in the spec: begun once, refused, stopped, settled.

use crate::decide::job::*;
use crate::decide::silence::UNHEARD;
use crate::volume::jobs::{Ended, Notes};
use crate::volume::ledger::{End, Ledger};
use jiff::Timestamp;
use palladion_api::ids::Uid;
use palladion_api::member::{CassandraMemberSpec, Grant, Job, JobCause, JobState, JobWanted, Word};
use palladion_api::task::{CompactOutput, CompactTask, FlushTask, RepairScope, RepairTask, Work};
use std::time::Duration;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const SERVES: Server<'_> = Server::Serves("t1");

fn job() -> Job {
    Job {
        id: "n-0-1".into(),
        task: Uid::from("task"),
        epoch: 3,
        host_id: "h".into(),
        volume_id: "v".into(),
        deadline_seconds: 600,
        wanted: JobWanted::Run,
        pace_seconds: None,
        grant: None,
        work: Work { flush: Some(FlushTask::default()), ..Default::default() },
    }
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::new("v".into(), None);
    ledger.host_id = Some("h".into());
    ledger.begin_start("t1", "Autonomous", &[], NOW);
    ledger
}

fn begun() -> Notes {
    let mut notes = Notes::default();
    notes.begin(&job(), &"pod-1".into(), "t1", NOW);
    notes
}

fn of(job: Option<Job>, notes: &Notes, worker: Worker, server: Server<'_>) -> Next {
    of_silent(job, notes, (worker, server), Duration::ZERO)
}

fn of_silent(
    job: Option<Job>,
    notes: &Notes,
    (worker, server): (Worker, Server<'_>),
    silence: Duration,
) -> Next {
    let spec = CassandraMemberSpec { job, ..Default::default() };
    next(&spec, &ledger(), notes, Here { pod: &"pod-1".into(), worker, server, silence })
}

fn ended(next: Next) -> (JobState, Option<JobCause>) {
    match next {
        Next::NoteEnd(ended) | Next::TurnDown(ended) => (ended.state, ended.cause),
        Next::Nothing | Next::Begin | Next::Stop(_) | Next::Settle => panic!("{next:?}"),
    }
}

#[test]
fn an_id_is_begun_once() {
    assert_eq!(of(Some(job()), &Notes::default(), Worker::Idle, SERVES), Next::Begin);
    for state in [JobState::Succeeded, JobState::Failed, JobState::Interrupted] {
        let mut notes = begun();
        notes.end(Ended { state, cause: None, message: None }, NOW);
        assert_eq!(of(Some(job()), &notes, Worker::Idle, SERVES), Next::Nothing, "{state:?}");
        let other = Job { id: "n-1-1".into(), ..job() };
        assert_eq!(of(Some(other.clone()), &notes, Worker::Idle, SERVES), Next::Begin);
        notes.begin(&other, &"pod-1".into(), "t1", NOW);
        notes.end(Ended { state, cause: None, message: None }, NOW);
        assert_eq!(of(Some(job()), &notes, Worker::Idle, SERVES), Next::Nothing, "given again");
    }
}

#[test]
fn it_waits_for_a_server_that_serves_and_for_an_operation() {
    for server in [Server::Runs("t1"), Server::Absent, Server::Unknown] {
        let none = Notes::default();
        assert_eq!(of(Some(job()), &none, Worker::Idle, server), Next::Nothing, "{server:?}");
    }
    assert_eq!(of(Some(job()), &Notes::default(), Worker::Operation, SERVES), Next::Nothing);
}

#[test]
fn one_that_is_not_ours_is_refused_and_never_begun() {
    let mut later = Notes { epoch: 4, ..Notes::default() };
    let word = Word::new("Heap");
    let output = CompactTask { output: CompactOutput::Unknown(word), ..Default::default() };
    let unknown = Work { compact: Some(output), ..Default::default() };
    for (job, notes, cause) in [
        (Job { volume_id: "w".into(), ..job() }, &begun_and_done(), JobCause::OtherVolume),
        (Job { host_id: "i".into(), ..job() }, &Notes::default(), JobCause::OtherHostID),
        (job(), &later.clone(), JobCause::OldEpoch),
        (Job { work: unknown, ..job() }, &Notes::default(), JobCause::NotSupported),
        (Job { work: Work::default(), ..job() }, &Notes::default(), JobCause::NotSupported),
        (
            Job { wanted: JobWanted::Unknown(word), ..job() },
            &Notes::default(),
            JobCause::NotSupported,
        ),
    ] {
        let job = Job { id: "other".into(), ..job };
        for server in [SERVES, Server::Absent] {
            let next = of(Some(job.clone()), notes, Worker::Idle, server);
            assert_eq!(ended(next), (JobState::Refused, Some(cause)));
        }
    }
    let Next::TurnDown(refused) = of(Some(job()), &later, Worker::Idle, SERVES) else {
        panic!("it is of an old leader");
    };
    later.turn_down(&job(), &"pod-1".into(), refused, NOW);
    assert_eq!(later.epoch, 4);
    assert_eq!(of(Some(job()), &later, Worker::Idle, SERVES), Next::Nothing, "said once");
}

fn begun_and_done() -> Notes {
    let mut notes = begun();
    notes.end(Ended::as_asked(JobState::Succeeded, "done"), NOW);
    notes
}

#[test]
fn one_that_runs_is_stopped_when_the_spec_says_so_and_at_its_deadline() {
    let soon = Worker::Job(Duration::from_secs(599));
    let stop = Job { wanted: JobWanted::Stop, ..job() };
    let other = Job { id: "other".into(), ..job() };
    assert_eq!(of(Some(job()), &begun(), soon, SERVES), Next::Nothing);
    for job in [Some(stop.clone()), Some(other), None] {
        assert_eq!(of(job.clone(), &begun(), soon, SERVES), Next::Stop(Stop::Asked));
        assert_eq!(of(job, &begun(), Worker::Stopping, SERVES), Next::Nothing, "told once");
    }
    let late = Worker::Job(Duration::from_secs(600));
    assert_eq!(of(Some(job()), &begun(), late, SERVES), Next::Stop(Stop::Deadline));
    let never = of(Some(stop), &Notes::default(), Worker::Idle, Server::Absent);
    assert_eq!(ended(never), (JobState::Aborted, None));
}

#[test]
fn what_an_earlier_agent_left_is_settled_or_interrupted_and_not_begun_again() {
    let left = |server| of(Some(job()), &begun(), Worker::Idle, server);
    assert_eq!(left(SERVES), Next::Settle);
    assert_eq!(left(Server::Runs("t1")), Next::Settle);
    assert_eq!(left(Server::Unknown), Next::Nothing);
    assert_eq!(left(Server::Absent), Next::Nothing, "how it ended is not noted yet");
    let by_server = (JobState::Interrupted, Some(JobCause::ServerEnded));
    assert_eq!(ended(left(Server::Serves("t2"))), by_server);
    let mut dead = ledger();
    dead.end_start(End::Died, NOW, Some(137), None);
    let here = Here {
        pod: &"pod-1".into(),
        worker: Worker::Idle,
        server: Server::Absent,
        silence: Duration::ZERO,
    };
    let spec = CassandraMemberSpec { job: Some(job()), ..Default::default() };
    let Next::NoteEnd(over) = next(&spec, &dead, &begun(), here) else { panic!("it is over") };
    assert!(over.message.unwrap().contains("137"));
    let here = Here {
        pod: &"pod-2".into(),
        worker: Worker::Idle,
        server: Server::Unknown,
        silence: Duration::ZERO,
    };
    let over = next(&CassandraMemberSpec::default(), &ledger(), &begun(), here);
    assert_eq!(ended(over), (JobState::Interrupted, Some(JobCause::PodEnded)));
}

fn by_grants() -> Job {
    let repair = RepairTask { scope: RepairScope::Due, ..Default::default() };
    let work = Work { repair: Some(repair), ..Default::default() };
    Job { grant: Some(Grant::default()), work, ..job() }
}

/// What the spec asked for when it was read last does not matter then: a stop is carried out
/// only where the spec is read live.
#[test]
fn whoever_is_not_heard_ends_its_part_of_a_repair_whatever_its_last_spec_asks_for() {
    let mut notes = Notes::default();
    notes.begin(&by_grants(), &"pod-1".into(), "t1", NOW);
    let runs = (Worker::Job(Duration::from_secs(700)), SERVES);
    let stop = Job { wanted: JobWanted::Stop, ..by_grants() };
    let specs = [Some(by_grants()), Some(stop), Some(Job { id: "other".into(), ..job() }), None];
    for spec in specs {
        let next = of_silent(spec.clone(), &notes, runs, UNHEARD);
        assert_eq!(next, Next::Stop(Stop::Unheard), "{spec:?}");
        let stopping = (Worker::Stopping, SERVES);
        assert_eq!(of_silent(spec, &notes, stopping, UNHEARD), Next::Nothing, "told once");
    }
    let soon = UNHEARD - Duration::from_secs(1);
    let heard = (Worker::Job(Duration::ZERO), SERVES);
    assert_eq!(of_silent(Some(by_grants()), &notes, heard, soon), Next::Nothing);
}

#[test]
fn whoever_is_not_heard_begins_no_part_of_a_repair() {
    let (none, idle) = (Notes::default(), (Worker::Idle, SERVES));
    assert_eq!(of_silent(Some(by_grants()), &none, idle, UNHEARD), Next::Nothing);
    assert_eq!(of_silent(Some(by_grants()), &none, idle, Duration::ZERO), Next::Begin);
}

/// No other member is given it: it goes on, and is told of later.
#[test]
fn work_on_its_own_data_goes_on_while_the_api_server_is_away() {
    let runs = (Worker::Job(Duration::ZERO), SERVES);
    assert_eq!(of_silent(Some(job()), &begun(), runs, 2 * UNHEARD), Next::Nothing);
    let idle = (Worker::Idle, SERVES);
    assert_eq!(of_silent(Some(job()), &Notes::default(), idle, 2 * UNHEARD), Next::Begin);
}

/// The agent was to stop it and ended: the next one may not read the spec that says so.
#[test]
fn what_was_being_stopped_when_the_agent_ended_is_not_gone_on_with() {
    let note = |stopping: bool, job: &Job| {
        let mut notes = Notes::default();
        notes.begin(job, &"pod-1".into(), "t1", NOW);
        if stopping {
            notes.stop();
        }
        notes.open().unwrap().clone()
    };
    let (soon, late) = (Duration::from_secs(1), Duration::from_secs(600));
    assert_eq!(stop_of(&note(false, &by_grants()), late, UNHEARD), None, "it is decided anew");
    for (job, elapsed, silence, why) in [
        (by_grants(), soon, soon, Stop::Asked),
        (by_grants(), late, soon, Stop::Deadline),
        (by_grants(), late, UNHEARD, Stop::Unheard),
        (job(), soon, UNHEARD, Stop::Asked),
    ] {
        assert_eq!(stop_of(&note(true, &job), elapsed, silence), Some(why));
    }
}
