//! What was tried, on which object, and what became of it; and the rule that a
//! role must have for it.

use crate::error::ApiError;
use http::Method;
use palladion_api::rights::Verb;
use palladion_plan::{Resource, Scope};

/// One request, as access control sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What was tried.
    pub verb: Verb,
    /// On which kind.
    pub resource: Resource,
    /// On which part of the object; empty for the object itself.
    pub part: &'static str,
    /// In which namespace; `None` for all, and for kinds without one.
    pub namespace: Option<String>,
    /// On which object; `None` for the whole kind.
    pub name: Option<String>,
}

/// An attempt that the API server did not carry out.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt}")]
pub struct Refusal {
    /// What was tried.
    pub attempt: Attempt,
    /// What came of it.
    #[source]
    pub answer: ApiError,
}

/// Kinds of refusal, by what a person does about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A right is missing.
    NoRight,
    /// The object, or its kind, does not exist.
    NotFound,
    /// The server does not take what was written.
    Refused,
    /// Nobody answered, or the server knows nobody of that name.
    NoConnection,
}

impl Attempt {
    /// On all objects of a kind, in one namespace or in all.
    pub fn on_kind(verb: Verb, resource: Resource, namespace: Option<&str>) -> Self {
        let namespace = namespace.map(str::to_string);
        Self { verb, resource, part: "", namespace, name: None }.in_scope()
    }

    /// On one object.
    pub fn on_object(verb: Verb, resource: Resource, namespace: &str, name: &str) -> Self {
        let mut attempt = Self::on_kind(verb, resource, Some(namespace));
        attempt.name = Some(name.to_string());
        attempt
    }

    /// On a part of it only.
    pub fn part(mut self, part: &'static str) -> Self {
        self.part = part;
        self
    }

    fn in_scope(mut self) -> Self {
        match self.resource.scope {
            Scope::Namespaced => {}
            Scope::Cluster => self.namespace = None,
        }
        self
    }

    pub(super) fn method(&self) -> Method {
        match self.verb {
            Verb::Get | Verb::List | Verb::Watch => Method::GET,
            Verb::Create | Verb::Bind => Method::POST,
            Verb::Update => Method::PUT,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        }
    }

    /// The resource as a role names it.
    pub fn in_a_role(&self) -> String {
        match self.part {
            "" => self.resource.plural.to_string(),
            part => format!("{}/{part}", self.resource.plural),
        }
    }

    /// The rule that allows this, as it stands in a role.
    pub fn rule(&self) -> String {
        let verbs = match self.part {
            // Over a WebSocket: servers before 1.35 ask for `get`, newer ones for `create`.
            "exec" => "create, get",
            _ => self.verb.as_str(),
        };
        let (group, resource) = (self.resource.group, self.in_a_role());
        format!("- apiGroups: [\"{group}\"]\n  resources: [{resource}]\n  verbs: [{verbs}]")
    }

    /// The kind of role that such a rule stands in.
    pub fn role(&self) -> &'static str {
        match self.namespace {
            Some(_) => "Role",
            None => "ClusterRole",
        }
    }
}

/// `list cassandramembers in namespace default`.
impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.verb.as_str(), self.in_a_role())?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        match (&self.namespace, self.resource.scope) {
            (Some(namespace), _) => write!(f, " in namespace {namespace}"),
            (None, Scope::Namespaced) => f.write_str(" in all namespaces"),
            (None, Scope::Cluster) => Ok(()),
        }
    }
}

impl Refusal {
    /// Was it a write that may have been done all the same?
    pub fn is_open(&self) -> bool {
        let is_silent = matches!(self.answer.code, None | Some(0 | 408 | 500..=599));
        self.attempt.verb.is_write() && is_silent && self.class() == Class::NoConnection
    }

    /// What a person does about it.
    pub fn class(&self) -> Class {
        match self.answer.code {
            Some(403) if is_of_admission(&self.answer.message) => Class::Refused,
            Some(403) => Class::NoRight,
            Some(404) => Class::NotFound,
            // A webhook that does not answer is answered for with 500: nothing was stored.
            Some(500) if self.answer.message.contains(WEBHOOK) => Class::Refused,
            None | Some(0 | 401 | 408 | 429 | 500..=599) => Class::NoConnection,
            Some(_) => Class::Refused,
        }
    }
}

/// How the API server begins where it could not ask an admission webhook.
const WEBHOOK: &str = "failed calling webhook";

/// Who may write, and is refused what is written, is answered with 403 as well.
fn is_of_admission(message: &str) -> bool {
    ["ValidatingAdmissionPolicy", "admission webhook", "exceeded quota", "being terminated"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::kinds;

    #[test]
    fn an_attempt_reads_as_kubectl_says_it() {
        let pods = Attempt::on_kind(Verb::List, kinds::POD, Some("ns"));
        assert_eq!(pods.to_string(), "list pods in namespace ns");
        assert_eq!(pods.role(), "Role");
        let nodes = Attempt::on_kind(Verb::List, kinds::NODE, Some("ns"));
        assert_eq!(nodes.to_string(), "list nodes");
        assert_eq!(nodes.role(), "ClusterRole");
        let log = Attempt::on_object(Verb::Get, kinds::POD, "ns", "a-0").part("log");
        assert_eq!(log.to_string(), "get pods/log a-0 in namespace ns");
        assert_eq!(log.rule(), "- apiGroups: [\"\"]\n  resources: [pods/log]\n  verbs: [get]");
    }

    #[test]
    fn answers_have_a_class_by_what_a_person_does() {
        let of = |code: Option<u16>| {
            let mut answer = ApiError::local(String::new());
            answer.code = code;
            let attempt = Attempt::on_kind(Verb::List, kinds::POD, None);
            Refusal { attempt, answer }.class()
        };
        assert_eq!(of(Some(403)), Class::NoRight);
        assert_eq!(of(Some(404)), Class::NotFound);
        for code in [400, 409, 413, 422] {
            assert_eq!(of(Some(code)), Class::Refused, "{code}");
        }
        let mut answer = ApiError::local("admission webhook x denied the request".to_string());
        answer.code = Some(403);
        let attempt = Attempt::on_kind(Verb::Create, kinds::POD, None);
        assert_eq!(Refusal { attempt, answer }.class(), Class::Refused);
        let mut answer = ApiError::local(
            "Internal error occurred: failed calling webhook \"x\": no endpoints".to_string(),
        );
        answer.code = Some(500);
        let attempt = Attempt::on_kind(Verb::Create, kinds::POD, None);
        assert_eq!(Refusal { attempt, answer }.class(), Class::Refused);
        for code in [None, Some(401), Some(429), Some(500), Some(503)] {
            assert_eq!(of(code), Class::NoConnection, "{code:?}");
        }
    }
}
