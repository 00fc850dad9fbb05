//! Release lines of the servers, as far as members have reported them.

use super::Facts;
use std::collections::BTreeMap;

/// The line of a version: `5.0` of `5.0.5` and of `5.0-beta1`.
pub fn line(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.splitn(3, ['.', '-']);
    let number = |text: Option<&str>| text?.parse().ok();
    Some((number(parts.next())?, number(parts.next())?))
}

/// The newest line that any member has run.
pub fn highest_release_line(facts: &Facts<'_>) -> Option<String> {
    let reported = facts
        .members
        .values()
        .filter(|m| m.agent_speaks())
        .filter_map(|m| m.status.server.as_ref()?.version.as_deref());
    reported
        .chain(facts.status.highest_release_line.as_deref())
        .filter_map(line)
        .max()
        .map(|(major, minor)| format!("{major}.{minor}"))
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
    of_line.len() > 1
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
