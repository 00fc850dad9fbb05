//! What a server that ended has to say for itself: the one telling line of its log, and
//! what kind of failure it tells.

use crate::decide::LastWords;
use palladion_agent_core::last_words::Telling;
use palladion_api::reasons::Reason;

/// Parts of lines that tell most, the most telling first.
const PARTS: [(&str, Reason); 17] = [
    ("OutOfMemoryError", Reason::NotEnoughMemory),
    ("insufficient memory", Reason::NotEnoughMemory),
    ("Could not reserve enough space", Reason::NotEnoughMemory),
    ("ConfigException", Reason::ConfigurationRefused),
    ("Invalid config", Reason::ConfigurationRefused),
    ("Unrecognized VM option", Reason::ConfigurationRefused),
    ("Unrecognized option", Reason::ConfigurationRefused),
    ("Error: Could not find or load", Reason::ConfigurationRefused),
    ("Conflicting collector", Reason::ConfigurationRefused),
    ("Invalid maximum heap size", Reason::ConfigurationRefused),
    ("Invalid initial heap size", Reason::ConfigurationRefused),
    ("not in the peer list", Reason::NotInEnsemble),
    ("No snapshot found, but there are log entries", Reason::VolumeLost),
    ("The current epoch", Reason::ServerFailed),
    ("No space left on device", Reason::ServerFailed),
    ("Exception: ", Reason::ServerFailed),
    ("ERROR", Reason::ServerFailed),
];

const TELLING: Telling = Telling {
    parts: &PARTS,
    noise: &["ExitOnOutOfMemoryError"],
    wrong_configuration: WRONG_CONFIGURATION,
};

/// ZooKeeper's exit code for a configuration that it cannot read (`ExitCode.INVALID_INVOCATION`).
const WRONG_CONFIGURATION: i32 = 2;

/// The last words of a server that ended with this code.
pub fn of(log: &[String], code: Option<i32>) -> LastWords {
    TELLING.of(log, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_agent_core::last_words::CHARACTERS;
    use palladion_agent_core::words::server::Last;

    fn words(log: &[&str], code: i32) -> LastWords {
        of(&log.iter().map(|s| (*s).to_string()).collect::<Vec<_>>(), Some(code))
    }

    #[test]
    fn the_most_telling_line_wins_over_the_last_one() {
        let told = words(
            &[
                "INFO Server environment: -XX:+ExitOnOutOfMemoryError",
                "java.lang.RuntimeException: My id 3 not in the peer list",
                "\tat org.apache.zookeeper.server.quorum.QuorumPeer.start",
                "ERROR [main] Exiting JVM with code 1",
            ],
            1,
        );
        assert_eq!(told.reason, Reason::NotInEnsemble);
        assert!(told.text.contains("My id 3"), "{}", told.text);
    }

    #[test]
    fn memory_and_configuration_are_known_by_their_exit_codes_too() {
        assert_eq!(words(&["INFO all is well"], 137).reason, Reason::NotEnoughMemory);
        assert_eq!(words(&["INFO all is well"], 2).reason, Reason::ConfigurationRefused);
        let out = words(&["Terminating due to java.lang.OutOfMemoryError: Java heap space"], 3);
        assert_eq!(out.reason, Reason::NotEnoughMemory);
    }

    #[test]
    fn silence_is_told_as_silence() {
        assert_eq!(words(&[], 1).text, Last::Nothing.to_string());
        assert_eq!(words(&["x".repeat(900).as_str()], 1).text.len(), CHARACTERS);
    }
}
