//! A network that nothing else is on: this test runs in a namespace of its own, with a
//! bridge to which each pod is tied.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// Says to ourselves that we are in it.
const OWN: &str = "PALLADION_TEST_NETWORK";
/// Address of the test: the API server.
pub const HERE: &str = "10.77.0.1";
const BRIDGE: &str = "br0";

pub fn is_own() -> bool {
    std::env::var_os(OWN).is_some()
}

/// Start over inside a network namespace; it ends with us.
pub fn again_in_own(arguments: &[String]) -> ExitCode {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("unshare");
    command.arg("--net").arg("--").arg(own).args(arguments).env(OWN, "1");
    let error = command.exec();
    eprintln!("a network namespace needs root and unshare: {error}");
    ExitCode::FAILURE
}

pub fn build() {
    ip(&["link", "set", "lo", "up"]);
    ip(&["link", "add", BRIDGE, "type", "bridge"]);
    ip(&["addr", "add", &format!("{HERE}/24"), "dev", BRIDGE]);
    ip(&["link", "set", BRIDGE, "up"]);
}

/// Tie the namespace of a process to the bridge, under this address.
pub fn tie(pid: u32, number: u32, address: &str) {
    let (ours, pid) = (format!("pod{number}"), pid.to_string());
    // By its address: the next pod is known to the others at once.
    let last: u8 = address.rsplit('.').next().and_then(|part| part.parse().ok()).unwrap();
    let mac = format!("02:00:00:00:00:{last:02x}");
    let peer = ["peer", "name", "eth0", "address", &mac, "netns", &pid];
    ip(&[&["link", "add", &ours, "type", "veth"][..], &peer].concat());
    ip(&["link", "set", &ours, "master", BRIDGE, "up"]);
    let inside = |arguments: &[&str]| {
        let prefix = ["-t", &pid, "-n", "ip"];
        done(Command::new("nsenter").args(prefix).args(arguments));
    };
    inside(&["link", "set", "lo", "up"]);
    inside(&["addr", "add", &format!("{address}/24"), "dev", "eth0"]);
    inside(&["link", "set", "eth0", "up"]);
}

/// Take the end of a pod that has ended from the bridge. Its namespace goes later, and
/// until then it would answer for the next pod of this address.
pub fn untie(number: u32) {
    let mut ip = Command::new("ip");
    let _ = ip.args(["link", "del", &format!("pod{number}")]).stderr(Stdio::null()).status();
}

fn ip(arguments: &[&str]) {
    done(Command::new("ip").args(arguments));
}

fn done(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}
