//! A refused manifest, and whether it is refused for a field: with another value of that
//! field, one that is accepted elsewhere, that was there before, or none, less is said
//! against it and nothing new.

use crate::manifests::{Manifest, Verdict};
use crate::{all, judge};
use serde_json::Value;
use std::collections::BTreeSet;

/// A manifest that is refused.
pub struct Refused {
    manifest: Manifest,
    said: BTreeSet<String>,
    /// Accepted objects of the kind.
    good: Vec<Value>,
}

/// The manifests of a kind that are refused.
pub fn refused(kind: &str) -> Vec<Refused> {
    let all: Vec<Manifest> = all().into_iter().filter(|m| m.new["kind"] == kind).collect();
    let is = |verdict| move |m: &&Manifest| m.verdict == verdict;
    let good: Vec<Value> =
        all.iter().filter(is(Verdict::Accepted)).map(|m| m.new.clone()).collect();
    let refused = all.iter().filter(is(Verdict::Refused)).map(|manifest| Refused {
        said: said(manifest, &manifest.new),
        manifest: manifest.clone(),
        good: good.clone(),
    });
    refused.collect()
}

fn said(manifest: &Manifest, new: &Value) -> BTreeSet<String> {
    judge(new, manifest.old.as_ref()).words.into_iter().collect()
}

impl Refused {
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// Is it refused for this field?
    pub fn is_cured_by(&self, field: &str) -> bool {
        let path: Vec<&str> = field.split('.').collect();
        let mut others = vec![Value::Null];
        for object in self.manifest.old.iter().chain(&self.good) {
            values(object, &path, &mut others);
        }
        others.iter().any(|other| {
            let repaired = with(&self.manifest.new, &path, other);
            repaired.iter().any(|object| self.is_better(object))
        })
    }

    fn is_better(&self, object: &Value) -> bool {
        let left = said(&self.manifest, object);
        let expected = |text: &&String| self.manifest.expect.iter().any(|e| text.contains(e));
        left.is_subset(&self.said) && self.said.difference(&left).any(|text| expected(&text))
    }
}

/// A part of a path, and whether all items of it are meant.
fn part(text: &str) -> (&str, bool) {
    text.strip_suffix("[]").map_or((text, false), |name| (name, true))
}

/// All values that an object has at a path.
fn values(object: &Value, path: &[&str], found: &mut Vec<Value>) {
    let Some((first, rest)) = path.split_first() else {
        if !object.is_null() && !found.contains(object) {
            found.push(object.clone());
        }
        return;
    };
    let (name, each) = part(first);
    match each {
        true => object[name].as_array().into_iter().flatten().for_each(|item| {
            values(item, rest, found);
        }),
        false => values(&object[name], rest, found),
    }
}

/// The object with another value at one place of a path, or with none: one object for each
/// place.
fn with(object: &Value, path: &[&str], other: &Value) -> Vec<Value> {
    let Some((first, rest)) = path.split_first() else {
        return vec![other.clone()];
    };
    let (name, each) = part(first);
    let Some(fields) = object.as_object() else {
        return Vec::new();
    };
    let replaced = |value: Value| {
        let mut fields = fields.clone();
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.to_string(), value),
        };
        Value::Object(fields)
    };
    if !each {
        return with(&object[name], rest, other).into_iter().map(replaced).collect();
    }
    let items: Vec<Value> = object[name].as_array().cloned().unwrap_or_default();
    let one = |at: usize| {
        let all = with(&items[at], rest, other).into_iter();
        let items = items.clone();
        all.map(move |item| {
            let mut items = items.clone();
            items[at] = item;
            Value::from(items)
        })
    };
    (0..items.len()).flat_map(one).map(replaced).collect()
}
