//! The looks of agents at their servers, while these are at long calls.

use palladion_api::labels::ports;
use palladion_e2e::Ring;

use super::in_server;

/// Looks that may take longer than a second where both cores are busy. One that waited
/// for a call would wait as long as the call, and every later one with it.
const A_FEW: f64 = 3.0;

/// Looks that took longer than a second, and those that were not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    slow: f64,
    failed: f64,
}

impl Looks {
    /// As the agents of the ring count them now.
    pub(super) fn of(ring: &Ring<'_>) -> Self {
        let mut all = Self { slow: 0.0, failed: 0.0 };
        for member in ring.member_names().expect("names") {
            let text = in_server(&member, &request());
            let figure = |name: &str| -> f64 {
                let line = text.lines().find(|l| l.starts_with(name));
                let value = line.and_then(|l| l.split_whitespace().last()?.parse().ok());
                value.unwrap_or_else(|| panic!("{member} has no {name}: {text}"))
            };
            all.slow += figure("palladion_agent_server_slow_reads_total");
            all.failed += figure("palladion_agent_server_read_failures_total");
        }
        all
    }

    /// No call has kept an agent from looking since.
    pub(super) fn went_on(self, ring: &Ring<'_>) {
        let now = Self::of(ring);
        let is_quick = now.slow - self.slow <= A_FEW && now.failed - self.failed < 1.0;
        assert!(is_quick, "looks took longer than a second: {self:?}, {now:?}");
    }
}

/// The server's image has no client for HTTP.
fn request() -> String {
    let port = ports::AGENT;
    format!(
        "exec 3<>/dev/tcp/$(hostname -i | cut -d' ' -f1)/{port}; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
    )
}
