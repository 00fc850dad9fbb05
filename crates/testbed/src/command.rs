//! Runs other programs, and makes their failures readable.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How much of a failed program's output an error quotes, in bytes.
const QUOTED_OUTPUT: usize = 2000;

/// A command whose words can be shown in errors.
pub fn command<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs to the end; a failure quotes the end of what the program said.
pub fn run(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    text_of(command, &output)
}

/// Runs to the end and returns whatever came of it.
pub fn output(command: &mut Command) -> Result<Output> {
    command.output().with_context(|| {
        format!(
            "starting `{}`; hint: `cargo xtask testbed check` names missing programs",
            shown(command)
        )
    })
}

/// Like [`run`], and killed where it has not ended within `longest`.
pub fn run_within(command: &mut Command, longest: Duration) -> Result<String> {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting `{}`", shown(command)))?;
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("its pid")?;
    // A pid may be another process by the time it is killed; a descriptor never is.
    let process = pidfd_open(process, PidfdFlags::empty()).context("watching a child")?;
    let (ended, ends) = channel::<()>();
    let watch = thread::spawn(move || {
        let late = ends.recv_timeout(longest) == Err(RecvTimeoutError::Timeout);
        late && pidfd_send_signal(&process, Signal::KILL).is_ok()
    });
    let output =
        child.wait_with_output().with_context(|| format!("waiting for `{}`", shown(command)));
    drop(ended);
    let killed = watch.join().unwrap_or_default();
    let output = output?;
    if killed {
        bail!("`{}` did not end within {} s", shown(command), longest.as_secs());
    }
    text_of(command, &output)
}

/// What it said, if it has not failed.
fn text_of(command: &Command, output: &Output) -> Result<String> {
    if !output.status.success() {
        bail!("`{}` failed ({}): {}", shown(command), output.status, said(output));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `ip` with these words, split at blanks.
pub fn ip(words: &str) -> Result<String> {
    run(&mut command("ip", words.split_whitespace()))
}

/// The command as one line.
pub fn shown(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        let _ = write!(line, " {}", argument.to_string_lossy());
    }
    line
}

fn said(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let extra = String::from_utf8_lossy(&output.stdout);
    if text.is_empty() {
        text = extra.trim().to_owned();
    }
    let mut start = text.len().saturating_sub(QUOTED_OUTPUT);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.split_off(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_quotes_what_it_said() {
        let error = run(&mut command("sh", ["-c", "echo no luck >&2; exit 3"]))
            .expect_err("should fail")
            .to_string();
        assert!(error.contains("sh -c") && error.contains("no luck"), "{error}");
    }

    #[test]
    fn what_has_no_end_is_killed_and_named() {
        let error = run_within(&mut command("sleep", ["1000"]), Duration::from_millis(50))
            .expect_err("should be killed")
            .to_string();
        assert!(error.contains("sleep 1000") && error.contains("did not end"), "{error}");
        let said = run_within(&mut command("echo", ["well"]), Duration::from_secs(600));
        assert_eq!(said.expect("should end"), "well\n");
    }
}
