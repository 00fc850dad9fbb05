//! What comes from a Kubernetes cluster is anybody's text: control characters
//! and those that turn the direction of writing are shown by their number, so
//! that they cannot move the cursor, change a title or hide what stands before.

use crate::paint::SEQUENCES;

/// Is it shown by its number?
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push(letter: char, to: &mut String) {
    if is_unsafe(letter) {
        // As JSON writes it, where it is data for programs.
        to.push_str(&format!("\\u{:04x}", u32::from(letter)));
    } else {
        to.push(letter);
    }
}

/// One line: what would begin another one is a blank.
pub fn line(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => clean.push(' '),
            other => push(other, &mut clean),
        }
    }
    clean
}

/// Lines of a text, such as a manifest.
pub fn lines(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => clean.push(letter),
            other => push(other, &mut clean),
        }
    }
    clean
}

/// One line that we have coloured: our own sequences stay.
pub fn painted(text: &str) -> String {
    let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        clean.push_str(&line(before));
        let ours = SEQUENCES.iter().find(|ours| after.starts_with(**ours));
        let taken = ours.map_or_else(|| "\u{1b}".len(), |ours| ours.len());
        let (taken, after) = after.split_at(taken);
        clean.push_str(&ours.map_or_else(|| line(taken), |ours| (*ours).to_string()));
        rest = after;
    }
    clean + &line(rest)
}

/// A word of a command line to paste.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_shown_by_its_number() {
        assert_eq!(line("a\u{1b}[2J\nb\u{9b}\u{202e}"), "a\\u001b[2J b\\u009b\\u202e");
        assert_eq!(lines("a: b\n\tc\u{7}"), "a: b\n\tc\\u0007");
        assert_eq!(painted("\u{1b}[32mok\u{1b}[0m \u{1b}[2J"), "\u{1b}[32mok\u{1b}[0m \\u001b[2J");
    }

    #[test]
    fn a_word_of_a_command_line_stays_one_word() {
        assert_eq!(quoted("--ssl"), "--ssl");
        assert_eq!(quoted("SELECT * FROM a;"), "'SELECT * FROM a;'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
