//! Rules of `CassandraCluster`.

use kube_core::{Reason, Rule};

use super::{claims, fixed, must, must_saying};
use crate::names::STATEFUL_SET_NAME_MAX;
use crate::reserved;

/// Lines of Cassandra whose configuration and operations are known.
pub const CASSANDRA_LINES: [&str; 3] = ["4.0", "4.1", "5.0"];

/// Names of racks and datacenters: what Cassandra allows, and what a label value and a DNS name made of it allow.
const NAME: &str = "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$";

// The object as a whole, where its name can be seen.

/// Rules of the object as a whole.
pub fn of_the_whole_object() -> Vec<Rule> {
    vec![
        name_is_a_service_name(),
        derived_names_fit(),
        version_goes_no_line_back(),
        claims::storage_class_is_fixed(),
        claims::claim_name_is_fixed(),
        claims::claims_do_not_shrink(),
    ]
}

/// The name starts the name of Services, which must begin with a letter.
pub fn name_is_a_service_name() -> Rule {
    must(
        "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "the names of Services start with the name of the CassandraCluster: use only a-z, 0-9 and `-`, start with a letter and end with a letter or digit",
    )
}

/// The client Service's name must fit, whatever the racks are called.
pub fn derived_names_fit() -> Rule {
    let length = "size(self.metadata.name) + size(self.spec.datacenter.name) + size(r.name) + 2";
    must_saying(
        format!("self.spec.datacenter.racks.all(r, {length} <= {STATEFUL_SET_NAME_MAX})"),
        format!(
            "'names too long: <cluster>-<datacenter>-<rack> may be at most {STATEFUL_SET_NAME_MAX} characters long, but is longer for rack %s; shorten one of the three'.format([self.spec.datacenter.racks.filter(r, {length} > {STATEFUL_SET_NAME_MAX}).map(r, r.name)])"
        ),
    )
}

/// A server cannot read what one of a newer line has written.
pub fn version_goes_no_line_back() -> Rule {
    // 5.0.5 and 5.0 become 5000, 4.1.9 becomes 4001.
    let number = |text: &str| {
        format!("int({text}.split('.')[0]) * 1000 + int({text}.split('.')[1].find('^[0-9]+'))")
    };
    let (wanted, ran) = (number("self.spec.version"), number("self.status.highestReleaseLine"));
    fixed(
        format!("self.spec.version == oldSelf.spec.version || !has(self.status) || !has(self.status.highestReleaseLine) || {wanted} >= {ran}"),
        "'version %s belongs to an older release line than %s, which a member has run; a server cannot read data written by a newer line: set a version of line %s or newer'.format([self.spec.version, self.status.highestReleaseLine, self.status.highestReleaseLine])",
    )
    .field_path(".spec.version")
}

// The spec.

/// Only lines whose configuration is known; for Scylla any version.
pub fn version_is_supported() -> Rule {
    let lines = CASSANDRA_LINES.map(|line| line.replace('.', "\\\\.")).join("|");
    must_saying(
        format!("self.mode == 'scylla' ? self.version.matches('^[0-9]+\\\\.[0-9]+[A-Za-z0-9_.-]*$') : self.version.matches('^({lines})(\\\\.[0-9]+)?([-.][A-Za-z0-9_.-]+)?$')"),
        format!(
            "'version %s is not supported: use %s'.format([self.version, self.mode == 'scylla' ? 'a version of ScyllaDB such as 6.2.0' : 'one of the release lines {}, for example 5.0.5'])",
            CASSANDRA_LINES.join(", ")
        ),
    )
    .field_path(".version")
}

/// The ring's name is in every member's data.
pub fn ring_name_is_fixed() -> Rule {
    fixed(
        "has(oldSelf.ringName) == has(self.ringName) && (!has(self.ringName) || oldSelf.ringName == self.ringName)",
        "'`ringName` is immutable (%s), because servers refuse to start with another cluster name'.format([has(oldSelf.ringName) ? oldSelf.ringName : 'the name of the object'])",
    )
    .field_path(".ringName")
}

/// Cassandra's data is not Scylla's.
pub fn mode_is_fixed() -> Rule {
    fixed("oldSelf.mode == self.mode", "'`mode` is immutable (%s)'.format([oldSelf.mode])")
        .field_path(".mode")
}

/// Tokens are in every member's data.
pub fn num_tokens_is_fixed() -> Rule {
    fixed(
        "oldSelf.numTokens == self.numTokens",
        "'`numTokens` is immutable (%d), because members keep their tokens; to change it, create another CassandraCluster and migrate the data'.format([oldSelf.numTokens])",
    )
    .field_path(".numTokens")
}

/// Scylla has no JVM.
pub fn scylla_has_no_jvm() -> Rule {
    must(
        "self.mode != 'scylla' || (!has(self.heapSize) && (!has(self.jvmOptions) || size(self.jvmOptions) == 0) && self.datacenter.racks.all(r, !has(r.jmxExporterConfigMapName)) && (!has(self.datacenter.rackTemplate) || !has(self.datacenter.rackTemplate.jmxExporterConfigMapName)))",
        "ScyllaDB has no JVM: remove `heapSize`, `jvmOptions` and `jmxExporterConfigMapName`",
    )
}

/// How Scylla takes them has not been tried against a server.
pub fn scylla_takes_no_runtime_settings() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.runtimeSettings) || (!has(self.runtimeSettings.compactionThroughput) && !has(self.runtimeSettings.streamThroughput) && (!has(self.runtimeSettings.logLevels) || size(self.runtimeSettings.logLevels) == 0))",
        "`runtimeSettings` applies to Cassandra only: use `config` instead",
    )
}

/// Names of loggers.
pub fn loggers_have_names() -> Rule {
    must(
        "self.all(k, k.matches('^[A-Za-z][A-Za-z0-9_.$-]*$'))",
        "logger names must be names of classes or packages, for example org.apache.cassandra.gms; the root logger is ROOT",
    )
}

/// Rack `r` has a memory limit.
const LIMITED: &str =
    "has(r.resources) && has(r.resources.limits) && 'memory' in r.resources.limits";

/// An expression over the memory limit of rack `r`. A limit may be a number or
/// a text, and to turn the one into the other costs more than a rule may. So
/// does `isQuantity` beside `quantity`, estimated as if each text filled the
/// request: of a limit that is no quantity the answer is the message of `crd.rs`.
fn of_limit(number: &str, text: &str) -> String {
    let limit = "r.resources.limits['memory']";
    format!(
        "(type({limit}) == int ? {} : {})",
        number.replace('@', limit),
        text.replace('@', &format!("quantity({limit})"))
    )
}

/// A server that is killed while it starts helps nobody.
pub fn memory_suffices() -> Rule {
    let least = reserved::LEAST_MEMORY_MIB;
    let lacks = format!(
        "{LIMITED} && {}",
        of_limit(
            &format!("@ < {}", least * 1024 * 1024),
            &format!("@.isLessThan(quantity('{least}Mi'))")
        )
    );
    must_saying(
        format!("self.mode == 'scylla' || !self.datacenter.racks.exists(r, {lacks})"),
        format!(
            "'not enough memory: Cassandra needs a limit of {least}Mi or more, but rack %s has less; raise `resources.limits.memory`'.format([self.datacenter.racks.filter(r, {lacks}).map(r, r.name)])"
        ),
    )
}

/// The rest of the server's memory needs room beside the heap.
pub fn heap_fits_into_memory() -> Rule {
    let share = reserved::HEAP_SHARE_PERCENT;
    let heap = "quantity(self.heapSize).asApproximateFloat() * 100.0";
    let exceeds = format!(
        "{LIMITED} && isQuantity(self.heapSize) && {}",
        of_limit(
            &format!("{heap} > double(@) * {share}.0"),
            &format!("{heap} > @.asApproximateFloat() * {share}.0")
        )
    );
    must_saying(
        format!("!has(self.heapSize) || !self.datacenter.racks.exists(r, {exceeds})"),
        format!("'`heapSize` is more than {share}%% of the memory limit of rack %s: lower `heapSize` or raise `resources.limits.memory`'.format([self.datacenter.racks.filter(r, {exceeds}).map(r, r.name)])"),
    )
    .field_path(".heapSize")
}

// Environment.

/// Variables of the pod template win or lose by order; users want neither.
pub fn env_is_not_reserved() -> Rule {
    let words = reserved::ENV.iter().chain(reserved::JVM_ENV);
    let words: Vec<String> = words.map(|w| format!("'{w}'")).collect();
    let prefixes: Vec<String> =
        reserved::ENV_PREFIXES.iter().map(|p| format!("e.name.startsWith('{p}')")).collect();
    let taken = format!("e.name in [{}] || {}", words.join(", "), prefixes.join(" || "));
    must_saying(
        format!("self.all(e, !({taken}))"),
        format!(
            "'these environment variables are reserved for the operator: %s; remove them, and set `jvmOptions`, `config` and the other fields of the spec instead'.format([self.filter(e, {taken}).map(e, e.name)])"
        ),
    )
}

/// Of two values for one name, one would be ignored.
pub fn env_names_are_unique() -> Rule {
    must_saying(
        "self.all(e, self.exists_one(f, f.name == e.name))",
        "'names of environment variables must be unique; repeated: %s'.format([self.filter(e, !self.exists_one(f, f.name == e.name)).map(e, e.name)])",
    )
}

/// Annotations under our own prefix steer the operator.
pub fn annotations_are_not_reserved() -> Rule {
    must(
        "self.all(k, !k.startsWith('palladion.dev/'))",
        "annotations with the prefix palladion.dev/ are reserved for the operator: remove them",
    )
}

// The datacenter.

/// The datacenter's name is in every member's data.
pub fn datacenter_name_is_fixed() -> Rule {
    fixed(
        "oldSelf.name == self.name",
        "'the name of the datacenter is immutable (%s)'.format([oldSelf.name])",
    )
    .field_path(".name")
}

/// Characters of a rack's or datacenter's name.
pub fn name_has_known_characters() -> Rule {
    must(
        format!("self.matches('{NAME}')"),
        "use only letters, digits, `_`, `.` and `-`, and start and end with a letter or digit",
    )
}

/// Names of racks are unique.
pub fn rack_names_are_unique() -> Rule {
    must_saying(
        "self.racks.all(r, self.racks.exists_one(q, q.name == r.name))",
        "'rack names must be unique; repeated: %s'.format([self.racks.filter(r, !self.racks.exists_one(q, q.name == r.name)).map(r, r.name)])",
    )
    .field_path(".racks")
}

/// The name in lower case, with `_` and `.` as `-`: what names of objects are made of.
const DNS: &str = ".name.lowerAscii().replace('_', '-').replace('.', '-')";

/// Two racks may not want objects of the same name.
pub fn rack_names_stay_apart_in_dns() -> Rule {
    must_saying(
        format!("self.racks.all(r, !self.racks.exists(q, q.name != r.name && q{DNS} == r{DNS}))"),
        format!(
            "'rack names must differ in more than case, `_`, `.` and `-`, which object names do not distinguish: rename all but one of %s'.format([self.racks.filter(r, self.racks.exists(q, q.name != r.name && q{DNS} == r{DNS})).map(r, r.name)])"
        ),
    )
    .field_path(".racks")
}

/// A ring without members is a deleted ring, and deletion is said otherwise.
pub fn has_a_member() -> Rule {
    must(
        "self.racks.exists(r, r.members > 0) || (has(self.rackTemplate) && self.rackTemplate.members > 0) || (has(self.leave) && self.leave)",
        "a ring needs at least one member: set `members` of a rack to 1 or more; to delete the ring, delete the CassandraCluster",
    )
    .field_path(".racks")
}

/// A rack that goes takes its StatefulSet along.
pub fn removed_racks_are_empty() -> Rule {
    must_saying(
        "oldSelf.racks.all(o, o.members == 0 || self.racks.exists(n, n.name == o.name) || (has(self.zones) && o.name in self.zones))",
        "'a rack can be removed only when it has no members: first set `members` to 0 in %s; a rack cannot be renamed, because its members keep its name: add a rack with the new name and empty the old one'.format([oldSelf.racks.filter(o, o.members > 0 && !self.racks.exists(n, n.name == o.name) && !(has(self.zones) && o.name in self.zones)).map(o, o.name)])",
    )
    .reason(Reason::FieldValueForbidden)
    .field_path(".racks")
}

/// One of the two says what racks there are.
pub fn racks_or_zones() -> Rule {
    must(
        "size(self.racks) == 0 || !has(self.zones) || size(self.zones) == 0",
        "list either `racks` or `zones`: each zone becomes a rack of its name",
    )
    .field_path(".zones")
}

/// What would be ignored alone.
pub fn zones_have_a_template() -> Rule {
    must(
        "has(self.rackTemplate) == (has(self.zones) && size(self.zones) > 0) && (has(self.rackTemplate) || !has(self.zoneNodeLabel))",
        "`zones` and `rackTemplate` need each other, and `zoneNodeLabel` needs both: set them together, or list `racks` instead",
    )
    .field_path(".rackTemplate")
}

/// Each zone is one rack.
pub fn zones_are_unique() -> Rule {
    must("self.all(z, self.exists_one(y, y == z))", "each zone may be listed only once")
}

/// Whoever lists racks in place of zones means the same members.
pub fn zones_become_racks_of_their_names() -> Rule {
    must(
        "!has(oldSelf.zones) || size(self.racks) == 0 || oldSelf.zones.all(z, self.racks.exists(r, r.name == z))",
        "to list `racks` instead of `zones`, list one rack with the name of each zone",
    )
    .reason(Reason::FieldValueForbidden)
    .field_path(".racks")
}

/// Members cannot be less than none.
pub fn members_are_not_negative() -> Rule {
    must("self >= 0", "`members` must be 0 or more")
}
