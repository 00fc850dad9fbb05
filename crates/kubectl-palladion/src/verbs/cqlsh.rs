//! `cqlsh`: the one in a member's pod, with the person's terminal on it.

use crate::clean::quoted;
use crate::exit::{Exit, Trouble};
use crate::place::{Place, Where};
use crate::read::ring::Ring;
use crate::session::Session;
use crate::terminal::{self, Raw};
use crate::verbs::contact::serving;
use crate::words::trouble::{Hint, Said};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_engine::door::exec::{Command, Resizer, Running, Terminal};
use std::io::IsTerminal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::signal::unix::{SignalKind, signal};

/// The certificates of the authorities that clients of a member trust, as its agent keeps them.
const AUTHORITIES: &str = "/run/palladion/tls/client-ca.pem";

/// The server's own cqlsh, which asks it over its loopback address; over TLS where the ring takes
/// nothing else.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion cqlsh demo\n  kubectl palladion cqlsh demo -- -u admin\n\nOptions of cqlsh stand after --."
)]
pub struct Cqlsh {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    /// The member. Default: one that accepts clients
    #[arg(long, add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: Option<String>,
    /// Print the kubectl command line instead of running it
    #[arg(long)]
    print: bool,
    /// Options of cqlsh
    #[arg(last = true)]
    options: Vec<String>,
    #[command(flatten)]
    at: Where,
}

impl Cqlsh {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or run.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let ring = place.ring(&self.ring).await?;
        let pod = self.member(&place).await?;
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let terminal = if is_terminal { Terminal::Yes } else { Terminal::No };
        let words = self.words(&ring);
        let namespace = place.namespace().to_string();
        let command = Command { namespace, pod, container: ring.container(), words, terminal };
        if self.print {
            session.print(&as_kubectl(&command, session.at.server()))?;
            return Ok(Exit::Done);
        }
        let code = attach(place.door.exec(&command).await?, terminal).await?;
        match code {
            0 => Ok(Exit::Done),
            code => {
                let said = Said::CommandEnded { code: code.into() };
                Err(Trouble::new(Exit::NotWell, said))
            }
        }
    }

    /// With `--ssl`, cqlsh wants to know whom it may trust.
    fn words(&self, ring: &Ring) -> Vec<String> {
        let is_tls = ring.client_tls == "Require" || self.options.iter().any(|o| o == "--ssl");
        let named = |word: &str| self.options.iter().any(|option| option == word);
        let mut words = match is_tls {
            true => vec!["env".to_string(), format!("SSL_CERTFILE={AUTHORITIES}")],
            false => Vec::new(),
        };
        words.push("cqlsh".to_string());
        words.extend((is_tls && !named("--ssl")).then(|| "--ssl".to_string()));
        words.extend(self.options.clone());
        words
    }

    async fn member(&self, place: &Place) -> Result<String, Trouble> {
        let ring = self.ring.clone();
        if let Some(name) = &self.member {
            let member = place.member(name).await?;
            if member.ring != ring {
                let (member, other) = (name.clone(), member.ring);
                let said = Said::NotOfRing { member, ring, other };
                return Err(Trouble::new(Exit::Usage, said));
            }
            return Ok(name.clone());
        }
        let members = place.members(Some(&ring)).await?;
        match serving(&members).first() {
            Some(member) => Ok(member.name.clone()),
            None => {
                let said = Said::NobodyServes { ring: ring.clone() };
                Err(Trouble::new(Exit::NotWell, said).hint(Hint::StatusOf { ring }))
            }
        }
    }
}

fn as_kubectl(command: &Command, server: &str) -> String {
    let Command { namespace, pod, container, words, .. } = command;
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let words = words.join(" ");
    format!("kubectl exec -it -n {namespace}{server} {pod} -c {container} -- {words}")
}

/// The terminal, or the pipes, of whoever runs this on the command.
async fn attach(mut running: Running, terminal: Terminal) -> Result<u8, Trouble> {
    let _raw = match terminal {
        Terminal::Yes => Some(Raw::take().map_err(|error| {
            let said = Said::NoTerminal { why: error.to_string() };
            Trouble::new(Exit::NotWell, said)
        })?),
        Terminal::No => None,
    };
    let (input, output, complaints) = (running.input(), running.output(), running.complaints());
    if let Some(resizer) = running.resizer() {
        tokio::spawn(follow_size(resizer));
    }
    if let Some(mut to) = input {
        tokio::spawn(async move {
            let mut from = tokio::io::stdin();
            let mut piece = [0; 4096];
            // Until its end, or until the command reads no more.
            while let Ok(length) = from.read(&mut piece).await {
                if length == 0 || to.write_all(&piece[..length]).await.is_err() {
                    break;
                }
                let _ = to.flush().await;
            }
        });
    }
    let copy_out = async {
        if let Some(mut from) = output {
            let _ = copy(&mut from, &mut tokio::io::stdout()).await;
        }
    };
    let copy_complaints = async {
        if let Some(mut from) = complaints {
            let _ = copy(&mut from, &mut tokio::io::stderr()).await;
        }
    };
    tokio::join!(copy_out, copy_complaints);
    Ok(running.ended().await?)
}

/// At once, piece by piece: somebody types and reads.
async fn copy(
    from: &mut (impl tokio::io::AsyncRead + Unpin),
    to: &mut (impl tokio::io::AsyncWrite + Unpin),
) -> std::io::Result<()> {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let length = from.read(&mut piece).await?;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&piece[..length]).await?;
        to.flush().await?;
    }
}

async fn follow_size(mut resizer: Resizer) {
    let Ok(mut changed) = signal(SignalKind::window_change()) else { return };
    loop {
        if let Some((width, height)) = terminal::size() {
            resizer.resize(width, height).await;
        }
        if changed.recv().await.is_none() {
            return;
        }
    }
}
