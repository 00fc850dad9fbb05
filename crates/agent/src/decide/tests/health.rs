//! The history of a server's health.

use super::super::health::Watch;
use super::super::*;
use palladion_api::member::HealthResult::{self, Healthy, NoAnswer, Unhealthy};

/// A watch, and the seconds at which it is told of looks.
struct Told {
    watch: Watch,
    now: i64,
}

fn well() -> Reading {
    Reading {
        mode: Some("NORMAL".into()),
        native_transport: Some(true),
        gossip: Some(true),
        ..Reading::default()
    }
}

fn closed() -> Reading {
    Reading { native_transport: Some(false), ..well() }
}

impl Told {
    fn new() -> Self {
        let mut watch = Watch::default();
        watch.take_over(&[], Timestamp::UNIX_EPOCH);
        Told { watch, now: 0 }
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_second(self.now).unwrap()
    }

    /// A second later this is seen of a server that runs.
    fn sees(&mut self, reading: Option<&Reading>) -> &mut Self {
        self.now += 1;
        self.watch.look(reading);
        self.watch.follow(ServerState::Running, &Process::Running, self.at());
        self
    }

    fn sees_often(&mut self, times: usize, reading: Option<&Reading>) -> &mut Self {
        for _ in 0..times {
            self.sees(reading);
        }
        self
    }

    fn is(&mut self, state: ServerState, process: Process) -> &mut Self {
        self.now += 1;
        self.watch.follow(state, &process, self.at());
        self
    }

    /// Results with their times, newest first.
    fn all(&self) -> Vec<(HealthResult, i64, Option<i64>)> {
        let seconds = |t: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Time| t.0.as_second();
        let records = self.watch.records().iter();
        records.map(|r| (r.result, seconds(&r.since), r.until.as_ref().map(seconds))).collect()
    }

    fn message(&self) -> &str {
        self.watch.records()[0].message.as_deref().unwrap_or_default()
    }
}

#[test]
fn a_result_counts_after_three_equal_looks_since_the_first() {
    let mut told = Told::new();
    assert_eq!(told.sees_often(2, Some(&well())).all(), []);
    assert!(!told.watch.is_settled(), "the third is not far");
    assert_eq!(told.sees(Some(&well())).all(), [(Healthy, 1, None)]);
    assert!(told.watch.is_settled());
    told.sees_often(2, Some(&closed()));
    assert_eq!(told.all(), [(Healthy, 1, None)]);
    told.sees(Some(&closed()));
    assert_eq!(told.all(), [(Unhealthy, 4, None), (Healthy, 1, Some(4))]);
    assert_eq!(told.message(), "the native transport is down, so clients cannot connect");
}

#[test]
fn what_goes_on_or_flaps_changes_nothing() {
    let mut told = Told::new();
    let first = told.sees_often(3, Some(&well())).all();
    assert_eq!(told.sees_often(100, Some(&well())).all(), first);
    for _ in 0..50 {
        assert_eq!(told.sees(None).sees(None).sees(Some(&well())).all(), first);
        assert_eq!(told.sees(Some(&closed())).sees(None).sees(Some(&well())).all(), first);
    }
}

#[test]
fn silence_counts_only_of_a_server_that_has_been_up() {
    let mut told = Told::new();
    for _ in 0..9 {
        told.watch.look(None);
        told.is(ServerState::Starting, Process::Running);
    }
    assert_eq!(told.all(), []);
    assert_eq!(told.sees_often(3, None).all(), [(NoAnswer, 10, None)]);
    assert_eq!(told.message(), "the server is not responding");
}

#[test]
fn a_server_that_has_ended_is_not_looked_for_thrice() {
    let mut told = Told::new();
    told.sees_often(3, Some(&well()));
    let stops = told.is(ServerState::Stopping, Process::Running).all();
    assert_eq!(stops, [(Healthy, 1, None)], "it is told by its state");
    told.is(ServerState::Stopped, Process::Absent);
    let ended = [(NoAnswer, 5, None), (Healthy, 1, Some(5))];
    assert_eq!(told.all(), ended);
    // Also where the agent has not seen that none ran in between.
    let mut again = Told::new();
    again.sees_often(3, Some(&well())).is(ServerState::Stopping, Process::Running);
    assert_eq!(again.is(ServerState::Starting, Process::Running).all(), ended);
    let unknown = Process::Unknown("init is silent".into());
    assert_eq!(again.is(ServerState::Waiting, unknown).all(), ended);
    // It starts and ends without being up: that is one result.
    again.is(ServerState::Failed, Process::Absent).is(ServerState::Starting, Process::Running);
    assert_eq!(again.all(), ended);
}

#[test]
fn at_most_five_are_kept() {
    let mut told = Told::new();
    for _ in 0..6 {
        told.sees_often(3, Some(&well())).sees_often(3, None);
    }
    let all = told.all();
    assert_eq!((all.len(), all[0]), (5, (NoAnswer, 34, None)));
    assert_eq!(all[4], (NoAnswer, 22, Some(25)));
}

#[test]
fn the_same_result_for_another_cause_is_the_same_record() {
    let mut told = Told::new();
    told.sees_often(3, Some(&closed()));
    let leaving = Reading { mode: Some("LEAVING".into()), ..well() };
    told.sees(Some(&leaving));
    assert_eq!(told.all(), [(Unhealthy, 1, None)]);
    assert_eq!(told.message(), "the server is in mode LEAVING");
    let mute = Reading { gossip: Some(false), ..leaving.clone() };
    told.sees_often(2, Some(&mute));
    assert_eq!(told.watch.records()[0].gossip, Some(true));
    told.sees(Some(&mute));
    assert_eq!(told.watch.records()[0].gossip, Some(false));
    assert_eq!(told.all(), [(Unhealthy, 1, None)]);
}

#[test]
fn a_server_without_gossip_is_not_healthy_and_one_that_does_not_say_is() {
    let mut told = Told::new();
    let mute = Reading { gossip: Some(false), ..well() };
    told.sees_often(3, Some(&mute));
    assert_eq!(told.all(), [(Unhealthy, 1, None)]);
    assert_eq!(told.message(), "gossip is stopped, so other members see this one as down");
    let silent = Reading { gossip: None, ..well() };
    let mut told = Told::new();
    assert_eq!(told.sees_often(3, Some(&silent)).all(), [(Healthy, 1, None)]);
}

#[test]
fn a_new_agent_closes_what_is_open_and_looks_for_itself() {
    let mut told = Told::new();
    told.sees_often(3, Some(&well())).sees_often(3, None);
    let earlier = told.watch.records().to_vec();
    let mut next = Told { watch: Watch::default(), now: 99 };
    assert!(!next.watch.has_taken_over());
    next.watch.take_over(&earlier, next.at());
    assert!(next.watch.has_taken_over());
    assert_eq!(next.all(), [(NoAnswer, 4, Some(99)), (Healthy, 1, Some(4))]);
    let said =
        "the server is not responding; the agent was restarted, and when this ended is not known";
    assert_eq!(next.message(), said);
    // Once, although what it has reported itself is read then.
    let own = next.watch.records().to_vec();
    next.watch.take_over(&own, next.at());
    assert_eq!(next.watch.records(), own);
    next.sees_often(3, Some(&well()));
    assert_eq!(next.all()[0], (Healthy, 100, None));
    // What a newer one reported, and this one does not know, is left out.
    let mut newer = earlier;
    newer[0].result = HealthResult::Unknown;
    let mut older = Told { watch: Watch::default(), now: 99 };
    older.watch.take_over(&newer, older.at());
    assert_eq!(older.all(), [(Healthy, 1, Some(4))]);
}

#[test]
fn a_server_that_answers_now_and_then_and_is_never_well_is_not_well() {
    let mut told = Told::new();
    told.sees_often(3, Some(&well()));
    told.sees(Some(&closed())).sees(None);
    assert_eq!(told.all(), [(Healthy, 1, None)]);
    told.sees(Some(&closed()));
    assert_eq!(told.all(), [(Unhealthy, 4, None), (Healthy, 1, Some(4))]);
    // Nor does a new agent wait for it without end.
    let mut told = Told::new();
    told.sees(None).sees(Some(&closed())).sees(None);
    assert_eq!(told.all(), [(NoAnswer, 1, None)]);
}

/// The API server refuses the whole status for one text that is too long.
#[test]
fn what_is_kept_of_a_server_fits_the_schema() {
    let endless = Reading { mode: Some("X".repeat(5000)), ..well() };
    let mut told = Told::new();
    told.sees_often(3, Some(&endless));
    let record = told.watch.records()[0].clone();
    assert_eq!(record.mode.map(|mode| mode.len()), Some(64));
    assert!(record.message.is_some_and(|message| message.len() <= 1024));
    let before = palladion_api::member::HealthRecord {
        message: Some("y".repeat(1024)),
        ..told.watch.records()[0].clone()
    };
    let mut next = Watch::default();
    next.take_over(&[before], Timestamp::UNIX_EPOCH);
    assert_eq!(next.records()[0].message.as_ref().map(String::len), Some(1024));
}
