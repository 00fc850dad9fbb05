//! Trying to log in, beside the loop.

use super::state::{Agent, Done};
use crate::access::roles::{self, DefaultRole};
use crate::access::{self, Answer, Subject};
use crate::admin::Reading;
use crate::certificate;
use crate::cql::Credentials;
use crate::decide::Process;
use crate::issued::{self, Own, Reads};
use crate::volume::roles::Roles;
use crate::words::job::Trouble;
use jiff::Timestamp;
use palladion_api::cluster::AuthMode;
use palladion_api::member::AccessProblem;
use palladion_api::server_config::{
    AGENTS_FOLDER, ClientEncryption, SUPERUSER_FOLDER, ServerConfig,
};
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
            (Some(launch), Ok(mounted)) if is_tried(&mounted.config) => {
                self.access.of_launch(&launch.tag)
            }
            (Some(_) | None, _) => self.access.problem().cloned(),
        }
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
        let endpoint = sealed.unwrap_or_else(|| access::endpoint(&self.settings, config));
        let (auth, admin) = (config.auth, admin.clone());
        let people = Credentials::mounted(&self.settings.secrets_dir, SUPERUSER_FOLDER);
        let done = self.done.clone();
        tokio::spawn(async move {
            let closed = match auth {
                Some(AuthMode::Password) => roles::close_default(&endpoint, people.as_ref()).await,
                Some(AuthMode::Off) | None => Ok(DefaultRole::WasClosed),
            };
            if let Ok(DefaultRole::Closed) = closed {
                tracing::info!("roles created; the role cassandra can no longer log in");
                if let Err(error) = admin.flush("system_auth").await {
                    tracing::warn!(
                        error = error.to_string(),
                        "the roles are in the commit log only"
                    );
                }
            }
            let is_named = roles::is_named(endpoint.credentials.as_ref(), people.as_ref());
            let answer = match closed {
                Ok(left) => access::log_in(&endpoint).await.beside(left, is_named),
                Err(error) => Answer::of(Err(error)),
            };
            let roles =
                (auth == Some(AuthMode::Password) && answer == Answer::In).then_some(Roles::Made);
            let _ = done.send(Done::LoggedIn { of, answer, roles }).await;
        });
    }
}

/// Does it matter whether the agent can log in?
fn is_tried(config: &ServerConfig) -> bool {
    config.asks_who_logs_in() || config.client_encryption() != ClientEncryption::Plain
}
