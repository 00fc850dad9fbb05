//! How a right is declared: beside the code that needs it, with its reason.
//! The chart's roles are collected from these declarations.

/// The role that the pods of members are bound to.
pub const MEMBER_ROLE: &str = "palladion-member";

/// A verb of Kubernetes' access control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Read one object, live.
    Get,
    /// What a watch begins with and falls back to.
    List,
    /// See every change.
    Watch,
    /// Also asked for by a server-side apply that creates.
    Create,
    /// Replace a whole object, or set references that block a deletion.
    Update,
    /// Server-side apply, and every other patch.
    Patch,
    /// Delete.
    Delete,
    /// Hand out a role.
    Bind,
}

impl Verb {
    /// The word in a role.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::Bind => "bind",
        }
    }

    /// Does it change something?
    pub fn is_write(self) -> bool {
        match self {
            Verb::Get | Verb::List | Verb::Watch => false,
            Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::Bind => true,
        }
    }
}

/// Where the objects of a right live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the namespaces that the operator watches.
    Watched,
    /// In no namespace.
    Cluster,
    /// In the operator's own namespace.
    Own,
}

/// A right that some code needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// The kind, as in URLs.
    pub plural: &'static str,
    /// A part of the object; empty for the object itself.
    pub subresource: &'static str,
    /// Where the objects live.
    pub place: Place,
    /// The only objects that it is about; empty for all.
    pub names: &'static [&'static str],
    /// What may be done.
    pub verbs: &'static [Verb],
    /// Why it is needed: one sentence without the full stop.
    pub why: &'static str,
}

impl Right {
    /// A right on the objects of a kind.
    pub const fn new(
        place: Place,
        group: &'static str,
        plural: &'static str,
        verbs: &'static [Verb],
        why: &'static str,
    ) -> Self {
        Self { group, plural, subresource: "", place, names: &[], verbs, why }
    }

    /// The same on a part of the object only.
    pub const fn on(mut self, subresource: &'static str) -> Self {
        self.subresource = subresource;
        self
    }

    /// The same on these objects only.
    pub const fn only(mut self, names: &'static [&'static str]) -> Self {
        self.names = names;
        self
    }

    /// The resource as a role names it.
    pub fn resource(&self) -> String {
        match self.subresource {
            "" => self.plural.to_string(),
            part => format!("{}/{part}", self.plural),
        }
    }
}
