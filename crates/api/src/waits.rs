//! What an object waits for, in its status: the same shape for every kind.

use crate::reasons::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// A status shows this many waits at the most. Operators of large rings look at
/// the first; the list must not grow with the ring.
pub const MOST: usize = 8;

/// Characters of a message at the most. What a server or a kubelet says may be long.
pub const LONGEST: usize = 1024;

/// One thing that is waited for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StatusWait")]
pub struct Wait {
    /// A documented reason, as in conditions.
    pub reason: String,
    /// The object that it is about; absent where it is about the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<WaitObject>,
    /// What is waited for.
    #[schemars(length(max = 1024))]
    pub message: String,
    /// Since when this reason holds for this object.
    pub since: Time,
}

/// The object that a wait is about. It is in the same namespace, or has none.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StatusWaitObject")]
pub struct WaitObject {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// What is waited for now, the most telling first. A wait under the same reason
/// about the same object keeps the time that is `stored`; its words may change.
pub fn carried_on(
    stored: &[Wait],
    waits: impl IntoIterator<Item = (Reason, Option<WaitObject>, String)>,
    now: jiff::Timestamp,
) -> Vec<Wait> {
    let mut stored: Vec<&Wait> = stored.iter().collect();
    let waits = waits.into_iter().take(MOST).map(|(reason, object, message)| {
        let same = stored.iter().position(|w| w.reason == reason.as_str() && w.object == object);
        let since = match same {
            Some(at) => stored.remove(at).since.clone(),
            None => Time(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now)),
        };
        Wait { reason: reason.to_string(), object, message: cut(message), since }
    });
    waits.collect()
}

/// Without what is too long to be stored.
fn cut(message: String) -> String {
    if message.chars().count() <= LONGEST {
        return message;
    }
    message.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> jiff::Timestamp {
        jiff::Timestamp::from_second(second).expect("should be a time")
    }

    fn about(name: &str) -> Option<WaitObject> {
        Some(WaitObject { kind: "Pod".into(), name: name.into() })
    }

    #[test]
    fn a_wait_keeps_its_time_while_reason_and_object_stay() {
        let wait = |name, words: &str| (Reason::WaitingForPod, about(name), words.to_string());
        let first = carried_on(&[], [wait("a-0", "one"), wait("b-0", "two")], at(10));
        let second = carried_on(&first, [wait("c-0", "new"), wait("b-0", "other words")], at(20));
        let since: Vec<_> = second.iter().map(|w| w.since.0).collect();
        assert_eq!(since, [at(20), at(10)]);
        assert_eq!(second[1].message, "other words");
        let other = (Reason::PodsNotReady, about("b-0"), String::new());
        assert_eq!(carried_on(&second, [other], at(30))[0].since.0, at(30));
    }

    #[test]
    fn two_waits_without_an_object_keep_their_times_in_order() {
        let wait = |words: &str| (Reason::CreatingObjects, None, words.to_string());
        let first = carried_on(&[], [wait("a")], at(10));
        let second = carried_on(&first, [wait("a"), wait("b")], at(20));
        let since: Vec<_> = second.iter().map(|w| w.since.0).collect();
        assert_eq!(since, [at(10), at(20)]);
    }

    #[test]
    fn the_list_is_bounded() {
        let many = (0..20).map(|n| (Reason::CreatingObjects, None, n.to_string()));
        assert_eq!(carried_on(&[], many, at(10)).len(), MOST);
    }

    #[test]
    fn a_message_that_is_too_long_to_be_stored_is_cut() {
        let long = (Reason::WaitingForPod, None, "ä".repeat(LONGEST + 1));
        let waits = carried_on(&[], [long], at(10));
        assert_eq!(waits[0].message.chars().count(), LONGEST);
        assert!(waits[0].message.ends_with('…'));
    }
}
