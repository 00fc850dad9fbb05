//! The child: the agent's own program under another name. It is told what to do on
//! its standard input and says how far it is on its standard output; its log is the
//! container's. Whoever ends it waits until it is gone.

use super::attempt::Talk;
use palladion_agent_transfer::settings::{Change, Settings, Work};
use palladion_agent_transfer::tell::Line;
use palladion_agent_transfer::words::stopped::Stopped;
use serde::Serialize;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// How it ended.
pub enum End {
    /// By itself; what it said last, if that says how.
    Said(Option<Line>),
    /// By us.
    Stopped,
}

/// Run it to its end.
///
/// # Errors
/// It cannot be started.
pub async fn run(settings: &Settings, talk: &mut Talk) -> Result<End, Stopped> {
    let no_child = |error: std::io::Error| Stopped::NoChild { why: error.to_string() };
    let mut child = started().map_err(no_child)?;
    let nothing = || no_child(std::io::ErrorKind::BrokenPipe.into());
    let mut input = child.stdin.take().ok_or_else(nothing)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or_else(nothing)?).lines();
    // One that has ended already says why by its last line, or not at all.
    let _ = tell(&mut input, settings).await;
    let (mut last, mut rate) = (None, talk.rate.clone());
    loop {
        tokio::select! {
            biased;
            () = talk.stopped() => return end(child).await.map_err(no_child),
            Ok(()) = rate.changed() => {
                let bytes_per_second = *rate.borrow_and_update();
                let _ = tell(&mut input, &Change { bytes_per_second }).await;
            }
            line = lines.next_line() => match line {
                Ok(Some(line)) => hear(&line, talk, &mut last),
                Ok(None) | Err(_) => break,
            },
        }
    }
    // It has closed its output, and is about to end.
    let status = tokio::select! {
        biased;
        () = talk.stopped() => return end(child).await.map_err(no_child),
        status = child.wait() => status.map_err(no_child)?,
    };
    let (id, status) = (settings.id.as_str(), status.to_string());
    match settings.work {
        // It comes three times a minute.
        Work::Archive(_) => tracing::debug!(id, status, "the transfer's process ended"),
        _ => tracing::info!(id, status, "the transfer's process ended"),
    }
    Ok(End::Said(last))
}

fn started() -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .arg("transfer")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

async fn tell(input: &mut ChildStdin, what: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    input.write_all(&line).await?;
    input.flush().await
}

fn hear(line: &str, talk: &Talk, last: &mut Option<Line>) {
    match serde_json::from_str(line) {
        Ok(Line::Progress(progress)) => {
            talk.progress.send_replace(progress);
        }
        Ok(end @ (Line::Done(_) | Line::Stopped { .. })) => *last = Some(end),
        Err(error) => {
            tracing::warn!(
                error = error.to_string(),
                "the transfer's process said what is no line"
            );
        }
    }
}

/// Killed, and gone.
async fn end(mut child: Child) -> std::io::Result<End> {
    child.kill().await?;
    Ok(End::Stopped)
}
