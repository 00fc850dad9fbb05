//! `plan`: what the operator would do next. The operator's own mind is asked
//! about what the person may read; nothing is written.

use crate::exit::{Exit, Trouble};
use crate::format::{Format, PlainOutput, print};
use crate::place::{Place, Where};
use crate::read::condition::Condition;
use crate::read::{items, text};
use crate::session::Session;
use crate::time::{age, span};
use crate::verbs::version::MINE;
use crate::words::answer::Note;
use crate::words::trouble::{Hint, Said};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use jiff::{SignedDuration, Timestamp};
use palladion_api::conditions::{ACCEPTED, DEGRADED, PAUSED};
use palladion_cassandra::CassandraMind;
use palladion_engine::decide::{Decision, decide};
use palladion_engine::door::look::{Blind, Look};
use palladion_engine::gather::Constants;
use palladion_plan::lint::Violation;
use palladion_plan::{Plan as Decided, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Clocks that differ by less are as good as the same: a date has whole seconds.
const TOLERATED: SignedDuration = SignedDuration::from_secs(5);

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion plan demo\n\nThe exit code is 1 if something needs you to act, and 4 if you may not read what the operator decides from: grant the ClusterRoles palladion-plan-reader and palladion-plan-reader-namespace, or the rules in the message."
)]
pub struct Plan {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    #[command(flatten)]
    output: PlainOutput,
    #[command(flatten)]
    at: Where,
}

impl Plan {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let object = place.ring_object(&self.ring).await?;
        let constants = constants(&object);
        self.notes(session, &object);
        let mind = Arc::new(CassandraMind::default());
        let looked = place.door.look(mind.clone(), place.namespace(), &self.ring, &constants).await;
        let mut look = looked.map_err(|blind| self.blind(blind))?;
        look.snapshot.now = self.time(session, &place).await?;
        let (decided, violations) = match decide(mind.as_ref(), &look.snapshot) {
            Decision::Plan(plan) => (plan, Vec::new()),
            Decision::Vetoed(plan, violations) => (plan, violations),
            Decision::Panicked(why) => return Err(self.blind(Blind::Panicked(why))),
        };
        let shown = Shown::of(&decided, &violations, &look);
        let (format, now) = (Format::from(self.output.output), look.snapshot.now);
        print(session, format, &shown.data(&self.ring), || shown.lines(now))?;
        match look.forbidden.as_slice() {
            [] => Ok(shown.exit()),
            some => Err(Trouble::no_rights(some)),
        }
    }

    /// The time by which reports are fresh or stale: the API server's, not that
    /// of a machine whose clock nobody looks after.
    async fn time(&self, session: &mut Session<'_>, place: &Place) -> Result<Timestamp, Trouble> {
        let here = session.now();
        let Some(there) = place.door.time(&place.key_of_ring(&self.ring)).await? else {
            session.note(&Note::NoTime);
            return Ok(here);
        };
        let behind = there.duration_since(here).abs();
        if behind > TOLERATED {
            session.note(&Note::OtherTime { behind: span(behind) });
        }
        Ok(there)
    }

    fn blind(&self, blind: Blind) -> Trouble {
        match blind {
            Blind::Refused(refusal) => (*refusal).into(),
            blind @ (Blind::NoOwner | Blind::Panicked(_)) => {
                let said = Said::NoPlan { ring: self.ring.clone(), why: blind.to_string() };
                let hint = Hint::StatusOf { ring: self.ring.clone() };
                Trouble::new(Exit::NotWell, said).hint(hint)
            }
        }
    }

    fn notes(&self, session: &mut Session<'_>, object: &Value) {
        match text(object, "/status/decidedWith/version") {
            theirs if theirs.is_empty() => session.note(&Note::UnknownSettings),
            theirs if theirs != MINE => {
                session.note(&Note::OtherVersion { mine: MINE.to_string(), theirs });
            }
            _ => {}
        }
    }
}

/// What the operator decides with, as it has recorded it.
fn constants(object: &Value) -> Constants {
    let settings = object.pointer("/status/decidedWith/settings").and_then(Value::as_object);
    let setting =
        |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_string()));
    let settings: BTreeMap<String, String> =
        settings.into_iter().flatten().filter_map(setting).collect();
    let epoch = object.pointer("/status/epoch").and_then(Value::as_i64).unwrap_or(1);
    Constants { epoch, settings: Arc::new(settings) }
}

/// A plan as people read it.
struct Shown {
    steps: Vec<(String, Value)>,
    waits: Vec<(String, String, Option<Timestamp>)>,
    needs: Option<Condition>,
    paused: Option<Condition>,
    violations: Vec<String>,
}

impl Shown {
    fn of(plan: &Decided, violations: &[Violation], look: &Look) -> Self {
        let condition = |type_: &str, status: &str| {
            let all = items(&plan.status, "/conditions");
            let found = all.filter(|c| c["type"] == type_ && c["status"] == status);
            found.map(read).next()
        };
        let writes = plan.steps.iter().filter(|step| look.is_sent(step));
        Self {
            steps: writes.map(|s| (s.doing().to_string(), data_of(s))).collect(),
            waits: plan
                .waits
                .iter()
                .map(|w| (w.reason.to_string(), w.message.to_string(), w.until))
                .collect(),
            needs: condition(DEGRADED, "True").or_else(|| condition(ACCEPTED, "False")),
            paused: condition(PAUSED, "True"),
            violations: violations.iter().map(ToString::to_string).collect(),
        }
    }

    /// The operator carries out nothing of a plan that its own check refuses.
    fn is_vetoed(&self) -> bool {
        !self.violations.is_empty()
    }

    fn exit(&self) -> Exit {
        match self.needs.is_some() || !self.violations.is_empty() {
            true => Exit::NotWell,
            false => Exit::Done,
        }
    }

    fn lines(&self, now: Timestamp) -> Vec<String> {
        let mut lines: Vec<String> =
            self.violations.iter().map(|v| format!("vetoed {v}")).collect();
        if self.is_vetoed() {
            lines.push(format!("note   {}", Note::NothingIsDone));
        }
        for (at, (doing, _)) in self.steps.iter().enumerate() {
            let when = match (self.is_vetoed(), at) {
                (true, _) => "not  ",
                (false, 0) => "now  ",
                (false, _) => "then ",
            };
            lines.push(format!("{when}  {doing}"));
        }
        for (reason, message, until) in &self.waits {
            let left = until.filter(|u| *u > now).map(|u| age(u, now));
            let again = left.map(|l| format!(" (looks again in {l})")).unwrap_or_default();
            lines.push(format!("waits  {reason}: {message}{again}"));
        }
        if let Some(Condition { reason, message, .. }) = &self.needs {
            lines.push(format!("needs  {reason}: {message}"));
            lines.extend(super::status::next_step(reason).map(|step| format!("next   {step}")));
        }
        if let Some(Condition { reason, message, .. }) = &self.paused {
            lines.push(format!("note   {reason}: {message}"));
        }
        if lines.is_empty() {
            lines.push(Note::NothingToDo.to_string());
        }
        lines
    }

    fn data(&self, ring: &str) -> Value {
        let steps: Vec<&Value> = self.steps.iter().map(|(_, data)| data).collect();
        let waits = self.waits.iter().map(|(reason, message, until)| {
            json!({ "reason": reason, "message": message, "until": until })
        });
        json!({
            "ring": ring,
            "steps": if self.is_vetoed() { Vec::new() } else { steps.clone() },
            "vetoedSteps": if self.is_vetoed() { steps } else { Vec::new() },
            "waits": waits.collect::<Vec<_>>(),
            "needs": self.needs,
            "paused": self.paused,
            "violations": self.violations,
        })
    }
}

fn read(condition: &Value) -> Condition {
    Condition {
        type_: text(condition, "/type"),
        status: text(condition, "/status"),
        reason: text(condition, "/reason"),
        message: text(condition, "/message"),
        since: crate::read::time(condition, "/lastTransitionTime"),
    }
}

fn data_of(step: &Step) -> Value {
    let (act, key) = match step {
        Step::Apply { key, .. } => ("apply", Some(key)),
        Step::Create { key, .. } => ("create", Some(key)),
        Step::Patch { key, .. } => ("patch", Some(key)),
        Step::CompareAndSet { .. } => ("compare-and-set", None),
        Step::Issue { key, .. } => ("issue", Some(key)),
        Step::Delete { key, .. } => ("delete", Some(key)),
    };
    let proof = step.proof().map(|p| p.text());
    json!({
        "do": step.doing(),
        "act": act,
        "kind": key.map(|k| k.resource.kind),
        "name": key.map(|k| &k.name),
        "proof": proof,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_is_vetoed_is_not_shown_as_if_it_were_carried_out() {
        let shown = Shown {
            steps: vec![("delete the claim of a-0".into(), json!({ "act": "delete" }))],
            waits: Vec::new(),
            needs: None,
            paused: None,
            violations: vec!["a deletion without a proof".into()],
        };
        let lines = shown.lines(Timestamp::UNIX_EPOCH);
        assert!(!lines.iter().any(|l| l.starts_with("now") || l.starts_with("then")), "{lines:?}");
        assert!(lines.contains(&"not    delete the claim of a-0".to_string()), "{lines:?}");
        assert_eq!(shown.data("demo")["steps"], json!([]));
        assert_eq!(shown.exit(), Exit::NotWell);
    }
}
