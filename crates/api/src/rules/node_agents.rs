//! Rules of `NodeAgentProfile` and `NodeAgentGroup`.

use kube_core::Rule;

use super::{component, fixed, must, must_saying};

/// Rules of a group as a whole.
pub fn of_the_whole_group() -> Vec<Rule> {
    vec![group_name_fits()]
}

/// Labels and names are made of it.
pub fn group_name_fits() -> Rule {
    must(
        "size(self.metadata.name) <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "objects are named after the NodeAgentGroup: use at most 52 characters, only a-z, 0-9 and `-`, start with a letter and end with a letter or digit",
    )
}

/// An empty profile would be taken for one that was lost.
pub fn profile_says_something() -> Rule {
    must(
        "has(self.dpdkConfiguration) || has(self.sriovConfiguration) || has(self.kernelModeConfiguration) || has(self.otherConfig)",
        "the profile is empty: set at least one of `dpdkConfiguration`, `sriovConfiguration`, `kernelModeConfiguration` and `otherConfig`",
    )
}

/// Packets go one way.
pub fn modes_are_exclusive() -> Rule {
    must(
        "!has(self.dpdkConfiguration) || !has(self.kernelModeConfiguration)",
        "an agent forwards packets in user space or in the kernel: remove `dpdkConfiguration` or `kernelModeConfiguration`",
    )
}

/// Who excludes whom would change under pods that run.
pub fn agent_is_fixed() -> Rule {
    fixed(
        "self.agent == oldSelf.agent",
        "'`agent` is immutable: change it back to %s, or create another NodeAgentGroup'.format([oldSelf.agent])",
    )
    .field_path(".agent")
}

/// Agents find their text by it.
pub fn group_config_key_is_fixed() -> Rule {
    fixed(
        "!has(oldSelf.config) || !has(self.config) || self.config.key == oldSelf.config.key",
        "'`config.key` is immutable: change it back to %s, or create another NodeAgentGroup'.format([oldSelf.config.key])",
    )
}

/// Others hold the addresses in their configuration.
pub fn group_addresses_are_fixed() -> Rule {
    fixed(
        "self == oldSelf",
        "'`network.addresses` is immutable: change it back to %s, or create another NodeAgentGroup'.format([oldSelf])",
    )
}

/// A profile is merged once.
pub fn profiles_are_unique() -> Rule {
    must_saying(
        "self.all(p, self.exists_one(q, q == p))",
        "'`profiles` names %s twice: remove one of them'.format([self.filter(p, !self.exists_one(q, q == p))[0]])",
    )
}

/// Agents of different nodes do not start together.
pub fn group_is_not_recreated() -> Rule {
    must(
        "self.reload.policy != 'Recreate'",
        "node agents are not recreated all at once: set `reload.policy` to Restart or Signal",
    )
}

/// As in a Component.
pub fn group_signal_is_complete() -> Rule {
    component::signal_is_complete()
}

/// As in a Component.
pub fn group_signal_is_about_config() -> Rule {
    component::signal_is_about_config()
}

/// As in a Component.
pub fn group_signal_is_for_a_container() -> Rule {
    component::signal_is_for_a_container()
}
