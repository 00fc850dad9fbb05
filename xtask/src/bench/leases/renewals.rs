//! How regularly a leader renews its Lease, by the audit log.

use std::time::Duration;

use anyhow::{Context, Result};
use jiff::Timestamp;
use palladion_e2e::outside::{is_of_lease, took_effect};
use palladion_testbed::audit::AuditEntry;

/// Renewals that the API server accepted.
pub struct Renewals {
    /// How many.
    pub count: usize,
    /// The longest time from one to the next, each as it arrived.
    pub longest: Duration,
}

impl Renewals {
    /// Among these requests of one leader.
    pub fn of(entries: &[AuditEntry]) -> Result<Self> {
        let accepted = entries.iter().filter(|e| is_of_lease(e) && took_effect(e));
        let time = |e: &AuditEntry| -> Result<Timestamp> {
            e.time.parse().with_context(|| format!("reading the time {}", e.time))
        };
        let mut times = accepted.map(time).collect::<Result<Vec<_>>>()?;
        times.sort();
        let apart = times.windows(2).map(|pair| match pair {
            [one, next] => next.duration_since(*one).unsigned_abs(),
            _ => Duration::ZERO,
        });
        Ok(Self { count: times.len(), longest: apart.max().unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(time: &str, resource: &str, code: u16) -> AuditEntry {
        AuditEntry {
            time: time.to_string(),
            user: "operator".into(),
            user_agent: String::new(),
            verb: "update".into(),
            api_group: "coordination.k8s.io".into(),
            resource: resource.into(),
            subresource: String::new(),
            namespace: "n".into(),
            name: "l".into(),
            code,
        }
    }

    #[test]
    fn only_renewals_that_were_accepted_count() {
        let entries = [
            update("2026-01-01T00:00:00.000000Z", "leases", 200),
            update("2026-01-01T00:00:05.500000Z", "leases", 200),
            update("2026-01-01T00:00:06.000000Z", "configmaps", 200),
            update("2026-01-01T00:00:07.000000Z", "leases", 504),
            update("2026-01-01T00:00:12.000000Z", "leases", 200),
        ];
        let renewals = Renewals::of(&entries).expect("times");
        assert_eq!((renewals.count, renewals.longest), (3, Duration::from_millis(6500)));
    }
}
