//! Whether the storage class of a claim is there. One whose class is missing is never
//! bound, and the scheduler says only that the pod has a claim that is not.

use crate::object::Object;
use std::sync::Arc;

/// The annotation that marks the default storage class.
const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// A storage class that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoClass {
    /// The one of this name.
    Named(String),
    /// The claim names none, and no class is the default.
    Default,
}

/// Is the class of a claim among these?
///
/// # Errors
/// Which one is not.
pub fn find(name: Option<&str>, classes: &[Arc<Object>]) -> Result<(), NoClass> {
    let is_default = |class: &Arc<Object>| {
        class.meta.annotations.get(DEFAULT).is_some_and(|value| value == "true")
    };
    match name {
        Some("") => Ok(()), // Volumes that a person binds by hand.
        Some(name) if classes.iter().any(|class| class.meta.name == name) => Ok(()),
        Some(name) => Err(NoClass::Named(name.to_string())),
        None if classes.iter().any(is_default) => Ok(()),
        None => Err(NoClass::Default),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Meta;

    #[test]
    fn a_claim_without_a_class_needs_a_default_one() {
        let class = |name: &str, default: &str| {
            let annotations = [(DEFAULT.to_string(), default.to_string())].into();
            let meta = Meta { name: name.into(), annotations, ..Meta::default() };
            Arc::new(Object { meta, body: serde_json::json!({}) })
        };
        let some = [class("slow", "false"), class("local", "true")];
        assert_eq!(find(Some("slow"), &some), Ok(()));
        assert_eq!(find(Some("fast"), &some), Err(NoClass::Named("fast".into())));
        assert_eq!(find(None, &some), Ok(()));
        assert_eq!(find(None, &some[..1]), Err(NoClass::Default));
        assert_eq!(find(Some(""), &[]), Ok(()));
    }
}
