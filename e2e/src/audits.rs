//! The audit logs of a run: one for each of its testbeds, none of them empty.

use anyhow::{Result, ensure};
use palladion_testbed::audit::{AuditEntry, AuditMark};

use crate::bed::Bed;

/// Does this request ask for a change of something?
pub fn is_write(entry: &AuditEntry) -> bool {
    matches!(entry.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
}

/// What users whose name contains `user` asked for and `counts` lets pass, on
/// all testbeds of the run.
///
/// # Errors
/// A log cannot be read, or has nothing of theirs: it is not being written, or
/// nothing has happened there, and neither shows that nothing was refused.
pub fn asked(
    beds: &[Bed],
    user: &str,
    counts: impl Fn(&AuditEntry) -> bool,
) -> Result<Vec<AuditEntry>> {
    let logs = beds.iter().map(|bed| {
        let mut entries = bed.cluster.audit_entries(AuditMark::BEGINNING, user)?;
        entries.retain(&counts);
        Ok((bed.cluster.site().config.name.to_string(), entries))
    });
    together(user, logs.collect::<Result<_>>()?)
}

fn together(user: &str, logs: Vec<(String, Vec<AuditEntry>)>) -> Result<Vec<AuditEntry>> {
    for (bed, entries) in &logs {
        ensure!(
            !entries.is_empty(),
            "the audit log of the testbed {bed} has no request of {user}: they did nothing there, or it is not being written"
        );
    }
    Ok(logs.into_iter().flat_map(|(_, entries)| entries).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(bed: &str, times: &[&str]) -> (String, Vec<AuditEntry>) {
        let entry = |time: &&str| AuditEntry {
            time: (*time).to_string(),
            user: "operator".into(),
            user_agent: String::new(),
            verb: "get".into(),
            api_group: String::new(),
            resource: "pods".into(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            code: 200,
        };
        (bed.to_string(), times.iter().map(entry).collect())
    }

    #[test]
    fn an_empty_log_of_one_testbed_is_an_error_whatever_the_others_say() {
        let all = together("operator", vec![log("ci", &["1", "2"]), log("ci2", &["3"])]);
        assert_eq!(all.expect("both have something").len(), 3);
        let error = together("operator", vec![log("ci", &["1", "2"]), log("ci2", &[])]);
        let error = error.expect_err("should be refused").to_string();
        assert!(error.contains("testbed ci2"), "{error}");
    }
}
