//! The reference page of the commands, made from the command line itself.

use crate::exit::Exit;
use crate::run::{Name, command};
use clap::{Arg, Command};
use std::fmt::Write as _;

/// The page, below its heading.
pub fn page() -> String {
    let mut all = command(Name::Kubectl);
    all.build();
    let mut text = String::new();
    let _ = write!(
        text,
        "{}\n\nThe same program is `palladion`. [How to install and use it](../how-to/command-line.md).\n",
        about(&all)
    );
    verbs(&all, "kubectl palladion", &mut text);
    text += "\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n";
    for exit in Exit::ALL {
        let _ = writeln!(text, "| {} | {} |", exit.number(), exit.meaning());
    }
    text
}

fn verbs(parent: &Command, path: &str, text: &mut String) {
    let listed = parent.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    for verb in listed {
        let path = format!("{path} {}", verb.get_name());
        if verb.has_subcommands() {
            verbs(verb, &path, text);
        } else {
            section(verb, &path, text);
        }
    }
}

fn section(verb: &Command, path: &str, text: &mut String) {
    let title = path.trim_start_matches("kubectl palladion ");
    let _ = write!(text, "\n## {title}\n\n{}.\n", about(verb));
    let aliases: Vec<String> = verb.get_visible_aliases().map(|a| format!("`{a}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(text, "\nAlso {}.\n", aliases.join(", "));
    }
    let words: Vec<&Arg> = verb.get_positionals().collect();
    let usage: Vec<String> = words.iter().map(|a| positional(a)).collect();
    let _ =
        write!(text, "\n```sh\n{}\n```\n", [path, "[flags]", &usage.join(" ")].join(" ").trim());
    let (examples, notes) = examples(verb);
    text.push_str("\n| Argument | Meaning |\n|---|---|\n");
    for word in words {
        let _ = writeln!(text, "| `{}` | {} |", positional(word), meaning(word));
    }
    let flags = verb.get_arguments().filter(|a| !a.is_positional());
    for flag in flags.filter(|a| !a.is_hide_set() && a.get_id() != "help") {
        let _ = writeln!(text, "| `{}` | {} |", spelled(flag), meaning(flag));
    }
    let _ = write!(text, "\n```sh\n{}\n```\n", examples.join("\n"));
    for note in notes {
        let _ = write!(text, "\n{note}\n");
    }
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// The examples of a verb, and what is said below them.
fn examples(verb: &Command) -> (Vec<String>, Vec<String>) {
    let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().filter(|l| !l.is_empty() && *l != "Example:");
    let (examples, notes): (Vec<&str>, Vec<&str>) = lines.partition(|l| l.starts_with("  "));
    let own = |all: Vec<&str>| all.into_iter().map(|l| l.trim().to_string()).collect();
    (own(examples), own(notes))
}

fn positional(word: &Arg) -> String {
    let name = value_name(word);
    match (word.is_required_set(), word.is_last_set()) {
        (true, _) => name,
        (false, true) => format!("[-- {name}...]"),
        (false, false) => format!("[{name}]"),
    }
}

fn value_name(argument: &Arg) -> String {
    match argument.get_value_names() {
        Some([name, ..]) => name.to_string(),
        Some([]) | None => argument.get_id().as_str().to_uppercase(),
    }
}

fn spelled(flag: &Arg) -> String {
    let mut names = Vec::new();
    names.extend(flag.get_short().map(|short| format!("-{short}")));
    names.extend(flag.get_long().map(|long| format!("--{long}")));
    let name = names.join(", ");
    match (flag.get_action().takes_values(), flag.is_require_equals_set()) {
        (false, _) => name,
        (true, true) => format!("{name}[={}]", value_name(flag)),
        (true, false) => format!("{name} {}", value_name(flag)),
    }
}

fn meaning(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    if argument.get_action().takes_values() {
        let values = argument.get_possible_values();
        let names: Vec<String> = values.iter().map(|v| format!("`{}`", v.get_name())).collect();
        if !names.is_empty() {
            text += &format!(": {}", names.join(", "));
        }
        let default = argument.get_default_values().first().map(|v| v.to_string_lossy());
        if let Some(default) = default {
            text += &format!(". Default `{default}`");
        }
    }
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_its_section() {
        let page = page();
        for verb in ["status", "task list", "restart", "completion"] {
            assert!(page.contains(&format!("\n## {verb}\n")), "{verb}");
        }
        assert!(page.contains("| 4 | You lack a right"));
        assert!(page.contains("`--wait[=DURATION]`"));
    }
}
