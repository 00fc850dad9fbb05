//! Looks add up, and what flaps is not told.

use super::super::health::Watch;
use super::super::testing::*;
use super::super::*;
use crate::read::Reading;
use palladion_api::service_member::{MemberHealth, MemberHealthRecord, ServerMode};

fn serving() -> Reading {
    reading(Some(ServerMode::Follower), config(7 << 32, &[1, 2, 3], &[]))
}

fn alone() -> Reading {
    reading(None, config(7 << 32, &[1, 2, 3], &[]))
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// One look each second.
fn watched(watch: &mut Watch, from: i64, looks: &[Reading]) {
    for (reading, second) in looks.iter().zip(from..) {
        watch.look(reading, Some(OWN));
        watch.follow(MemberServerState::Running, &Process::Running, at(second));
    }
}

fn results(watch: &Watch) -> Vec<MemberHealth> {
    watch.records().iter().map(|record| record.result).collect()
}

#[test]
fn a_result_counts_once_three_looks_agree_and_holds_from_the_first_of_them() {
    let mut watch = Watch::default();
    watched(&mut watch, 0, &[serving(), serving()]);
    assert!(watch.records().is_empty() && !watch.is_settled());
    watched(&mut watch, 2, &[serving()]);
    assert_eq!(results(&watch), [MemberHealth::Healthy]);
    assert_eq!(watch.records()[0].since.0, at(0));
    watched(&mut watch, 10, &[alone(), alone(), serving(), alone(), alone()]);
    assert_eq!(results(&watch), [MemberHealth::Healthy], "an election is short");
    watched(&mut watch, 15, &[Reading::default()]);
    assert_eq!(results(&watch), [MemberHealth::NoAnswer, MemberHealth::Healthy]);
    assert_eq!(watch.records()[1].until.as_ref().map(|at| at.0), Some(at(13)));
}

#[test]
fn a_server_that_is_in_no_configuration_is_not_healthy() {
    let mut watch = Watch::default();
    let removed = reading(Some(ServerMode::Follower), config(8 << 32, &[1, 3], &[]));
    watched(&mut watch, 0, &[removed.clone(), removed.clone(), removed]);
    assert_eq!(results(&watch), [MemberHealth::Unhealthy]);
    assert!(watch.records()[0].message.as_ref().unwrap().contains("does not contain"));
}

#[test]
fn a_server_that_ends_needs_no_second_look_and_one_that_starts_is_not_judged() {
    let mut watch = Watch::default();
    watch.look(&alone(), Some(OWN));
    watch.follow(MemberServerState::Starting, &Process::Running, at(0));
    assert!(watch.records().is_empty());
    watched(&mut watch, 1, &[serving(), serving(), serving()]);
    watch.follow(MemberServerState::Failed, &Process::Absent, at(5));
    watch.follow(MemberServerState::Failed, &Process::Absent, at(6));
    assert_eq!(results(&watch), [MemberHealth::NoAnswer, MemberHealth::Healthy]);
    assert!(watch.records()[0].message.as_ref().unwrap().contains("not running"));
}

#[test]
fn what_an_earlier_agent_saw_is_kept_and_over() {
    let mut watch = Watch::default();
    let earlier = MemberHealthRecord {
        result: MemberHealth::Healthy,
        since: palladion_agent_core::volume::seconds(at(0)),
        until: None,
        message: None,
    };
    watch.take_over(std::slice::from_ref(&earlier), at(9));
    watch.take_over(&[earlier.clone(), earlier], at(10));
    assert_eq!(watch.records().len(), 1);
    assert_eq!(watch.records()[0].until.as_ref().map(|t| t.0), Some(at(9)));
    assert!(watch.records()[0].message.is_some());
}
