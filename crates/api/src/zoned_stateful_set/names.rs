//! Labels, annotations and names of what is created for a `ZonedStatefulSet`.
//! Those that QuarksStatefulSet has keep its names (`docs/sources.md`).

/// On every object: the ZonedStatefulSet that it belongs to.
pub const OWNER: &str = "palladion.dev/zoned-stateful-set";
/// On sets and pods: index of the zone, from 0.
pub const AZ_INDEX: &str = "palladion.dev/az-index";
/// On sets and pods: the zone.
pub const AZ_NAME: &str = "palladion.dev/az-name";
/// On sets and pods, an annotation: all zones in order, as a JSON array.
pub const ZONES: &str = "palladion.dev/zones";
/// On sets and pods, an annotation: version of the template, from 1; with `rollout: Versioned` a label, too.
pub const VERSION: &str = "palladion.dev/version";
/// On pods, for Services to select by.
pub const INSTANCE_GROUP: &str = "palladion.dev/instance-group-name";
/// On pods, for Services to select by.
pub const DEPLOYMENT: &str = "palladion.dev/deployment-name";
/// On pods: the number at the end of the name.
pub const POD_ORDINAL: &str = "palladion.dev/pod-ordinal";
/// On the active pod.
pub const POD_ACTIVE: &str = "palladion.dev/pod-active";
/// The value of [`POD_ACTIVE`].
pub const ACTIVE: &str = "active";
/// On sets and pods, an annotation: hash of the configuration that the template refers to.
pub const CONFIG_HASH: &str = "palladion.dev/config-hash";
/// On sets, an annotation: hash of the pod template as it was written.
pub const TEMPLATE: &str = "palladion.dev/template";
/// On sets, an annotation: where the rollout is.
pub const STATE: &str = "palladion.dev/rollout-state";
/// On sets, an annotation: since when the rollout runs.
pub const STARTED: &str = "palladion.dev/rollout-started";
/// On Secrets, a label: this is one of a series `<name>-v<number>`, of which pods use the newest.
pub const SECRET_KIND: &str = "palladion.dev/secret-kind";
/// The value of [`SECRET_KIND`].
pub const VERSIONED_SECRET: &str = "versionedSecret";

/// `<name>[-z<index>][-v<version>]`.
pub fn set(name: &str, zone_index: Option<usize>, version: Option<i64>) -> String {
    let zone = zone_index.map(|i| format!("-z{i}")).unwrap_or_default();
    let version = version.map(|v| format!("-v{v}")).unwrap_or_default();
    format!("{name}{zone}{version}")
}

/// The Service of all ready pods.
pub fn ready_service(name: &str) -> String {
    format!("{name}-ready")
}

/// The Service of the active pod.
pub fn active_service(name: &str) -> String {
    format!("{name}-active")
}

/// Name and number of a versioned Secret's name: `tls-v3` is `("tls", 3)`.
pub fn versioned_secret(name: &str) -> Option<(&str, u32)> {
    let (base, number) = name.rsplit_once("-v")?;
    let version: u32 = number.parse().ok()?;
    (!base.is_empty() && version > 0 && version.to_string() == number).then_some((base, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_document() {
        assert_eq!(set("web", None, None), "web");
        assert_eq!(set("web", Some(0), None), "web-z0");
        assert_eq!(set("web", Some(1), Some(3)), "web-z1-v3");
    }

    #[test]
    fn only_a_name_with_a_plain_number_is_versioned() {
        assert_eq!(versioned_secret("tls-v3"), Some(("tls", 3)));
        assert_eq!(versioned_secret("my-v2-tls-v10"), Some(("my-v2-tls", 10)));
        assert_eq!(versioned_secret("tls-v03"), None);
        assert_eq!(versioned_secret("tls-v0"), None);
        assert_eq!(versioned_secret("-v1"), None);
        assert_eq!(versioned_secret("tls"), None);
    }
}
