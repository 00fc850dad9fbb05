//! What to do about the lease: a pure function of the lease as it was read,
//! who we are, and for how long we have watched it stay the same.
//!
//! The lease's own times are never compared with this machine's clock; only
//! whether it changed, by our own monotonic clock.

use std::time::Duration;

/// How long a lease that nobody renews is respected.
pub const LEASE_TIME: Duration = Duration::from_secs(15);
/// A leader that could not renew for this long writes nothing more. The rest of
/// [`LEASE_TIME`] is for its last request to end before a successor begins.
pub const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// How often a leader renews and a standby looks.
pub const RENEW_EVERY: Duration = Duration::from_secs(5);

/// What matters of a Lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseState {
    /// Who holds it; empty if it was released.
    pub holder: String,
    /// Changes of holder so far.
    pub transitions: i64,
    /// How long its holder wants it respected.
    pub duration: Duration,
}

/// Who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Unique to this process: a restarted process is another holder, with a
    /// new epoch.
    pub process: String,
    /// What every process of the same pod begins with, where it is known. The
    /// kubelet starts a container again only when the one before has ended, so
    /// a lease held by an earlier process of our own pod is free.
    pub pod: Option<String>,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Take it; this is the epoch.
    Acquire {
        /// Number of transitions to write.
        epoch: i64,
    },
    /// It is ours: renew it.
    Renew,
    /// It was ours and is another's now: stop.
    Yield,
    /// It is another's.
    Wait,
}

/// Are we the leader so far?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// We hold a term.
    Leader,
    /// We do not.
    Standby,
}

/// What is known of the process that holds the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: it may run.
    MayRun,
    /// It has ended for certain, see [`holder`](super::holder).
    Ended,
}

/// Decide. `lease` is `None` if it does not exist; `unchanged` is how long we
/// have seen it stay as it is; `floor` is the lowest epoch of a new lease.
pub fn evaluate(
    lease: Option<&LeaseState>,
    who: &Identity,
    standing: Standing,
    (unchanged, fate): (Duration, Fate),
    floor: i64,
) -> Verdict {
    let Some(lease) = lease else {
        return match standing {
            // Deleted under us: somebody may take it and begin a new count.
            Standing::Leader => Verdict::Yield,
            Standing::Standby => Verdict::Acquire { epoch: floor },
        };
    };
    match standing {
        Standing::Leader if lease.holder == who.process => Verdict::Renew,
        Standing::Leader => Verdict::Yield,
        Standing::Standby => {
            let own_pod =
                who.pod.as_ref().is_some_and(|pod| lease.holder.starts_with(pod.as_str()));
            let ours = lease.holder == who.process;
            let free = lease.holder.is_empty()
                || ours
                || own_pod
                || fate == Fate::Ended
                || unchanged >= lease.duration.max(LEASE_TIME);
            if free {
                Verdict::Acquire { epoch: lease.transitions.saturating_add(1) }
            } else {
                Verdict::Wait
            }
        }
    }
}

/// Lowest epoch of a lease that does not exist. Minutes since 1970, so that an
/// epoch is not used twice even if somebody deletes the lease: leaders change
/// far less often than once a minute, and the field has 32 bits.
pub fn floor(now: jiff::Timestamp) -> i64 {
    now.as_second() / 60
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn who() -> Identity {
        Identity { process: "pod-1_uid_b".to_string(), pod: Some("pod-1_uid_".to_string()) }
    }

    fn held(holder: &str) -> LeaseState {
        LeaseState { holder: holder.to_string(), transitions: 7, duration: LEASE_TIME }
    }

    #[test]
    fn a_table_of_leases_and_what_to_do_about_them() {
        use Standing::{Leader, Standby};
        let long = LEASE_TIME;
        let short = Duration::from_secs(14);
        let table = [
            (None, Standby, short, Verdict::Acquire { epoch: 100 }),
            (None, Leader, short, Verdict::Yield),
            (Some(held("")), Standby, Duration::ZERO, Verdict::Acquire { epoch: 8 }),
            (Some(held("other")), Standby, short, Verdict::Wait),
            (Some(held("other")), Standby, long, Verdict::Acquire { epoch: 8 }),
            (Some(held("other")), Leader, short, Verdict::Yield),
            (Some(held("pod-1_uid_b")), Leader, short, Verdict::Renew),
            (Some(held("pod-1_uid_a")), Standby, Duration::ZERO, Verdict::Acquire { epoch: 8 }),
            (Some(held("pod-1_other_a")), Standby, short, Verdict::Wait),
        ];
        for (lease, standing, unchanged, expected) in table {
            let known = (unchanged, Fate::MayRun);
            let verdict = evaluate(lease.as_ref(), &who(), standing, known, 100);
            assert_eq!(verdict, expected, "{lease:?} {standing:?} {unchanged:?}");
        }
        let ended = (Duration::ZERO, Fate::Ended);
        let other = held("other");
        let verdict = evaluate(Some(&other), &who(), Standby, ended, 100);
        assert_eq!(verdict, Verdict::Acquire { epoch: 8 }, "its holder has ended");
    }

    proptest! {
        #[test]
        fn an_epoch_always_grows_and_a_live_lease_is_never_taken(
            holder in "[a-z]{1,8}", transitions in 0i64..1_000_000, seconds in 0u64..120, unchanged in 0u64..240,
        ) {
            let lease = LeaseState { holder, transitions, duration: Duration::from_secs(seconds) };
            let unchanged = Duration::from_secs(unchanged);
            match evaluate(Some(&lease), &who(), Standing::Standby, (unchanged, Fate::MayRun), 0) {
                Verdict::Acquire { epoch } => {
                    prop_assert!(epoch > transitions);
                    prop_assert!(unchanged >= LEASE_TIME && unchanged >= lease.duration);
                }
                Verdict::Wait => prop_assert!(unchanged < lease.duration.max(LEASE_TIME)),
                Verdict::Renew | Verdict::Yield => prop_assert!(false, "a standby neither renews nor yields"),
            }
        }
    }
}
