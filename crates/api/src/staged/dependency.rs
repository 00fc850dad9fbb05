//! What a staged service waits for before it starts.

use crate::names::LABEL;
use crate::rules::staged as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// A service that must be there before this one starts.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// Its kind.
    pub kind: DependencyKind,
    /// Its name, in this namespace.
    #[schemars(length(min = 1, max = 63), regex(pattern = LABEL))]
    pub name: String,
    /// Name for it in templates. Default: its name, with `_` for `-`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub alias: Option<String>,
    /// How many of its members must be ready: `Quorum` (more than half), `All`, or a number. Default `Quorum`.
    #[serde(default)]
    #[schemars(schema_with = "minimum")]
    #[x_kube(validation = rules::minimum_is_known())]
    pub minimum: Minimum,
}

impl Dependency {
    /// Its name in templates.
    pub fn alias(&self) -> String {
        self.alias.clone().unwrap_or_else(|| self.name.replace(['-', '.'], "_"))
    }
}

/// Kinds that others may depend on.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum DependencyKind {
    /// A ring of Cassandra or Scylla.
    CassandraCluster,
    /// A ZooKeeper ensemble.
    ZookeeperCluster,
    /// A RabbitMQ cluster.
    RabbitmqCluster,
    /// Another staged service.
    Component,
}

impl DependencyKind {
    /// All kinds.
    pub const ALL: [DependencyKind; 4] = [
        DependencyKind::CassandraCluster,
        DependencyKind::ZookeeperCluster,
        DependencyKind::RabbitmqCluster,
        DependencyKind::Component,
    ];

    /// As it stands in a manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            DependencyKind::CassandraCluster => "CassandraCluster",
            DependencyKind::ZookeeperCluster => "ZookeeperCluster",
            DependencyKind::RabbitmqCluster => "RabbitmqCluster",
            DependencyKind::Component => "Component",
        }
    }
}

/// How many members of a dependency must be ready.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(untagged)]
pub enum Minimum {
    /// So many.
    Number(i32),
    /// So large a share.
    Share(Share),
}

impl Default for Minimum {
    fn default() -> Self {
        Minimum::Share(Share::Quorum)
    }
}

/// A share of the members of a dependency.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// More than half.
    Quorum,
    /// Every one.
    All,
}

fn minimum(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "x-kubernetes-int-or-string": true })
}
