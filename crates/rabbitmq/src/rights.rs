//! What the operator may do for this mind, and why. `get` is there where the
//! engine reads an object live before it writes it.

use crate::resources::{
    CLAIM, CLUSTER, CONFIG_MAP, DISRUPTION_BUDGET, MEMBER, NODE, OPERATOR_CONFIG, POD,
    ROLE_BINDING, SECRET, SERVICE, SERVICE_ACCOUNT, STATEFUL_SET, STORAGE_CLASS, VOLUME,
};
use palladion_api::rights::Verb::{Bind, Create, Delete, Get, List, Patch, Update, Watch};
use palladion_api::rights::{MEMBER_ROLE, Place, Right, Verb};

/// Of an object that is created, kept as it should be and deleted in the end.
const ALL: &[Verb] = &[Get, List, Watch, Create, Patch, Delete];
/// Of an object that goes with its owner.
const KEPT: &[Verb] = &[Get, List, Watch, Create, Patch];
const SEEN: &[Verb] = &[List, Watch];

/// Everything that this mind's plans and watches need.
pub const RIGHTS: &[Right] = &[
    CLUSTER
        .right(&[Get, List, Watch, Patch], "The clusters; the turn is read live before it is taken"),
    CLUSTER.right(&[Patch], "Observed state, and whose turn it is").on("status"),
    CLUSTER.right(&[Update], "Owner references that block the owner's deletion").on("finalizers"),
    MEMBER.right(ALL, "One object per member: what it should do, and what its agent reports"),
    STATEFUL_SET.right(ALL, "Each cluster is one StatefulSet"),
    SERVICE.right(ALL, "Services of the members and of the clients"),
    CONFIG_MAP.right(ALL, "Configuration of the nodes"),
    SECRET.right(
        &[Create],
        "The credentials of a new cluster: created once with random values, and never read",
    ),
    SERVICE_ACCOUNT.right(KEPT, "The service account of the member pods"),
    ROLE_BINDING.right(KEPT, "Binds that account to the role palladion-member in its namespace"),
    POD.right(
        &[List, Watch, Delete],
        "Pods are created by the StatefulSet controller; one that does not serve is deleted",
    ),
    POD.right(&[Create], "A restart evicts the pod, so that PodDisruptionBudgets have a say")
        .on("eviction"),
    CLAIM.right(
        &[List, Watch, Patch, Delete],
        "Volume claims carry the name of their node; deleted for a replacement, or with deletionPolicy Delete",
    ),
    DISRUPTION_BUDGET.right(KEPT, "One node down at a time, also when machines are drained"),
    OPERATOR_CONFIG.right(SEEN, "Pausing every cluster, and the default image of the agent"),
    STORAGE_CLASS.right(SEEN, "Whether the storage class exists"),
    NODE.right(
        &[Get, List, Watch],
        "Whether a member's machine exists and is ready; read live before a volume counts as lost because of it",
    ),
    VOLUME.right(SEEN, "Which machine holds a member's local volume"),
    Right::new(
        Place::Cluster,
        "rbac.authorization.k8s.io",
        "clusterroles",
        &[Bind],
        "May bind this one role and no other",
    )
    .only(&[MEMBER_ROLE]),
];
