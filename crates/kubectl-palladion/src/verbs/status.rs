//! `status`: is a ring well, and if not, why and what to do.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View, value};
use crate::paint::{Paint, Tone};
use crate::place::Place;
use crate::read::condition::Wait;
use crate::read::health::{Health, Verdict};
use crate::read::maintenance::Maintenance;
use crate::read::member::Member;
use crate::read::ring::{Job, Ring};
use crate::session::Session;
use crate::showing::OfRings;
use crate::table::{Cell, Table};
use crate::time::age;
use crate::verbs::members;
use crate::words::answer::{self as says, Answer, Note};
use clap::Args;
use jiff::Timestamp;
use palladion_api::conditions::{PAUSED, PROGRESSING};
use palladion_api::reasons::Reason;
use palladion_api::words::Names;
use serde_json::json;

/// Begins of next steps that are none.
const NO_STEP: [&str; 2] = ["Nothing", "Wait"];

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion status demo\n\nWithout RING: one line for each ring. The exit code is 1 if one of them is not well."
)]
pub struct Status {
    #[command(flatten)]
    of: OfRings,
}

impl Status {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let selections = |place: &Place, ring: Option<&str>| {
            vec![place.rings_selection(), place.members_selection(ring)]
        };
        self.of.show(session, selections, look).await
    }
}

async fn look(place: &Place, ring: Option<&str>, manner: Manner) -> Result<View, Trouble> {
    match ring {
        Some(ring) => one(place, ring, manner).await,
        None => all(place, manner).await,
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Well => Tone::Good,
        Verdict::Ill => Tone::Bad,
        Verdict::Partial | Verdict::Stopped | Verdict::Unknown => Tone::Busy,
    }
}

fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Well => Exit::Done,
        Verdict::Partial | Verdict::Ill | Verdict::Stopped | Verdict::Unknown => Exit::NotWell,
    }
}

async fn all(place: &Place, manner: Manner) -> Result<View, Trouble> {
    let (rings, members) = tokio::join!(place.rings(), place.members(None));
    let (mut rings, members) = (rings?, members?);
    for ring in &mut rings {
        let is_its = |m: &&Member| m.namespace == ring.namespace && m.ring == ring.name;
        let its: Vec<Member> = members.iter().filter(is_its).cloned().collect();
        ring.health = ring.health.clone().with_members(&ring.members, &its);
    }
    let is_everywhere = place.namespace.is_none();
    let mut heading = vec!["RING", "SERVER", "VERSION", "HEALTH", "READY", "TURN", "REASON", "AGE"];
    if is_everywhere {
        heading.insert(0, "NAMESPACE");
    }
    if manner.format.is_wide() {
        heading.push("MESSAGE");
    }
    let mut table = Table::new(&heading);
    for ring in &rings {
        let health = &ring.health;
        let (reason, message) = match (health.verdict, ring.waits.first()) {
            (Verdict::Well, Some(wait)) => (wait.reason.clone(), wait.message.clone()),
            (Verdict::Well, None)
            | (Verdict::Partial | Verdict::Ill | Verdict::Stopped | Verdict::Unknown, _) => {
                (health.reason.clone(), health.message.clone())
            }
        };
        let turn = ring.turn.as_ref().map(|t| format!("{} {}", t.step, t.member));
        let mut cells: Vec<Cell> = vec![
            ring.name.as_str().into(),
            ring.server.as_str().into(),
            ring.version.as_str().into(),
            Cell::of(tone(health.verdict), health.verdict.word()),
            ring.members.as_str().into(),
            turn.unwrap_or_default().into(),
            reason.into(),
            ring.created.map(|c| age(manner.now, c)).unwrap_or_default().into(),
        ];
        if is_everywhere {
            cells.insert(0, ring.namespace.as_str().into());
        }
        if manner.format.is_wide() {
            cells.push(message.into());
        }
        table.row(cells);
    }
    let mut view = View::of_table(&rings, &table, manner.paint);
    let worst = rings.iter().map(|r| exit(r.health.verdict)).find(|e| *e != Exit::Done);
    view.exit = worst;
    Ok(view.or(&Answer::Nothing { place: place.to_string() }))
}

async fn one(place: &Place, name: &str, manner: Manner) -> Result<View, Trouble> {
    let (ring, members) = tokio::join!(place.ring(name), place.members(Some(name)));
    let (mut ring, members) = (ring?, members?);
    ring.health = ring.health.with_members(&ring.members, &members);
    let table = members::table(&members, manner, members::Columns::OfOneRing);
    let mut lead = vec![head(&ring, manner)];
    lead.extend(why(&ring, &members, manner.now));
    lead.push(String::new());
    let mut view = View::of_table(&members, &table, manner.paint);
    if members.is_empty() {
        view.table.clear();
        lead.push(Answer::NoMembers { ring: name.to_string() }.to_string());
    }
    let mut data = value(&ring);
    data["memberList"] = json!(members);
    view.data = data;
    view.lead_data = value(&ring);
    view.lead = lead;
    view.exit = Some(exit(ring.health.verdict));
    Ok(view)
}

fn head(ring: &Ring, manner: Manner) -> String {
    let Health { verdict, since, .. } = &ring.health;
    let verdict = manner.paint.paint(tone(*verdict), verdict.word());
    let since = since.map(|s| format!(" for {}", age(manner.now, s))).unwrap_or_default();
    let turn = ring.turn.as_ref().map(|t| {
        let since = t.since.map(|s| format!(" for {}", age(manner.now, s))).unwrap_or_default();
        format!("{} {}{since}", t.step, t.member)
    });
    let members = if ring.members.is_empty() { "-" } else { &ring.members };
    let name = manner.paint.paint(Tone::Head, &ring.name);
    format!(
        "{name}   {} {}   {}   {verdict}{since}   {members} ready   turn {}",
        ring.server,
        ring.version,
        ring.datacenter,
        turn.as_deref().unwrap_or("-"),
    )
}

/// Why the ring is as it is, what is waited for, and the next step.
fn why(ring: &Ring, members: &[Member], now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    if ring.health.verdict != Verdict::Well {
        let Health { reason, message, .. } = &ring.health;
        lines.push(match reason.as_str() {
            "" => format!("why    {message}"),
            reason => format!("why    {reason}: {message}"),
        });
        reasons.push(reason);
        let others = ring.health.checks.iter().filter(|c| !c.passes() && c.name != *reason);
        lines.extend(others.map(|c| format!("check  {} {}: {}", c.result, c.name, c.message)));
    }
    let is_said = |message: &str| !message.is_empty() && message == ring.health.message;
    for wait in ring.waits.iter().filter(|w| !is_said(&w.message)) {
        lines.push(waits(wait, now));
        reasons.push(&wait.reason);
    }
    let condition = |type_| ring.condition(type_).filter(|c| c.is_true());
    if let Some(doing) = condition(PROGRESSING).filter(|_| ring.waits.is_empty()) {
        lines.push(format!("does   {}: {}", doing.reason, doing.message));
    }
    lines.extend(ring.job.as_ref().map(|job| works(job, members, now)));
    lines.extend(maintenance(members));
    if let Some(paused) = condition(PAUSED) {
        lines.push(format!("note   {}: {}", paused.reason, paused.message));
        reasons.push(&paused.reason);
    }
    if !ring.is_observed() {
        let newer = Note::SpecIsNewer { ring: ring.name.clone() };
        lines.push(format!("note   {newer}"));
    }
    let of_members = members.iter().filter(|m| m.state != "Running").map(|m| m.reason.as_str());
    reasons.extend(of_members);
    if let Some(step) = reasons.iter().find_map(|reason| next_step(reason)) {
        lines.push(format!("next   {step}"));
    }
    lines
}

fn waits(wait: &Wait, now: Timestamp) -> String {
    let since = wait.since.map(|s| format!(" ({})", age(now, s))).unwrap_or_default();
    format!("waits  {}: {}{since}", wait.reason, wait.message)
}

/// The job under way, and how far those are that work at it.
fn works(job: &Job, members: &[Member], now: Timestamp) -> String {
    let what = says::Job::OfTask { kind: job.kind.clone(), task: job.task.clone() };
    let progress = |member: &Member| member.job.as_ref().and_then(|j| j.progress);
    let at_work = members.iter().filter(|m| m.works_at(&job.nonce)).map(|m| match progress(m) {
        Some(percent) => format!("{} {percent}%", m.name),
        None => m.name.clone(),
    });
    let at_work: Vec<String> = at_work.collect();
    let who = if at_work.is_empty() { String::new() } else { format!(": {}", at_work.join(", ")) };
    let since = job.since.map(|s| format!(" ({})", age(now, s))).unwrap_or_default();
    format!("job    {what}{who}{since}")
}

/// What the operator has to do by itself: what is alike at many members is one line.
fn maintenance(members: &[Member]) -> Vec<String> {
    let mut alike: Vec<(&Maintenance, Vec<&str>)> = Vec::new();
    for one in members.iter().flat_map(|member| &member.maintenance) {
        let is_alike = |other: &Maintenance| {
            (&other.kind, &other.phase, &other.message) == (&one.kind, &one.phase, &one.message)
        };
        match alike.iter_mut().find(|(other, _)| is_alike(other)) {
            Some((_, names)) => names.push(&one.member),
            None => alike.push((one, vec![&one.member])),
        }
    }
    let line = |(one, names): (&Maintenance, Vec<&str>)| {
        let (kind, members) = (one.kind.clone(), Names::of(names));
        let what = match one.phase.as_str() {
            "Running" => says::Maintenance::Running { kind, members },
            _ => says::Maintenance::Pending { kind, members },
        };
        let details = [&one.progress, &one.message].into_iter().filter(|said| !said.is_empty());
        let details: String = details.map(|said| format!(": {said}")).collect();
        format!("due    {what}{details}")
    };
    alike.into_iter().map(line).collect()
}

/// What the catalogue says to do, unless it is to wait.
pub fn next_step(reason: &str) -> Option<&'static str> {
    let step = Reason::read(reason)?.next_step();
    (!NO_STEP.iter().any(|none| step.starts_with(none))).then_some(step)
}

/// The word for a state of a server, in its colour.
pub fn state(member: &Member, paint: Paint) -> Cell {
    let tone = match (paint, member.state.as_str()) {
        (Paint::Off, _) => Tone::Plain,
        (Paint::On, "Running") => Tone::Good,
        (Paint::On, "Failed") => Tone::Bad,
        (Paint::On, _) => Tone::Busy,
    };
    Cell::of(tone, member.state.as_str())
}
