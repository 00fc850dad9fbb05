//! How long to wait before the next try, by what failed. Every wait is
//! jittered, so that keys that failed together do not come back together.

use palladion_plan::FailureClass;
use std::time::Duration;

/// First and longest wait after a failure of a class.
fn limits(class: FailureClass) -> (Duration, Duration) {
    match class {
        // A fresh snapshot is at hand within the time of one event.
        FailureClass::Conflict => (Duration::from_millis(50), Duration::from_secs(5)),
        // The budget allows it a moment after the last pod is ready.
        FailureClass::Held => (Duration::from_secs(1), Duration::from_secs(15)),
        FailureClass::Transient => (Duration::from_millis(500), Duration::from_secs(60)),
        // Only a person can help; nobody waits longer than 30 s for the cure to be seen.
        FailureClass::Refused | FailureClass::Foreign => {
            (Duration::from_secs(5), Duration::from_secs(30))
        }
    }
}

/// Wait before try number `attempt` (from 0).
pub fn wait(class: FailureClass, attempt: u32) -> Duration {
    let (first, longest) = limits(class);
    jittered(grown(first, longest, attempt))
}

/// Wait before a watch is opened for the `attempt`-th time.
pub fn watch(attempt: u32) -> Duration {
    jittered(grown(Duration::from_millis(250), Duration::from_secs(5), attempt))
}

/// Wait of everybody after the API server could not keep up for the
/// `attempt`-th time. Shorter than that of one key, whose own failures it knows:
/// this one holds up those as well whose requests would go well.
pub fn for_all(attempt: u32) -> Duration {
    jittered(grown(Duration::from_millis(500), Duration::from_secs(10), attempt))
}

fn grown(first: Duration, longest: Duration, attempt: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(attempt.min(16))).min(longest)
}

/// 75 % to 125 % of a time.
pub fn jittered(time: Duration) -> Duration {
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    let share = 0.75 + (low & 0xFFFF) as f64 / 131_072.0;
    time.mul_f64(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limit_and_stay_near_it() {
        for class in [FailureClass::Conflict, FailureClass::Transient, FailureClass::Refused] {
            let (first, longest) = limits(class);
            for attempt in 0..100 {
                let wait = wait(class, attempt);
                assert!(
                    wait >= first.mul_f64(0.7) && wait <= longest.mul_f64(1.3),
                    "{class:?} {wait:?}"
                );
            }
            assert!(wait(class, 99) >= longest.mul_f64(0.7));
        }
    }
}
