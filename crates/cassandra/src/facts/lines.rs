//! Release lines of the servers, as far as members have reported them.

use super::Facts;
use std::collections::BTreeMap;

/// The line of a version: `5.0` of `5.0.5` and of `5.0-beta1`.
pub fn line(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.splitn(3, ['.', '-']);
    let number = |text: Option<&str>| text?.parse().ok();
    Some((number(parts.next())?, number(parts.next())?))
}

/// The newest line that any member has run. Of a line that nobody has asked for
/// one agent alone convinces nobody: it may be wrong, or an impostor, and with
/// the spec refused nothing in the ring would be mended.
pub fn highest_release_line(facts: &Facts<'_>) -> Option<String> {
    let speaking = facts.members.values().filter(|m| m.agent_speaks());
    let reported: Vec<(u32, u32)> =
        speaking.filter_map(|m| line(m.status.server.as_ref()?.version.as_deref()?)).collect();
    let asked = asked_for(facts);
    let is_shared = |newest| reported.iter().filter(|line| **line >= newest).count() > 1;
    let is_credible = |line: (u32, u32)| asked.is_none_or(|a| line <= a) || is_shared(line);
    let recorded = facts.status.highest_release_line.as_deref().and_then(line);
    let credible = reported.iter().copied().filter(|line| is_credible(*line));
    let newest = credible.chain(recorded).max();
    newest.map(|(major, minor)| format!("{major}.{minor}"))
}

/// The newest line that pods are made for; `None` = an image does not tell.
fn asked_for(facts: &Facts<'_>) -> Option<(u32, u32)> {
    let of_sets = facts.sets.values().map(|set| {
        let image = set.object.str_at("/spec/template/spec/containers/0/image")?;
        line(image.rsplit_once(':')?.1)
    });
    let of_spec = std::iter::once(line(&facts.spec.version));
    let all: Option<Vec<(u32, u32)>> = of_sets.chain(of_spec).collect();
    all?.into_iter().max()
}

/// Do members disagree on the schema only because they run different lines? Each
/// line derives its own schema version from the same tables (seen with 4.1.9 and
/// 5.0.5), so that an upgrade could never end: within a line all must agree.
pub fn explain_schemas(facts: &Facts<'_>) -> bool {
    let mut of_line: BTreeMap<(u32, u32), &str> = BTreeMap::new();
    for member in facts.members.values().filter(|m| m.recorded_host_id().is_some() && m.is_normal())
    {
        let server = member.status.server.as_ref();
        let line = server.and_then(|s| line(s.version.as_deref()?));
        let schema = server.and_then(|s| s.schema_version.as_deref());
        let (Some(line), Some(schema)) = (line, schema) else {
            return false;
        };
        if *of_line.entry(line).or_insert(schema) != schema {
            return false;
        }
    }
    // Of other datacenters the schema of each member is not known, but their lines are.
    of_line.len() > 1 || facts.lines_elsewhere().iter().any(|line| !of_line.contains_key(line))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_is_the_first_two_numbers() {
        for (version, expected) in [
            ("5.0.5", Some((5, 0))),
            ("4.1", Some((4, 1))),
            ("5.0-beta1", Some((5, 0))),
            ("5.0.5-mine", Some((5, 0))),
            ("2024.1.3", Some((2024, 1))),
            ("latest", None),
        ] {
            assert_eq!(line(version), expected, "{version}");
        }
    }
}
