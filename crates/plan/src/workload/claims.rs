//! Volume claim templates: a StatefulSet never changes them. What became of
//! them, and the two steps that carry growth out: a larger request on each
//! claim, and the set recreated around its pods.

use super::words::{Doing, TemplateChange};
use crate::differ::{contains, quantity};
use crate::kinds::{CLAIM, STATEFUL_SET};
use crate::object::Object;
use crate::plan::{Event, Loss, Step};
use serde_json::{Value, json};

/// What minds keep of a claim: one projection, so that the process keeps each
/// claim once.
pub fn project(object: &Value) -> Value {
    json!({
        "phase": object["status"]["phase"],
        "volume": object["spec"]["volumeName"],
        "class": object["spec"]["storageClassName"],
        "requested": object["spec"]["resources"]["requests"]["storage"],
        "capacity": object["status"]["capacity"]["storage"],
    })
}

/// What became of the claim templates of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// As they were.
    None,
    /// Some request more storage and all else is the same.
    Growth,
    /// Something else differs: with the template's name.
    Other(TemplateChange),
}

/// Compare the claim templates that are wanted with those that the set has.
/// Their metadata does not count.
pub fn compare(wanted: &[Value], has: &[Value]) -> Change {
    if let Some(gone) = has.iter().find(|h| !wanted.iter().any(|w| name(w) == name(h))) {
        return Change::Other(TemplateChange::Removed { template: name(gone).to_string() });
    }
    let mut change = Change::None;
    for claim in wanted {
        let template = name(claim).to_string();
        let Some(old) = has.iter().find(|h| name(h) == name(claim)) else {
            return Change::Other(TemplateChange::Added { template });
        };
        let (new_size, old_size) = (quantity(size(claim)), quantity(size(old)));
        if new_size < old_size {
            let (requested, has) = (text(size(claim)), text(size(old)));
            return Change::Other(TemplateChange::Smaller { template, requested, has });
        }
        let mut same_size = claim["spec"].clone();
        if new_size > old_size {
            change = Change::Growth;
            same_size["resources"]["requests"]["storage"] = size(old).clone();
        }
        if !contains(&old["spec"], &same_size) {
            return Change::Other(TemplateChange::Other { template });
        }
    }
    change
}

/// The template that a pod's claim was made from: claims are named
/// `<template>-<pod>`.
pub fn template_of<'a>(templates: &'a [Value], claim: &str, pod: &str) -> Option<&'a Value> {
    let made_from = |t: &&Value| {
        let rest = claim.strip_prefix(name(t));
        rest.and_then(|r| r.strip_prefix('-')) == Some(pod)
    };
    templates.iter().find(made_from)
}

/// Does a claim that requests this much request less than its template?
pub fn is_smaller(requested: &Value, template: &Value) -> bool {
    quantity(requested) < quantity(size(template))
}

/// Raise the storage request of one claim to that of its template.
pub fn grow(claim: &Object, template: &Value, event: Option<Event>) -> Step {
    let patch = json!({ "spec": { "resources": { "requests": { "storage": size(template) } } } });
    let doing = Doing::GrowClaim { claim: claim.meta.name.clone() };
    Step::patch_seen(CLAIM, &claim.meta, patch, doing).announced(event)
}

/// Delete a set and leave its pods running, so that it can be recreated with
/// what a StatefulSet does not let change.
pub fn release_pods(set: &Object, event: Option<Event>) -> Step {
    let doing = Doing::ReleasePods { set: set.meta.name.clone() };
    Step::delete_seen(STATEFUL_SET, &set.meta, Loss::Nothing, doing).orphaning().announced(event)
}

/// Name of a claim template.
pub fn name(claim: &Value) -> &str {
    claim["metadata"]["name"].as_str().unwrap_or_default()
}

/// Storage that a claim template requests.
pub fn size(claim: &Value) -> &Value {
    &claim["spec"]["resources"]["requests"]["storage"]
}

fn text(size: &Value) -> String {
    size.as_str().map_or_else(|| size.to_string(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(name: &str, size: &str, class: &str) -> Value {
        json!({
            "metadata": { "name": name },
            "spec": { "storageClassName": class, "resources": { "requests": { "storage": size } } },
        })
    }

    #[test]
    fn only_a_larger_request_is_growth() {
        let has = [claim("data", "1Gi", "fast")];
        let other = |wanted: &[Value]| match compare(wanted, &has) {
            Change::Other(words) => words.to_string(),
            Change::None | Change::Growth => String::new(),
        };
        assert_eq!(compare(&[claim("data", "1024Mi", "fast")], &has), Change::None);
        assert_eq!(compare(&[claim("data", "2Gi", "fast")], &has), Change::Growth);
        assert!(other(&[claim("data", "512Mi", "fast")]).contains("lowered from 1Gi to 512Mi"));
        assert!(other(&[claim("data", "2Gi", "slow")]).contains("other than its storage"));
        assert!(other(&[]).contains("data was removed"));
        let two = [claim("data", "1Gi", "fast"), claim("log", "1Gi", "fast")];
        assert!(other(&two).contains("log was added"));
    }

    #[test]
    fn a_claim_belongs_to_the_template_that_its_name_begins_with() {
        let templates = [claim("a", "1Gi", "x"), claim("a-b", "1Gi", "x")];
        let of = |claim: &str| template_of(&templates, claim, "web-0").map(name);
        assert_eq!(of("a-web-0"), Some("a"));
        assert_eq!(of("a-b-web-0"), Some("a-b"));
        assert_eq!(of("a-b-web-1"), None);
        assert!(is_smaller(&json!("900Mi"), &templates[0]));
        assert!(!is_smaller(&json!("1Gi"), &templates[0]));
    }
}
