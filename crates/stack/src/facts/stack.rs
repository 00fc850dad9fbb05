//! A Stack at one moment: its services as they are.

use crate::resources::{self as kinds, OPERATOR_CONFIG};
use crate::words::refusal::Unknown;
use palladion_api::stack::{StackKind, StackService};
use palladion_api::{OperatorConfigSpec, StackSpec, StackStatus};
use palladion_plan::{Object, Snapshot};
use std::sync::Arc;

/// Everything known about one Stack at one moment.
#[derive(Debug)]
pub struct StackFacts<'a> {
    /// The raw snapshot.
    pub snapshot: &'a Snapshot,
    /// The spec; `Err` says why it cannot be read.
    pub spec: Result<StackSpec, String>,
    /// The status as stored.
    pub status: StackStatus,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
}

impl<'a> StackFacts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, String> {
        let owner = &snapshot.owner;
        let spec = owner.part("spec").and_then(|s| s.ok_or_else(|| Unknown::NoSpec.to_string()));
        Ok(Self {
            snapshot,
            spec,
            status: owner.part("status")?.unwrap_or_default(),
            operator_config: snapshot.spec_of(OPERATOR_CONFIG, "default")?,
        })
    }

    /// The object of a service, if there is one.
    ///
    /// # Errors
    /// Its kind cannot be read: that is not to say that it does not exist.
    pub fn child(&self, kind: StackKind, name: &str) -> Result<Option<&Arc<Object>>, String> {
        let all = self.snapshot.all(kinds::of_stack(kind))?;
        Ok(all.iter().find(|object| object.meta.name == name))
    }

    /// The object of a service of the spec.
    ///
    /// # Errors
    /// As [`StackFacts::child`].
    pub fn of(&self, service: &StackService) -> Result<Option<&Arc<Object>>, String> {
        self.child(service.kind, &service.name)
    }
}
