//! A Secret with key and certificate for clients that goes away, or goes bad.

use super::cases::Case;
use super::harness::{Pod, TLS_SECRET, eventually};
use super::processes::signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

pub const ALL: &[Case] = &[
    (
        "a_server_comes_back_although_the_certificates_secret_is_gone",
        a_server_comes_back_although_the_certificates_secret_is_gone,
    ),
    (
        "a_recreated_pod_starts_with_the_certificate_of_its_volume",
        a_recreated_pod_starts_with_the_certificate_of_its_volume,
    ),
    (
        "a_member_that_never_had_a_certificate_is_not_started",
        a_member_that_never_had_a_certificate_is_not_started,
    ),
];

fn says(status: &Value, word: &str) -> bool {
    status["server"]["message"].as_str().is_some_and(|message| message.contains(word))
}

fn a_server_comes_back_although_the_certificates_secret_is_gone() {
    let pod = Pod::founded_with_tls();
    let server = pod.server().unwrap();
    fs::remove_dir_all(pod.path(TLS_SECRET)).unwrap();
    signal(server, "KILL");
    eventually("another server", || pod.server().is_some_and(|now| now != server));
    pod.wait_for("a report of it", |s| says(s, "tls.crt"));
}

fn a_recreated_pod_starts_with_the_certificate_of_its_volume() {
    let mut pod = Pod::founded_with_tls();
    let pair = fs::read(pod.path("run/tls/client.pem")).unwrap();
    assert_eq!(pod.end(), Some(0));
    fs::remove_dir_all(pod.path("run")).unwrap();
    fs::create_dir(pod.path("run")).unwrap();
    fs::write(pod.path(TLS_SECRET).join("tls.key"), "nonsense").unwrap();
    pod.start();
    eventually("the server", || pod.server().is_some());
    assert_eq!(fs::read(pod.path("run/tls/client.pem")).unwrap(), pair);
    let kept = fs::metadata(pod.path("data/.palladion/tls/client.pem")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
    pod.wait_for("a report of it", |s| says(s, "tls.key"));
}

fn a_member_that_never_had_a_certificate_is_not_started() {
    let mut pod = Pod::new_with_tls();
    fs::write(pod.path(TLS_SECRET).join("tls.key"), "nonsense").unwrap();
    pod.start();
    pod.permit("Initialize", "n-found", "MustBeEmpty");
    pod.wait_for("a report of it", |s| says(s, "tls.key"));
    assert_eq!(pod.server(), None);
}
