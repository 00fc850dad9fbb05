//! Rules that clustered services have in common.

use kube_core::Rule;

pub use super::cluster::{annotations_are_not_reserved, env_names_are_unique};
use super::{fixed, must};

/// The name starts the name of Services, and of a StatefulSet with this ending.
pub fn name_fits(kind: &str, ending: &str, most: usize) -> Rule {
    let longest = most - ending.len();
    must(
        format!(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= {longest}"
        ),
        format!(
            "the names of Services start with the name of the {kind}: use at most {longest} characters, only a-z, 0-9 and `-`, start with a letter and end with a letter or digit"
        ),
    )
}

/// No line back, where lines of one number before the point are known.
pub fn version_goes_no_line_back() -> Rule {
    let minor = |text: &str| format!("int({text}.split('.')[1].find('^[0-9]+'))");
    let (wanted, ran) = (minor("self.spec.version"), minor("self.status.highestReleaseLine"));
    fixed(
        format!("self.spec.version == oldSelf.spec.version || !has(self.status) || !has(self.status.highestReleaseLine) || {wanted} >= {ran}"),
        "'version %s belongs to an older release line than %s, which a member has run; a server cannot read data written by a newer line: set a version of line %s or newer'.format([self.spec.version, self.status.highestReleaseLine, self.status.highestReleaseLine])",
    )
    .field_path(".spec.version")
}

const TEMPLATE: &str = "spec.storage.volumeClaimTemplate";

/// A part of the claim template, or what stands for it where nothing is written.
fn claim_of(object: &str, field: &str, then: &str, otherwise: &str) -> String {
    let template = format!("{object}.{TEMPLATE}");
    let (field, then) = (field.replace('@', &template), then.replace('@', &template));
    format!("(has({object}.spec.storage) && has({template}) && {field} ? {then} : {otherwise})")
}

/// Before anything was created, the template may still be put right.
const IS_NEW: &str = "!has(oldSelf.status) || !has(oldSelf.status.initialized)";

fn claim_keeps(what: &dyn Fn(&str) -> String, message: &str) -> Rule {
    let (old, new) = (what("oldSelf"), what("self"));
    fixed(format!("{IS_NEW} || {old} == {new}"), format!("'{message}'"))
        .field_path(format!(".{TEMPLATE}"))
}

/// A claim keeps its storage class for life.
pub fn storage_class_is_fixed() -> Rule {
    claim_keeps(
        &|of| claim_of(of, "has(@.spec.storageClassName)", "@.spec.storageClassName", "''"),
        "`storageClassName` is immutable: change it back",
    )
}

/// Another name would be another, empty claim.
pub fn claim_name_is_fixed() -> Rule {
    claim_keeps(
        &|of| claim_of(of, "has(@.metadata) && has(@.metadata.name)", "@.metadata.name", "'data'"),
        "the name of the volumeClaimTemplate is immutable: change it back",
    )
}

/// Volumes grow, they do not shrink.
pub fn claim_does_not_shrink() -> Rule {
    let size = |object: &str| {
        let requests = "@.spec.resources.requests";
        claim_of(
            object,
            &format!("has(@.spec.resources) && has({requests}) && 'storage' in {requests}"),
            &format!(
                "(isQuantity({requests}['storage']) ? quantity({requests}['storage']) : quantity('10Gi'))"
            ),
            "quantity('10Gi')",
        )
    };
    let (old, new) = (size("oldSelf"), size("self"));
    fixed(
        format!("{IS_NEW} || !{new}.isLessThan({old})"),
        "'a PersistentVolumeClaim cannot shrink: restore the previous storage request'",
    )
    .field_path(format!(".{TEMPLATE}"))
}
