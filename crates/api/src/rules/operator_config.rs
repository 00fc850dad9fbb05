//! Rules of the operator's settings.

use kube_core::Rule;

use super::must;

/// Two stores would be two locks.
pub fn one_store() -> Rule {
    must(
        "has(self.etcd) != has(self.lease)",
        "set exactly one of `etcd` and `lease`: all regions must use the same lock",
    )
}

/// A group stands in the place of a namespace.
pub fn groups_are_names() -> Rule {
    must(
        "self.all(n, self[n].size() <= 63 && self[n].matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",
        "a group is a name like that of a namespace: 1 to 63 lower-case letters, digits and `-`",
    )
}

/// What is no URL would be noticed with the first lock.
pub fn endpoints_are_urls() -> Rule {
    must(
        "self.all(e, e.size() <= 253 && e.matches('^https?://[^/@ ]+$'))",
        "an endpoint is `https://` (or `http://`), a host and a port, and nothing behind it: for example `https://etcd-0.example.com:2379`",
    )
}
