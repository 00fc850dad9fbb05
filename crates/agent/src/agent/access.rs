//! Trying to log in, beside the loop.

use super::state::{Agent, Done};
use crate::access::roles::{self, DefaultRole};
use crate::access::{self, Answer, Subject};
use crate::admin::{Reading, ServerAdmin};
use crate::certificate;
use crate::cql::{Credentials, Endpoint};
use crate::decide::Process;
use crate::decide::seal::{self, Keys};
use crate::issued::{self, Own, Reads};
use crate::render::Door;
use crate::volume::roles::Roles;
use crate::words::job::Trouble;
use jiff::Timestamp;
use palladion_api::cluster::AuthMode;
use palladion_api::member::{AccessProblem, AccessProblemKind as Kind};
use palladion_api::server_config::{
    AGENTS_FOLDER, ClientEncryption, SUPERUSER_FOLDER, ServerConfig,
};
use std::sync::Arc;
use std::time::Instant;

impl Agent {
    /// A certificate that was renewed is put where the server reads it.
    pub(super) fn follow_certificate(&mut self) {
        let (Process::Running, Ok(mounted), Some(volume)) =
            (&self.process, &self.mounted, &self.volume)
        else {
            return;
        };
        let config = &mounted.config;
        let placed = self.issued.place(config, volume, &self.settings.tls_dir(), Reads::NowAndThen);
        let followed = match config.client_encryption() {
            ClientEncryption::OfSecret => certificate::follow(&self.settings, volume),
            ClientEncryption::OfOperator | ClientEncryption::Plain | ClientEncryption::ByHand => {
                Ok(())
            }
        };
        if let Err(error) = placed.and(followed) {
            self.trouble = Some(Trouble::Certificate { why: format!("{error:#}") }.into());
        }
    }

    /// Ask for the certificate that the operator orders, and take what it has signed.
    /// Whoever has left, or never runs again, keeps no key.
    pub(super) fn follow_order(&mut self) {
        let (Some(ledger), Some(volume)) = (self.ledger(), &self.volume) else {
            return;
        };
        if issued::is_over(ledger, self.saved.as_ref().map(|saved| &saved.spec)) {
            self.lacks_certificate = None;
            if self.process == Process::Absent
                && let Err(error) = self.issued.wipe(volume)
            {
                self.trouble = Some(Trouble::Certificate { why: format!("{error:#}") }.into());
            }
            return;
        }
        let pod = &self.settings.pod;
        let orders = self.saved.as_ref().and_then(|saved| saved.spec.tls.as_ref());
        if let Some(orders) = orders {
            let own = Own { member: &pod.name, pod_uid: &pod.uid };
            let running = match (&self.process, &self.mounted) {
                (Process::Absent, _) | (_, Err(_)) => None,
                (Process::Running | Process::Unknown(_), Ok(mounted)) => Some(&mounted.config),
            };
            let now = Timestamp::now();
            if let Some(problem) = self.issued.follow(volume, own, orders, running, now) {
                let why = problem.message.unwrap_or_default();
                self.trouble = Some(Trouble::Certificate { why }.into());
            }
        }
        self.lacks_certificate = match (&self.process, &self.mounted) {
            (Process::Absent, Ok(mounted)) => {
                self.issued.start_waits(&mounted.config, volume, &pod.name, orders)
            }
            (Process::Absent | Process::Running | Process::Unknown(_), _) => None,
        };
    }

    /// What the operator should know of it.
    pub(super) fn access_problem(&self) -> Option<AccessProblem> {
        match (&self.launch, &self.mounted) {
            // Without a native transport nobody can log in, and nothing is wrong.
            (Some(launch), _) if launch.awaits_rebuild => None,
            (Some(launch), Ok(mounted)) if is_tried(&mounted.config) => {
                let known = self.access.of_launch(&launch.tag);
                match self.is_done_behind_its_seal(known.as_ref()) {
                    true => Some(AccessProblem { kind: Kind::Sealed, message: None }),
                    false => known,
                }
            }
            (Some(_) | None, _) => self.access.problem().cloned(),
        }
    }

    /// Is its server sealed among others, and is there nothing more to do there?
    fn is_done_behind_its_seal(&self, known: Option<&AccessProblem>) -> bool {
        let is_done = match self.sealed_server() {
            None => false,
            Some(Keys::Held) => known.is_none(),
            Some(Keys::Lost) => true,
        };
        is_done && self.is_among_others()
    }

    fn is_among_others(&self) -> bool {
        self.ledger().is_some_and(|ledger| seal::is_among_others(self.reading(), ledger))
    }

    /// Its own server, as the Secrets stand now.
    pub(super) fn endpoint(&self, config: &ServerConfig) -> Endpoint {
        access::endpoint(&self.settings, config, self.is_closed())
    }

    /// Was the server that runs started closed to clients?
    pub(super) fn is_closed(&self) -> bool {
        self.launch.as_ref().is_some_and(|launch| launch.closed)
    }

    /// Try to log in to a server that serves and asks who comes, if it is time to.
    pub(super) fn try_to_log_in(&mut self) {
        let (Some(launch), Some(admin), Ok(mounted)) = (&self.launch, &self.admin, &self.mounted)
        else {
            return;
        };
        let config = &mounted.config;
        let sealed = self.sealed_endpoint();
        let serves = self.reading().is_some_and(Reading::serves) || sealed.is_some();
        if !is_tried(config) || !serves {
            return;
        }
        let credentials = Credentials::mounted(&self.settings.secrets_dir, AGENTS_FOLDER);
        let of = Subject { tag: launch.tag.clone(), credentials };
        let Some(of) = self.access.begin(&of, Instant::now()) else {
            return;
        };
        let people = Credentials::mounted(&self.settings.secrets_dir, SUPERUSER_FOLDER);
        let attempt = Attempt {
            is_new: !self.is_among_others(),
            door: if sealed.is_some() { Door::Sealed } else { Door::Open },
            endpoint: sealed.unwrap_or_else(|| self.endpoint(config)),
            people,
            auth: config.auth.unwrap_or_default(),
            admin: admin.clone(),
        };
        let done = self.done.clone();
        tokio::spawn(async move {
            let answer = attempt.answer().await;
            let is_in = attempt.auth == AuthMode::Password && answer == Answer::In;
            let roles = is_in.then_some(Roles::Made);
            let _ = done.send(Done::LoggedIn { of, answer, roles }).await;
        });
    }
}

/// A try to log in, and to make the roles where nobody has yet.
struct Attempt {
    door: Door,
    /// Is it the only member of its ring?
    is_new: bool,
    endpoint: Endpoint,
    people: Option<Credentials>,
    auth: AuthMode,
    admin: Arc<dyn ServerAdmin>,
}

impl Attempt {
    async fn answer(&self) -> Answer {
        let (endpoint, people) = (&self.endpoint, self.people.as_ref());
        // Behind its seal a server waits for both users: who is missing would never be made. A ring
        // that has its roles may do without the Secret of people.
        if self.door == Door::Sealed && people.is_none() {
            if self.is_new {
                return Answer::Missing;
            }
            return match roles::is_open(endpoint).await {
                Ok(true) => Answer::Missing,
                Ok(false) => access::log_in(endpoint).await,
                Err(error) => Answer::of(Err(error)),
            };
        }
        let closed = match self.auth {
            AuthMode::Password => roles::close_default(endpoint, people).await,
            AuthMode::Off => Ok(DefaultRole::WasClosed),
        };
        if let Ok(DefaultRole::Closed) = closed {
            tracing::info!("roles created; the role cassandra can no longer log in");
        }
        let is_news = matches!(closed, Ok(DefaultRole::Closed)) || self.door == Door::Sealed;
        if is_news && let Err(error) = self.admin.flush("system_auth").await {
            let why = error.to_string();
            tracing::warn!(error = why, "the roles are in the commit log only");
            if self.door == Door::Sealed {
                return Answer::Unanswered(why);
            }
        }
        let is_named = roles::is_named(endpoint.credentials.as_ref(), people);
        match closed {
            Ok(left) => access::log_in(endpoint).await.beside(left, is_named),
            Err(error) => Answer::of(Err(error)),
        }
    }
}

/// Does it matter whether the agent can log in?
fn is_tried(config: &ServerConfig) -> bool {
    config.asks_who_logs_in() || config.client_encryption() != ClientEncryption::Plain
}
