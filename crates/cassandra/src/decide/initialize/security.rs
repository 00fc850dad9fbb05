//! What is settled of authentication and TLS goes on record before anything of a new ring is
//! created, and the Secrets with its users are created: once, before its servers start, and never
//! again. A new password for a role that exists would lock its owner out.

use crate::build;
use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::initialize::{Doing, Happened};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{AuthMode, SecurityStatus};
use palladion_api::names;
use palladion_plan::{Event, Step};

/// Record what is not on record yet. A Secret that exists already is used as it is: a user's, or
/// that of a former ring.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let Some(settled) = &facts.settled else {
        return;
    };
    let known = facts.status.security.as_ref();
    let mut security = known.cloned().unwrap_or_default();
    security.defaults = settled.clone();
    if !has_credentials(facts, valid) {
        create_credentials(valid, draft);
        let now = facts.now();
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        security.credentials_since = Some(Time(now));
    }
    if known != Some(&security) {
        draft.steps.push(lock::record_security(facts, &security, Doing::RecordSecurity));
    }
}

fn create_credentials(valid: &Valid, draft: &mut Draft) {
    let peoples = names::superuser_secret(&valid.name);
    let secrets = [
        Some((names::agents_secret(&valid.name), build::AGENTS_USER)),
        // A user who names another one brings it.
        (valid.superuser_secret == peoples).then_some((peoples, build::PEOPLES_USER)),
    ];
    for (secret, user) in secrets.into_iter().flatten() {
        let (key, object) = build::credentials(valid, &secret, user);
        let doing = Doing::CreateCredentials { secret: secret.clone() };
        let event = Event::normal(Happened::CredentialsCreated { secret });
        let step = Step::generate(key, object, build::generated(), doing);
        draft.steps.push(step.announced(Some(event)));
    }
}

/// Have the users of this ring been created, or are they not ours to create? Without them
/// nobody is allowed to start.
pub fn has_credentials(facts: &Facts<'_>, valid: &Valid) -> bool {
    let asks = valid.racks.iter().any(|r| r.server.auth == Some(AuthMode::Password));
    let security = facts.status.security.as_ref();
    !asks
        || facts.settled.is_none()
        || facts.status.initialization.is_some()
        || facts.ring_exists()
        || security
            .is_some_and(|SecurityStatus { credentials_since, .. }| credentials_since.is_some())
}
