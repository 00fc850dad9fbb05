//! What the operator and the agents may do, as one table with the reason for
//! each line. The chart's roles are made from it; a test on the testbed holds
//! it against the API server's audit log in both directions.
//!
//! `get` is there where the engine reads an object live before it writes it;
//! `list` is what a watch falls back to; what our objects own is deleted by
//! Kubernetes' garbage collector and needs no right of ours.

use std::fmt::Write as _;

use super::{COMMAND, Generated};

const PATH: &str = "charts/palladion/templates/roles.yaml";

/// One line of a role.
struct Rule {
    why: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
    names: &'static [&'static str],
    verbs: &'static [&'static str],
}

const fn rule(
    why: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
) -> Rule {
    Rule { why, group, resources, names: &[], verbs }
}

const OURS: &str = "palladion.dev";

/// In the namespaces that hold rings. Server-side apply needs `create` and `patch`.
const RINGS: &[Rule] = &[
    rule(
        "The rings that people want; the turn is read live before it is taken",
        OURS,
        &["cassandraclusters"],
        &["get", "list", "watch", "patch"],
    ),
    rule("What is so, and whose turn it is", OURS, &["cassandraclusters/status"], &["patch"]),
    rule(
        "Owner references that block the owner's deletion",
        OURS,
        &["cassandraclusters/finalizers"],
        &["update"],
    ),
    rule(
        "One object for each member: what it should do, and what its agent sees",
        OURS,
        &["cassandramembers"],
        &["get", "list", "watch", "create", "patch", "delete"],
    ),
    rule("Work that people want done once", OURS, &["cassandratasks"], &["list", "watch"]),
    rule("How that work goes", OURS, &["cassandratasks/status"], &["patch"]),
    rule(
        "A rack is one StatefulSet",
        "apps",
        &["statefulsets"],
        &["get", "list", "watch", "create", "patch", "delete"],
    ),
    rule(
        "Services of the members and of the drivers; configuration of the servers",
        "",
        &["services", "configmaps"],
        &["get", "list", "watch", "create", "patch", "delete"],
    ),
    rule(
        "The account of the member pods",
        "",
        &["serviceaccounts"],
        &["get", "list", "watch", "create", "patch"],
    ),
    rule(
        "Gives that account the role palladion-member, in its own namespace",
        "rbac.authorization.k8s.io",
        &["rolebindings"],
        &["get", "list", "watch", "create", "patch"],
    ),
    rule(
        "Pods are made by the StatefulSet controller; a restart is a deletion",
        "",
        &["pods"],
        &["list", "watch", "delete"],
    ),
    rule(
        "Claims carry the identity of the member whose data they hold; `delete` serves deletionPolicy Delete alone",
        "",
        &["persistentvolumeclaims"],
        &["list", "watch", "patch", "delete"],
    ),
    rule(
        "One member down at a time, also when nodes are drained",
        "policy",
        &["poddisruptionbudgets"],
        &["get", "list", "watch", "create", "patch"],
    ),
    rule(
        "StatefulSets over zones that people want; the active pod is named live before it is labelled",
        OURS,
        &["zonedstatefulsets"],
        &["get", "list", "watch"],
    ),
    rule("What is so, and which pod is active", OURS, &["zonedstatefulsets/status"], &["patch"]),
    rule(
        "Owner references that block the owner's deletion",
        OURS,
        &["zonedstatefulsets/finalizers"],
        &["update"],
    ),
    rule(
        "Labels of pods that a template cannot give: the ordinal, and which pod is active",
        "",
        &["pods"],
        &["patch"],
    ),
    rule("What happened, told on the object", "events.k8s.io", &["events"], &["create"]),
];

/// Not in a namespace.
const CLUSTER: &[Rule] = &[
    rule(
        "Pausing everything, and the default image of the agent",
        OURS,
        &["operatorconfigs"],
        &["list", "watch"],
    ),
    rule(
        "Does the storage class exist; does it grow its volumes",
        "storage.k8s.io",
        &["storageclasses"],
        &["list", "watch"],
    ),
    rule(
        "Is a member's node there, and ready; live before a volume is given up with it",
        "",
        &["nodes"],
        &["get", "list", "watch"],
    ),
    rule(
        "In which node is a member's local volume",
        "",
        &["persistentvolumes"],
        &["list", "watch"],
    ),
    Rule {
        why: "May hand out this one role and no other",
        group: "rbac.authorization.k8s.io",
        resources: &["clusterroles"],
        names: &["palladion-member"],
        verbs: &["bind"],
    },
];

/// In the operator's own namespace.
const OWN: &[Rule] = &[rule(
    "One leader at a time",
    "coordination.k8s.io",
    &["leases"],
    &["get", "create", "update"],
)];

/// For the pods of members, in their own namespace. Nothing in a member's object is secret.
const MEMBER: &[Rule] = &[
    rule("An agent watches its own object", OURS, &["cassandramembers"], &["list", "watch"]),
    rule(
        "An agent writes the status of its own member; an admission policy keeps it to that",
        OURS,
        &["cassandramembers/status"],
        &["patch"],
    ),
];

pub fn file() -> Generated {
    let mut text =
        format!("# Generated from xtask/src/generate/access.rs by `{COMMAND}`. Do not edit.\n");
    text += &role("ClusterRole", "{{ include \"palladion.name\" . }}-rings", RINGS);
    text += &role("ClusterRole", "{{ include \"palladion.name\" . }}-cluster", CLUSTER);
    text += &role("Role", "{{ include \"palladion.name\" . }}-leader", OWN);
    text += &role("ClusterRole", "palladion-member", MEMBER);
    Generated::new(PATH, text)
}

fn role(kind: &str, name: &str, rules: &[Rule]) -> String {
    let namespace = if kind == "Role" { "  namespace: {{ .Release.Namespace }}\n" } else { "" };
    let mut text = format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}  labels: {{{{- include \"palladion.labels\" . | nindent 4 }}}}\nrules:\n"
    );
    for rule in rules {
        let names = if rule.names.is_empty() {
            String::new()
        } else {
            format!("    resourceNames: [{}]\n", rule.names.join(", "))
        };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "  # {}.\n  - apiGroups: [\"{}\"]\n    resources: [{}]\n{names}    verbs: [{}]\n",
            rule.why,
            rule.group,
            rule.resources.join(", "),
            rule.verbs.join(", ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_may_read_secrets_or_use_a_wildcard() {
        for rule in [RINGS, CLUSTER, OWN, MEMBER].into_iter().flatten() {
            for word in rule.resources.iter().chain(rule.verbs).chain([&rule.group]) {
                assert!(!word.contains('*') && !word.contains("secrets"), "{}: {word}", rule.why);
            }
        }
    }

    #[test]
    fn members_may_write_nothing_but_status() {
        for rule in MEMBER {
            let writes = rule.verbs.iter().any(|v| !["get", "list", "watch"].contains(v));
            assert!(!writes || rule.resources == ["cassandramembers/status"], "{}", rule.why);
        }
    }
}
