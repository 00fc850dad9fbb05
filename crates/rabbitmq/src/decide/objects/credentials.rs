//! The Secret with the credentials: created once, before anything starts, and never
//! again. A second cookie would be one with which no node reaches another.

use crate::build;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::{SecretOrigin, Valid};
use crate::words::maintain::{Doing, Happened};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::rabbitmq::RabbitmqCredentials;
use palladion_plan::{Event, Step, turn};
use serde_json::json;

/// Create the Secret and record that it exists. A Secret of that name that exists already
/// is used as it is: a user's, that of a former cluster, or the one that was created
/// before the operator ended.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if is_settled(facts, valid) || (facts.exists() && !is_on_record(facts)) {
        return;
    }
    let secret = || valid.secret.clone();
    match valid.secret_origin {
        // The nodes of a cluster that is created again have their cookie on their volumes.
        // Where its Secret is gone, the user who has it puts it back: what has served has its
        // cookie, and another Secret would only hide that it is gone.
        SecretOrigin::Generated if facts.exists() || facts.may_have_cookies() => {}
        SecretOrigin::Generated => {
            let (key, object) = build::credentials(valid);
            let doing = Doing::CreateCredentials { secret: secret() };
            let event = Event::normal(Happened::CredentialsCreated { secret: secret() });
            let step = Step::generate(key, object, build::generated(), doing);
            draft.steps.push(step.announced(Some(event)));
        }
        SecretOrigin::OfUser => {}
    }
    let seconds = jiff::Timestamp::from_second(facts.now().as_second()).unwrap_or(facts.now());
    let record = RabbitmqCredentials { secret_name: secret(), since: Time(seconds) };
    let doing = Doing::RecordCredentials { secret: secret() };
    let more = [("credentials", json!(record))];
    draft.steps.push(turn::write(facts.snapshot, facts.turn(), &more, doing));
}

/// Is the Secret on record the one that counts? A name that was mistyped is corrected before
/// its cookie may be on a volume; after that the spec is refused that names another one.
fn is_settled(facts: &Facts<'_>, valid: &Valid) -> bool {
    let recorded = facts.status.credentials.as_ref();
    recorded.is_some_and(|r| r.secret_name == valid.secret)
}

/// Is it on record that they exist? Before, nothing starts.
pub fn is_on_record(facts: &Facts<'_>) -> bool {
    facts.status.credentials.is_some()
}
