//! Rules of the claims of a `CassandraCluster`. A rack without a template has
//! the default one, so each rule reads the default where nothing is written.

use kube_core::Rule;

use super::{fixed, must, must_saying};

fn claim_of(rack: &str, field: &str, then: &str, otherwise: &str) -> String {
    let templates = format!("{rack}.storage.volumeClaimTemplates");
    let first = format!("{templates}[0]");
    let (field, then) = (field.replace('@', &first), then.replace('@', &first));
    format!(
        "(has({rack}.storage) && has({templates}) && size({templates}) > 0 && {field} ? {then} : {otherwise})"
    )
}

/// A rack that has a set. Before that its claims are words, which a person may put right.
const IS_MADE: &str =
    "has(oldSelf.status) && has(oldSelf.status.racks) && n.name in oldSelf.status.racks";

/// No made rack has a rack of its name in the old spec for which this is so.
/// Stands on the object as a whole, where the status can be seen.
fn no_made_rack(differs: &str, message: &str) -> Rule {
    let racks = "spec.datacenter.racks";
    let wrong = format!("{IS_MADE} && oldSelf.{racks}.exists(o, o.name == n.name && {differs})");
    fixed(
        format!("self.{racks}.all(n, !({wrong}))"),
        format!("'{message}'.format([self.{racks}.filter(n, {wrong}).map(n, n.name)])"),
    )
    .field_path(".spec.datacenter.racks")
}

/// `what` is the same in old and new, for every made rack that is in both.
fn claim_keeps(what: &dyn Fn(&str) -> String, message: &str) -> Rule {
    no_made_rack(&format!("{} != {}", what("o"), what("n")), message)
}

/// A claim keeps its storage class for life.
pub fn storage_class_is_fixed() -> Rule {
    claim_keeps(
        &|rack| claim_of(rack, "has(@.spec.storageClassName)", "@.spec.storageClassName", "''"),
        "`storageClassName` is immutable, but was changed in rack %s; to use another class, add a rack",
    )
}

/// Another name would be another, empty claim.
pub fn claim_name_is_fixed() -> Rule {
    claim_keeps(
        &|rack| {
            claim_of(rack, "has(@.metadata) && has(@.metadata.name)", "@.metadata.name", "'data'")
        },
        "the name of a volumeClaimTemplate is immutable, but was changed in rack %s; change it back",
    )
}

/// Volumes grow, they do not shrink.
pub fn claims_do_not_shrink() -> Rule {
    let size = |rack: &str| {
        let requests = "@.spec.resources.requests";
        claim_of(
            rack,
            &format!("has(@.spec.resources) && has({requests}) && 'storage' in {requests}"),
            &format!(
                "(isQuantity({requests}['storage']) ? quantity({requests}['storage']) : quantity('10Gi'))"
            ),
            "quantity('10Gi')",
        )
    };
    no_made_rack(
        &format!("{}.isLessThan({})", size("n"), size("o")),
        "a PersistentVolumeClaim cannot shrink: restore the previous storage request of rack %s",
    )
}

/// A member has one volume, by which it is known.
pub fn one_claim() -> Rule {
    must(
        "size(self) <= 1",
        "a member has one volume: remove all but one entry of `volumeClaimTemplates`",
    )
}

/// Volumes that every member's pod has besides its claim.
pub const OWN_VOLUMES: [&str; 5] = ["config", "run", "secrets", "shared", "tmp"];

/// A pod's volumes have names of their own.
pub fn claim_name_is_free() -> Rule {
    let own = OWN_VOLUMES.map(|name| format!("'{name}'")).join(", ");
    must_saying(
        format!("!has(self.name) || !(self.name in [{own}])"),
        "'the pod already has a volume named %s: choose another name for the claim, for example data'.format([self.name])",
    )
}

/// By its own labels the operator knows whose a claim is.
pub fn claim_labels_are_not_ours() -> Rule {
    must(
        "!has(self.labels) || !self.labels.exists(key, key.startsWith('palladion.dev/'))",
        "labels with the prefix palladion.dev/ are reserved for the operator: choose another prefix",
    )
}

/// What of a claim the operator decides, or what would bind all members to one volume.
pub fn claim_is_for_one_member() -> Rule {
    must(
        "!has(self.volumeName) && !has(self.selector) && !has(self.dataSource) && !has(self.dataSourceRef)",
        "`volumeName`, `selector`, `dataSource` and `dataSourceRef` cannot be set: each member starts with an empty volume of its own",
    )
}

/// The server keeps files.
pub fn claim_is_a_file_system() -> Rule {
    must(
        "(!has(self.volumeMode) || self.volumeMode == 'Filesystem') && (!has(self.accessModes) || self.accessModes.all(m, m == 'ReadWriteOnce'))",
        "each member needs a file system of its own: set `volumeMode` to Filesystem and `accessModes` to ReadWriteOnce",
    )
}
