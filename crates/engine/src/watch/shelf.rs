//! The stored objects of one watch, with an index by label value, so that an
//! event finds its owners and an owner its objects without a scan.

use crate::ids::{FeedId, MindId};
use crate::watch::project::Record;
use palladion_plan::{Keep, Resource, Route};
use std::collections::{BTreeMap, BTreeSet};

/// One stored object.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is kept of it.
    pub record: Record,
    /// Which feed brought it.
    pub feed: FeedId,
}

/// What an event changed, as far as routing needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Namespace of the object.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Values of the indexed labels, before and after, by the label's position.
    pub values: Vec<(usize, Box<str>)>,
    /// Is it news that people wait for?
    pub news: News,
}

/// How much of the object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It is new, gone, being deleted, or its spec changed.
    Spec,
    /// Anything else that is kept.
    Other,
}

/// Namespace → value of one label → names.
type Index = BTreeMap<Box<str>, BTreeMap<Box<str>, BTreeSet<Box<str>>>>;

/// Objects of one kind, selected and projected alike.
#[derive(Debug)]
pub struct Shelf {
    /// The kind.
    pub resource: Resource,
    /// The label selector.
    pub selector: &'static str,
    /// What is kept of each.
    pub keep: Keep,
    /// The labels of the index.
    pub labels: Vec<&'static str>,
    /// Who wants to know.
    pub routes: Vec<(MindId, Route)>,
    entries: BTreeMap<Box<str>, BTreeMap<Box<str>, Entry>>,
    index: Vec<Index>,
}

impl Shelf {
    /// An empty shelf.
    pub fn new(resource: Resource, selector: &'static str, keep: Keep) -> Self {
        Self {
            resource,
            selector,
            keep,
            labels: Vec::new(),
            routes: Vec::new(),
            entries: BTreeMap::new(),
            index: Vec::new(),
        }
    }

    /// Add somebody who wants to know. Only before the first object arrives.
    pub fn subscribe(&mut self, mind: MindId, route: Route) {
        if let Route::Label(label) = route
            && !self.labels.contains(&label)
        {
            self.labels.push(label);
            self.index.push(BTreeMap::new());
        }
        self.routes.push((mind, route));
    }

    /// One object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Entry> {
        self.entries.get(namespace)?.get(name)
    }

    /// All objects.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().flat_map(BTreeMap::values)
    }

    /// The objects of a namespace.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.get(namespace);
        entries.into_iter().flat_map(BTreeMap::values)
    }

    /// The objects of a namespace whose label has this value.
    pub fn labelled<'a>(
        &'a self,
        namespace: &'a str,
        label: &str,
        value: &str,
    ) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let position = self.labels.iter().position(|l| *l == label);
        let names = position
            .and_then(|p| self.index[p].get(namespace))
            .and_then(|values| values.get(value));
        names.into_iter().flatten().filter_map(move |name| self.get(namespace, name))
    }

    /// Objects and bytes held.
    pub fn size(&self) -> (usize, usize) {
        let per_object = |e: &Entry| e.record.text.len() + std::mem::size_of::<Entry>();
        (self.all().count(), self.all().map(per_object).sum())
    }

    /// Store an object; what changed, or `None` if nothing that is kept did.
    pub fn put(&mut self, feed: FeedId, record: Record) -> Option<Change> {
        let old = self.take(&record.namespace, &record.name);
        let unchanged = old.as_ref().is_some_and(|o| same(&o.record, &record));
        let change = (!unchanged).then(|| change(old.as_ref().map(|o| &o.record), Some(&record)));
        self.insert(Entry { record, feed });
        change.flatten()
    }

    /// Forget an object.
    pub fn remove(&mut self, namespace: &str, name: &str) -> Option<Change> {
        let old = self.take(namespace, name)?;
        change(Some(&old.record), None)
    }

    /// The whole content of one feed, listed anew: what is not in it is gone.
    pub fn replace(&mut self, feed: FeedId, records: Vec<Record>) -> Vec<Change> {
        let listed: BTreeSet<(Box<str>, Box<str>)> =
            records.iter().map(|r| (r.namespace.clone(), r.name.clone())).collect();
        let gone: Vec<(Box<str>, Box<str>)> = self
            .all()
            .filter(|e| e.feed == feed)
            .map(|e| (e.record.namespace.clone(), e.record.name.clone()))
            .filter(|name| !listed.contains(name))
            .collect();
        let mut changes: Vec<Change> =
            gone.iter().filter_map(|(ns, name)| self.remove(ns, name)).collect();
        changes.extend(records.into_iter().filter_map(|record| self.put(feed, record)));
        changes
    }

    fn insert(&mut self, entry: Entry) {
        let record = &entry.record;
        for (position, value) in record.labels.iter().enumerate() {
            if let (Some(value), Some(index)) = (value, self.index.get_mut(position)) {
                let values = index.entry(record.namespace.clone()).or_default();
                values.entry(value.clone()).or_default().insert(record.name.clone());
            }
        }
        let names = self.entries.entry(record.namespace.clone()).or_default();
        names.insert(record.name.clone(), entry);
    }

    fn take(&mut self, namespace: &str, name: &str) -> Option<Entry> {
        let names = self.entries.get_mut(namespace)?;
        let entry = names.remove(name)?;
        if names.is_empty() {
            self.entries.remove(namespace);
        }
        for (position, value) in entry.record.labels.iter().enumerate() {
            if let (Some(value), Some(index)) = (value, self.index.get_mut(position)) {
                drop_name(index, namespace, value, name);
            }
        }
        Some(entry)
    }
}

fn drop_name(index: &mut Index, namespace: &str, value: &str, name: &str) {
    let Some(values) = index.get_mut(namespace) else {
        return;
    };
    if let Some(names) = values.get_mut(value) {
        names.remove(name);
        if names.is_empty() {
            values.remove(value);
        }
    }
    if values.is_empty() {
        index.remove(namespace);
    }
}

fn same(a: &Record, b: &Record) -> bool {
    a.uid == b.uid && a.text == b.text && a.labels == b.labels
}

fn change(old: Option<&Record>, new: Option<&Record>) -> Option<Change> {
    let subject = new.or(old)?;
    let mut values = Vec::new();
    for record in [old, new].into_iter().flatten() {
        for (position, value) in record.labels.iter().enumerate() {
            if let Some(value) = value
                && !values.contains(&(position, value.clone()))
            {
                values.push((position, value.clone()));
            }
        }
    }
    Some(Change {
        namespace: subject.namespace.clone(),
        name: subject.name.clone(),
        values,
        news: news(old, new),
    })
}

fn news(old: Option<&Record>, new: Option<&Record>) -> News {
    let (Some(old), Some(new)) = (old, new) else {
        return News::Spec;
    };
    let (old_meta, new_meta) = (old.object().meta, new.object().meta);
    let spec = old.uid != new.uid
        || old_meta.generation != new_meta.generation
        || old_meta.is_terminating() != new_meta.is_terminating();
    if spec { News::Spec } else { News::Other }
}

#[cfg(test)]
mod tests;
