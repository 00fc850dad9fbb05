//! The processes of a pod on this machine, as every test of an agent looks at them.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};

pub fn command_line(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())
        .into_owned()
}

/// Process ID of init's child whose command line holds a word.
pub fn child_of(init: u32, word: &str) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{init}/task/{init}/children"));
    let children = children.unwrap_or_default();
    let mut pids = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    pids.find(|pid| command_line(*pid).contains(word))
}

/// The code and text of a probe, or of the metrics; 0 where nobody listens, as while an
/// agent that was killed starts again.
pub fn get(address: impl ToSocketAddrs, path: &str) -> (u16, String) {
    let mut stream = match TcpStream::connect(address) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => return (0, String::new()),
        connected => connected.unwrap(),
    };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let code = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
    (code, text)
}

pub fn signal(pid: u32, name: &str) {
    let mut kill = Command::new("kill");
    let _ = kill.args([format!("-{name}"), pid.to_string()]).stderr(Stdio::null()).status();
}
