//! Rules of `RabbitmqCluster`.

use kube_core::Rule;
use serde_json::json;

use super::{fixed, must, must_saying, service};
use crate::names::STATEFUL_SET_NAME_MAX;
use crate::rabbitmq::{CONFIG, ENV_PREFIXES, LEAST_MEMORY_MIB, PLUGINS};
use crate::reserved::Reserved;

/// Lines of RabbitMQ whose configuration and behaviour are known. With 4.x the nodes
/// keep their membership in another way.
pub const LINES: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];
/// Numbers of nodes: an even number bears no more losses than one less.
pub const NODES: [u32; 4] = [1, 3, 5, 7];

/// Until a node has served, nothing on a volume stands on what the spec says. A cluster that
/// is created again around its volumes has no start on record, and is complete at once.
const HAS_NOT_SERVED: &str = "!has(self.status) || ((!has(self.status.initialized) || !has(self.status.initialized.servedAt)) && (!has(self.status.completeOnce) || !self.status.completeOnce))";

/// Rules of the object as a whole.
pub fn of_the_whole_object() -> Vec<Rule> {
    vec![
        service::name_fits("RabbitmqCluster", "-rmq", STATEFUL_SET_NAME_MAX),
        service::version_goes_no_line_back(),
        version_goes_one_line_up(),
        secret_name_stays(),
        cluster_domain_stays(),
        service::storage_class_is_fixed(),
        service::claim_name_is_fixed(),
        service::claim_does_not_shrink(),
    ]
}

/// Only lines that were tried, or read about.
pub fn version_is_supported() -> Rule {
    let lines = LINES.map(|line| line.replace('.', "\\\\.")).join("|");
    must_saying(
        format!("self.version.matches('^({lines})(\\\\.[0-9]+)?([-.][A-Za-z0-9_.-]+)?$')"),
        format!(
            "'version %s is not supported: use one of the release lines {}, for example 3.12.14'.format([self.version])",
            LINES.join(", ")
        ),
    )
    .field_path(".version")
}

/// Nodes of two lines can be in one cluster only if one is the next after the other.
fn version_goes_one_line_up() -> Rule {
    let minor = |text: &str| format!("int({text}.split('.')[1].find('^[0-9]+'))");
    let (wanted, ran) = (minor("self.spec.version"), minor("self.status.highestReleaseLine"));
    fixed(
        format!("self.spec.version == oldSelf.spec.version || !has(self.status) || !has(self.status.highestReleaseLine) || {wanted} <= {ran} + 1"),
        "'version %s is more than one release line above %s, which the nodes run: upgrade to the next line first, and to this version when all nodes run that one'.format([self.spec.version, self.status.highestReleaseLine])",
    )
    .field_path(".spec.version")
}

/// A cluster has an odd number of nodes.
pub fn nodes_are_odd() -> Rule {
    must("self.nodes in [1, 3, 5, 7]", "`nodes` must be 1, 3, 5 or 7").field_path(".nodes")
}

/// The ports are in every node's configuration.
pub fn ports_are_fixed() -> Rule {
    fixed(
        "oldSelf.ports == self.ports",
        "'`ports` are immutable (%d, %d, %d), because every node knows the others by them'.format([oldSelf.ports.amqp, oldSelf.ports.distribution, oldSelf.ports.management])",
    )
    .field_path(".ports")
}

/// The Secret with the credentials: from the first node that served on. Before, a name that
/// was mistyped is corrected; and back to the Secret on record it may go at any time.
fn secret_name_stays() -> Rule {
    let of = |object: &str| {
        format!(
            "(has({object}.spec.secretName) ? {object}.spec.secretName : {object}.metadata.name + '-rmq')"
        )
    };
    let (old, new) = (of("oldSelf"), of("self"));
    let is_on_record =
        "(has(self.status.credentials) && self.status.credentials.secretName == ".to_string();
    fixed(
        format!("{old} == {new} || {HAS_NOT_SERVED} || {is_on_record}{new})"),
        "'`secretName` is immutable, because the nodes were initialized with the credentials in Secret %s: change it back'.format([has(self.status.credentials) ? self.status.credentials.secretName : SELF])".replace("SELF", &old),
    )
    .field_path(".spec.secretName")
}

/// The virtual host.
pub fn vhost_stays() -> Rule {
    fixed(
        "oldSelf.vhost == self.vhost",
        "'`vhost` is immutable (%s), because it was created when the cluster was initialized: change it back'.format([oldSelf.vhost])",
    )
    .field_path(".vhost")
}

/// The domain of Services: from the first node that served on, as the Secret.
fn cluster_domain_stays() -> Rule {
    fixed(
        format!("oldSelf.spec.clusterDomain == self.spec.clusterDomain || {HAS_NOT_SERVED}"),
        "'`clusterDomain` is immutable (%s), because it is part of every node\\'s name: change it back'.format([oldSelf.spec.clusterDomain])",
    )
    .field_path(".spec.clusterDomain")
}

/// Each port has one use; 8080 is the agent's, 4369 that of Erlang's port mapper.
pub fn ports_differ() -> Rule {
    must(
        "self.amqp != self.distribution && self.amqp != self.management && self.distribution != self.management && !(8080 in [self.amqp, self.distribution, self.management]) && !(4369 in [self.amqp, self.distribution, self.management])",
        "`amqp`, `distribution` and `management` must be three different ports, none of them 8080, which is the agent's, or 4369, which is that of Erlang's port mapper",
    )
}

/// A node that is killed while it starts helps nobody. A limit may be a number or a
/// text; see the rule of `CassandraCluster`.
pub fn memory_suffices() -> Rule {
    let limit = "self.resources.limits['memory']";
    let limited =
        "has(self.resources) && has(self.resources.limits) && 'memory' in self.resources.limits";
    let bytes = LEAST_MEMORY_MIB * 1024 * 1024;
    let lacks = format!(
        "(type({limit}) == int ? {limit} < {bytes} : quantity({limit}).isLessThan(quantity('{LEAST_MEMORY_MIB}Mi')))"
    );
    must_saying(
        format!("!({limited}) || !{lacks}"),
        format!(
            "'not enough memory: RabbitMQ needs a limit of {LEAST_MEMORY_MIB}Mi or more; raise `resources.limits.memory`'"
        ),
    )
    .field_path(".resources")
}

/// Variables of the pod template win or lose by order; users want neither.
pub fn env_is_not_reserved() -> Rule {
    let names: Vec<String> = crate::rabbitmq::env_names().map(|name| format!("'{name}'")).collect();
    let prefixes: Vec<String> =
        ENV_PREFIXES.iter().map(|p| format!("e.name.startsWith('{p}')")).collect();
    let taken = format!("e.name in [{}] || {}", names.join(", "), prefixes.join(" || "));
    must_saying(
        format!("self.all(e, !({taken}))"),
        format!(
            "'these environment variables are reserved: %s; remove them, and set `config`, `plugins` and the other fields of the spec instead'.format([self.filter(e, {taken}).map(e, e.name)])"
        ),
    )
}

/// Where a name is reserved.
fn taken(reserved: &Reserved, variable: &str) -> String {
    let name = reserved.name.to_ascii_lowercase();
    match name.strip_suffix('*') {
        Some(beginning) => format!("{variable}.lowerAscii().startsWith('{beginning}')"),
        None => format!("{variable}.lowerAscii() == '{name}'"),
    }
}

/// Schema of `config`: names and values are one line each to RabbitMQ's reader, and one
/// rule for each reserved setting says what to do instead.
pub(crate) fn config_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut rules = vec![
        must(
            "self.all(k, k.matches('^[A-Za-z0-9][A-Za-z0-9._/-]*$'))",
            "names of settings have letters, digits, `.`, `_`, `/` and `-` only",
        ),
        must(
            "self.all(k, self[k].matches('^[^#\\\\x00-\\\\x1f\\\\x7f]+$'))",
            "values of settings are one line each, not empty and without `#`, with which a comment begins",
        ),
    ];
    rules.extend(CONFIG.iter().map(|r| {
        must(
            format!("self.all(k, !({}))", taken(r, "k")),
            format!("`{}` cannot be set in `config`: {}", r.name, r.instead),
        )
    }));
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 128,
        "additionalProperties": { "type": "string", "maxLength": 1024 },
        "x-kubernetes-validations": json!(rules),
    })
}

/// Schema of `plugins`.
pub(crate) fn plugins_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let rules: Vec<Rule> = PLUGINS
        .iter()
        .map(|r| {
            must(
                format!("self.all(p, !({}))", taken(r, "p")),
                format!("`{}` cannot be among `plugins`: {}", r.name, r.instead),
            )
        })
        .collect();
    schemars::json_schema!({
        "type": "array",
        "maxItems": 64,
        "items": { "type": "string", "maxLength": 128, "pattern": "^[a-z][a-z0-9_]*$" },
        "x-kubernetes-validations": json!(rules),
    })
}
