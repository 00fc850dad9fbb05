//! A command in a container with the person's terminal on it.

use super::Door;
use super::rights::{Attempt, Refusal};
use crate::error::ApiError;
use crate::words::Unanswered;
use futures::SinkExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{AttachParams, AttachedProcess, TerminalSize};
use palladion_api::rights::Verb;
use palladion_plan::kinds;
use tokio::io::{AsyncRead, AsyncWrite};

/// Is there a terminal at this end?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// The command gets one of its own.
    Yes,
    /// It gets pipes.
    No,
}

/// What is run, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Namespace of the pod.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// The command, without a shell.
    pub words: Vec<String>,
    /// Does it get a terminal?
    pub terminal: Terminal,
}

/// A command that runs.
pub struct Running {
    process: AttachedProcess,
    attempt: Attempt,
}

impl Door {
    /// Start a command.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn exec(&self, command: &Command) -> Result<Running, Refusal> {
        let attempt =
            Attempt::on_object(Verb::Create, kinds::POD, &command.namespace, &command.pod)
                .part("exec");
        let pods: kube::Api<Pod> = kube::Api::namespaced(self.client.clone(), &command.namespace);
        let parameters = match command.terminal {
            Terminal::Yes => AttachParams::interactive_tty(),
            Terminal::No => AttachParams::default().stdin(true).stdout(true).stderr(true),
        };
        let parameters = parameters.container(&command.container);
        let started = self.within(pods.exec(&command.pod, &command.words, &parameters)).await;
        match started {
            Ok(process) => Ok(Running { process, attempt }),
            Err(answer) => Err(Refusal { attempt, answer }),
        }
    }
}

impl Running {
    /// Where what is typed goes.
    pub fn input(&mut self) -> Option<impl AsyncWrite + Unpin + use<>> {
        self.process.stdin()
    }

    /// What it writes.
    pub fn output(&mut self) -> Option<impl AsyncRead + Unpin + use<>> {
        self.process.stdout()
    }

    /// What it complains of; nothing where it has a terminal.
    pub fn complaints(&mut self) -> Option<impl AsyncRead + Unpin + use<>> {
        self.process.stderr()
    }

    /// Sends the size of the terminal, as often as it changes.
    pub fn resizer(&mut self) -> Option<Resizer> {
        self.process.terminal_size().map(|sizes| Resizer { sizes })
    }

    /// Wait for its end; its exit code.
    ///
    /// # Errors
    /// The command could not be run, or the connection broke.
    pub async fn ended(mut self) -> Result<u8, Refusal> {
        let status = match self.process.take_status() {
            Some(status) => status.await,
            None => None,
        };
        let Some(status) = status else {
            let why = Unanswered::Unusable { cause: "the connection was closed".to_string() };
            let answer = ApiError::unanswered(&why);
            return Err(Refusal { attempt: self.attempt, answer });
        };
        if status.status.as_deref() == Some("Success") {
            return Ok(0);
        }
        let causes = status.details.and_then(|d| d.causes).unwrap_or_default();
        let code = causes.iter().find(|c| c.reason.as_deref() == Some("ExitCode"));
        let code = code.and_then(|c| c.message.as_ref()).and_then(|m| m.parse::<u8>().ok());
        match code {
            Some(code) => Ok(code),
            None => {
                let answer = ApiError::local(status.message.unwrap_or_default());
                Err(Refusal { attempt: self.attempt, answer })
            }
        }
    }
}

/// See [`Running::resizer`].
pub struct Resizer {
    sizes: futures::channel::mpsc::Sender<TerminalSize>,
}

impl Resizer {
    /// The terminal has this size now.
    pub async fn resize(&mut self, width: u16, height: u16) {
        // One that has ended needs no size any more.
        let _ = self.sizes.send(TerminalSize { width, height }).await;
    }
}
