//! Rules of the claims of a `CassandraCluster`. A rack without a template has
//! the default one, so each rule reads the default where nothing is written.

use kube_core::Rule;

use super::{fixed, must};

fn claim_of(rack: &str, field: &str, then: &str, otherwise: &str) -> String {
    let templates = format!("{rack}.storage.volumeClaimTemplates");
    let first = format!("{templates}[0]");
    let (field, then) = (field.replace('@', &first), then.replace('@', &first));
    format!(
        "(has({rack}.storage) && has({templates}) && size({templates}) > 0 && {field} ? {then} : {otherwise})"
    )
}

/// `what` is the same in old and new, for every rack that is in both.
fn claim_keeps(what: &dyn Fn(&str) -> String, message: &str) -> Rule {
    let differs = format!(
        "oldSelf.racks.exists(o, o.name == n.name && {} != {})",
        what("o"),
        what("n")
    );
    fixed(
        format!("self.racks.all(n, !{differs})"),
        format!("'{message}'.format([self.racks.filter(n, {differs}).map(n, n.name)])"),
    )
    .field_path(".racks")
}

/// A claim keeps its storage class for life.
pub fn storage_class_is_fixed() -> Rule {
    claim_keeps(
        &|rack| {
            claim_of(
                rack,
                "has(@.spec.storageClassName)",
                "@.spec.storageClassName",
                "''",
            )
        },
        "storageClassName is fixed; a new rack may have another: changed in rack %s",
    )
}

/// Another name would be another, empty claim.
pub fn claim_name_is_fixed() -> Rule {
    claim_keeps(
        &|rack| {
            claim_of(
                rack,
                "has(@.metadata) && has(@.metadata.name)",
                "@.metadata.name",
                "'data'",
            )
        },
        "the name of a volumeClaimTemplate is fixed: changed in rack %s",
    )
}

/// Volumes grow, they do not shrink.
pub fn claims_do_not_shrink() -> Rule {
    let size = |rack: &str| {
        let requests = "@.spec.resources.requests";
        claim_of(
            rack,
            &format!("has(@.spec.resources) && has({requests}) && 'storage' in {requests}"),
            &format!("quantity({requests}['storage'])"),
            "quantity('10Gi')",
        )
    };
    let shrinks = format!(
        "oldSelf.racks.exists(o, o.name == n.name && {}.isLessThan({}))",
        size("n"),
        size("o")
    );
    fixed(
        format!("self.racks.all(n, !{shrinks})"),
        format!("'a claim cannot shrink: raise the storage request of rack %s to what it was'.format([self.racks.filter(n, {shrinks}).map(n, n.name)])"),
    )
    .field_path(".racks")
}

/// A member has one volume, by which it is known.
pub fn one_claim() -> Rule {
    must(
        "size(self) <= 1",
        "a member has one claim: leave one entry in volumeClaimTemplates",
    )
}

/// What of a claim the operator decides, or what would bind all members to one volume.
pub fn claim_is_for_one_member() -> Rule {
    must(
        "!has(self.volumeName) && !has(self.selector) && !has(self.dataSource) && !has(self.dataSourceRef)",
        "volumeName, selector, dataSource and dataSourceRef are not for members' claims: a member starts on an empty volume of its own",
    )
}

/// The server keeps files.
pub fn claim_is_a_file_system() -> Rule {
    must(
        "(!has(self.volumeMode) || self.volumeMode == 'Filesystem') && (!has(self.accessModes) || self.accessModes.all(m, m == 'ReadWriteOnce'))",
        "the server keeps files that are its alone: volumeMode is Filesystem, accessModes is ReadWriteOnce",
    )
}
