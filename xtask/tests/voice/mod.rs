//! Finds words of a voice that we have left: whole words of prose, in any case.
//! Code in a text is no prose: names of fields and commands stand as they are.

/// What we used to write, and what Kubernetes and Cassandra write instead is in
/// `CONTRIBUTING.md`.
const MARKERS: [&str; 13] = [
    "told",
    "tells",
    "made anew",
    "anew",
    "given up",
    "owes",
    "what becomes of",
    "as wanted",
    "founded",
    "founding",
    "founder",
    "payment",
    "payments",
];

/// Good English that a marker is part of; Kubernetes describes its own fields so.
const ALLOWED: [&str; 2] = ["told apart", "tells the scheduler"];

/// The markers in a text, each with the words around it.
pub fn marks(text: &str) -> Vec<String> {
    let mut flat = words(&prose(text));
    for allowed in ALLOWED {
        flat = flat.replace(&format!(" {allowed} "), " ");
    }
    let around = |at: usize, length: usize| {
        let before = flat[..at].split(' ').rev().take(4).collect::<Vec<_>>();
        let after = flat[at + length..].split(' ').take(4).collect::<Vec<_>>();
        let before: Vec<&str> = before.into_iter().rev().collect();
        format!("{}{}{}", before.join(" "), &flat[at..at + length], after.join(" "))
    };
    let found = MARKERS.iter().flat_map(|marker| {
        let whole = format!(" {marker} ");
        let places: Vec<usize> = flat.match_indices(&whole).map(|(at, _)| at).collect();
        places.into_iter().map(move |at| (at, whole.len())).collect::<Vec<_>>()
    });
    found.map(|(at, length)| around(at, length)).collect()
}

/// Without code: blocks between fences, and spans between backticks.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split('`').step_by(2).collect::<Vec<_>>().join(" code ")
}

/// The words alone, in small letters, one blank around each. A name with a dash
/// is one word.
fn words(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '\'' | '.');
    let all = text.split(|c: char| !is_part(c)).map(|w| w.trim_matches(['-', '_', '\'', '.']));
    let all = all.filter(|w| !w.is_empty()).map(str::to_lowercase);
    format!(" {} ", all.collect::<Vec<_>>().join(" "))
}

#[test]
fn a_planted_marker_is_found_whatever_its_case_and_over_the_end_of_a_line() {
    for planted in [
        "Told by the agent.",
        "what the agent tells\n",
        "the set is made\nanew",
        "(given up)",
        "member a-0 OWES a repair",
        "What becomes of the data",
        "as wanted: yes",
        "| founding | object |",
        "a **payment** of",
    ] {
        assert!(!marks(planted).is_empty(), "{planted}");
    }
}

#[test]
fn names_and_good_english_are_no_markers() {
    for fine in [
        "they can be told apart by host ID",
        "found in the ledger; the foundation",
        "`spec.owes` and `founding.hostID`",
        "annotate with palladion.dev/allow-founding",
        "AsWanted",
        "```\nstatus: Founding\nfounding: {}\n```",
        "he mentions it; tell the operator",
    ] {
        assert_eq!(marks(fine), Vec::<String>::new(), "{fine}");
    }
}
