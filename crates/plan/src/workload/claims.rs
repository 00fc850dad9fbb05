//! Volume claim templates: a StatefulSet never changes them. What became of
//! them, and the two steps that carry growth out: a larger request on each
//! claim, and the set made anew around its pods.

use crate::differ::{contains, quantity};
use crate::object::{Object, ObjectKey, Resource};
use crate::plan::{Event, Loss, Precondition, Propagation, Step, Subresource};
use serde_json::{Value, json};

/// What became of the claim templates of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// As they were.
    None,
    /// Some request more storage and all else is the same.
    Growth,
    /// Something else differs: in words, with the template's name.
    Other(String),
}

/// Compare the claim templates that are wanted with those that the set has.
/// Their metadata does not count.
pub fn compare(wanted: &[Value], has: &[Value]) -> Change {
    if let Some(gone) = has.iter().find(|h| !wanted.iter().any(|w| name(w) == name(h))) {
        return Change::Other(format!("the volume claim template {} was taken out", name(gone)));
    }
    let mut change = Change::None;
    for claim in wanted {
        let Some(old) = has.iter().find(|h| name(h) == name(claim)) else {
            return Change::Other(format!("the volume claim template {} was added", name(claim)));
        };
        let (new_size, old_size) = (quantity(size(claim)), quantity(size(old)));
        if new_size < old_size {
            return Change::Other(format!(
                "the volume claim template {} asks for {}, less than the {} that its claims have",
                name(claim),
                text(size(claim)),
                text(size(old))
            ));
        }
        let mut same_size = claim["spec"].clone();
        if new_size > old_size {
            change = Change::Growth;
            same_size["resources"]["requests"]["storage"] = size(old).clone();
        }
        if !contains(&old["spec"], &same_size) {
            return Change::Other(format!(
                "the volume claim template {} was changed in more than a larger storage request",
                name(claim)
            ));
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
pub fn grow(resource: Resource, claim: &Object, template: &Value, event: Option<Event>) -> Step {
    Step::Patch {
        key: ObjectKey::new(resource, &claim.meta.namespace, &claim.meta.name),
        patch: json!({ "spec": { "resources": { "requests": { "storage": size(template) } } } }),
        subresource: Subresource::None,
        precondition: Precondition::Uid(claim.meta.uid.clone()),
        fence: None,
        doing: format!("grow PersistentVolumeClaim {}", claim.meta.name),
        event,
    }
}

/// Delete a set and leave its pods running, so that it can be made anew with
/// what a StatefulSet does not let change.
pub fn release_pods(resource: Resource, set: &Object, event: Option<Event>) -> Step {
    Step::Delete {
        key: ObjectKey::new(resource, &set.meta.namespace, &set.meta.name),
        precondition: Precondition::Uid(set.meta.uid.clone()),
        loss: Loss::Nothing,
        propagation: Propagation::Orphan,
        fence: None,
        doing: format!("delete StatefulSet {} and keep its pods", set.meta.name),
        event,
    }
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
            Change::Other(words) => words,
            Change::None | Change::Growth => String::new(),
        };
        assert_eq!(compare(&[claim("data", "1024Mi", "fast")], &has), Change::None);
        assert_eq!(compare(&[claim("data", "2Gi", "fast")], &has), Change::Growth);
        assert!(other(&[claim("data", "512Mi", "fast")]).contains("asks for 512Mi, less than"));
        assert!(other(&[claim("data", "2Gi", "slow")]).contains("in more than"));
        assert!(other(&[]).contains("data was taken out"));
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
