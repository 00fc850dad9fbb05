//! Kubernetes objects as minds see them: identity plus the fields that a
//! watch keeps, as JSON.

use crate::words::unread::Unread;
use palladion_api::ids::Uid;
use palladion_api::rights::{Place, Right, Verb};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Is a kind namespaced?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Scope {
    /// Objects live in a namespace.
    Namespaced,
    /// Objects belong to the whole Kubernetes cluster.
    Cluster,
}

/// A kind of object, as the API serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Name in URLs.
    pub plural: &'static str,
    /// Namespaced or not.
    pub scope: Scope,
}

impl Resource {
    /// A namespaced kind.
    pub const fn namespaced(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { group, version, kind, plural, scope: Scope::Namespaced }
    }

    /// A cluster-scoped kind.
    pub const fn cluster(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { group, version, kind, plural, scope: Scope::Cluster }
    }

    /// A right on the objects of this kind.
    pub const fn right(self, verbs: &'static [Verb], why: &'static str) -> Right {
        let place = match self.scope {
            Scope::Namespaced => Place::Watched,
            Scope::Cluster => Place::Cluster,
        };
        Right::new(place, self.group, self.plural, verbs, why)
    }

    /// A namespaced kind of Palladion.
    pub const fn ours(kind: &'static str, plural: &'static str) -> Self {
        Self::namespaced(palladion_api::GROUP, palladion_api::VERSION, kind, plural)
    }

    /// `group/version`, or `version` in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// Name of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ObjectKey {
    /// Its kind.
    pub resource: Resource,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectKey {
    /// The key of an object.
    pub fn new(resource: Resource, namespace: &str, name: &str) -> Self {
        Self { resource, namespace: namespace.to_string(), name: name.to_string() }
    }
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.resource.kind, self.name)
    }
}

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// API version of the owner, `group/version`.
    pub api_version: String,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner.
    pub name: String,
    /// Uid of the owner.
    pub uid: Uid,
    /// Is it the managing controller?
    pub controller: bool,
    /// Does the object hold up a deletion of the owner in the foreground?
    pub block_owner_deletion: bool,
}

/// The part of `metadata` that decisions need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// Name.
    pub name: String,
    /// Namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Unique ID.
    pub uid: Uid,
    /// Version of the object, opaque.
    pub resource_version: String,
    /// Generation of the spec.
    pub generation: i64,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// Owners.
    pub owner_references: Vec<OwnerReference>,
    /// Finalizers.
    pub finalizers: Vec<String>,
    /// When it was made.
    pub creation_timestamp: Option<jiff::Timestamp>,
    /// Set while it is being deleted.
    pub deletion_timestamp: Option<jiff::Timestamp>,
}

impl Meta {
    /// Is the object being deleted?
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Is `uid` the controlling owner?
    pub fn is_controlled_by(&self, uid: &Uid) -> bool {
        self.owner_references.iter().any(|o| o.controller && o.uid == *uid)
    }
}

/// An observed object: its metadata and the fields that its watch keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Metadata.
    pub meta: Meta,
    /// The kept fields without `metadata`, for example `{"spec": …, "status": …}`.
    pub body: Value,
}

impl Object {
    /// A field of the body, such as `spec`, as a type; `None` if it is not there.
    ///
    /// # Errors
    /// What of it could not be understood.
    pub fn part<T: DeserializeOwned>(&self, field: &str) -> Result<Option<T>, String> {
        match self.body.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::deserialize(value).map(Some).map_err(|e| {
                let (field, object) = (field.to_string(), self.meta.name.clone());
                Unread::Field { field, object, why: e.to_string() }.to_string()
            }),
        }
    }

    /// The value at a JSON pointer of the body.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.body.pointer(pointer)
    }

    /// The string at a JSON pointer of the body.
    pub fn str_at(&self, pointer: &str) -> Option<&str> {
        self.at(pointer).and_then(Value::as_str)
    }

    /// The integer at a JSON pointer of the body.
    pub fn int_at(&self, pointer: &str) -> Option<i64> {
        self.at(pointer).and_then(Value::as_i64)
    }
}
