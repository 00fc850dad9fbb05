//! What only a user may allow, in the status: a text that is too long is shortened, as the API server
//! would refuse the whole status with it.

use palladion_api::ids::Nonce;
use palladion_api::service::{Ask, AskKind};
use palladion_api::waits::LONGEST;

/// Volumes, servers or queues that a status lists at the most.
const MOST: usize = 16;
/// So much of the end stays: there stands the command that allows it, with names of any length.
const END: usize = 512;

/// A question to a user. The nonce stands for all that it is about, whatever is listed.
pub fn of(
    kind: AskKind,
    nonce: Nonce,
    about: impl IntoIterator<Item = String>,
    message: &str,
) -> Ask {
    let about = about.into_iter().take(MOST).collect();
    Ask { kind, nonce, about, message: shortened(message) }
}

fn shortened(message: &str) -> String {
    let long = message.chars().count();
    if long <= LONGEST {
        return message.to_string();
    }
    let begin = message.chars().take(LONGEST - END - 1);
    begin.chain(['…']).chain(message.chars().skip(long - END)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_keeps_its_begin_and_the_command_at_its_end() {
        let command = "run `kubectl annotate zookeepercluster demo a=b`";
        let of = |long: usize| shortened(&format!("seven{}{command}", "é".repeat(long)));
        assert_eq!(of(10), format!("seven{}{command}", "é".repeat(10)));
        let (exact, cut) = (of(LONGEST - 5 - command.len()), of(2_000));
        assert!(exact.chars().count() == LONGEST && !exact.contains('…'));
        assert_eq!(cut.chars().count(), LONGEST);
        assert!(cut.starts_with("seven") && cut.contains('…') && cut.ends_with(command), "{cut}");
    }

    #[test]
    fn as_many_are_listed_as_a_status_takes() {
        let about = (0..40).map(|n| n.to_string());
        let ask = of(AskKind::Initialize, Nonce::new("n"), about, "text");
        assert_eq!(ask.about.len(), MOST);
    }
}
