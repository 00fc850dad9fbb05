//! Rules of `Registration`.

use kube_core::Rule;

use super::{fixed, must};

/// An answer that says "it is there already" brings no values.
pub fn capture_needs_lookup() -> Rule {
    must(
        "has(self.lookup) || !has(self.register.capture) || size(self.register.capture) == 0",
        "`capture` needs `lookup`, because an answer such as 409 brings no values: add `lookup`, or remove `capture`",
    )
}

/// Only a lookup asks again.
pub fn resync_needs_lookup() -> Rule {
    must(
        "has(self.lookup) || !has(self.resyncSeconds) || self.resyncSeconds == 0",
        "`resyncSeconds` needs `lookup`, by which each pod is asked for again: add `lookup`, or remove `resyncSeconds`",
    )
}

/// What is known of a pod goes with its registration.
pub fn deregister_keeps_nothing() -> Rule {
    must(
        "!has(self.deregister.capture) || size(self.deregister.capture) == 0",
        "nothing is kept of a pod that is taken out: remove `deregister.capture`",
    )
}

/// Every pod would count as registered.
pub fn not_found_is_no_yes() -> Rule {
    must(
        "!has(self.lookup) || !has(self.lookup.accept) || !(404 in self.lookup.accept)",
        "a lookup that is answered with 404 means that the pod is not registered: remove 404 from `lookup.accept`",
    )
}

/// The target would have to run before it is registered with itself.
pub fn target_is_not_selected() -> Rule {
    must(
        "!self.select.exists(s, s.kind == 'Component' && s.name == self.target.component) || self.select.size() > 1",
        "`select` names the target alone: name the services whose pods are registered with it",
    )
}

/// Nobody would be taken out of the former one, and what is recorded would be said of the new one.
pub fn target_is_fixed() -> Rule {
    fixed(
        "self.target.component == oldSelf.target.component",
        "'`target.component` is immutable, but was changed from %s to %s, which would leave pods registered with the former: change it back, and create another Registration for another target'.format([oldSelf.target.component, self.target.component])",
    )
}

/// A pod is registered once.
pub fn selected_once() -> Rule {
    must(
        "self.all(s, self.exists_one(t, t.kind == s.kind && t.name == s.name))",
        "`select` names a service twice: remove one of the entries",
    )
}

/// It follows the address of the target.
pub fn path_is_absolute() -> Rule {
    must(
        "self.startsWith('/')",
        "`path` must start with `/`; the address of the target is put before it",
    )
}
