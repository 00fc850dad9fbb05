//! Rules of what every staged service has.

use kube_core::Rule;

use super::{must, must_saying};
use crate::gate;

/// Ports are found by name, and a number is one port.
pub fn ports_are_unique() -> Rule {
    must(
        "self.all(p, self.exists_one(q, q.name == p.name) && self.exists_one(q, q.port == p.port))",
        "`ports` has a name or a number twice: give each port a name and a number of its own",
    )
}

/// A word or a number, which the schema alone does not say.
pub fn minimum_is_known() -> Rule {
    must(
        "type(self) == int ? (int(self) >= 1 && int(self) <= 1000) : (self == 'Quorum' || self == 'All')",
        "`minimum` must be Quorum, All, or a number from 1 to 1000",
    )
}

/// A file is known by its name.
pub fn files_are_unique() -> Rule {
    must(
        "self.all(f, self.exists_one(g, (has(g.name) ? g.name : '') == (has(f.name) ? f.name : '')))",
        "`files` has a name twice: give each file a name of its own; one of them may have none",
    )
}

/// A service is waited for once.
pub fn dependencies_are_unique() -> Rule {
    must(
        "self.all(d, self.exists_one(e, e.kind == d.kind && e.name == d.name))",
        "`dependsOn` names a service twice: keep one entry with the larger `minimum`",
    )
}

/// In templates an alias means one service.
pub fn aliases_are_unique() -> Rule {
    let alias = |d: &str| format!("(has({d}.alias) ? {d}.alias : {d}.name.replace('-', '_'))");
    must(
        format!("self.all(d, self.exists_one(e, {} == {}))", alias("e"), alias("d")),
        "two entries of `dependsOn` have the same alias (by default the name, with `_` for `-`): set `alias` of one of them",
    )
}

/// The kernel knows a process by the name of its program, without the path to it.
pub fn process_is_a_name() -> Rule {
    must(
        "!self.startsWith('/')",
        "`reload.process` is the name of the process, as in `/proc/<pid>/comm`: give the name of the program without its path, of which the first 15 characters count",
    )
}

/// A claim would stand in the place of the volume that the gate needs.
pub fn claims_are_not_ours() -> Rule {
    let quoted = our_volumes();
    let taken = format!("c.metadata.name in [{quoted}]");
    must_saying(
        format!("!self.exists(c, {taken})"),
        format!(
            "'the operator adds a volume named %s: choose another name for the claim'.format([self.filter(c, {taken})[0].metadata.name])"
        ),
    )
}

/// A pod mounts a claim by its name.
pub fn claims_are_unique() -> Rule {
    must_saying(
        "self.all(c, self.exists_one(d, d.metadata.name == c.metadata.name))",
        "'`volumeClaimTemplates` names %s twice: give each claim a name of its own'.format([self.filter(c, !self.exists_one(d, d.metadata.name == c.metadata.name))[0].metadata.name])",
    )
}

fn our_volumes() -> String {
    let ours = [gate::STATUS_VOLUME, gate::CONFIG_VOLUME, gate::AGENT_VOLUME];
    ours.map(|name| format!("'{name}'")).join(", ")
}

/// The gate and the container that signals have names of their own.
pub fn containers_are_not_ours() -> Rule {
    let ours = format!("['{}', '{}']", gate::INIT, gate::RELOAD);
    let taken = |list: &str| {
        format!("(has(self.spec.{list}) && self.spec.{list}.exists(c, c.name in {ours}))")
    };
    must(
        format!("!{} && !{}", taken("containers"), taken("initContainers")),
        format!(
            "containers named {} and {} are added by the operator: choose another name",
            gate::INIT,
            gate::RELOAD
        ),
    )
}

/// So have the volumes of both.
pub fn volumes_are_not_ours() -> Rule {
    let quoted = our_volumes();
    must_saying(
        format!("!has(self.spec.volumes) || !self.spec.volumes.exists(v, v.name in [{quoted}])"),
        format!(
            "'the operator adds a volume named %s: choose another name'.format([self.spec.volumes.filter(v, v.name in [{quoted}])[0].name])"
        ),
    )
}

/// The network is chosen in one place.
pub fn no_host_network() -> Rule {
    must(
        "!has(self.spec.hostNetwork) || !self.spec.hostNetwork",
        "`hostNetwork` is set by the operator: remove it from the template and set `network.addresses: HostNetwork`",
    )
}
