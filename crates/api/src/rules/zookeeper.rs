//! Rules of `ZookeeperCluster`.

use kube_core::Rule;
use serde_json::json;

use super::{fixed, must, must_saying, service};
use crate::names::STATEFUL_SET_NAME_MAX;
use crate::reserved::HEAP_SHARE_PERCENT;
use crate::zookeeper::{CONFIG, ENV_PREFIXES, JVM_OPTIONS, LEAST_MEMORY_MIB};

/// Lines of ZooKeeper whose configuration and behaviour are known.
pub const LINES: [&str; 2] = ["3.8", "3.9"];
/// Numbers of servers: an even number bears no more losses than one less.
pub const SERVERS: [u32; 4] = [1, 3, 5, 7];

/// Rules of the object as a whole.
pub fn of_the_whole_object() -> Vec<Rule> {
    vec![
        service::name_fits("ZookeeperCluster", "-zk", STATEFUL_SET_NAME_MAX),
        service::version_goes_no_line_back(),
        service::storage_class_is_fixed(),
        service::claim_name_is_fixed(),
        service::claim_does_not_shrink(),
    ]
}

/// Only lines that were tried.
pub fn version_is_supported() -> Rule {
    let lines = LINES.map(|line| line.replace('.', "\\\\.")).join("|");
    must_saying(
        format!("self.version.matches('^({lines})(\\\\.[0-9]+)?([-.][A-Za-z0-9_.-]+)?$')"),
        format!(
            "'version %s is not supported: use one of the release lines {}, for example 3.9.3'.format([self.version])",
            LINES.join(", ")
        ),
    )
    .field_path(".version")
}

/// An ensemble has an odd number of servers.
pub fn servers_are_odd() -> Rule {
    must("self.servers in [1, 3, 5, 7]", "`servers` must be 1, 3, 5 or 7").field_path(".servers")
}

/// The ports are in every server's configuration.
pub fn ports_are_fixed() -> Rule {
    fixed(
        "oldSelf.ports == self.ports",
        "'`ports` are immutable (%d, %d, %d), because every server knows the others by them'.format([oldSelf.ports.client, oldSelf.ports.quorum, oldSelf.ports.election])",
    )
    .field_path(".ports")
}

/// Each port has one use; 8080 is the agent's.
pub fn ports_differ() -> Rule {
    must(
        "self.client != self.quorum && self.client != self.election && self.quorum != self.election && !(8080 in [self.client, self.quorum, self.election])",
        "`client`, `quorum` and `election` must be three different ports, none of them 8080, which is the agent's",
    )
}

const LIMITED: &str =
    "has(self.resources) && has(self.resources.limits) && 'memory' in self.resources.limits";
const LIMIT: &str = "self.resources.limits['memory']";

/// A limit may be a number or a text; see the rule of `CassandraCluster`.
fn of_limit(number: &str, text: &str) -> String {
    let (number, text) =
        (number.replace('@', LIMIT), text.replace('@', &format!("quantity({LIMIT})")));
    format!("(type({LIMIT}) == int ? {number} : {text})")
}

/// A server that is killed while it starts helps nobody.
pub fn memory_suffices() -> Rule {
    let lacks = of_limit(
        &format!("@ < {}", LEAST_MEMORY_MIB * 1024 * 1024),
        &format!("@.isLessThan(quantity('{LEAST_MEMORY_MIB}Mi'))"),
    );
    must_saying(
        format!("!({LIMITED}) || !{lacks}"),
        format!(
            "'not enough memory: ZooKeeper needs a limit of {LEAST_MEMORY_MIB}Mi or more; raise `resources.limits.memory`'"
        ),
    )
    .field_path(".resources")
}

/// The rest of the server's memory needs room beside the heap.
pub fn heap_fits_into_memory() -> Rule {
    let heap = "quantity(self.heapSize).asApproximateFloat() * 100.0";
    let exceeds = of_limit(
        &format!("{heap} > double(@) * {HEAP_SHARE_PERCENT}.0"),
        &format!("{heap} > @.asApproximateFloat() * {HEAP_SHARE_PERCENT}.0"),
    );
    must_saying(
        format!("!has(self.heapSize) || !isQuantity(self.heapSize) || !({LIMITED}) || !{exceeds}"),
        format!(
            "'`heapSize` is more than {HEAP_SHARE_PERCENT}% of the memory limit: lower `heapSize` or raise `resources.limits.memory`'"
        ),
    )
    .field_path(".heapSize")
}

/// Variables of the pod template win or lose by order; users want neither.
pub fn env_is_not_reserved() -> Rule {
    let names: Vec<String> =
        crate::zookeeper::env_names().map(|name| format!("'{name}'")).collect();
    let prefixes: Vec<String> =
        ENV_PREFIXES.iter().map(|p| format!("e.name.startsWith('{p}')")).collect();
    let taken = format!("e.name in [{}] || {}", names.join(", "), prefixes.join(" || "));
    must_saying(
        format!("self.all(e, !({taken}))"),
        format!(
            "'these environment variables are reserved: %s; remove them, and set `config`, `jvmOptions` and the other fields of the spec instead'.format([self.filter(e, {taken}).map(e, e.name)])"
        ),
    )
}

/// Names that are one word to Java's reader of properties.
fn settings_are_words() -> Rule {
    must(
        "self.all(k, k.matches('^[A-Za-z0-9][A-Za-z0-9._-]*$'))",
        "names of settings have letters, digits, `.`, `_` and `-` only",
    )
}

/// Values that are one line to it.
fn values_are_lines() -> Rule {
    must(
        "self.all(k, self[k].matches('^[^\\\\\\\\\\\\x00-\\\\x1f\\\\x7f]*$'))",
        "values of settings are one line each, without `\\`",
    )
}

/// One rule for each reserved setting, whose message says what to do instead.
fn settings_are_not_reserved() -> Vec<Rule> {
    CONFIG
        .iter()
        .map(|r| {
            let name = r.name.to_ascii_lowercase();
            let taken = match name.strip_suffix('*') {
                Some(beginning) => format!("k.lowerAscii().startsWith('{beginning}')"),
                None => format!("k.lowerAscii() == '{name}'"),
            };
            must(
                format!("self.all(k, !({taken}))"),
                format!("`{}` cannot be set in `config`: {}", r.name, r.instead),
            )
        })
        .collect()
}

/// Schema of `config`.
pub(crate) fn config_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut rules = vec![settings_are_words(), values_are_lines()];
    rules.extend(settings_are_not_reserved());
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 128,
        "additionalProperties": { "type": "string", "maxLength": 1024 },
        "x-kubernetes-validations": rules,
    })
}

/// Schema of `jvmOptions`.
pub(crate) fn jvm_options_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut rules = vec![super::jvm_options::begin_with_a_dash()];
    rules.extend(JVM_OPTIONS.iter().map(|r| {
        must(
            format!("self.all(o, !o.startsWith('{}'))", r.name),
            format!(
                "options starting with `{}` cannot be set in `jvmOptions`: {}",
                r.name, r.instead
            ),
        )
    }));
    schemars::json_schema!({
        "type": "array",
        "maxItems": 256,
        "items": { "type": "string", "maxLength": 1024 },
        "x-kubernetes-validations": json!(rules),
    })
}
