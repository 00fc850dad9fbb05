//! What is settled of authentication and TLS goes on record before anything of a new ring is
//! created, and the Secrets with its users are created: once, before its servers start, and never
//! again. A new password for a role that exists would lock its owner out.

use crate::build;
use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::{Doing, Happened};
use palladion_api::cluster::RingOrigin;
use palladion_api::names;
use palladion_plan::{Event, Step};

/// Agents of this protocol start a server sealed.
const SEALS: u32 = 8;

/// Record what is not on record yet. A Secret that exists already is used as it is: a user's, or
/// that of a former ring.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let Some(settled) = &facts.settled else {
        return;
    };
    let known = facts.status.security.as_ref();
    let mut security = known.cloned().unwrap_or_default();
    security.defaults = settled.clone();
    for (secret, user) in missing(facts, valid) {
        create(valid, &secret, user, draft);
        security.secrets.push(secret);
    }
    if known != Some(&security) {
        draft.steps.push(lock::record_security(facts, &security, Doing::RecordSecurity));
    }
}

fn create(valid: &Valid, secret: &str, user: &str, draft: &mut Draft) {
    let (key, object) = build::credentials(valid, secret, user);
    let doing = Doing::CreateCredentials { secret: secret.to_string() };
    let event = Event::normal(Happened::CredentialsCreated { secret: secret.to_string() });
    let step = Step::generate(key, object, build::generated(), doing);
    draft.steps.push(step.announced(Some(event)));
}

/// The Secrets that are ours to create and were not yet, with their users. A user who names
/// another one for people brings it.
fn missing(facts: &Facts<'_>, valid: &Valid) -> Vec<(String, &'static str)> {
    // The users of a ring that exists are known there: its Secrets are copied by a person.
    let is_new = valid.elsewhere.origin == RingOrigin::New;
    if !valid.asks_for_passwords() || facts.settled.is_none() || facts.ring_exists() || !is_new {
        return Vec::new();
    }
    let peoples = names::superuser_secret(&valid.name);
    let is_ours = valid.superuser_secret == peoples;
    let all = [
        Some((names::agents_secret(&valid.name), build::AGENTS_USER)),
        is_ours.then_some((peoples, build::PEOPLES_USER)),
    ];
    let known = facts.status.security.as_ref();
    let is_known = |name: &String| known.is_some_and(|known| known.secrets.contains(name));
    all.into_iter().flatten().filter(|(name, _)| !is_known(name)).collect()
}

/// Have the users of this ring been created, or are they not ours to create? Without them
/// nobody is allowed to start.
pub fn has_credentials(facts: &Facts<'_>, valid: &Valid) -> bool {
    missing(facts, valid).is_empty()
}

/// Can the agent of this member start its server sealed, where that is needed?
pub fn can_seal(valid: &Valid, member: &MemberFact) -> bool {
    let agent = member.status.agent.as_ref();
    !valid.asks_for_passwords() || agent.is_some_and(|agent| agent.protocol >= SEALS)
}
