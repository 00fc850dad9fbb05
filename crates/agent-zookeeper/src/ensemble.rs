//! What the agent asks of its own server over loopback: how it is, how it sees the
//! ensemble, and to change it.

use crate::launch::Password;
use crate::launch::password::USER;
use crate::read::srvr::Srvr;
use crate::read::{Config, Reading, Server};
use crate::wire::four_letter::{self, Command, I_AM_OK};
use crate::wire::message::ReconfigRequest;
use crate::wire::session::Limits;
use crate::wire::{Error, Refusal, Session};
use crate::words::calls::{Done, NotKnown};
use anyhow::Context;
use palladion_agent_core::service::changes::Outcome;
use palladion_api::service_member::{EnsembleView, OperationAnswer, Reconfig, ServerRole};
use palladion_api::zookeeper::{ServerId, ZookeeperPorts, Zxid};
use std::net::SocketAddr;

/// Our own server.
#[derive(Clone, Copy, Debug)]
pub struct Ensemble {
    address: SocketAddr,
    limits: Limits,
}

impl Ensemble {
    /// The server whose clients come to this loopback address.
    pub fn new(address: SocketAddr, limits: Limits) -> Self {
        Self { address, limits }
    }

    /// Look at it, without a write in its ensemble. `config` is the newest configuration
    /// that is known.
    pub async fn look(&self, config: Option<Config>, proven: Option<Zxid>) -> Reading {
        let answer = self.limits.answer;
        let ok = four_letter::ask(self.address, Command::Ruok, answer).await;
        let is_ok = ok.is_ok_and(|text| text.trim() == I_AM_OK);
        let srvr = four_letter::ask(self.address, Command::Srvr, answer).await.ok();
        let srvr = srvr.and_then(|text| match Srvr::parse(&text) {
            Ok(srvr) => Some(srvr),
            Err(unclear) => {
                tracing::debug!(%unclear, "the server does not say how it is");
                None
            }
        });
        Reading { is_ok, srvr, config, proven }
    }

    /// Read the configuration in a session of its own: a write that a quorum has taken, so
    /// that what is read is no older.
    ///
    /// # Errors
    /// No session could be opened, or the configuration not be read.
    pub async fn config(&self) -> anyhow::Result<Config> {
        let mut session = Session::open(self.address, self.limits).await?;
        // Our server may be behind its leader.
        session.sync().await?;
        let text = session.config().await?.value;
        close(session).await;
        Config::parse(&text).map_err(anyhow::Error::msg)
    }

    /// The ensemble as our server sees it now.
    ///
    /// # Errors
    /// As for the configuration.
    pub async fn view(&self, id: ServerId) -> anyhow::Result<EnsembleView> {
        let config = self.config().await?;
        let version = config.version;
        let reading = self.look(Some(config), Some(version)).await;
        let zxid = reading.serving().map(|serving| serving.zxid);
        reading.ensemble(id, zxid).context(NotKnown::Configuration)
    }

    /// Change the configuration, as our server's superuser.
    pub async fn reconfigure(
        &self,
        change: &Reconfig,
        ports: &ZookeeperPorts,
        password: &Password,
    ) -> Outcome {
        let mut session = match self.log_in(password).await {
            Ok(session) => session,
            // What went wrong before the request was sent has changed nothing.
            Err(error) => return outcome(OperationAnswer::Other, error),
        };
        match session.reconfig(&request(change, ports)).await {
            Ok(made) => {
                close(session).await;
                let config = Config::parse(&made.value);
                let version = config.map_or(change.version, |config| config.version);
                let message = Done::Reconfigured { version }.to_string();
                Outcome { answer: OperationAnswer::Made, queues: None, message }
            }
            Err(error) => outcome(answer(&error), error),
        }
    }

    async fn log_in(&self, password: &Password) -> Result<Session, Error> {
        let mut session = Session::open(self.address, self.limits).await?;
        session.log_in(USER, password.reveal()).await?;
        Ok(session)
    }
}

fn outcome(answer: OperationAnswer, error: Error) -> Outcome {
    Outcome { answer, queues: None, message: format!("{:#}", anyhow::Error::from(error)) }
}

/// Was it made?
fn answer(error: &Error) -> OperationAnswer {
    match error {
        Error::Io { .. } | Error::Late { .. } | Error::Malformed(_) | Error::OtherAnswer { .. } => {
            OperationAnswer::NoAnswer
        }
        Error::NoSession => OperationAnswer::Other,
        Error::Refused(refusal) => match refusal {
            Refusal::BadVersion => OperationAnswer::BadVersion,
            Refusal::NewConfigNoQuorum => OperationAnswer::NewConfigNoQuorum,
            Refusal::ReconfigInProgress => OperationAnswer::ReconfigInProgress,
            Refusal::NoAuth
            | Refusal::AuthFailed
            | Refusal::Unimplemented
            | Refusal::ReconfigDisabled
            | Refusal::BadArguments
            | Refusal::NoNode
            | Refusal::SessionExpired
            | Refusal::Other(_) => OperationAnswer::Other,
        },
    }
}

fn request(change: &Reconfig, ports: &ZookeeperPorts) -> ReconfigRequest {
    let joining = change.add.iter().map(|peer| {
        Server::new(&peer.address, ports, ServerRole::Participant).line(peer.server_id)
    });
    let leaving = change.remove.iter().map(ToString::to_string);
    let list = |all: Vec<String>| (!all.is_empty()).then(|| all.join(","));
    ReconfigRequest {
        joining: list(joining.collect()),
        leaving: list(leaving.collect()),
        // As the server has it: the same 64 bits, with a sign.
        version: change.version.number().cast_signed(),
    }
}

/// The answer is had; a session that is not closed ends by itself.
async fn close(session: Session) {
    if let Err(error) = session.close().await {
        tracing::debug!(error = error.to_string(), "a session was not closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::StaticAddress;
    use palladion_api::service_member::Peer;
    use std::time::Duration;

    fn change(add: &[i64], remove: &[i64]) -> ReconfigRequest {
        let peer = |number: &i64| Peer {
            server_id: ServerId::new(*number),
            address: StaticAddress::new(format!("10.96.0.1{number}")),
        };
        let change = Reconfig {
            version: Zxid::new(1 << 32),
            add: add.iter().map(peer).collect(),
            remove: remove.iter().map(|number| ServerId::new(*number)).collect(),
        };
        request(&change, &ZookeeperPorts::default())
    }

    #[test]
    fn a_change_names_lines_numbers_and_the_version_that_it_changes() {
        let added = change(&[4, 5], &[]);
        let expected = "server.4=10.96.0.14:2888:3888:participant;2181,\
            server.5=10.96.0.15:2888:3888:participant;2181";
        assert_eq!(added.joining.as_deref(), Some(expected));
        assert_eq!((added.leaving, added.version), (None, 1 << 32));
        let replaced = change(&[4], &[2, 3]);
        assert_eq!(replaced.leaving.as_deref(), Some("2,3"));
    }

    /// A change that may have been made is never called a failure.
    #[test]
    fn only_a_word_of_the_server_says_that_nothing_was_changed() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let source = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert_eq!(answer(&Error::Io { address, source }), OperationAnswer::NoAnswer);
        assert_eq!(answer(&Error::Late { address }), OperationAnswer::NoAnswer);
        let refused = Error::Refused(Refusal::BadVersion);
        assert_eq!(answer(&refused), OperationAnswer::BadVersion);
        assert_eq!(answer(&Error::NoSession), OperationAnswer::Other);
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_shows_nothing() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let limit = Duration::from_secs(5);
        let ensemble = Ensemble::new(address, Limits { open: limit, answer: limit });
        assert_eq!(ensemble.look(None, None).await, Reading::default());
        assert!(ensemble.view(ServerId::new(1)).await.is_err());
    }
}
