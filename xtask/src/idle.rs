//! Programs that run beside the stories in the time that nobody else wants.

use std::process::Command;

/// What such a program's command begins with.
///
/// A nice value alone counts among the processes of one session only where the kernel groups
/// them by session (`sched_autogroup_enabled`, sched(7)); each server of a testbed is a session
/// of its own, and every session has the same share of a processor. So the program has its own
/// session, with the lowest priority among sessions. No key that is pressed in the terminal
/// reaches it: it is killed when the thread that has begun it ends.
pub const BEFORE: [&str; 8] = [
    "setpriv",
    "--pdeathsig",
    "KILL",
    "setsid",
    "sh",
    "-c",
    // Not every kernel has the file.
    r#"{ echo 19 > /proc/self/autogroup; } 2> /dev/null; exec nice -n 19 "$@""#,
    "idle",
];

/// This program, in idle time.
pub fn command(program: &str) -> Command {
    let [first, rest @ ..] = BEFORE;
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_at_the_lowest_priority_of_processes_and_of_sessions() {
        let script = "nice; cat /proc/self/autogroup 2> /dev/null; exit 7";
        let output = command("sh").args(["-c", script]).output();
        let output = output.expect("util-linux is there");
        assert_eq!(output.status.code(), Some(7), "its own exit code");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("19"));
        if std::path::Path::new("/proc/self/autogroup").exists() {
            let group = lines.next().expect("the session's");
            assert!(group.ends_with("nice 19"), "{group}");
        }
    }
}
