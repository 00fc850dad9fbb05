//! The queue in virtual time.

use super::*;
use std::time::Duration;

fn key(name: &str) -> Key {
    Key::new(MindId(0), "n", name)
}

async fn nothing(queue: &Queue) -> bool {
    tokio::time::timeout(Duration::from_millis(1), queue.next()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn what_happens_to_a_key_melts_into_one_decision() {
    let queue = Queue::default();
    for _ in 0..100 {
        queue.add(key("a"), Priority::Change);
    }
    assert_eq!(queue.next().await, key("a"));
    assert!(nothing(&queue).await, "not given out twice");
    queue.add(key("a"), Priority::Change);
    queue.add(key("a"), Priority::Change);
    assert!(nothing(&queue).await, "not while it runs");
    queue.done(&key("a"), After::Rest);
    assert_eq!(queue.next().await, key("a"));
    queue.done(&key("a"), After::Rest);
    assert!(nothing(&queue).await);
}

#[tokio::test(start_paused = true)]
async fn a_persons_change_goes_before_failures_changes_and_resyncs() {
    let queue = Queue::default();
    queue.add(key("resync"), Priority::Resync);
    queue.add(key("change"), Priority::Change);
    queue.add(key("failure"), Priority::Failure);
    queue.add(key("owner"), Priority::Owner);
    queue.add(key("resync"), Priority::Owner);
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(queue.next().await.name.to_string());
    }
    assert_eq!(order, ["owner", "resync", "failure", "change"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_key_does_not_delay_another() {
    let queue = Queue::default();
    queue.add(key("slow"), Priority::Owner);
    let slow = queue.next().await;
    queue.add(key("quick"), Priority::Resync);
    assert_eq!(queue.next().await, key("quick"));
    queue.done(&slow, After::Rest);
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_comes_at_its_time() {
    let queue = Queue::default();
    queue.add(key("a"), Priority::Change);
    let a = queue.next().await;
    let at = Instant::now() + Duration::from_secs(60);
    queue.done(&a, After::WakeAt(at));
    assert_eq!(queue.next().await, a);
    assert_eq!(Instant::now(), at);
}

#[tokio::test(start_paused = true)]
async fn a_held_key_waits_for_its_time_unless_a_person_changes_the_owner() {
    let queue = Queue::default();
    queue.add(key("a"), Priority::Change);
    let a = queue.next().await;
    let hold = After::HoldUntil(Instant::now() + Duration::from_secs(5));
    queue.done(&a, hold);
    queue.add(a.clone(), Priority::Change);
    assert!(nothing(&queue).await);
    queue.add(a.clone(), Priority::Owner);
    assert_eq!(queue.next().await, a);
    queue.done(&a, hold);
    let before = Instant::now();
    assert_eq!(queue.next().await, a);
    assert!(Instant::now() - before > Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn news_brings_a_retry_forward() {
    let queue = Queue::default();
    queue.add(key("a"), Priority::Change);
    let a = queue.next().await;
    queue.done(&a, After::RetryAt(Instant::now() + Duration::from_secs(30)));
    queue.add(a.clone(), Priority::Change);
    assert_eq!(queue.next().await, a);
    queue.done(&a, After::Rest);
    assert!(nothing(&queue).await, "the old timer is gone");
}

#[tokio::test(start_paused = true)]
async fn a_key_at_rest_costs_nothing() {
    let queue = Queue::default();
    queue.add(key("a"), Priority::Change);
    let a = queue.next().await;
    queue.done(&a, After::Rest);
    assert!(queue.lock().slots.is_empty());
}

/// The names in the order in which they are given out.
async fn order(queue: &Queue, count: usize) -> Vec<String> {
    let mut order = Vec::new();
    for _ in 0..count {
        order.push(queue.next().await.name.to_string());
    }
    order
}

#[tokio::test(start_paused = true)]
async fn what_was_begun_goes_before_a_thousand_that_are_new() {
    let queue = Queue::default();
    for number in 0..1000 {
        queue.add(key(&format!("new-{number}")), Priority::Owner);
    }
    queue.mark(vec![(key("begun"), Work::Begun)]);
    queue.add(key("begun"), Priority::Change);
    assert_eq!(order(&queue, 1).await, ["begun"]);
    // Its work is over.
    queue.done(&key("begun"), After::Rest);
    queue.mark(vec![(key("begun"), Work::New)]);
    queue.add(key("begun"), Priority::Change);
    assert_eq!(order(&queue, 1).await, ["new-0"]);
    // It begins while it waits.
    queue.mark(vec![(key("begun"), Work::Begun)]);
    assert_eq!(order(&queue, 2).await, ["begun", "new-1"]);
}

#[tokio::test(start_paused = true)]
async fn of_four_that_go_one_is_new_however_much_was_begun() {
    let queue = Queue::default();
    for number in 0..9 {
        queue.mark(vec![(key(&format!("begun-{number}")), Work::Begun)]);
        queue.add(key(&format!("begun-{number}")), Priority::Owner);
    }
    queue.add(key("change"), Priority::Change);
    queue.add(key("owner"), Priority::Owner);
    let order = order(&queue, 11).await;
    let expected = ["begun-0", "begun-1", "begun-2", "owner", "begun-3", "begun-4", "begun-5"];
    assert_eq!(order[..7], expected);
    assert_eq!(order[7..], ["change", "begun-6", "begun-7", "begun-8"]);
}
