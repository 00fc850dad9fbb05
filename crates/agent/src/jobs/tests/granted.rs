//! Repair of what is granted, beside that of other members.

use super::due::{due_in, how, of_due, small_segments};
use crate::admin::RepairState;
use crate::decide::job::Stop;
use crate::jobs::place::Place;
use crate::jobs::{Waited, settle, work};
use crate::volume::jobs::Ended;
use palladion_api::member::{JobCause, JobState, JobStatus, MemberState};
use std::time::Duration;

/// Wait until the job offers as many batches, or has done with a grant.
async fn until(place: &Place, is_so: impl Fn(&JobStatus) -> bool) {
    while !place.book.status(None).is_some_and(|status| is_so(&status)) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn what_is_granted_is_repaired_and_nothing_else() {
    let place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    let grants = async {
        until(&place, |status| status.batches.len() == 1).await;
        let offered = place.book.status(None).unwrap().batches[0].clone();
        assert_eq!(offered.host_ids, ["1".into(), "2".into()]);
        assert_eq!(offered.due_at, None, "it was never repaired");
        assert!(place.calls().is_empty(), "nothing was granted");
        place.grant(1, &["1", "3"]);
        until(&place, |status| status.last_grant == Some(1)).await;
        assert!(place.calls().is_empty(), "there is no such batch");
        place.grant(2, &["1", "2"]);
    };
    let (ended, ()) = tokio::join!(work(&bench), grants);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls().len(), 2);
    assert!(!due_in(&place, 0));
    let last = place.book.read(|notes| notes.open().unwrap().status.last_grant);
    assert_eq!(last, Some(2), "that it is over is on the volume");
}

#[tokio::test]
async fn what_was_offered_before_a_grant_is_offered_no_more_once_it_is_taken() {
    let place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    let granted = async {
        until(&place, |status| !status.batches.is_empty()).await;
        place.grant(1, &["1", "2"]);
        while place.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        ended = work(&bench) => panic!("it repairs: {ended:?}"),
        () = granted => {}
    }
    let status = place.book.status(None).unwrap();
    assert_eq!((status.last_grant, status.batches), (None, Vec::new()));
}

#[tokio::test]
async fn who_waits_for_a_grant_can_be_stopped_and_killed() {
    let mut place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    tokio::select! {
        ended = work(&bench) => panic!("it waits: {ended:?}"),
        () = until(&place, |status| !status.batches.is_empty()) => {}
    }
    let bench = place.after_a_restart();
    let stop = async {
        until(&place, |status| !status.batches.is_empty()).await;
        place.stop.send_replace(Some(Stop::Asked));
    };
    let (ended, ()) = tokio::join!(settle(&bench, Waited::EarlierAgent), stop);
    assert_eq!(how(ended.as_ref()), (JobState::Aborted, None), "it had gone on");
    assert!(place.calls().is_empty());
}

/// Others are given the same ranges soon: what runs is ended, and nothing is called after it.
#[tokio::test]
async fn who_is_not_heard_ends_what_was_granted_and_says_why() {
    let place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 10_000).collect();
    place.grant(1, &["1", "2"]);
    let unheard = async {
        while place.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        place.stop.send_replace(Some(Stop::Unheard));
    };
    let (ended, ()) = tokio::join!(work(&bench), unheard);
    let by_itself = (JobState::Interrupted, Some(JobCause::ApiServerUnreachable));
    assert_eq!(how(ended.as_ref()), by_itself);
    let said = ended.unwrap().message.unwrap();
    assert!(said.contains("the Kubernetes API server for 30 minutes"), "{said}");
    let calls = place.calls();
    let repairs = calls.iter().filter(|call| !call.starts_with("end repairs")).count();
    assert_eq!(repairs, 1, "{calls:?}");
    assert!(calls.len() > 1, "it was ended: {calls:?}");
    assert!(due_in(&place, 0), "it does not count");
}

#[tokio::test]
async fn a_grant_that_is_over_is_not_begun_again_by_an_agent_that_was_restarted() {
    let mut place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    place.state().repairs = [RepairState::Failed("endpoint not alive".into())].into();
    place.grant(1, &["1", "3"]);
    let killed = async {
        until(&place, |status| status.last_grant == Some(1)).await;
    };
    tokio::select! {
        ended = work(&bench) => panic!("it waits: {ended:?}"),
        () = killed => {}
    }
    place.grant(1, &["1", "2"]);
    let bench = place.after_a_restart();
    let killed =
        tokio::time::timeout(Duration::from_millis(50), settle(&bench, Waited::EarlierAgent));
    assert!(killed.await.is_err(), "it waits for the next one");
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn what_a_member_has_copies_of_that_is_down_is_left_out() {
    let place = Place::new();
    place.state().down = vec!["2"];
    let ended = work(&place.by_grants("a", "task", of_due())).await;
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ReplicasDown)));
    let said = ended.unwrap().message.unwrap();
    assert!(said.starts_with("left out 1 group of ranges") && said.ends_with(": 2"), "{said}");
    assert!(place.calls().is_empty());
}

#[tokio::test]
async fn nothing_goes_on_in_a_ring_with_other_members() {
    let place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    let join = async {
        until(&place, |status| !status.batches.is_empty()).await;
        place.state().members.push(("3", MemberState::Normal));
    };
    let (ended, ()) = tokio::join!(work(&bench), join);
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let said = ended.unwrap().message.unwrap();
    assert!(said.contains("other members are in the ring"), "{said}");
}

/// What is granted keeps those free that had copies when it was offered.
#[tokio::test]
async fn nothing_goes_on_with_copies_on_other_members() {
    let alter = |place: &Place| {
        place.state().schema += 1;
        place.state().more_copies = vec!["3"];
    };
    let says = |ended: &Option<Ended>| {
        let said = ended.as_ref().and_then(|ended| ended.message.as_deref());
        said.is_some_and(|said| said.contains("the replication of keyspace shop has changed"))
    };
    let place = Place::new();
    place.state().members.push(("3", MemberState::Normal));
    let bench = place.by_grants("a", "task", of_due());
    let altered = async {
        until(&place, |status| !status.batches.is_empty()).await;
        alter(&place);
    };
    let both = async { tokio::join!(work(&bench), altered).0 };
    let ended = tokio::time::timeout(Duration::from_secs(10), both).await.expect("it ends");
    assert!(says(&ended), "{ended:?}");
    assert!(place.calls().is_empty());

    let place = Place::new();
    place.state().members.push(("3", MemberState::Normal));
    let bench = place.begun("a", "task", small_segments());
    place.state().repairs = std::iter::repeat_n(RepairState::Running, 20).collect();
    let altered = async {
        while place.state().next_repair < 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        alter(&place);
    };
    let (ended, ()) = tokio::join!(work(&bench), altered);
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    assert!(says(&ended), "{ended:?}");
    assert_eq!(place.calls().len(), 1, "the one under way");
    assert!(due_in(&place, 0));
}

#[tokio::test]
async fn what_fails_by_a_grant_is_offered_again_and_its_members_are_free_meanwhile() {
    let place = Place::new();
    place.state().copy_of_auth = Some("3");
    place.state().members.push(("3", MemberState::Normal));
    place.state().repairs = [RepairState::Failed("endpoint not alive".into())].into();
    let mut bench = place.by_grants("a", "task", of_due());
    bench.pace.retry = Duration::from_millis(40);
    let grants = async {
        until(&place, |status| status.batches.len() == 2).await;
        place.grant(1, &["1", "2"]);
        until(&place, |status| status.last_grant == Some(1)).await;
        until(&place, |status| status.batches.len() == 1).await;
        let offered = place.book.status(None).unwrap().batches[0].host_ids.clone();
        assert_eq!(offered, ["1".into(), "2".into(), "3".into()], "the other one alone");
        let why = |status: &JobStatus| status.message.clone().unwrap_or_default();
        until(&place, |status| why(status).contains("endpoint not alive")).await;
        let said = why(&place.book.status(None).unwrap());
        assert!(said.contains("it is tried again after "), "{said}");
        until(&place, |status| status.batches.len() == 2).await;
        place.grant(2, &["1", "2"]);
        until(&place, |status| status.last_grant == Some(2)).await;
        until(&place, |status| status.message.is_none()).await;
        place.grant(3, &["1", "2", "3"]);
    };
    let (ended, ()) = tokio::join!(work(&bench), grants);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    assert_eq!((calls.len(), &calls[0]), (3, &calls[1]), "{calls:?}");
    assert!(!due_in(&place, 0));
}

/// The operator of a ring that is paused grants nothing, and takes nothing back.
#[tokio::test]
async fn a_repair_whose_ring_is_paused_ends_what_it_was_granted_and_waits() {
    let mut place = Place::new();
    place.state().copy_of_auth = Some("3");
    place.state().members.push(("3", MemberState::Normal));
    let bench = place.by_grants("a", "task", of_due());
    place.grant(1, &["1", "2"]);
    let paused = async {
        until(&place, |status| status.last_grant == Some(1)).await;
        assert_eq!(place.calls().len(), 1, "what was granted is done");
        // Longer than it would wait for members that are down.
        tokio::time::sleep(bench.pace.alone * 3).await;
        assert!(place.calls().is_empty(), "nothing else is begun");
        until(&place, |status| status.state == JobState::Running && status.batches.len() == 1)
            .await;
    };
    tokio::select! {
        ended = work(&bench) => panic!("it waits: {ended:?}"),
        () = paused => {}
    }
    // Whoever is restarted in the pause waits as before.
    let bench = place.after_a_restart();
    let resumed = async {
        until(&place, |status| status.batches.len() == 1).await;
        assert!(place.calls().is_empty());
        place.grant(2, &["1", "2", "3"]);
    };
    let (ended, ()) = tokio::join!(settle(&bench, Waited::EarlierAgent), resumed);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls().len(), 1, "the rest");
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn who_waits_for_a_grant_waits_on_while_a_schema_that_has_changed_cannot_be_read() {
    let place = Place::new();
    let mut bench = place.by_grants("a", "task", of_due());
    bench.pace.unclear = Duration::from_secs(600);
    let change = async {
        until(&place, |status| !status.batches.is_empty()).await;
        place.state().no_schema = Some("the server does not answer");
        place.state().schema += 1;
        until(&place, |status| status.message.is_some()).await;
        let status = place.book.status(None).unwrap();
        let said = status.message.unwrap();
        assert!(said.contains("the server does not answer") && said.contains("until 2"), "{said}");
        assert_eq!(status.state, JobState::Running);
        assert!(status.batches.is_empty(), "what is offered may be another's by now");
        // A grant of what was offered before is kept for as long.
        place.grant(1, &["1", "2"]);
        tokio::time::sleep(Duration::from_millis(40)).await;
        assert!(place.calls().is_empty(), "nothing is repaired meanwhile");
        place.state().no_schema = None;
    };
    let (ended, ()) = tokio::join!(work(&bench), change);
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls().len(), 2);
    assert_eq!(place.book.status(None).unwrap().message, None, "nothing is waited for any more");
    assert!(!due_in(&place, 0));
}

#[tokio::test]
async fn it_does_not_wait_for_ever_and_can_be_stopped() {
    let place = Place::new();
    let bench = place.by_grants("a", "task", of_due());
    let change = async {
        until(&place, |status| !status.batches.is_empty()).await;
        place.state().no_schema = Some("the server does not answer");
        place.state().schema += 1;
    };
    let (ended, ()) = tokio::join!(work(&bench), change);
    assert_eq!(how(ended.as_ref()), (JobState::Failed, Some(JobCause::ServerError)));
    let said = ended.unwrap().message.unwrap();
    assert!(said.contains("over CQL: the server does not answer"), "{said}");

    let place = Place::new();
    let mut bench = place.by_grants("a", "task", of_due());
    bench.pace.unclear = Duration::from_secs(600);
    let stop = async {
        until(&place, |status| !status.batches.is_empty()).await;
        place.state().no_schema = Some("the server does not answer");
        place.state().schema += 1;
        until(&place, |status| status.message.is_some()).await;
        place.stop.send_replace(Some(Stop::Asked));
    };
    let (ended, ()) = tokio::join!(work(&bench), stop);
    assert_eq!(how(ended.as_ref()), (JobState::Aborted, None));
}
