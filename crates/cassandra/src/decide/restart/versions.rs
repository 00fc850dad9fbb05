//! Release lines of the servers. While members of two lines run, or are about
//! to, the ring keeps its shape: streams between lines fail, and a schema that
//! changes may not be understood by all.

use crate::decide::draft::Draft;
use crate::facts::{Facts, lines};
use crate::validate::Valid;
use palladion_api::reasons::Reason;

/// What runs another line than the spec wants, in words.
pub fn mixed(facts: &Facts<'_>, valid: &Valid) -> Option<String> {
    let wanted = lines::line(&valid.version)?;
    let serving = facts.members.values().filter(|m| m.is_normal());
    let mut versions =
        serving.filter_map(|m| Some((m, m.status.server.as_ref()?.version.as_deref()?)));
    versions.find(|(_, version)| lines::line(version).is_some_and(|l| l != wanted)).map(
        |(member, version)| {
            format!("member {} runs {version} and the spec wants {}", member.name, valid.version)
        },
    )
}

/// Let a change of the ring's shape wait while versions are mixed; says so.
pub fn forbid(facts: &Facts<'_>, valid: &Valid, what: &str, draft: &mut Draft) -> bool {
    let Some(why) = mixed(facts, valid) else {
        return false;
    };
    draft.wait(Reason::MixedVersions, format!("{what} when the upgrade is over: {why}"));
    true
}
