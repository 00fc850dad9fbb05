//! The server's output: passed on to the container's log, the last lines kept
//! so that a failure can be told in the server's own words.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Enough for a stack trace with its causes.
const LINES: usize = 200;
/// A longer line is cut in memory (never in the container's log).
const LINE_BYTES: usize = 512;

/// The last lines of the server's output.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// The kept lines, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Forget the lines of an earlier server.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn push(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES)]);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(text.trim_end().to_string());
    }

    /// Read the server's output until it ends. Runs in a thread of its own, so
    /// that a container log which nobody reads stops the server's output and
    /// never init.
    pub fn pass_on(&self, output: PipeReader) {
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
        tail.clear();
        assert!(tail.lines().is_empty());
    }
}
