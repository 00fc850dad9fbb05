//! What a server that ended has to say for itself: the one telling line of its log, and
//! what kind of failure it tells. Which lines tell what, its agent knows.

use crate::facts::LastWords;
use crate::words::server::Last;
use palladion_api::reasons::Reason;

/// Longest line that is told.
pub const CHARACTERS: usize = 400;

/// 128 + SIGKILL: nobody but the kernel's out-of-memory killer does that here.
const KILLED: i32 = 137;

/// How the log of a server is read.
#[derive(Clone, Copy, Debug)]
pub struct Telling {
    /// Parts of lines that tell most, the most telling first.
    pub parts: &'static [(&'static str, Reason)],
    /// Parts of lines that tell nothing: those in which the server repeats its options, which
    /// name what is looked for.
    pub noise: &'static [&'static str],
    /// The server's exit code for a configuration that it refuses.
    pub wrong_configuration: i32,
}

impl Telling {
    /// The last words of a server that ended with this code.
    pub fn of(&self, log: &[String], code: Option<i32>) -> LastWords {
        let told = self.parts.iter().find_map(|(part, reason)| {
            let tells = |line: &&String| line.contains(part) && !self.is_noise(line);
            let line = log.iter().rev().find(tells)?;
            Some(LastWords { reason: *reason, text: cut(line) })
        });
        let mut said = log.iter().rev().filter(|line| !line.trim().is_empty());
        let last = said.next();
        let mut words = told.unwrap_or_else(|| LastWords {
            reason: Reason::ServerFailed,
            text: last.map_or(Last::Nothing.to_string(), |line| cut(line)),
        });
        if code == Some(KILLED) {
            words.reason = Reason::NotEnoughMemory;
            words.text = match last {
                None => Last::KilledSilently.to_string(),
                Some(_) => Last::Killed { line: words.text }.to_string(),
            };
        } else if code == Some(self.wrong_configuration) {
            words.reason = Reason::ConfigurationRefused;
        }
        words
    }

    fn is_noise(&self, line: &str) -> bool {
        self.noise.iter().any(|part| line.contains(part))
    }
}

fn cut(line: &str) -> String {
    line.trim().chars().take(CHARACTERS).collect()
}
