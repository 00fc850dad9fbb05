//! What the operator may do for this mind, and why. ConfigMaps and Secrets that
//! a set names are not among it: whoever wants them watched grants that, in
//! the set's namespace.

use crate::resources::{CLAIM, NODE, OPERATOR_CONFIG, POD, SERVICE, STATEFUL_SET, ZONED_SET};
use palladion_api::rights::Verb::{Create, Delete, Get, List, Patch, Update, Watch};
use palladion_api::rights::{Right, Verb};

/// Of an object that is created, kept as it should be and deleted in the end.
const ALL: &[Verb] = &[Get, List, Watch, Create, Patch, Delete];
const SEEN: &[Verb] = &[List, Watch];

/// Everything that this mind's plans and watches need.
pub const RIGHTS: &[Right] = &[
    ZONED_SET.right(&[Get, List, Watch], "The sets; read live before the active pod is labelled"),
    ZONED_SET.right(&[Patch], "Observed state, and which pod is active").on("status"),
    ZONED_SET.right(&[Update], "Owner references that block the owner's deletion").on("finalizers"),
    STATEFUL_SET.right(ALL, "Each zone is one StatefulSet"),
    SERVICE.right(ALL, "Services of the set and of its zones"),
    POD.right(
        &[List, Watch, Patch, Delete],
        "Labels that a template cannot give: the ordinal, and which pod is active; a restart is a deletion",
    ),
    CLAIM.right(&[List, Watch, Patch], "Volume claims of the zones, which can grow"),
    OPERATOR_CONFIG.right(SEEN, "Pausing every set"),
    NODE.right(SEEN, "Which zones exist"),
];
