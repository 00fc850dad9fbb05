//! The order by values against a search through all orders.

use proptest::prelude::*;

use super::*;

fn swapped(begun: Micros, ended: Micros, from: Option<&str>, to: &str) -> Event {
    let what = What::Swapped { from: from.map(str::to_owned), to: to.to_owned() };
    Event { begun, ended: Some(ended), what }
}

fn maybe(begun: Micros, from: Option<&str>, to: &str) -> Event {
    let what = What::MaybeSwapped { from: from.map(str::to_owned), to: to.to_owned() };
    Event { begun, ended: None, what }
}

fn seen(begun: Micros, ended: Micros, value: Option<&str>) -> Event {
    Event { begun, ended: Some(ended), what: What::Seen(value.map(str::to_owned)) }
}

#[test]
fn one_after_another_is_in_order() {
    let events = [
        seen(0, 1, None),
        swapped(2, 3, None, "a"),
        swapped(4, 5, Some("a"), "b"),
        seen(6, 7, Some("b")),
    ];
    assert_eq!(chain(&events, Some("b")), Ok(vec![1, 2]));
}

#[test]
fn an_unknown_one_may_have_happened_late_or_not_at_all() {
    let events = [swapped(0, 1, None, "a"), maybe(2, Some("a"), "b"), seen(10, 11, Some("a"))];
    assert_eq!(chain(&events, Some("b")), Ok(vec![0, 1]));
    assert_eq!(chain(&events, Some("a")), Ok(vec![0]));
}

#[test]
fn an_acknowledged_one_that_is_gone_is_lost() {
    let events = [swapped(0, 1, None, "a"), swapped(2, 3, Some("a"), "b")];
    assert_eq!(chain(&events, Some("a")), Err(Fault::Lost(1)));
    assert_eq!(chain(&events, None), Err(Fault::Lost(0)));
}

#[test]
fn two_that_followed_the_same_value_are_not_linearizable() {
    let events =
        [swapped(0, 1, None, "a"), swapped(2, 3, Some("a"), "b"), swapped(2, 3, Some("a"), "c")];
    assert_eq!(chain(&events, Some("c")), Err(Fault::Lost(1)));
}

#[test]
fn a_value_that_nobody_asked_for_is_a_fault() {
    let events = [swapped(0, 1, None, "a"), swapped(2, 3, Some("x"), "b")];
    assert_eq!(chain(&events, Some("z")), Err(Fault::NobodyWrote("z".into())));
    assert_eq!(chain(&events, Some("b")), Err(Fault::NobodyWrote("x".into())));
}

#[test]
fn a_circle_of_values_is_a_fault() {
    let events = [swapped(0, 1, Some("b"), "a"), swapped(0, 1, Some("a"), "b")];
    assert_eq!(chain(&events, Some("b")), Err(Fault::NobodyWrote("b".into())));
}

#[test]
fn a_stale_read_is_a_fault() {
    let events = [swapped(0, 1, None, "a"), swapped(2, 3, Some("a"), "b"), seen(4, 5, Some("a"))];
    assert!(matches!(chain(&events, Some("b")), Err(Fault::OutOfTime(_))));
}

#[test]
fn a_value_that_was_seen_and_then_taken_back_is_a_fault() {
    let events = [swapped(0, 1, None, "a"), maybe(2, Some("a"), "b"), seen(3, 4, Some("b"))];
    assert_eq!(chain(&events, Some("a")), Err(Fault::SeenAside(2)));
}

/// Wing and Gong's search: take any event that nothing unplaced must precede.
fn some_order_explains(
    events: &[Event],
    placed: &mut Vec<usize>,
    state: Option<&str>,
    last: Option<&str>,
) -> bool {
    let left: Vec<usize> = (0..events.len()).filter(|i| !placed.contains(i)).collect();
    let optional = |i: &usize| matches!(events[*i].what, What::MaybeSwapped { .. });
    if state == last && left.iter().all(optional) {
        return true;
    }
    for next in &left {
        let begun = events[*next].begun;
        if left.iter().any(|i| i != next && events[*i].ended.is_some_and(|ended| ended < begun)) {
            continue;
        }
        let after = match &events[*next].what {
            What::Swapped { from, to } | What::MaybeSwapped { from, to } => {
                (from.as_deref() == state).then_some(Some(to.as_str()))
            }
            What::Seen(value) => (value.as_deref() == state).then_some(state),
        };
        if let Some(after) = after {
            placed.push(*next);
            let explained = some_order_explains(events, placed, after, last);
            placed.pop();
            if explained {
                return true;
            }
        }
    }
    false
}

/// Any events at all over a few values; `to`s differ, as in every history.
fn any_events() -> impl Strategy<Value = (Vec<Event>, Option<String>)> {
    let value = |n: u8| (n > 0).then(|| n.to_string());
    let one = (0..3u8, 0..6u8, 0..12i64, 0..8i64);
    (prop::collection::vec(one, 1..7), 0..6u8).prop_map(move |(raw, last)| {
        let events = raw.into_iter().enumerate().map(|(index, (kind, from, begun, takes))| {
            let (from, to) = (value(from), (index + 1).to_string());
            let ended = Some(begun + takes);
            match kind {
                0 => Event { begun, ended, what: What::Swapped { from, to } },
                1 => Event { begun, ended: None, what: What::MaybeSwapped { from, to } },
                _ => Event { begun, ended, what: What::Seen(from) },
            }
        });
        (events.collect(), value(last))
    })
}

/// Events of a register that worked: each happens at a moment of its own,
/// begins before and ends after. Some answers never came.
fn true_events() -> impl Strategy<Value = (Vec<Event>, Option<String>)> {
    prop::collection::vec((0..3u8, 0..30i64, 0..30i64), 1..8).prop_map(|raw| {
        let mut state: Option<String> = None;
        let mut events = Vec::new();
        for (index, (kind, before, after)) in raw.into_iter().enumerate() {
            let moment = i64::try_from(index).expect("should be small") * 10;
            let (begun, ended) = (moment - before, Some(moment + after));
            let (from, to) = (state.clone(), format!("v{index}"));
            let event = match kind {
                0 => Event { begun, ended, what: What::Swapped { from, to: to.clone() } },
                1 => {
                    Event { begun, ended: None, what: What::MaybeSwapped { from, to: to.clone() } }
                }
                _ => Event { begun, ended, what: What::Seen(from) },
            };
            if kind < 2 {
                state = Some(to);
            }
            events.push(event);
        }
        (events, state)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_order_by_values_and_the_search_agree((events, last) in any_events()) {
        let searched = some_order_explains(&events, &mut Vec::new(), None, last.as_deref());
        let found = chain(&events, last.as_deref());
        prop_assert_eq!(found.is_ok(), searched, "{:?}", found);
    }

    #[test]
    fn a_register_that_worked_passes((events, last) in true_events()) {
        prop_assert!(chain(&events, last.as_deref()).is_ok());
    }

    #[test]
    fn both_agree_on_one_that_worked_and_of_which_one_event_was_bent(
        (events, last) in true_events(), which in 0..8usize, earlier in 1..60i64
    ) {
        let mut events = events;
        let which = which % events.len();
        let event = &mut events[which];
        (event.begun, event.ended) = (event.begun - earlier, event.ended.map(|e| e - earlier));
        let (begun, ended) = (event.begun, event.ended);
        event.ended = ended.map(|ended| ended.max(begun));
        let searched = some_order_explains(&events, &mut Vec::new(), None, last.as_deref());
        prop_assert_eq!(chain(&events, last.as_deref()).is_ok(), searched);
    }

    #[test]
    fn one_that_forgets_an_acknowledged_value_never_passes((events, _) in true_events()) {
        let last_swap = events.iter().rev().find_map(|event| match &event.what {
            What::Swapped { from, .. } => Some(from.clone()),
            What::MaybeSwapped { .. } | What::Seen(_) => None,
        });
        if let Some(before) = last_swap {
            prop_assert!(chain(&events, before.as_deref()).is_err());
        }
    }
}
