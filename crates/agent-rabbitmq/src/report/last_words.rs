//! What a node that ended has to say for itself: the one telling line of its log, and
//! what kind of failure it tells.

use crate::decide::LastWords;
use palladion_agent_core::last_words::Telling;
use palladion_api::reasons::Reason;

/// Parts of lines that tell most, the most telling first.
const PARTS: [(&str, Reason); 16] = [
    ("Cannot allocate", Reason::NotEnoughMemory),
    ("eheap_alloc", Reason::NotEnoughMemory),
    ("inconsistent_cluster", Reason::NotInCluster),
    ("thinks it's clustered with node", Reason::NotInCluster),
    ("Failed to prepare configuration", Reason::ConfigurationRefused),
    ("Error preparing configuration", Reason::ConfigurationRefused),
    ("conf file attempted to set", Reason::ConfigurationRefused),
    ("You've tried to set", Reason::ConfigurationRefused),
    ("failed_to_generate", Reason::ConfigurationRefused),
    ("Plugin configuration", Reason::ConfigurationRefused),
    ("plugins_not_found", Reason::ConfigurationRefused),
    ("timeout_waiting_for_tables", Reason::WaitingForTables),
    ("No space left on device", Reason::ServerFailed),
    ("BOOT FAILED", Reason::ServerFailed),
    ("{error,", Reason::ServerFailed),
    ("[error]", Reason::ServerFailed),
];

const TELLING: Telling = Telling { parts: &PARTS, noise: &[], wrong_configuration: NONE };

/// RabbitMQ ends with 1 whatever is wrong; no code says that it is the configuration.
const NONE: i32 = -1;

/// The last words of a node that ended with this code.
pub fn of(log: &[String], code: Option<i32>) -> LastWords {
    TELLING.of(log, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_agent_core::words::server::Last;

    fn words(log: &[&str], code: i32) -> LastWords {
        of(&log.iter().map(|s| (*s).to_string()).collect::<Vec<_>>(), Some(code))
    }

    /// As a node says it that was forgotten, and comes back with its disk (R13).
    #[test]
    fn the_most_telling_line_wins_over_the_last_one() {
        let told = words(
            &[
                "BOOT FAILED",
                "===========",
                "{error,{inconsistent_cluster,\"Node 'rabbit@c' thinks it's clustered with node \
                 'rabbit@a', but 'rabbit@a' disagrees\"}}",
                "Crash dump is being written to: /tmp/erl_crash.dump...done",
            ],
            1,
        );
        assert_eq!(told.reason, Reason::NotInCluster);
        assert!(told.text.contains("disagrees"), "{}", told.text);
    }

    #[test]
    fn memory_and_configuration_are_known_and_silence_is_told_as_silence() {
        assert_eq!(words(&["all is well"], 137).reason, Reason::NotEnoughMemory);
        let conf = "You've tried to set nonsense, but there is no setting with that name.";
        assert_eq!(words(&[conf, "end"], 1).reason, Reason::ConfigurationRefused);
        assert_eq!(words(&[], 1).text, Last::Nothing.to_string());
    }
}
