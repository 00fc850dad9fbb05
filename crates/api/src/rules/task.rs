//! Rules of `CassandraTask`.

use kube_core::{Reason, Rule};

use super::{fixed, must};
use crate::task::TaskKind;

/// Names of keyspaces and tables (CQL without quotes allows no other).
const NAME: &str = "[A-Za-z0-9_]+";

/// The fields of which a task has one.
fn bodies() -> impl Iterator<Item = &'static str> {
    TaskKind::ALL.iter().map(|kind| kind.field())
}

/// These fields, each with or without a value, are as they were.
fn unchanged<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let same = |f| {
        format!("has(oldSelf.{f}) == has(self.{f}) && (!has(self.{f}) || oldSelf.{f} == self.{f})")
    };
    fields.into_iter().map(same).collect::<Vec<_>>().join(" && ")
}

/// What a task is for does not change: it may have been done in part.
pub fn is_fixed(field: &str) -> Rule {
    fixed(
        format!("oldSelf.{field} == self.{field}"),
        format!("'`{field}` of a task is immutable: abort this task and create another'"),
    )
    .field_path(format!(".{field}"))
}

/// A task that was taken back stays so.
pub fn abort_is_final() -> Rule {
    must("!oldSelf.abort || self.abort", "an aborted task cannot be resumed: create another one")
        .reason(Reason::FieldValueForbidden)
        .field_path(".abort")
}

/// Two jobs have an order, and one of them may fail: that is two tasks.
pub fn asks_for_one_thing() -> Rule {
    let there: Vec<String> = bodies().map(|f| format!("has(self.{f})")).collect();
    let names: Vec<String> = bodies().map(|f| format!("`{f}`")).collect();
    must(
        format!("[{}].exists_one(x, x)", there.join(", ")),
        format!("a task does one thing: set exactly one of {}", names.join(", ")),
    )
}

/// What a task does has been done in part, perhaps. How long clients have for a new authority
/// may change: who knows that they have it does not wait for the rest.
pub fn work_is_fixed() -> Rule {
    let which: String = bodies().map(|f| format!("has(oldSelf.{f}) ? '{f}' : ")).collect();
    let rotation = TaskKind::RotateAuthority.field();
    let same = unchanged(bodies().filter(|field| *field != rotation));
    let same_purpose = format!(
        "has(oldSelf.{rotation}) == has(self.{rotation}) && (!has(self.{rotation}) || oldSelf.{rotation}.purpose == self.{rotation}.purpose)"
    );
    fixed(
        format!("{same} && {same_purpose}"),
        format!(
            "'`%s` of a task is immutable: abort this task and create another'.format([{which}''])"
        ),
    )
}

/// For whom it is done, and how, is what its progress counts.
pub fn scope_is_fixed() -> Rule {
    let optional = ["members", "racks", "memberDeadlineSeconds", "activeDeadlineSeconds"];
    let rule = unchanged(optional.into_iter().chain(["onFailure", "whenDown"]));
    must(
        rule,
        "`members`, `racks`, `onFailure`, `whenDown` and the deadlines of a task are immutable: abort this task and create another",
    )
    .reason(Reason::FieldValueForbidden)
}

/// One choice of members.
pub fn members_or_racks() -> Rule {
    must("!has(self.members) || !has(self.racks)", "set `members` or `racks`, not both")
}

/// A replacement has one member, which is dead, and takes as long as it takes.
pub fn replace_stands_alone() -> Rule {
    must(
        "!has(self.replace) || (!has(self.members) && !has(self.racks) && !has(self.memberDeadlineSeconds) && !has(self.activeDeadlineSeconds) && self.onFailure == 'Stop' && self.whenDown == 'Wait')",
        "`replace` names its member itself and has no deadline: remove `members`, `racks`, `onFailure`, `whenDown` and the deadlines",
    )
}

/// A rotation is of the whole ring, and takes as long as clients have.
pub fn rotation_stands_alone() -> Rule {
    must(
        "!has(self.rotateAuthority) || (!has(self.members) && !has(self.racks) && !has(self.memberDeadlineSeconds) && !has(self.activeDeadlineSeconds) && self.onFailure == 'Stop' && self.whenDown == 'Wait')",
        "`rotateAuthority` is for the whole ring and has no deadline: remove `members`, `racks`, `onFailure`, `whenDown` and the deadlines",
    )
}

/// Clients trust what the ConfigMap says.
pub fn only_members_are_elsewhere() -> Rule {
    must(
        "!has(self.trustedElsewhere) || self.purpose == 'Internode'",
        "`trustedElsewhere` is about members of other datacenters: remove it, or set `purpose: Internode`",
    )
    .field_path(".trustedElsewhere")
}

/// So that a word about one authority is not taken for another.
pub fn is_a_fingerprint() -> Rule {
    must(
        "self.matches('^[0-9a-f]{64}$')",
        "must be the SHA-256 of a certificate: 64 digits and letters from a to f, as in `status.authorities.<name>.fingerprint` of the cluster",
    )
}

/// One member does it for the ring.
pub fn replication_stands_alone() -> Rule {
    must(
        "!has(self.replication) || (!has(self.members) && !has(self.racks) && self.onFailure == 'Stop')",
        "`replication` is of the whole ring, and one member writes it: remove `members`, `racks` and `onFailure`",
    )
}

/// One member does it for the ring.
pub fn removal_stands_alone() -> Rule {
    must(
        "!has(self.removeDatacenter) || (!has(self.members) && !has(self.racks) && self.onFailure == 'Stop' && self.whenDown == 'Wait')",
        "`removeDatacenter` is of the whole ring, and one member carries it out: remove `members`, `racks`, `onFailure` and `whenDown`",
    )
}

const SKIPS_ONE: &str = "self.whenDown != 'Skip' || (has(self.members) && size(self.members) == 1)";

/// Who is left out is left out of the work of this member alone: all others begin only while
/// every member is up, so the task waits for whoever is down in any case. Of one member it ends.
pub fn skip_has_a_use() -> Rule {
    must(
        format!(
            "{SKIPS_ONE} || (!has(self.cleanup) && !has(self.replication) && (!has(self.repair) || (self.repair.scope == 'Due' && (!has(self.repair.parallel) || self.repair.parallel != 1))))"
        ),
        "`whenDown: Skip` does not apply to `cleanup`, `replication` or a `repair` that goes from one member to the next: each begins only while all others are up; remove `whenDown`, or name one member",
    )
}

/// As [`skip_has_a_use`]: restarts, too, begin only while all others are up.
pub fn skip_is_not_for_restarts() -> Rule {
    must(
        format!("{SKIPS_ONE} || !has(self.restart)"),
        "`whenDown: Skip` does not apply to a `restart` of several members: each restarts only while all others are up; remove `whenDown`, or name one member",
    )
}

/// A task that was stored before this was a rule can be aborted: `whenDown` cannot be removed.
pub fn unless_aborted(rule: Rule) -> Rule {
    Rule { rule: format!("(has(self.abort) && self.abort) || {}", rule.rule), ..rule }
}

/// What every server has for itself is replicated to nobody.
pub fn keyspaces_are_shared() -> Rule {
    must(
        "!self.exists(k, k in ['system', 'system_schema', 'system_views', 'system_virtual_schema'])",
        "`system`, `system_schema`, `system_views` and `system_virtual_schema` are local to each server and have no copies elsewhere: remove them from `keyspaces`",
    )
}

/// Of members it is known when they trust an authority.
pub fn only_clients_overlap() -> Rule {
    must(
        "!has(self.overlapSeconds) || self.purpose == 'Client'",
        "`overlapSeconds` is the time that clients have for another authority; members report when they trust it: remove `overlapSeconds`, or set `purpose: Client`",
    )
    .field_path(".overlapSeconds")
}

/// A second one would wait for ever: nobody is drained while another member is down.
pub fn drain_names_one_member() -> Rule {
    must(
        "!has(self.drain) || (has(self.members) && size(self.members) == 1)",
        "`drain` is for one member, which serves nobody until it is restarted: name it in `members`",
    )
}

/// One choice of tables.
pub fn keyspaces_or_tables() -> Rule {
    must("!has(self.keyspaces) || !has(self.tables)", "set `keyspaces` or `tables`, not both")
}

/// What a server takes for a keyspace.
pub fn keyspaces_have_names() -> Rule {
    must(
        format!("self.all(k, k.matches('^{NAME}$'))"),
        "names of keyspaces consist of letters, digits and `_`",
    )
}

/// A table's name alone says too little.
pub fn tables_have_keyspaces() -> Rule {
    must(
        format!("self.all(t, t.matches('^{NAME}[.]{NAME}$'))"),
        "name each table together with its keyspace, for example `shop.orders`",
    )
}

/// A snapshot is a folder, and backups have their own.
pub fn snapshot_name_is_usable() -> Rule {
    must(
        "!self.contains('/') && self != '.' && self != '..' && !self.startsWith('palladion-')",
        "a snapshot name must be usable as a directory name: it must not contain `/`, be `.` or `..`, or start with the reserved prefix `palladion-`",
    )
}
