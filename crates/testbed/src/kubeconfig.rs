//! Kubeconfig files: who, and by which address.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::pki::{Pair, Pki};

/// Writes a kubeconfig, readable by its owner only, that holds all it needs.
pub fn write(path: &Path, cluster: &str, server: &str, pki: &Pki, user: &Pair) -> Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let data = |text: &str| STANDARD.encode(text);
    let content = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster,
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "clusters": [{"name": cluster, "cluster": {
            "server": server,
            "certificate-authority-data": data(&pki.authority()?),
        }}],
        "users": [{"name": cluster, "user": {
            "client-certificate-data": data(&user.certificate),
            "client-key-data": data(&user.key),
        }}],
    });
    let writing = || format!("writing the kubeconfig {}", path.display());
    let text = serde_yaml::to_string(&content).with_context(writing)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path).with_context(writing)?;
    file.write_all(text.as_bytes()).with_context(writing)
}
