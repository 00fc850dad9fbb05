//! Claims that grow.

use palladion_api::reasons::Reason;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::server::well;
use super::{NAMESPACE, RESTARTS_IN, SOON, patch, racks_of};

pub(super) fn grow(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let expandable = |allow: &Value| {
        bed()
            .patch("default", "storageclass", "local", &json!({ "allowVolumeExpansion": allow }))
            .expect("the class");
    };
    let sized = |size: &str| {
        let mut wanted = racks_of(ring);
        wanted[0]["storage"]["volumeClaimTemplates"] =
            json!([{ "spec": { "resources": { "requests": { "storage": size } } } }]);
        wanted
    };
    let set_racks = |wanted: &Value| {
        let spec = json!({ "spec": { "datacenter": { "racks": wanted } } });
        bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &spec)
    };
    // Local volumes have no driver that grows them: the test looks at what is asked for.
    let asked = |size: &str| {
        wait_for("claims to ask for more", SOON, || {
            let claims = bed().list(NAMESPACE, "persistentvolumeclaims")?;
            let grown = claims
                .iter()
                .filter(|c| c["spec"]["resources"]["requests"]["storage"] == size)
                .count();
            let set = bed().get(NAMESPACE, "statefulset", "roll-dc1-a")?.unwrap_or_default();
            let template = &set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"];
            Ok((grown >= 2 && template["storage"] == size).then_some(()))
        })
    };
    set_racks(&sized("11Gi")).expect("growth is admitted");
    ring.wait_told("Degraded", Reason::VolumeCannotGrow, "local", SOON)
        .expect("told that the class does not allow it");
    expandable(&json!(true));
    let grown = asked("11Gi");
    let refused = set_racks(&sized("9Gi")).expect_err("a claim does not shrink");
    expandable(&Value::Null);
    grown.expect("asked");
    assert!(format!("{refused:#}").contains("shrink"), "{refused:#}");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "no pod was touched");
    play_the_driver("11Gi");
    well(ring, &ids);
    patch(&json!({ "run": "Stopped" }));
    ring.wait_reason("Progressing", Reason::Stopped, RESTARTS_IN).expect("stopped");
    expandable(&json!(true));
    set_racks(&sized("12Gi")).expect("growth is admitted");
    let grown = asked("12Gi");
    expandable(&Value::Null);
    grown.expect("claims grow while pods are down");
    assert!(ring.pod_uids().expect("uids").is_empty(), "still stopped");
    play_the_driver("12Gi");
    patch(&json!({ "run": "Running" }));
    well(ring, &ids);
}

/// The driver's part is played: the claims are as large as they ask for.
fn play_the_driver(size: &str) {
    let status = json!({ "status": { "capacity": { "storage": size } } }).to_string();
    for member in ["roll-dc1-a-0", "roll-dc1-a-1"] {
        let claim = format!("data-{member}");
        bed()
            .cluster
            .kubectl(&[
                "patch",
                "pvc",
                &claim,
                "-n",
                NAMESPACE,
                "--subresource=status",
                "--type=merge",
                "-p",
                &status,
            ])
            .expect("the driver's part");
    }
}
