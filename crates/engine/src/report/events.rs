//! Events: which are worth sending, and sending them. Losing one is no harm,
//! so they are sent beside the reconcile and never tried twice.

use crate::leader::Term;
use crate::memory::Memory;
use crate::request::Api;
use crate::words::Told;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, HEALTHY, PAUSED, PROGRESSING};
use palladion_api::labels;
use palladion_api::rights::{Right, Verb};
use palladion_api::words::Reasoned;
use palladion_plan::{Event, EventType, Object, Regarding, Resource};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const EVENT: Resource = Resource::namespaced("events.k8s.io", "v1", "Event", "events");
/// What is needed to send events.
pub const RIGHT: Right =
    EVENT.right(&[Verb::Create], "Events about the objects that are reconciled");
/// The same words about the same owner are not said again within this time,
/// unless something else with that reason was said between.
const SAID_RECENTLY: Duration = Duration::from_secs(3600);
/// Limit of the API on a note.
const NOTE: usize = 1024;
/// Events about cluster-scoped objects live here, as everywhere in Kubernetes.
const DEFAULT_NAMESPACE: &str = "default";

/// One event for each condition whose status or reason changed. Not for
/// `Progressing`: each of its reasons is a wait or a step, which the status shows
/// with its time, and steps that are worth an event have their own. Nor for `Healthy`,
/// whose checks go out and on with every move; who is to act is told by `Degraded`.
pub fn of_conditions(stored: Option<&Value>, wanted: &Value) -> Vec<(EventType, String, String)> {
    let conditions = |status: &Value| status["conditions"].as_array().cloned().unwrap_or_default();
    let before = stored.map(conditions).unwrap_or_default();
    let mut events = Vec::new();
    let is_told =
        |condition: &Value| condition["type"] != PROGRESSING && condition["type"] != HEALTHY;
    for condition in conditions(wanted).into_iter().filter(is_told) {
        let old = before.iter().find(|c| c["type"] == condition["type"]);
        if old.is_none() && is_no_news(&condition) {
            continue;
        }
        let told = |field: &str| old.is_some_and(|o| o[field] == condition[field]);
        if told("status") && told("reason") {
            continue;
        }
        let text = |field: &str| condition[field].as_str().unwrap_or_default().to_string();
        events.push((severity(&text("type"), &text("status")), text("reason"), text("message")));
    }
    events
}

/// An owner begins understood, without trouble, not paused and not serving yet:
/// nobody needs to be told.
fn is_no_news(condition: &Value) -> bool {
    let is =
        |type_: &str, status: &str| condition["type"] == type_ && condition["status"] == status;
    is(ACCEPTED, "True") || [AVAILABLE, DEGRADED, PAUSED].iter().any(|type_| is(type_, "False"))
}

fn severity(type_: &str, status: &str) -> EventType {
    match (type_, status) {
        ("Accepted", "False") | ("Degraded", "True") => EventType::Warning,
        _ => EventType::Normal,
    }
}

/// Sends events about one owner.
pub struct Events<'a> {
    /// The API server.
    pub api: &'a Api,
    /// The kind of the owner.
    pub resource: Resource,
    /// The owner.
    pub owner: &'a Object,
    /// Name of this process.
    pub instance: &'a str,
    /// The right to write.
    pub term: &'a Term,
}

impl Events<'_> {
    /// Send an event of a plan: about the owner, and about whom it names besides.
    pub fn send(&self, event: &Event, memory: &mut Memory) {
        let (reason, message) = (event.reason.as_str(), event.message.to_string());
        if !worth_saying(memory, reason, &message, Instant::now()) {
            return;
        }
        self.create(event.type_, reason, &message, self.regarding_owner());
        if let Some(about) = &event.about {
            self.create(event.type_, reason, &message, regarding(about));
        }
    }

    /// Send a warning of the engine itself.
    pub fn warn(&self, told: &Told, memory: &mut Memory) {
        self.say(EventType::Warning, told.reason().as_str(), &told.to_string(), memory);
    }

    /// Send an event about the owner, unless it was said lately.
    pub fn say(&self, type_: EventType, reason: &str, message: &str, memory: &mut Memory) {
        if !reason.is_empty() && worth_saying(memory, reason, message, Instant::now()) {
            self.create(type_, reason, message, self.regarding_owner());
        }
    }

    fn create(&self, type_: EventType, reason: &str, message: &str, regarding: Value) {
        let namespace = match self.owner.meta.namespace.as_str() {
            "" => DEFAULT_NAMESPACE.to_string(),
            namespace => namespace.to_string(),
        };
        let body = self.body(type_, reason, message, &namespace, regarding);
        let (api, term) = (self.api.clone(), self.term.clone());
        tokio::spawn(async move {
            // Asked when it is sent: a successor speaks for the owner by then.
            if term.check().is_err() {
                return;
            }
            if let Err(error) = api.create(EVENT, &namespace, &body).await {
                tracing::debug!(error = %error, "cannot send an event");
            }
        });
    }

    fn body(
        &self,
        type_: EventType,
        reason: &str,
        message: &str,
        namespace: &str,
        regarding: Value,
    ) -> Value {
        let name = regarding["name"].as_str().unwrap_or_default();
        json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "namespace": namespace,
                "name": format!("{name}.{}", uuid::Uuid::new_v4().simple()),
            },
            "eventTime": format!("{:.6}", jiff::Timestamp::now()),
            "reportingController": labels::PALLADION,
            "reportingInstance": self.instance,
            "action": "Reconcile",
            "reason": reason,
            "note": shortened(message),
            "type": match type_ {
                EventType::Normal => "Normal",
                EventType::Warning => "Warning",
            },
            "regarding": regarding,
        })
    }

    fn regarding_owner(&self) -> Value {
        let meta = &self.owner.meta;
        json!({
            "apiVersion": self.resource.api_version(),
            "kind": self.resource.kind,
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
        })
    }
}

fn regarding(Regarding { key, uid }: &Regarding) -> Value {
    json!({
        "apiVersion": key.resource.api_version(),
        "kind": key.resource.kind,
        "namespace": key.namespace,
        "name": key.name,
        "uid": uid,
    })
}

fn worth_saying(memory: &mut Memory, reason: &str, message: &str, now: Instant) -> bool {
    let said = memory.events.get(reason);
    let lately =
        said.is_some_and(|(last, at)| last == message && now.duration_since(*at) < SAID_RECENTLY);
    if !lately {
        memory.events.insert(reason.to_string(), (message.to_string(), now));
    }
    !lately
}

fn shortened(message: &str) -> String {
    if message.len() <= NOTE {
        return message.to_string();
    }
    let mut end = NOTE - 3;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &message[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(type_: &str, status: &str, reason: &str) -> Value {
        json!({"conditions": [{"type": type_, "status": status, "reason": reason, "message": "m"}]})
    }

    #[test]
    fn a_condition_is_told_when_its_status_or_reason_changes_and_not_for_its_words() {
        let before = status("Ready", "False", "Creating");
        assert!(of_conditions(Some(&before), &before).is_empty());
        let mut words = before.clone();
        words["conditions"][0]["message"] = json!("other words");
        assert!(of_conditions(Some(&before), &words).is_empty());
        assert_eq!(of_conditions(Some(&before), &status("Ready", "False", "Joining")).len(), 1);
        assert_eq!(of_conditions(None, &before).len(), 1);
    }

    #[test]
    fn an_owner_that_begins_without_trouble_is_no_news_and_its_end_is() {
        let fine = status("Degraded", "False", "UpToDate");
        assert!(of_conditions(None, &fine).is_empty());
        let trouble = status("Degraded", "True", "MemberDown");
        assert_eq!(of_conditions(None, &trouble).len(), 1);
        assert_eq!(of_conditions(Some(&trouble), &fine).len(), 1);
    }

    #[test]
    fn of_a_ring_that_is_made_it_is_told_once_that_it_serves() {
        let at = |available: &str, reason: &str, progressing: &str, healthy: &str| {
            let condition = |type_: &str, status: &str, reason: &str| json!({"type": type_, "status": status, "reason": reason, "message": "m"});
            json!({"conditions": [
                condition("Accepted", "True", "Valid"),
                condition("Available", available, reason),
                condition("Progressing", "True", progressing),
                condition("Degraded", "False", "UpToDate"),
                condition("Paused", "False", "UpToDate"),
                condition("Healthy", if healthy == "AllChecksPass" { "True" } else { "False" }, healthy),
            ]})
        };
        let history = [
            at("False", "MembersDown", "CreatingObjects", "MembersExist"),
            at("False", "MembersDown", "WaitingForPod", "MembersExist"),
            at("False", "MembersDown", "Initializing", "MembersExist"),
            at("False", "MembersDown", "Joining", "TopologyStill"),
            at("True", "Running", "Joining", "AllChecksPass"),
            at("True", "Running", "SystemKeyspaces", "SchemaAgrees"),
        ];
        let before = std::iter::once(None).chain(history.iter().map(Some));
        let told = before.zip(&history).flat_map(|(before, now)| of_conditions(before, now));
        let reasons: Vec<String> = told.map(|(_, reason, _)| reason).collect();
        assert_eq!(reasons, ["Running"]);
    }

    #[test]
    fn what_needs_eyes_is_a_warning() {
        let type_of = |wanted: &Value| of_conditions(None, wanted)[0].0;
        assert_eq!(type_of(&status("Accepted", "False", "InvalidSpec")), EventType::Warning);
        assert_eq!(type_of(&status("Degraded", "True", "MemberDown")), EventType::Warning);
        assert_eq!(type_of(&status("Available", "True", "Running")), EventType::Normal);
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_words_are_not_said_again_within_the_hour_unless_others_came_between() {
        let mut memory = Memory::default();
        let mut say =
            |reason: &str, words: &str| worth_saying(&mut memory, reason, words, Instant::now());
        assert!(say("R", "a"));
        assert!(!say("R", "a"));
        assert!(say("R", "b"));
        assert!(say("R", "a"));
        tokio::time::advance(SAID_RECENTLY).await;
        assert!(say("R", "a"));
    }

    #[test]
    fn a_long_note_is_cut_between_characters() {
        let note = shortened(&"ä".repeat(2000));
        assert!(note.len() <= NOTE && note.ends_with("..."));
    }
}
