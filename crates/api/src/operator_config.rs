//! `OperatorConfig`: settings of the operator; one object, `default`.

use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Settings of the operator. Only the object named `default` is read.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "OperatorConfig",
    shortname = "opcfg",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct OperatorConfigSpec {
    /// While true, the operator writes only the status of its objects, and which members are away and need a repair for it. Default false.
    #[serde(default)]
    pub paused: bool,
    /// Image of the agent for clusters that name none; pods that run keep theirs until they are replaced for another reason. Default: the image released with this operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub agent_image: Option<String>,
}
