//! Paths of the Kubernetes API, and what a list or a watch selects.

use palladion_plan::{ObjectKey, Resource};

/// What a list or a watch is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The kind.
    pub resource: Resource,
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// Label selector, empty for all.
    pub labels: String,
    /// Field selector, empty for all.
    pub fields: String,
}

impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.resource.plural)?;
        for part in [self.namespace.as_deref().unwrap_or(""), &self.labels, &self.fields] {
            if !part.is_empty() {
                write!(f, " {part}")?;
            }
        }
        Ok(())
    }
}

/// The collection's path and the selectors, ready for one more parameter.
pub(crate) fn selection_query(selection: &Selection) -> String {
    let mut path = collection_path(&selection.resource, selection.namespace.as_deref());
    path.push('?');
    for (name, value) in
        [("labelSelector", &selection.labels), ("fieldSelector", &selection.fields)]
    {
        if !value.is_empty() {
            path.push_str(&format!("{name}={}&", encode(value)));
        }
    }
    path
}

pub(crate) fn collection_path(resource: &Resource, namespace: Option<&str>) -> String {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    let namespace = match namespace {
        Some(namespace) if !namespace.is_empty() => format!("/namespaces/{}", encode(namespace)),
        _ => String::new(),
    };
    format!("{root}/{}{namespace}/{}", resource.api_version(), resource.plural)
}

pub(crate) fn object_path(key: &ObjectKey) -> String {
    let collection = collection_path(&key.resource, Some(&key.namespace));
    format!("{collection}/{}", encode(&key.name))
}

/// Percent-encoding of all but unreserved characters.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte as char)
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
    const CLASS: Resource =
        Resource::cluster("storage.k8s.io", "v1", "StorageClass", "storageclasses");

    #[test]
    fn paths_are_those_of_the_kubernetes_api() {
        assert_eq!(object_path(&ObjectKey::new(POD, "a", "b")), "/api/v1/namespaces/a/pods/b");
        assert_eq!(
            object_path(&ObjectKey::new(CLASS, "", "b")),
            "/apis/storage.k8s.io/v1/storageclasses/b"
        );
        assert_eq!(collection_path(&POD, None), "/api/v1/pods");
    }

    #[test]
    fn selectors_are_encoded() {
        let selection = Selection {
            resource: POD,
            namespace: None,
            labels: "a/b=c".to_string(),
            fields: "metadata.name=x".to_string(),
        };
        assert_eq!(
            selection_query(&selection),
            "/api/v1/pods?labelSelector=a%2Fb%3Dc&fieldSelector=metadata.name%3Dx&"
        );
    }
}
