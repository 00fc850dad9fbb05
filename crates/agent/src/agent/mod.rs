//! The agent's loop: gather, decide, act, tell. One thread, one turn at a
//! time; what takes long runs in tasks beside it.

mod access;
mod act;
mod archive;
mod beat;
mod bench;
mod cdc;
mod elsewhere;
mod gather;
mod jobs;
mod look;
mod opening;
mod operations;
mod repair;
mod restored;
mod rewind;
mod seal;
mod snapshots;
mod state;
mod stop;
mod tell;
mod transfer;
mod work;

use crate::decide;
use crate::http::Health;
use crate::kubernetes::{self, Contact, News};
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::words::job::Trouble;
use anyhow::{Context, Result};
use palladion_agent_core::metrics::Common;
use palladion_agent_core::runtime::{self, AGAIN};
use palladion_api::member::CassandraMemberStatus;
use palladion_api::words::Message;
use state::{Agent, Api, Done};
use std::sync::Arc;
use std::time::Instant;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

/// Actions in one turn; each is a step, and no chain of steps is longer.
const STEPS: usize = 12;

/// Run until told to end.
pub fn run(settings: Settings) -> Result<()> {
    runtime::run(&settings.pod.log.clone(), turn_for_ever(settings))
}

async fn turn_for_ever(settings: Settings) -> Result<()> {
    let metrics = Arc::new(Metrics::new());
    let health = Arc::new(Health::default());
    let (news_in, news) = watch::channel(News::Unknown);
    let (status, status_out) = watch::channel(None);
    let (drains_in, mut drains) = mpsc::channel(4);
    let (done_in, mut done) = mpsc::channel(4);
    let figures = metrics.clone();
    let figures = Arc::new(move || figures.text());
    tokio::spawn(runtime::serve(settings.pod.http_address, health.clone(), figures));
    tokio::spawn(runtime::take_drains(settings.pod.agent_socket(), drains_in));
    let (asks, is_needed) = watch::channel(false);
    let contact = Arc::new(Contact::default());
    tokio::spawn(speak_to_kubernetes(
        settings.clone(),
        news_in,
        (status_out, news.clone()),
        (contact.clone(), is_needed),
        metrics.common.clone(),
    ));
    let mut terminate = signal(SignalKind::terminate()).context("handling SIGTERM")?;
    let api = Api { news, status, contact, asks };
    let mut agent = Agent::new(settings, health, metrics, api, done_in);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        member = agent.settings.pod.name.as_str(),
        "agent started"
    );
    loop {
        agent.turn().await;
        let pause = agent.pause();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = agent.api.news.changed() => if changed.is_err() { return Ok(()) },
            Some(what) = done.recv() => agent.note(what),
            Some(request) = drains.recv() => agent.drain_for_the_end(request),
            _ = terminate.recv() => {
                let _ = std::fs::remove_file(agent.settings.pod.agent_socket());
                return Ok(());
            }
        }
    }
}

impl Agent {
    /// One turn.
    async fn turn(&mut self) {
        let before = self.trouble.take();
        self.gather().await;
        self.look_elsewhere();
        self.follow_floor();
        self.follow_order();
        let mut decision = decide::decide(&self.facts());
        for _ in 0..STEPS {
            if decision.action == decide::Action::Nothing {
                break;
            }
            if let Err(error) = self.act(decision.action.clone()).await {
                self.trouble = Some(Trouble::Step { why: format!("{error:#}") }.into());
                break;
            }
            decision = decide::decide(&self.facts());
        }
        self.follow_seeds().await;
        self.follow_runtime_settings().await;
        self.count_copies();
        self.follow_opening().await;
        self.read_schema();
        self.follow_repairs();
        self.beat();
        self.operate();
        self.work().await;
        self.transfer();
        self.archive();
        self.look_for_snapshots();
        self.follow_certificate();
        self.try_to_log_in();
        self.answer_question();
        self.log_trouble(before.as_ref());
        self.tell(&decision);
    }

    /// The same trouble is tried again every second and logged once.
    fn log_trouble(&self, before: Option<&Message>) {
        match &self.trouble {
            Some(now) if before != Some(now) => {
                tracing::error!(trouble = %now, "a step failed; trying again");
            }
            Some(_) | None => {}
        }
    }

    /// Note the outcome of a task.
    fn note(&mut self, what: Done) {
        match what {
            Done::Left(answer) => {
                self.leave_call = decide::LeaveCall::Answered(answer);
                // Whether it leaves still is not asked of a look that is older than the answer.
                (self.look, self.looked) = (None, None);
            }
            Done::Drained { nonce, answer } => self.note_drain(nonce, answer),
            Done::Operation { id, outcome } => self.end_operation(&id, outcome),
            Done::Job { id, ended } => self.end_task(id, ended),
            Done::Schema { version, answer } => self.schema.note(version, answer),
            Done::Transfer { id, attempt } => {
                self.end_transfer(id, attempt.map(|attempt| *attempt))
            }
            Done::Archived(outcome) => self.end_archive(outcome),
            Done::Elsewhere { of, found } => self.note_elsewhere(of, found),
            Done::Snapshots(found) => self.clear_snapshots(found),
            Done::Cleared => self.transfers.is_sweeping = false,
            Done::Surveyed { of, found } => self.note_survey(of, found),
            Done::Counted { of, counts } => self.note_copies(of, counts),
            Done::LoggedIn { of, answer, roles } => {
                self.access.note(of, answer, Instant::now());
                self.note_roles(roles);
            }
        }
    }
}

async fn speak_to_kubernetes(
    settings: Settings,
    news: watch::Sender<News>,
    (status, heard): (watch::Receiver<Option<CassandraMemberStatus>>, watch::Receiver<News>),
    (contact, is_needed): (Arc<Contact>, watch::Receiver<bool>),
    metrics: Common,
) {
    let members = loop {
        match kubernetes::members(&settings) {
            Ok(members) => break members,
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    "there is no way to the Kubernetes API; trying again"
                );
                news.send_replace(News::Unreachable(format!("{error:#}")));
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    let name = settings.pod.name.to_string();
    let contact = contact.as_ref();
    let reporting =
        kubernetes::report(members.clone(), name.clone(), status, heard, contact, metrics.clone());
    let asking = kubernetes::ask(
        members.clone(),
        name.clone(),
        news.clone(),
        contact,
        is_needed,
        metrics.clone(),
    );
    tokio::join!(kubernetes::watch(members, name, news, contact, metrics), reporting, asking);
}
