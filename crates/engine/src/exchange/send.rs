//! One call: the credentials are read, the fence and the term are looked at, and
//! then it goes out, once.

use super::request::call;
use super::secrets::{Credentials, Missing, authorization, trust};
use crate::apply::fence::stands;
use crate::faults::Faults;
use crate::leader::Term;
use crate::request::Api;
use crate::words::NotDone;
use palladion_plan::words::exchange::Failed;
use palladion_plan::{Captured, Exchange, Fence, Scheme};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A call that does not say how long it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends calls, for as long as this process leads.
#[derive(Clone)]
pub struct Sender {
    api: Api,
    term: Term,
    faults: Arc<Faults>,
}

/// Why a call was not sent. Nothing has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// It may be tried again.
    NotNow {
        /// Why.
        why: String,
    },
    /// Nobody wants it any more.
    Withdrawn,
}

impl Sender {
    /// Credentials and fences are read from this API server, under this term.
    pub fn new(api: Api, term: Term, faults: Arc<Faults>) -> Self {
        Self { api, term, faults }
    }

    /// Wait until the API server, which is asked before each call, may be asked.
    pub async fn ready(&self) {
        self.api.pace().open().await;
    }

    /// Send a call, unless `goes_out` says at the last moment that nobody wants it.
    ///
    /// # Errors
    /// It was not sent.
    pub async fn send(
        &self,
        exchange: &Exchange,
        goes_out: impl FnOnce() -> bool,
    ) -> Result<Result<Captured, Failed>, NotSent> {
        let prepared = match self.prepare(exchange).await {
            Ok(prepared) => prepared,
            // It cannot be sent as it is: only a person helps, and the mind says so.
            Err(Missing::Fails(failed)) => return Ok(Err(failed)),
            Err(Missing::NotNow { why }) => return Err(NotSent::NotNow { why }),
        };
        if let Some(fence) = &exchange.fence {
            self.fence_stands(fence).await?;
        }
        self.faults.before_write();
        self.term.check().map_err(|over| NotSent::NotNow { why: over.to_string() })?;
        if !goes_out() {
            return Err(NotSent::Withdrawn);
        }
        let limit = Duration::try_from(exchange.timeout).unwrap_or(PATIENCE);
        let (credentials, tls) = prepared;
        let header = credentials.as_ref().map(|credentials| credentials.header.clone());
        let asked = call(exchange, header, tls);
        let end = match tokio::time::timeout(limit, asked).await {
            Ok(Ok((code, body))) => match &credentials {
                Some(credentials) => credentials.judge(exchange, code, &body),
                None => exchange.judge(code, &body),
            },
            Ok(Err(failed)) => Err(failed),
            Err(_) => Err(Failed::TimedOut { address: address(exchange) }),
        };
        self.faults.after_write();
        Ok(end)
    }

    async fn prepare(
        &self,
        exchange: &Exchange,
    ) -> Result<(Option<Credentials>, Option<Arc<rustls::ClientConfig>>), Missing> {
        let credentials = match &exchange.auth {
            Some(secret) => Some(authorization(&self.api, secret).await?),
            None => None,
        };
        let tls = match &exchange.scheme {
            Scheme::Http => None,
            Scheme::Https { ca } => Some(trust(&self.api, ca).await?),
        };
        Ok((credentials, tls))
    }

    async fn fence_stands(&self, fence: &Fence) -> Result<(), NotSent> {
        let why = match self.api.get(&fence.object).await {
            Err(error) => error.to_string(),
            Ok(object) => {
                let object = object.unwrap_or(Value::Null);
                if stands(&object, &fence.pointer, &fence.expected) {
                    return Ok(());
                }
                let (object, field) = (fence.object.to_string(), fence.pointer.clone());
                NotDone::ChangedAt { object, field }.to_string()
            }
        };
        Err(NotSent::NotNow { why })
    }
}

/// The address as people write it.
pub(super) fn address(exchange: &Exchange) -> String {
    match exchange.address.contains(':') {
        true => format!("[{}]:{}", exchange.address, exchange.port),
        false => format!("{}:{}", exchange.address, exchange.port),
    }
}
