//! The HTTP client for the server beside the agent, which listens on a loopback address.

use reqwest::ClientBuilder;
use std::time::Duration;

/// A client that knows no proxy and no certificate authority: nothing that it sends leaves the
/// pod. What the image of the server trusts is not read, so one without certificates serves.
pub fn client(connect: Duration) -> ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(connect)
        .pool_max_idle_per_host(1)
        .no_proxy()
        .tls_certs_only([])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Read by the copy of this program that has no certificates.
    const CHILD: &str = "PALLADION_TEST_WITHOUT_CERTIFICATES";

    #[test]
    fn an_image_without_certificates_serves() {
        let connect = Duration::from_secs(1);
        if std::env::var_os(CHILD).is_some() {
            // The environment does what it is there for: another client is not built.
            assert!(reqwest::Client::builder().build().is_err());
            client(connect).build().unwrap();
            return;
        }
        // Where the authorities are looked for is read from the environment, once a process.
        let nowhere = tempfile::tempdir().unwrap();
        let file = nowhere.path().join("none.pem");
        std::fs::write(&file, "").unwrap();
        let told = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "loopback::tests::an_image_without_certificates_serves"])
            .env(CHILD, "1")
            .env("SSL_CERT_FILE", &file)
            .env("SSL_CERT_DIR", nowhere.path())
            .output()
            .unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stdout));
    }
}
