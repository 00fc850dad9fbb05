//! The answer to `srvr`: which version runs, in which mode, up to which
//! transaction. A server without a quorum says that it serves nobody.

use crate::words::calls::Unclear;
use palladion_api::service_member::ServerMode;
use palladion_api::zookeeper::Zxid;

/// How a server says that it serves nobody (`AbstractFourLetterCommand`).
const NOT_SERVING: &str = "This ZooKeeper instance is not currently serving requests";
/// How it refuses a command that is not on the list.
const NOT_ALLOWED: &str = "is not executed because it is not in the whitelist";
/// Bytes of a line that are quoted.
const QUOTED: usize = 128;

/// What `srvr` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Srvr {
    /// It serves nobody: there is no quorum, or not yet.
    NotServing,
    /// It serves.
    Serving(Serving),
}

/// A server that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serving {
    /// Its version, without the commit that it was built from.
    pub version: Option<String>,
    /// Its mode.
    pub mode: ServerMode,
    /// What it calls its mode.
    pub mode_word: String,
    /// Its newest transaction.
    pub zxid: Zxid,
}

impl Srvr {
    /// Read the answer.
    ///
    /// # Errors
    /// It is none: the command is not allowed, or what must be there is missing or odd.
    pub fn parse(text: &str) -> Result<Self, Unclear> {
        if text.contains(NOT_SERVING) {
            return Ok(Self::NotServing);
        }
        if text.contains(NOT_ALLOWED) {
            return Err(Unclear::NotAllowed { command: "srvr".into() });
        }
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let odd = || Unclear::Srvr { line: text.trim().chars().take(QUOTED).collect() };
        let mode_word = value("Mode").ok_or_else(odd)?.trim().to_string();
        let zxid = value("Zxid").and_then(|text| Zxid::parse(text).ok()).ok_or_else(odd)?;
        let version = value("Zookeeper version").map(version);
        Ok(Self::Serving(Serving { version, mode: mode(&mode_word), mode_word, zxid }))
    }
}

fn mode(word: &str) -> ServerMode {
    match word {
        "leader" => ServerMode::Leader,
        "follower" => ServerMode::Follower,
        "observer" => ServerMode::Observer,
        "standalone" => ServerMode::Standalone,
        _ => ServerMode::Unknown,
    }
}

/// `3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on …`
fn version(text: &str) -> String {
    let end = text.find(['-', ',']).unwrap_or(text.len());
    text[..end].trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEADER: &str = "\
Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
Latency min/avg/max: 0/0.0/0
Received: 3
Sent: 2
Connections: 1
Outstanding: 0
Zxid: 0x10000002a
Mode: leader
Node count: 5
Proposal sizes last/min/max: -1/-1/-1
";

    #[test]
    fn a_leader_tells_version_mode_and_transaction() {
        let Ok(Srvr::Serving(read)) = Srvr::parse(LEADER) else { panic!("it serves") };
        assert_eq!(read.version.as_deref(), Some("3.8.4"));
        assert_eq!((read.mode, read.zxid), (ServerMode::Leader, Zxid::new(0x1_0000_002a)));
    }

    #[test]
    fn a_server_without_a_quorum_serves_nobody() {
        let text = "This ZooKeeper instance is not currently serving requests\n";
        assert_eq!(Srvr::parse(text), Ok(Srvr::NotServing));
    }

    #[test]
    fn a_mode_that_is_not_known_is_no_proof_of_anything() {
        let text = LEADER.replace("leader", "read-only");
        let Ok(Srvr::Serving(read)) = Srvr::parse(&text) else { panic!("it serves") };
        assert_eq!((read.mode, read.mode_word.as_str()), (ServerMode::Unknown, "read-only"));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let refused = "srvr is not executed because it is not in the whitelist.\n";
        let not_allowed = Unclear::NotAllowed { command: "srvr".into() };
        assert_eq!(Srvr::parse(refused), Err(not_allowed));
        for text in ["", "HTTP/1.1 400 Bad Request", "Mode: leader", "Mode: leader\nZxid: 0xzz"] {
            let line = text.to_string();
            assert_eq!(Srvr::parse(text), Err(Unclear::Srvr { line }));
        }
    }
}
