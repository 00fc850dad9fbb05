//! What a server that ended has to say for itself: the one telling line of its
//! log, and what kind of failure it tells.

use crate::decide::LastWords;
use palladion_agent_core::last_words::Telling;
use palladion_api::reasons::Reason;

/// Parts of lines that tell most, the most telling first.
const PARTS: [(&str, Reason); 18] = [
    ("OutOfMemoryError", Reason::NotEnoughMemory),
    ("insufficient memory", Reason::NotEnoughMemory),
    ("Could not reserve enough space", Reason::NotEnoughMemory),
    ("ConfigurationException", Reason::ConfigurationRefused),
    ("Invalid yaml", Reason::ConfigurationRefused),
    ("Unrecognized VM option", Reason::ConfigurationRefused),
    ("Unrecognized option", Reason::ConfigurationRefused),
    ("Error: Could not find or load", Reason::ConfigurationRefused),
    ("Conflicting collector", Reason::ConfigurationRefused),
    ("Invalid maximum heap size", Reason::ConfigurationRefused),
    ("Invalid initial heap size", Reason::ConfigurationRefused),
    ("already exists", Reason::ServerFailed),
    ("Unable to contact any seeds", Reason::ServerFailed),
    ("Unable to gossip with any peers", Reason::ServerFailed),
    ("Some data streaming failed", Reason::ServerFailed),
    ("Exception: ", Reason::ServerFailed),
    ("encountered during startup", Reason::ServerFailed),
    ("ERROR", Reason::ServerFailed),
];

const TELLING: Telling = Telling {
    parts: &PARTS,
    noise: &["ExitOnOutOfMemoryError", "JVM Arguments"],
    wrong_configuration: WRONG_CONFIGURATION,
};

/// Cassandra's exit code for a configuration that it refuses.
const WRONG_CONFIGURATION: i32 = 100;

/// The last words of a server that ended with this code.
pub fn of(log: &[String], code: Option<i32>) -> LastWords {
    TELLING.of(log, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(log: &[&str], code: i32) -> LastWords {
        of(&log.iter().map(|s| (*s).to_string()).collect::<Vec<_>>(), Some(code))
    }

    #[test]
    fn the_most_telling_line_wins_over_the_last_one() {
        let words = words(
            &[
                "INFO  [main] JVM Arguments: [-XX:+ExitOnOutOfMemoryError]",
                "Exception (org.apache.cassandra.exceptions.ConfigurationException) encountered during startup: Invalid yaml. Please remove properties [nonsense]",
                "\tat org.apache.cassandra.config.YamlConfigurationLoader",
                "ERROR [main] something later",
            ],
            1,
        );
        assert_eq!(words.reason, Reason::ConfigurationRefused);
        assert!(words.text.contains("[nonsense]"), "{}", words.text);
    }

    #[test]
    fn a_collision_is_told_in_the_servers_words() {
        let text = "java.lang.RuntimeException: A node with address /10.0.0.1:7000 already exists, cancelling join.";
        let words =
            words(&["ERROR [main] Exception encountered during startup", text, "INFO end"], 3);
        assert_eq!((words.reason, words.text.as_str()), (Reason::ServerFailed, text));
    }

    #[test]
    fn memory_and_configuration_are_known_by_their_exit_codes_too() {
        assert_eq!(words(&["INFO all is well"], 137).reason, Reason::NotEnoughMemory);
        assert_eq!(words(&["INFO all is well"], 100).reason, Reason::ConfigurationRefused);
        let out = words(&["Terminating due to java.lang.OutOfMemoryError: Java heap space"], 3);
        assert_eq!(out.reason, Reason::NotEnoughMemory);
    }

    #[test]
    fn silence_is_told_as_silence() {
        assert_eq!(words(&[], 1).text, "the server logged no message");
        assert_eq!(words(&["x".repeat(900).as_str()], 1).text.len(), 400);
    }
}
