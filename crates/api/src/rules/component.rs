//! Rules of `Component`.

use kube_core::Rule;

use super::{fixed, must, must_saying};
use crate::names::STATEFUL_SET_NAME_MAX;

/// Rules of the object as a whole.
pub fn of_the_whole_object() -> Vec<Rule> {
    vec![name_is_a_service_name(), name_fits(), does_not_depend_on_itself(), claims_are_fixed()]
}

/// Services and pods are named after it.
pub fn name_is_a_service_name() -> Rule {
    must(
        "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "pods and Services are named after the Component: use only a-z, 0-9 and `-`, start with a letter and end with a letter or digit",
    )
}

/// The controller puts the name of a set into a label, with a hash.
pub fn name_fits() -> Rule {
    must(
        format!("size(self.metadata.name) <= {STATEFUL_SET_NAME_MAX}"),
        format!(
            "the name may have at most {STATEFUL_SET_NAME_MAX} characters, because a StatefulSet and pods are named after it"
        ),
    )
}

/// It would never start.
pub fn does_not_depend_on_itself() -> Rule {
    must(
        "!has(self.spec.dependsOn) || !self.spec.dependsOn.exists(d, d.kind == 'Component' && d.name == self.metadata.name)",
        "a Component cannot depend on itself: remove it from `dependsOn`",
    )
}

/// Dependents hold the addresses in their configuration.
pub fn addresses_are_fixed() -> Rule {
    fixed(
        "self.network.addresses == oldSelf.network.addresses",
        "'`network.addresses` is immutable: change it back to %s, or create another Component'.format([oldSelf.network.addresses])",
    )
    .field_path(".network.addresses")
}

/// Pods find their text by their key.
pub fn config_key_is_fixed() -> Rule {
    fixed(
        "!has(oldSelf.config) || !has(self.config) || self.config.key == oldSelf.config.key",
        "'`config.key` is immutable: change it back to %s, or create another Component'.format([oldSelf.config.key])",
    )
}

/// A StatefulSet does not change them. Before there is one, and the status says nothing of
/// the service yet, a slip may be corrected.
fn claims_are_fixed() -> Rule {
    const IS_NEW: &str = "!has(oldSelf.status) || !has(oldSelf.status.service)";
    let (new, old) = ("self.spec.volumeClaimTemplates", "oldSelf.spec.volumeClaimTemplates");
    must(
        format!("{IS_NEW} || (has({new}) == has({old}) && (!has({new}) || {new} == {old}))"),
        "`volumeClaimTemplates` is immutable: change it back, or create another Component",
    )
    .reason(kube_core::Reason::FieldValueForbidden)
    .field_path(".spec.volumeClaimTemplates")
}

/// A Service without a port cannot have an address.
pub fn services_need_ports() -> Rule {
    must(
        "self.network.addresses != 'Service' || (has(self.network.ports) && size(self.network.ports) > 0)",
        "`network.addresses: Service` gives each pod a Service, which needs a port: list the ports in `network.ports`, or set `network.addresses: PodIP`",
    )
}

/// Else each restart would change the texts of all others, for ever.
pub fn restart_keeps_addresses() -> Rule {
    must(
        "!has(self.config) || self.network.addresses != 'PodIP' || self.reload.policy != 'Restart'",
        "with `network.addresses: PodIP` a restarted pod has another address, which would restart the others in turn: set `reload.policy` to Recreate or Signal, or use `network.addresses: Service`",
    )
}

/// Who gets the signal.
pub fn signal_is_complete() -> Rule {
    must(
        "self.reload.policy == 'Signal' ? (has(self.reload.process) && has(self.reload.container)) : (!has(self.reload.signal) && !has(self.reload.process) && !has(self.reload.container))",
        "`reload.process` and `reload.container` are needed with `policy: Signal`, and they and `reload.signal` are for that policy alone: set both, or remove them",
    )
}

/// A signal says that the configuration is another one.
pub fn signal_is_about_config() -> Rule {
    must(
        "self.reload.policy != 'Signal' || has(self.config)",
        "`reload.policy: Signal` sends a signal when the configuration of a pod has changed, and there is no `config`: add `config`, or remove `reload`",
    )
}

/// The process is in a container of the template.
pub fn signal_is_for_a_container() -> Rule {
    is_a_container("reload.container", "has(self.reload.container)", "self.reload.container")
}

/// The probe runs in a container of the template.
pub fn probed_container_exists() -> Rule {
    is_a_container(
        "readiness.http.container",
        "has(self.readiness)",
        "self.readiness.http.container",
    )
}

fn is_a_container(field: &str, given: &str, name: &str) -> Rule {
    must_saying(
        format!("!({given}) || self.template.spec.containers.exists(c, c.name == {name})"),
        format!(
            "'`{field}` is %s, but the template has no container of this name: use one of its containers'.format([{name}])"
        ),
    )
}

/// A container has one readiness probe.
pub fn probed_container_has_no_probe() -> Rule {
    must(
        "!has(self.readiness) || !self.template.spec.containers.exists(c, c.name == self.readiness.http.container && has(c.readinessProbe))",
        "the container of `readiness.http` has a readiness probe of its own: remove one of the two",
    )
}
