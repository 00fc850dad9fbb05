//! What `jvmOptions` may contain: arguments of the JVM, and none that Palladion sets.

use super::{Rule, must, must_saying};
use crate::reserved;

/// Each option is one argument of the JVM.
pub fn begin_with_a_dash() -> Rule {
    must_saying(
        "self.all(o, o.startsWith('-'))",
        "'JVM options must start with `-`: correct %s'.format([self.filter(o, !o.startsWith('-'))])",
    )
}

/// One rule for each reserved option, whose message says what to do instead.
pub fn are_not_reserved() -> Vec<Rule> {
    let agent = reserved::JAVA_AGENT;
    let by_beginning = reserved::JVM_OPTIONS.iter().map(|r| {
        (format!("o.startsWith('{}')", r.name), format!("options starting with `{}`", r.name), r)
    });
    let by_word = (
        format!("o.startsWith('-javaagent:') && o.contains('{}')", agent.name),
        format!("a Java agent named `{}`", agent.name),
        &agent,
    );
    by_beginning
        .chain([by_word])
        .map(|(taken, options, r)| {
            must(
                format!("self.all(o, !({taken}))"),
                format!("{options} cannot be set in `jvmOptions`: {}", r.instead),
            )
        })
        .collect()
}

/// Schema of `jvmOptions`.
pub(crate) fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut rules = vec![begin_with_a_dash()];
    rules.extend(are_not_reserved());
    schemars::json_schema!({
        "type": "array",
        "maxItems": 256,
        "items": { "type": "string", "maxLength": 1024 },
        "x-kubernetes-validations": rules,
    })
}
