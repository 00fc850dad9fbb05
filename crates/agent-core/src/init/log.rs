//! The server's output: passed on to the container's log, the last lines kept
//! so that a failure can be told in the server's own words.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Enough for a stack trace with its causes.
const LINES: usize = 200;
/// A longer line is cut in memory (never in the container's log).
const LINE_BYTES: usize = 512;

/// The last lines of the output of one server.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    output: Output,
}

/// Can more lines come?
#[derive(Debug, Default, PartialEq, Eq)]
enum Output {
    #[default]
    Open,
    Ended,
}

impl Tail {
    /// The kept lines, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.kept().lines.iter().cloned().collect()
    }

    /// Wait until all output was read, but not for ever: a process that the server
    /// has left behind may keep it open, or nobody reads the container's log.
    pub fn wait_for_end(&self, at_most: Duration) {
        let is_open = |kept: &mut Kept| kept.output == Output::Open;
        drop(self.0.ended.wait_timeout_while(self.kept(), at_most, is_open));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES)]);
        let lines = &mut self.kept().lines;
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(text.trim_end().to_string());
    }

    /// Read the server's output until it ends. Runs in a thread of its own, so
    /// that a container log which nobody reads stops the server's output and
    /// never init.
    pub fn pass_on(&self, output: PipeReader) {
        self.pass_lines_on(output);
        self.kept().output = Output::Ended;
        self.0.ended.notify_all();
    }

    fn pass_lines_on(&self, output: PipeReader) {
        let mut reader = BufReader::new(output);
        let mut line = Vec::with_capacity(256);
        loop {
            line.clear();
            // Bounded: a server that never ends its line must not fill our memory.
            match reader.by_ref().take(64 * 1024).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            // A container log that cannot be written is no reason to stop the server.
            let _ = std::io::stdout().lock().write_all(&line);
            self.push(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_lines_cut_to_length() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        for n in 0..250 {
            writeln!(writer, "line {n}").unwrap();
        }
        writeln!(writer, "{}", "x".repeat(2000)).unwrap();
        drop(writer);
        let tail = Tail::default();
        tail.pass_on(reader);
        let lines = tail.lines();
        assert_eq!(lines.len(), 200);
        assert_eq!(lines[0], "line 51");
        assert_eq!(lines[199].len(), 512);
    }

    #[test]
    fn whoever_waits_for_the_end_has_the_last_line() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let tail = Tail::default();
        let passing = tail.clone();
        writeln!(writer, "its last words").unwrap();
        drop(writer);
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            passing.pass_on(reader);
        });
        assert!(tail.lines().is_empty());
        tail.wait_for_end(Duration::from_secs(60));
        assert_eq!(tail.lines(), ["its last words"]);
        thread.join().unwrap();
    }

    #[test]
    fn output_that_stays_open_is_not_waited_for_for_ever() {
        Tail::default().wait_for_end(Duration::from_millis(1));
    }
}
