//! The agent's loop: gather, decide, act, tell. One thread, one turn at a time; what
//! takes long, looks at the node and work on it among it, runs in tasks beside the loop.

mod act;
mod ask;
mod gather;
mod look;
mod operate;
mod state;
mod stop;
mod tell;
mod work;

use crate::decide::{self, Action};
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::words::agent::Trouble;
use anyhow::{Context, Result};
use palladion_agent_core::http::Health;
use palladion_agent_core::runtime;
use palladion_agent_core::service::member::{News, speak};
use palladion_api::words::Message;
use state::{Agent, Done};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

/// Actions in one turn; each is a step, and no chain of steps is longer.
const STEPS: usize = 12;

/// Run until told to end.
///
/// # Errors
/// What the agent runs on cannot be had.
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
    let common = metrics.common.clone();
    tokio::spawn(speak(settings.pod.clone(), news_in, status_out, news.clone(), common));
    let mut terminate = signal(SignalKind::terminate()).context("handling SIGTERM")?;
    let mut agent = Agent::new(settings, health, metrics, news, status, done_in);
    let member = agent.settings.pod.name.as_str();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), member, "agent started");
    loop {
        agent.turn().await;
        let pause = agent.pause();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = agent.news.changed() => if changed.is_err() { return Ok(()) },
            Some(what) = done.recv() => agent.note(what),
            Some(request) = drains.recv() => agent.prepare_for_the_end(request),
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
        let mut decision = decide::decide(&self.facts());
        for _ in 0..STEPS {
            if decision.action == Action::Nothing {
                break;
            }
            if let Err(error) = self.act(decision.action.clone()).await {
                self.trouble = Some(Trouble::Step { why: format!("{error:#}") }.into());
                break;
            }
            decision = decide::decide(&self.facts());
        }
        self.operate();
        self.answer_question();
        self.log_trouble(before.as_ref());
        self.tell(&decision);
    }

    /// What goes on is logged once.
    fn log_trouble(&self, before: Option<&Message>) {
        if let Some(trouble) = self.trouble.as_ref().filter(|now| Some(*now) != before) {
            tracing::error!(%trouble, "the agent could not do what it had to");
        }
    }

    /// A task beside the loop has ended.
    fn note(&mut self, what: Done) {
        match what {
            Done::Looked(looked) => self.note_look(*looked),
            Done::Measured { tag, replicas } => self.note_replicas(&tag, replicas),
            Done::Flags { tag, flags } => self.note_flags(&tag, flags),
            Done::Resolved(named) => self.note_name(named),
            Done::Asked { nonce, volume_id, view } => self.note_view(nonce, volume_id, *view),
            Done::Worked { work, result } => self.note_work(work, result),
            Done::Operation { id, outcome } => self.end_operation(&id, &outcome),
            Done::Drained { tag } => self.end_of_drain(&tag),
        }
    }
}
