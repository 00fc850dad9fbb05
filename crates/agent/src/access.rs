//! Whether the agent can log in to its own server: tried when the server
//! serves, when the Secret changes, and now and then, so that a person hears of
//! a missing or wrong password before it is needed. The Secret is read anew at
//! each use. Where the spec says `auth`, the first log-in also makes our roles
//! and closes the default one ([`roles`]).

pub mod roles;
#[cfg(test)]
mod tests;

use crate::certificate;
use crate::cql::tls::Encryption;
use crate::cql::{Connection, Credentials, Endpoint, Error};
use crate::settings::Settings;
use crate::words::calls::Named;
use crate::words::files::Missing;
use palladion_api::member::{AccessProblem, AccessProblemKind};
use palladion_api::server_config::{AGENTS_FOLDER, ClientEncryption, ServerConfig};
use roles::DefaultRole;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Where nothing is wrong, a password that was changed in the database only is noticed in this time.
const REST: Duration = Duration::from_secs(300);
/// Pause after a try that failed: the default role of a new ring is there for
/// no longer than this before it is closed.
const AGAIN: Duration = Duration::from_secs(1);
/// Pause once it is reported.
const REPORTED: Duration = Duration::from_secs(10);
/// A new ring has no roles for its first ten seconds, and a password is
/// rejected while those who know it are away.
const PATIENCE: Duration = Duration::from_secs(60);

const REFUSED: AccessProblemKind = AccessProblemKind::CredentialsRefused;

/// The agent's own server, as the Secrets stand now. One that is closed to clients listens inside
/// its pod alone.
pub fn endpoint(settings: &Settings, config: &ServerConfig, is_closed: bool) -> Endpoint {
    let authorities = match config.client_encryption() {
        ClientEncryption::Plain => None,
        ClientEncryption::OfOperator => Some(certificate::placed_authorities(settings)),
        ClientEncryption::OfSecret | ClientEncryption::ByHand => {
            Some(certificate::authorities(settings))
        }
    };
    let encryption = match authorities {
        None => Encryption::Plain,
        Some(Ok(authorities)) => Encryption::trusting(authorities.as_bytes()),
        Some(Err(_)) => Encryption::Impossible(Missing::AuthorityFile.to_string()),
    };
    Endpoint {
        encryption,
        address: SocketAddr::new(listens_on(settings.pod_ip, is_closed), settings.cql_port),
        credentials: Credentials::mounted(&settings.secrets_dir, AGENTS_FOLDER),
    }
}

fn listens_on(pod_ip: IpAddr, is_closed: bool) -> IpAddr {
    if is_closed { Ipv4Addr::LOCALHOST.into() } else { pod_ip }
}

/// What was tried: this start of the server, with these.
#[derive(Clone, PartialEq, Eq)]
pub struct Subject {
    /// The launch.
    pub tag: String,
    /// User and password.
    pub credentials: Option<Credentials>,
}

/// How a try ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// In.
    In,
    /// In, and so is anybody, by the default role.
    Open,
    /// The server asks, and there is nothing to answer with.
    Missing,
    /// The server rejects user and password.
    Refused(String),
    /// The server's certificate is not of an authority that we know.
    Untrusted(String),
    /// The server could not be asked.
    Unanswered(String),
}

impl Answer {
    /// What a try means.
    pub fn of(tried: Result<(), Error>) -> Self {
        match tried {
            Ok(()) => Answer::In,
            Err(Error::NoCredentials) => Answer::Missing,
            Err(error) if error.is_bad_credentials() => Answer::Refused(error.words()),
            Err(Error::Untrusted(why)) => Answer::Untrusted(why),
            Err(error @ (Error::Io { .. } | Error::Unexpected(_) | Error::Refused { .. })) => {
                Answer::Unanswered(format!("{:#}", anyhow::Error::from(error)))
            }
        }
    }
}

impl Answer {
    /// The same, with what is known of the default role: whether it was left open, and whether
    /// a Secret names it.
    pub fn beside(self, default: DefaultRole, is_named: bool) -> Self {
        match self {
            Answer::In if default == DefaultRole::LeftOpen => Answer::Open,
            Answer::Refused(why) => Answer::Refused(match default {
                DefaultRole::LeftOpen => Named::LeftOpen { why }.to_string(),
                DefaultRole::Closed | DefaultRole::WasClosed if is_named => {
                    Named::NotMade { why }.to_string()
                }
                DefaultRole::Closed | DefaultRole::WasClosed => why,
            }),
            Answer::In
            | Answer::Open
            | Answer::Missing
            | Answer::Untrusted(_)
            | Answer::Unanswered(_) => self,
        }
    }
}

/// Try to log in.
pub async fn log_in(endpoint: &Endpoint) -> Answer {
    Answer::of(Connection::open(endpoint).await.map(drop))
}

/// What is known of it.
#[derive(Default)]
pub struct Access {
    /// The last try, and when it ended.
    tried: Option<(Subject, Answer, Instant)>,
    /// Since when the server rejects what is mounted.
    refused_since: Option<Instant>,
    /// Since when a server that serves has not answered.
    unanswered_since: Option<Instant>,
    /// The launch whose server let the agent in last.
    let_in: Option<String>,
    /// A try is under way.
    pending: Option<Subject>,
    problem: Option<AccessProblem>,
}

impl Access {
    /// What a person should hear of.
    pub fn problem(&self) -> Option<&AccessProblem> {
        self.problem.as_ref()
    }

    /// What the operator should know of the server of this launch, which asks who
    /// logs in: what is wrong, or that it has not let the agent in yet.
    pub fn of_launch(&self, tag: &str) -> Option<AccessProblem> {
        let is_in = self.let_in.as_deref() == Some(tag);
        let pending = || AccessProblem { kind: AccessProblemKind::Pending, message: None };
        self.problem.clone().or_else(|| (!is_in).then(pending))
    }

    /// Is it time for a try? From then on one is under way.
    pub fn begin(&mut self, of: &Subject, now: Instant) -> Option<Subject> {
        let pause = match &self.tried {
            Some((tried, answer, at)) if tried == of => Some((self.pause(answer), *at)),
            Some(_) | None => None,
        };
        let is_due = pause.is_none_or(|(pause, at)| now.duration_since(at) >= pause);
        if self.pending.is_some() || !is_due {
            return None;
        }
        self.pending = Some(of.clone());
        Some(of.clone())
    }

    fn pause(&self, answer: &Answer) -> Duration {
        match answer {
            Answer::In => REST,
            Answer::Open | Answer::Missing | Answer::Untrusted(_) => REPORTED,
            Answer::Refused(_) | Answer::Unanswered(_) if self.problem.is_some() => REPORTED,
            Answer::Refused(_) | Answer::Unanswered(_) => AGAIN,
        }
    }

    /// Note how a try ended. A server that could not be asked changes nothing at first.
    pub fn note(&mut self, of: Subject, answer: Answer, now: Instant) {
        self.pending = None;
        if self.tried.as_ref().is_none_or(|(tried, _, _)| tried.tag != of.tag)
            || !matches!(answer, Answer::Unanswered(_))
        {
            self.unanswered_since = None;
        }
        match &answer {
            Answer::In => {
                (self.problem, self.refused_since) = (None, None);
                self.let_in = Some(of.tag.clone());
            }
            Answer::Open => {
                self.refused_since = None;
                self.let_in = Some(of.tag.clone());
                let kind = AccessProblemKind::DefaultUserOpen;
                self.problem = Some(AccessProblem { kind, message: None });
            }
            Answer::Missing => {
                self.refused_since = None;
                self.problem = Some(AccessProblem {
                    kind: AccessProblemKind::CredentialsMissing,
                    message: None,
                });
            }
            Answer::Untrusted(why) => {
                self.refused_since = None;
                self.problem = Some(AccessProblem {
                    kind: AccessProblemKind::CertificateRefused,
                    message: Some(why.clone()),
                });
            }
            Answer::Refused(why) => {
                let since = *self.refused_since.get_or_insert(now);
                if now.duration_since(since) >= PATIENCE {
                    self.problem =
                        Some(AccessProblem { kind: REFUSED, message: Some(why.clone()) });
                } else if self.problem.as_ref().is_some_and(|p| p.kind != REFUSED) {
                    self.problem = None;
                }
            }
            Answer::Unanswered(why) => {
                tracing::debug!(why, "the server could not be logged in to");
                let since = *self.unanswered_since.get_or_insert(now);
                if now.duration_since(since) >= PATIENCE && self.problem.is_none() {
                    let kind = AccessProblemKind::Unanswered;
                    self.problem = Some(AccessProblem { kind, message: Some(why.clone()) });
                }
            }
        }
        self.tried = Some((of, answer, now));
    }
}
