//! Writes in a person's name: their own field manager, checked strictly, and
//! tried without being stored where that is asked for.

use super::Door;
use super::rights::{Attempt, Refusal};
use crate::request::path::{collection_path, object_path};
use palladion_api::rights::Verb;
use palladion_plan::{ObjectKey, Resource};
use serde_json::Value;

/// The field manager of what people write with the tool.
pub const FIELD_MANAGER: &str = "kubectl-palladion";

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

/// Is it stored?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storing {
    /// It is.
    Stored,
    /// Rights, schema and policies are checked, and nothing is stored.
    OnlyTried,
}

/// A patch, in one of the two shapes that the API server knows for all kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// Fields with their new values.
    Merge(Value),
    /// Operations; a `test` that does not hold is a refusal.
    Operations(Value),
}

impl Door {
    /// Create an object; the server's answer.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn create(
        &self,
        resource: Resource,
        namespace: &str,
        object: &Value,
        storing: Storing,
    ) -> Result<Value, Refusal> {
        let attempt = Attempt::on_kind(Verb::Create, resource, Some(namespace));
        let path = with_parameters(&collection_path(&resource, Some(namespace)), storing);
        self.call(&attempt, &path, Some((JSON, object))).await
    }

    /// Patch an object; the server's answer.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn patch(
        &self,
        key: &ObjectKey,
        patch: &Patch,
        storing: Storing,
    ) -> Result<Value, Refusal> {
        let attempt = Attempt::on_object(Verb::Patch, key.resource, &key.namespace, &key.name);
        let path = with_parameters(&object_path(key), storing);
        let body = match patch {
            Patch::Merge(fields) => (MERGE_PATCH, fields),
            Patch::Operations(operations) => (JSON_PATCH, operations),
        };
        self.call(&attempt, &path, Some(body)).await
    }
}

fn with_parameters(path: &str, storing: Storing) -> String {
    let tried = match storing {
        Storing::Stored => "",
        Storing::OnlyTried => "&dryRun=All",
    };
    format!("{path}?fieldManager={FIELD_MANAGER}&fieldValidation=Strict{tried}")
}
