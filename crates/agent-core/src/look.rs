//! How often a server is looked at.

use crate::facts::Process;
use std::time::Duration;

/// Looks while something changes.
const OFTEN: Duration = Duration::from_millis(900);
/// Looks while the server starts.
const START: Duration = Duration::from_millis(400);
/// Looks at rest.
const REST: Duration = Duration::from_secs(5);
/// Init is asked this often at rest: a server that died is noticed.
const TURN: Duration = Duration::from_secs(1);

/// Time between two looks at a server that serves or not; at rest nothing is under way.
pub fn pause(is_at_rest: bool, serves: bool) -> Duration {
    match (is_at_rest, serves) {
        (true, _) => REST,
        (false, true) => OFTEN,
        (false, false) => START,
    }
}

/// Time until the next turn, if nothing happens before, where a look is due after `look`.
pub fn turn(process: &Process, look: Duration) -> Duration {
    match process {
        Process::Running => look.min(TURN),
        Process::Absent | Process::Unknown(_) => TURN,
    }
}
