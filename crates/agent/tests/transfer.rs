//! The child that moves the bytes of backups is this program: the crate of the
//! child tests what it does.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test may fail where it stands")]

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_agent_is_the_child_too_and_refuses_what_it_does_not_know() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_palladion-agent"))
        .arg("transfer")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"work\":{\"kind\":\"Levitate\"}}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["stopped"]["cause"], "Refused");
    let message = said["stopped"]["message"].as_str().unwrap();
    assert!(message.contains("Levitate"), "{message}");
}
