//! What a template can nest within its fuel is printed, compared and dropped on the stack of a
//! decision: running out of it would end the operator, and its successor at the same object.
#![allow(clippy::expect_used)]

use palladion_api::staged::File;
use palladion_engine::decide::STACK;
use palladion_stack::render::{Templates, placeholders};

/// Brackets in a row, as many as the parser takes.
const IN_A_ROW: usize = 40;

/// Render on such a stack; says whether there is a text. Where the stack is too small this
/// process ends, and with it all of its tests.
fn rendered(template: String) -> bool {
    let render = move || {
        let file = File { name: "deep".into(), template };
        let templates = Templates::parse(&[file]).expect("a template");
        let none = serde_json::Map::new();
        templates.render(&placeholders("web", 1, &[], &none, &[])).is_ok()
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(render).expect("a thread");
    thread.join().expect("should have ended by itself")
}

/// Values that are nested `IN_A_ROW` times as deep as `rounds`, in `x` and `y`.
fn nested(open: &str, close: &str, rounds: usize, then: &str) -> String {
    let of = |name: &str| {
        let (open, close) = (open.repeat(IN_A_ROW), close.repeat(IN_A_ROW));
        format!("{{% set ns.{name} = {open}ns.{name}{close} %}}")
    };
    format!(
        "{{% set ns = namespace(x=1, y=1) %}}{{% for i in range({rounds}) %}}{}{}{{% endfor %}}{then}",
        of("x"),
        if then.contains("ns.y") { of("y") } else { String::new() },
    )
}

#[test]
fn the_deepest_values_are_printed_compared_and_dropped() {
    for (open, close) in [("[", "]"), ("(", ",)"), ("{'a':", "}")] {
        for then in ["", "{{ ns.x }}", "{{ ns.x | string | length }}", "{{ ns.x == ns.y }}"] {
            // Up to what the fuel is enough for: the deepest is among the last that are rendered.
            let rounds = (50..=800).step_by(50);
            let made: Vec<bool> =
                rounds.map(|rounds| rendered(nested(open, close, rounds, then))).collect();
            assert!(made[0] && !made[made.len() - 1], "{open} {then}: {made:?}");
        }
    }
}
