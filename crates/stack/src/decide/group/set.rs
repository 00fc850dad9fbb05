//! The DaemonSet: created and kept.

use crate::build::daemon_set;
use crate::decide::draft::{Draft, apply, wait_for};
use crate::decide::text::{Made, Texts};
use crate::facts::GroupFacts;
use crate::resources::DAEMON_SET;
use crate::validate::ValidGroup;
use crate::words::groups::{Happened, Waiting};
use crate::words::objects;
use palladion_plan::{Event, ObjectKey};

/// The agent's image for the template: the recorded one, as long as nothing else
/// changes. A newer release restarts nobody.
pub fn agent_image<'a>(facts: &'a GroupFacts<'_>, valid: &'a ValidGroup) -> &'a str {
    let recorded = facts.set.as_ref().and_then(|set| {
        let image = set.agent_image.as_deref()?;
        (daemon_set::template_hash(valid, image) == set.template).then_some(image)
    });
    recorded.unwrap_or(&valid.agent_image)
}

/// Does the set keep its template, because the texts for a newer one do not come about? An
/// agent on a node that joins would bring it in.
pub fn is_held(facts: &GroupFacts<'_>, template: &str, texts: &Texts) -> bool {
    let is_old = facts.set.as_ref().is_some_and(|set| set.template != template);
    is_old && texts.made != Made::All
}

/// State the set as it should be now.
pub fn decide(facts: &GroupFacts<'_>, valid: &ValidGroup, image: &str, draft: &mut Draft) {
    let set = valid.name.clone();
    let event = match &facts.set {
        Some(stored) if stored.template != daemon_set::template_hash(valid, image) => {
            let what = ObjectKey::new(DAEMON_SET, &valid.namespace, &set).to_string();
            wait_for(draft, (DAEMON_SET, &set), objects::Waiting::Updated { set: what });
            None
        }
        Some(_) => None,
        None => {
            wait_for(draft, (DAEMON_SET, &valid.name), Waiting::Created { set: set.clone() });
            Some(Event::normal(Happened::Created { set }))
        }
    };
    let object = daemon_set::daemon_set(valid, image);
    apply(facts.snapshot, DAEMON_SET, object, (None, event), draft);
}
