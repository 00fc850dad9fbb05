//! Rules of `Stack`.

use kube_core::Rule;

use super::{must, must_saying};

/// Rules of the object as a whole.
pub fn of_the_whole_object() -> [Rule; 1] {
    [name_is_a_label_value()]
}

/// Its services carry it as the value of a label.
pub fn name_is_a_label_value() -> Rule {
    must(
        "size(self.metadata.name) <= 63",
        "the name may have at most 63 characters, because it is the value of a label of each service",
    )
}

/// An object is described once.
pub fn services_are_unique() -> Rule {
    must(
        "self.all(s, self.exists_one(t, t.kind == s.kind && t.name == s.name))",
        "`services` names a service twice: each kind and name may be there once",
    )
}

/// What is not written is not created.
pub fn create_needs_activate() -> Rule {
    must_saying(
        "!self.create || self.activate",
        "'service %s has `create: true` and is not active: set `activate: true`, or remove `create`'.format([self.name])",
    )
}
