//! Rules of containers beside the server.

use kube_core::Rule;

use super::{must, must_saying};
use crate::reserved;

/// Scylla's REST API listens on the loopback address and asks nobody for a password.
pub fn scylla_takes_no_sidecars() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.sidecars) || size(self.sidecars) == 0",
        "`sidecars` applies to Cassandra only: they would reach the REST API of ScyllaDB, which has no authentication",
    )
    .field_path(".sidecars")
}

/// Until a new ring has its users, the loopback address is all that keeps others out on line 4.0.
pub fn sidecars_need_4_1() -> Rule {
    must(
        "!has(self.sidecars) || size(self.sidecars) == 0 || !self.version.startsWith('4.0')",
        "`sidecars` requires Cassandra 4.1 or newer: upgrade first, or remove `sidecars`",
    )
    .field_path(".sidecars")
}

/// The name of a container, and of its volume, after a word of ours.
pub fn name_is_free() -> Rule {
    let ours: Vec<String> = reserved::CONTAINERS.iter().map(|name| format!("'{name}'")).collect();
    must(
        format!(
            "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && !(self in [{}])",
            ours.join(", ")
        ),
        format!(
            "use only a-z, 0-9 and `-`, start and end with a letter or digit, and none of the names of other containers: {}",
            reserved::CONTAINERS.join(", ")
        ),
    )
}

/// Each container of a pod has a name of its own.
pub fn names_are_unique() -> Rule {
    must_saying(
        "self.all(s, self.exists_one(t, t.name == s.name))",
        "'names of sidecars must be unique; repeated: %s'.format([self.filter(s, !self.exists_one(t, t.name == s.name)).map(s, s.name)])",
    )
}

/// As Kubernetes names ports.
pub fn port_name_is_one() -> Rule {
    must(
        "self.matches('^[a-z]([a-z0-9]|-[a-z0-9])*$')",
        "use only a-z, 0-9 and single `-` between them, and start with a letter",
    )
}

/// All containers of a pod have one network.
pub fn ports_are_free() -> Rule {
    let ours: Vec<String> = reserved::LISTENING.iter().map(ToString::to_string).collect();
    must(
        format!(
            "self.all(s, !has(s.ports) || s.ports.all(p, !(p.port in [{}]) && self.exists_one(t, has(t.ports) && t.ports.exists(q, q.port == p.port)) && s.ports.exists_one(q, q.port == p.port) && s.ports.exists_one(q, q.name == p.name)))",
            ours.join(", ")
        ),
        format!(
            "ports of sidecars must be unique, by number in the pod and by name in the container, and other than those of the server and the agent: {}",
            ours.join(", ")
        ),
    )
}
