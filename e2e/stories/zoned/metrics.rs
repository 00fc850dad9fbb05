//! A source of metrics for the real HorizontalPodAutoscaler controller. It is a
//! stand-in behind the real interface: see metrics.py.

use palladion_e2e::bed;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::PATIENCE;
use serde_json::json;

/// The stand-in, in a namespace.
pub struct Metrics {
    namespace: &'static str,
}

impl Metrics {
    /// Start it and register it, and wait until the API server serves it.
    pub fn start(namespace: &'static str) -> Self {
        let pair = rcgen::generate_simple_self_signed(vec!["metrics".into()]).expect("a key pair");
        let objects = [
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "metrics" },
                "data": { "metrics.py": include_str!("metrics.py") },
            }),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "metrics" },
                "stringData": { "tls.crt": pair.cert.pem(), "tls.key": pair.signing_key.serialize_pem() },
            }),
        ];
        for object in objects {
            bed().apply(namespace, &object.to_string()).expect("apply");
        }
        let manifest = include_str!("metrics.yaml").replace("$NAMESPACE", namespace);
        bed().apply(namespace, &manifest).expect("apply");
        let metrics = Self { namespace };
        let path = format!("get --raw /apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods");
        wait_for("metrics to be served", PATIENCE, || bed().kubectl(&path).map(Some))
            .expect("metrics");
        metrics
    }

    /// The load, in thousandths of a core, that ready pods share evenly.
    pub fn set_load(&self, millicores: u32) {
        let script = format!("echo {millicores} > /tmp/load");
        bed().exec(self.namespace, "metrics", &["sh", "-c", &script]).expect("set the load");
    }
}

impl Drop for Metrics {
    /// An API that is registered and not served would hold up the deletion of
    /// namespaces.
    fn drop(&mut self) {
        let gone = bed().kubectl("delete apiservice v1beta1.metrics.k8s.io --ignore-not-found");
        if let Err(error) = gone {
            eprintln!("cannot take the metrics API away: {error:#}");
        }
    }
}
