//! Release lines of the servers. While members of two lines run, or are about
//! to, the ring keeps its shape: streams between lines fail, and a schema that
//! changes may not be understood by all.

use crate::decide::draft::Draft;
use crate::facts::{Facts, lines};
use crate::validate::Valid;
use crate::words::restart::{Mixed, Waiting};
use std::collections::BTreeSet;

/// What runs another line than the spec wants.
pub fn mixed(facts: &Facts<'_>, valid: &Valid) -> Option<Mixed> {
    let wanted = lines::line(&valid.version)?;
    let serving = facts.members.values().filter(|m| m.is_normal());
    let mut versions =
        serving.filter_map(|m| Some((m, m.status.server.as_ref()?.version.as_deref()?)));
    let is_other = |version: &str| lines::line(version).is_some_and(|l| l != wanted);
    let Some((member, version)) = versions.find(|(_, version)| is_other(version)) else {
        let mut elsewhere = facts.versions_elsewhere();
        let (datacenter, version) = elsewhere.find(|(_, version)| is_other(version))?;
        return Some(Mixed::Elsewhere {
            datacenter: datacenter.name.clone(),
            version: version.to_string(),
            wanted: valid.version.clone(),
        });
    };
    Some(Mixed::Member {
        member: member.name.clone(),
        version: version.to_string(),
        wanted: valid.version.clone(),
    })
}

/// Do all servers run one line, as far as they say?
pub fn are_alike(facts: &Facts<'_>) -> bool {
    let versions = facts.members.values().filter_map(|m| m.reported_server()?.version.as_deref());
    let mut all: BTreeSet<_> = versions.filter_map(lines::line).collect();
    all.extend(facts.lines_elsewhere());
    all.len() <= 1
}

/// Let a change of the ring's shape wait while versions are mixed; says so.
pub fn forbid(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    let Some(why) = mixed(facts, valid) else {
        return false;
    };
    draft.wait_for(Waiting::ForUpgrade { why });
    true
}
