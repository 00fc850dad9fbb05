//! Rules of `Registration`.

use kube_core::Rule;

use super::must;

/// An answer that says "it is there already" brings no values.
pub fn capture_needs_lookup() -> Rule {
    must(
        "has(self.lookup) || ((!has(self.register.capture) || size(self.register.capture) == 0) && (!has(self.deregister.capture) || size(self.deregister.capture) == 0))",
        "`capture` needs `lookup`, because an answer such as 409 brings no values: add `lookup`, or remove `capture`",
    )
}

/// The target would have to run before it is registered with itself.
pub fn target_is_not_selected() -> Rule {
    must(
        "!self.select.exists(s, s.kind == 'Component' && s.name == self.target.component) || self.select.size() > 1",
        "`select` names the target alone: name the services whose pods are registered with it",
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
