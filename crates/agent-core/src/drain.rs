//! The preStop hook: asks the running agent to drain the server. Draining
//! twice does no harm, and not draining at all neither: the server's own
//! shutdown hook drains too. So the hook never fails.

use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

/// Ask the agent behind this socket, and say what came of it.
pub fn ask(socket: &Path, timeout_seconds: u64) {
    match request(socket, Duration::from_secs(timeout_seconds)) {
        Ok(answer) => println!("{answer}"),
        Err(error) => {
            println!(
                "the server could not be drained: {error:#}; it drains itself when it is stopped"
            )
        }
    }
}

fn request(path: &Path, timeout: Duration) -> Result<String> {
    let mut stream = std::os::unix::net::UnixStream::connect(path)
        .with_context(|| format!("asking the agent at {}", path.display()))?;
    stream
        .set_read_timeout(Some(timeout.max(Duration::from_secs(1))))
        .context("setting the time limit")?;
    stream.write_all(b"drain\n").context("asking the agent to drain")?;
    let mut answer = String::new();
    BufReader::new(stream)
        .read_line(&mut answer)
        .context("waiting for the agent to drain the server")?;
    Ok(answer.trim_end().to_string())
}

/// A request to drain; the answer is a line for people.
pub type Request = oneshot::Sender<String>;

/// The agent's side: take requests and pass them to the loop.
pub async fn listen(path: PathBuf, requests: mpsc::Sender<Request>) -> Result<()> {
    let _ = std::fs::remove_file(&path);
    let listener = tokio::net::UnixListener::bind(&path)
        .with_context(|| format!("listening on {}", path.display()))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
        .with_context(|| format!("setting the mode of {}", path.display()))?;
    loop {
        let (stream, _) =
            listener.accept().await.with_context(|| format!("listening on {}", path.display()))?;
        tokio::spawn(answer(stream, requests.clone()));
    }
}

async fn answer(mut stream: tokio::net::UnixStream, requests: mpsc::Sender<Request>) {
    let (read, mut write) = stream.split();
    let mut line = String::new();
    let asked = tokio::io::BufReader::new(read).read_line(&mut line).await;
    let answer = match (asked, line.trim_end()) {
        (Ok(_), "drain") => {
            let (send, receive) = oneshot::channel();
            let gone = "the agent is ending".to_string();
            match requests.send(send).await {
                Ok(()) => receive.await.unwrap_or(gone),
                Err(_) => gone,
            }
        }
        (Ok(_), other) => format!("{other:?} is not something to ask the agent for"),
        (Err(error), _) => format!("reading the request: {error}"),
    };
    // Whoever asked may have left.
    let _ = write.write_all(format!("{answer}\n").as_bytes()).await;
}
