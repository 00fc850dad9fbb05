//! Is a ring well? By what the operator reports of it: its verdict, and what needs
//! a person; where that says so, by what the members report as well. Of an older
//! operator, which gives no verdict, its conditions count.

use super::check::{Check, checks};
use super::condition::Condition;
use super::member::{FAILED, Member, RUNNING};
use super::{items, text, time};
use crate::words::answer::NotWell;
use jiff::Timestamp;
use palladion_api::cluster::RingRun;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, HEALTHY};
use palladion_api::reasons::Reason;
use serde::Serialize;
use serde_json::Value;

/// Where the operator gives its verdict, and since when it holds.
const VERDICT: &str = "/status/health/verdict";
const SINCE: &str = "/status/health/since";
/// Its verdicts.
const WELL: &str = "Well";
const ILL: &str = "Ill";

/// The verdict about a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// All members run, and nothing needs anybody.
    Well,
    /// It serves, and not all of its members do, by their own word.
    Partial,
    /// Something is wrong.
    Ill,
    /// It is stopped because its spec says so.
    Stopped,
    /// The operator has not reported on it.
    Unknown,
}

impl Verdict {
    /// As it stands at the head of a status.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Well => "WELL",
            Verdict::Partial => "PARTIAL",
            Verdict::Ill => "ILL",
            Verdict::Stopped => "STOPPED",
            Verdict::Unknown => "UNKNOWN",
        }
    }
}

/// A verdict and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The verdict.
    pub verdict: Verdict,
    /// Since when.
    pub since: Option<Timestamp>,
    /// A documented reason; empty where the ring is well.
    pub reason: String,
    /// For people.
    pub message: String,
    /// What the operator has checked.
    pub checks: Vec<Check>,
}

/// What an operator reports of a ring.
pub fn of(object: &Value, conditions: &[Condition]) -> Health {
    Health { checks: checks(object), ..judged(object, conditions) }
}

/// Of conditions: the first that says that something is wrong, in this order.
fn judged(object: &Value, conditions: &[Condition]) -> Health {
    let find = |type_: &str| conditions.iter().find(|c| c.type_ == type_);
    let because = |verdict, c: &Condition| Health {
        verdict,
        since: c.since,
        reason: c.reason.clone(),
        message: c.message.clone(),
        checks: Vec::new(),
    };
    let is_false = |c: &&Condition| c.status == "False";
    let Some(available) = find(AVAILABLE) else {
        // A spec that was refused from the first is not available either.
        let refused = find(ACCEPTED).filter(is_false).map(|c| because(Verdict::Ill, c));
        return refused.unwrap_or_else(unknown);
    };
    if let Some(refused) = find(ACCEPTED).filter(is_false) {
        return because(Verdict::Ill, refused);
    }
    if let Some(degraded) = find(DEGRADED).filter(|c| c.is_true()) {
        let ill = because(Verdict::Ill, degraded);
        // It may have been ill before it needed a person.
        let since = time(object, SINCE).filter(|_| text(object, VERDICT) == ILL).or(ill.since);
        return Health { since, ..ill };
    }
    if let Some(message) = is_no_longer_true(object) {
        return Health { message, ..unknown() };
    }
    let is_unknown = |c: &&Condition| c.status == "Unknown";
    if let Some(open) = [find(ACCEPTED), find(DEGRADED)].into_iter().flatten().find(is_unknown) {
        return because(Verdict::Unknown, open);
    }
    let is_stopped = text(object, "/spec/run") == format!("{:?}", RingRun::Stopped);
    let is_stopped_as_asked = is_stopped && !available.is_true();
    if let Some(told) = by_the_operator(object, conditions).filter(|_| !is_stopped_as_asked) {
        return told;
    }
    if available.is_true() {
        let since = [find(DEGRADED), Some(available)].into_iter().flatten();
        let since = since.filter_map(|c| c.since).max();
        let (reason, message) = (String::new(), String::new());
        let (verdict, checks) = (Verdict::Well, Vec::new());
        return Health { verdict, since, reason, message, checks };
    }
    let verdict = match (is_stopped, available.status.as_str()) {
        (true, _) => Verdict::Stopped,
        (false, "Unknown") => Verdict::Unknown,
        (false, _) => Verdict::Ill,
    };
    because(verdict, available)
}

/// The operator's verdict, if it gives one: well is said of a ring only that is
/// available.
fn by_the_operator(object: &Value, conditions: &[Condition]) -> Option<Health> {
    let healthy = conditions.iter().find(|c| c.type_ == HEALTHY)?;
    let is_available = conditions.iter().any(|c| c.type_ == AVAILABLE && c.is_true());
    let verdict = match text(object, VERDICT).as_str() {
        ILL => Verdict::Ill,
        WELL if is_available => Verdict::Well,
        WELL | "" => return None,
        // Also what only a newer operator says.
        _ => Verdict::Unknown,
    };
    let (reason, message) = match verdict == Verdict::Well {
        true => (String::new(), String::new()),
        false => (healthy.reason.clone(), healthy.message.clone()),
    };
    Some(Health { verdict, since: time(object, SINCE), reason, message, checks: Vec::new() })
}

impl Health {
    /// The same, by what the members themselves report: a ring is not well where
    /// one of them does not run.
    pub fn with_members(self, ready: &str, members: &[Member]) -> Self {
        if self.verdict != Verdict::Well {
            return self;
        }
        let not_well = |verdict, m: &Member, message: NotWell| Self {
            verdict,
            since: m.since,
            reason: m.reason.clone(),
            message: message.to_string(),
            checks: self.checks.clone(),
        };
        if let Some(m) = members.iter().find(|m| m.state == FAILED) {
            let why = if m.message.is_empty() { &m.reason } else { &m.message };
            let (member, message) = (m.name.clone(), why.clone());
            return not_well(Verdict::Ill, m, NotWell::MemberFailed { member, message });
        }
        if let Some(m) = members.iter().find(|m| m.run == RUNNING && m.state != RUNNING) {
            let state = if m.state.is_empty() { "Unknown" } else { &m.state };
            let (member, state) = (m.name.clone(), state.to_string());
            return not_well(Verdict::Partial, m, NotWell::MemberIs { member, state });
        }
        let counts = ready.split_once('/').filter(|(ready, all)| ready != all);
        match counts {
            None => self,
            Some(_) => Self {
                verdict: Verdict::Partial,
                since: None,
                reason: String::new(),
                message: NotWell::NotReady { members: ready.to_string() }.to_string(),
                checks: self.checks,
            },
        }
    }
}

/// Why conditions that say that all is well do not say it of the ring as it is.
fn is_no_longer_true(object: &Value) -> Option<String> {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    if object.pointer("/metadata/deletionTimestamp").is_some_and(Value::is_string) {
        return Some("the ring is being deleted".into());
    }
    if number("/status/observedGeneration") < number("/metadata/generation") {
        return Some("the operator has not processed the newest spec of this ring yet".into());
    }
    let is_blind = |wait: &Value| wait["reason"] == Reason::FactUnknown.as_str();
    let mut waits = items(object, "/status/waits");
    waits.find(|wait| is_blind(wait)).map(|wait| text(wait, "/message"))
}

fn unknown() -> Health {
    let (reason, message) = (String::new(), "the operator has not reported on this ring".into());
    Health { verdict: Verdict::Unknown, since: None, reason, message, checks: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::condition::conditions;
    use serde_json::json;

    fn verdict(run: &str, statuses: &[(&str, &str)]) -> Verdict {
        let all = statuses.iter().map(|(t, s)| json!({ "type": t, "status": s, "reason": "R" }));
        let object = json!({
            "spec": { "run": run }, "status": { "conditions": all.collect::<Vec<_>>() },
        });
        of(&object, &conditions(&object)).verdict
    }

    #[test]
    fn a_ring_is_well_only_if_it_serves_and_nothing_is_wrong() {
        let all = [("Accepted", "True"), ("Available", "True"), ("Degraded", "False")];
        assert_eq!(verdict("Running", &all), Verdict::Well);
        for wrong in [("Accepted", "False"), ("Available", "False"), ("Degraded", "True")] {
            let changed = all.map(|c| if c.0 == wrong.0 { wrong } else { c });
            assert_eq!(verdict("Running", &changed), Verdict::Ill, "{wrong:?}");
        }
    }

    #[test]
    fn conditions_of_a_ring_that_is_another_by_now_do_not_say_that_it_is_well() {
        let all = ["Accepted", "Available", "Degraded"].map(|type_| {
            let status = if type_ == "Degraded" { "False" } else { "True" };
            json!({ "type": type_, "status": status, "reason": "R" })
        });
        let ring = |metadata: Value, waits: Value| {
            let object = json!({
                "metadata": metadata, "spec": { "run": "Running" },
                "status": { "conditions": all, "observedGeneration": 3, "waits": waits },
            });
            of(&object, &conditions(&object)).verdict
        };
        assert_eq!(ring(json!({ "generation": 3 }), json!([])), Verdict::Well);
        assert_eq!(ring(json!({ "generation": 4 }), json!([])), Verdict::Unknown);
        let deleted = json!({ "generation": 3, "deletionTimestamp": "2026-01-01T00:00:00Z" });
        assert_eq!(ring(deleted, json!([])), Verdict::Unknown);
        let blind = json!([{ "reason": "FactUnknown", "message": "cannot read pods" }]);
        assert_eq!(ring(json!({ "generation": 3 }), blind), Verdict::Unknown);
        for wrong in [("Accepted", "Unknown"), ("Degraded", "Unknown")] {
            let of = [("Accepted", "True"), ("Available", "True"), ("Degraded", "False")];
            let of = of.map(|c| if c.0 == wrong.0 { wrong } else { c });
            assert_eq!(verdict("Running", &of), Verdict::Unknown, "{wrong:?}");
        }
    }

    /// What the operator says of the ring, and what conditions say besides.
    fn told(verdict: &str, run: &str, degraded: &str, available: &str) -> (Verdict, String) {
        let condition = |type_: &str, status: &str, reason: &str| {
            let since = "2026-01-01T00:40:00Z";
            json!({ "type": type_, "status": status, "reason": reason, "lastTransitionTime": since })
        };
        let healthy = if verdict == "Well" { "True" } else { "False" };
        let object = json!({
            "spec": { "run": run },
            "status": {
                "health": { "verdict": verdict, "since": "2026-01-01T00:20:00Z", "checks": [] },
                "conditions": [
                    condition("Accepted", "True", "Valid"),
                    condition("Available", available, "Running"),
                    condition("Degraded", degraded, "StoppedByIntent"),
                    condition("Healthy", healthy, "MembersHealthy"),
                ],
            },
        });
        let health = of(&object, &conditions(&object));
        let since = health.since.map(|s| s.to_string()).unwrap_or_default();
        (health.verdict, format!("{} since {}", health.reason, &since[11..16]))
    }

    #[test]
    fn the_operators_verdict_counts_and_what_needs_a_person_explains_it() {
        let is = |verdict, words: &str| (verdict, words.to_string());
        let well = told("Well", "Running", "False", "True");
        assert_eq!(well, is(Verdict::Well, " since 00:20"));
        let ill = told("Ill", "Running", "False", "True");
        assert_eq!(ill, is(Verdict::Ill, "MembersHealthy since 00:20"));
        let explained = told("Ill", "Running", "True", "True");
        assert_eq!(explained, is(Verdict::Ill, "StoppedByIntent since 00:20"));
        let unknown = told("Unknown", "Running", "False", "True");
        assert_eq!(unknown, is(Verdict::Unknown, "MembersHealthy since 00:20"));
        assert_eq!(told("Splendid", "Running", "False", "True").0, Verdict::Unknown);
        // That every check passes does not outweigh what needs a person.
        let needs = told("Well", "Running", "True", "True");
        assert_eq!(needs, is(Verdict::Ill, "StoppedByIntent since 00:40"));
        let stopped = told("Ill", "Stopped", "False", "False");
        assert_eq!(stopped, is(Verdict::Stopped, "Running since 00:40"));
    }

    #[test]
    fn silence_is_unknown_and_a_ring_that_is_stopped_as_asked_is_not_ill() {
        assert_eq!(verdict("Running", &[]), Verdict::Unknown);
        assert_eq!(verdict("Running", &[("Accepted", "False")]), Verdict::Ill);
        assert_eq!(verdict("Stopped", &[("Available", "False")]), Verdict::Stopped);
    }
}
