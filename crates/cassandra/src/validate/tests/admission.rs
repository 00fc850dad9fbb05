//! The two doors agree: what the API server refuses at admission is refused
//! here as well (it may have been stored before there was a rule), and what it
//! lets in is not refused for itself.

#[path = "../../../../../tests/manifests/manifests.rs"]
#[allow(dead_code, reason = "shared with tests that judge more")]
mod manifests;

use crate::fixtures::a_cluster;
use crate::validate::IsDefault;
use crate::words::refusal::Refusal;
use manifests::{Manifest, Verdict, read_all};
use palladion_api::CassandraClusterSpec;
use serde_json::json;
use std::path::Path;

/// Refused by what an object was before, which validation does not see.
const UPDATE: &str = "/update-";
/// The one thing that admission has and a stored object cannot show: the API
/// server takes unknown fields out before it stores.
const MISSPELLED: &str = "refused/field-misspelled.yaml";

fn of_clusters() -> impl Iterator<Item = Manifest> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/manifests");
    let all = read_all(&folder).into_iter();
    all.filter(|m| m.new["kind"] == "CassandraCluster")
}

/// What becomes of the object, in a world that has all it names. `Err(None)`:
/// it cannot even be read.
fn judged(manifest: &Manifest) -> Result<(), Option<Refusal>> {
    let spec: CassandraClusterSpec =
        serde_json::from_value(manifest.new["spec"].clone()).map_err(|_| None)?;
    let name = manifest.new["metadata"]["name"].as_str().unwrap();
    let mut cluster = a_cluster().meta(|meta| meta.name = name.into()).storage_classes(&[
        ("standard", IsDefault::Yes),
        ("fast", IsDefault::No),
        ("slow", IsDefault::No),
    ]);
    for rack in &spec.datacenter.racks {
        if let Some(name) = &rack.config_map_name {
            cluster = cluster.config_map(name, json!({ "cassandra.yaml": "" }));
        }
        if let Some(name) = &rack.jmx_exporter_config_map_name {
            cluster = cluster.config_map(name, json!({ "jmx_exporter_config.yaml": "" }));
        }
    }
    let judged = cluster.spec(|s| *s = spec).validate();
    judged.map(|_| ()).map_err(Some)
}

#[test]
fn what_admission_lets_in_can_be_carried_out() {
    let accepted = of_clusters().filter(|m| m.verdict == Verdict::Accepted);
    let refused: Vec<String> =
        accepted.filter_map(|m| judged(&m).err().map(|e| format!("{}: {e:?}", m.name))).collect();
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn what_admission_refuses_is_refused_again() {
    let mut count = 0;
    let mut passed = Vec::new();
    for manifest in of_clusters().filter(|m| m.verdict == Verdict::Refused) {
        if manifest.name.contains(UPDATE) || manifest.name == MISSPELLED {
            continue;
        }
        count += 1;
        if judged(&manifest).is_ok() {
            passed.push(manifest.name);
        }
    }
    assert_eq!(passed, Vec::<String>::new());
    assert!(count > 20, "only {count} manifests were judged");
}
