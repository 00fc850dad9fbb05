//! What a service that others depend on says of itself.

use crate::resources;
use palladion_api::service::ServiceStatus;
use palladion_api::staged::{Dependency, Minimum, Share};
use palladion_plan::Snapshot;

/// A dependency, as it is seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// It is not known: its kind is not read.
    Unread {
        /// Why.
        why: String,
    },
    /// There is none of this name.
    Absent,
    /// It is being deleted: what it has said last is not so any more.
    Leaving,
    /// It has not said yet how it is.
    Silent,
    /// As it says itself.
    There(ServiceStatus),
}

/// How a dependency is seen.
pub fn see(snapshot: &Snapshot, dependency: &Dependency) -> Seen {
    let all = match snapshot.all(resources::of(dependency.kind)) {
        Ok(all) => all,
        Err(why) => return Seen::Unread { why },
    };
    let Some(object) = all.iter().find(|o| o.meta.name == dependency.name) else {
        return Seen::Absent;
    };
    if object.meta.is_terminating() {
        return Seen::Leaving;
    }
    let status = object.body.get("status").cloned().unwrap_or_default();
    match serde_json::from_value(status["service"].clone()) {
        Ok(None) => Seen::Silent,
        Ok(Some(service)) => Seen::There(service),
        Err(why) => Seen::Unread { why: why.to_string() },
    }
}

/// Members that must be ready, by what the service says of itself. For a quorum
/// it says so itself: it knows whether it grows.
pub fn needed(service: &ServiceStatus, minimum: Minimum) -> u32 {
    match minimum {
        Minimum::Share(Share::Quorum) => service.wanted / 2 + 1,
        Minimum::Share(Share::All) => service.wanted.max(1),
        // Admission refuses what is less than 1.
        Minimum::Number(number) => u32::try_from(number).unwrap_or(1),
    }
}

/// Are as many members ready as must be?
pub fn is_enough(service: &ServiceStatus, minimum: Minimum) -> bool {
    match minimum {
        Minimum::Share(Share::Quorum) => service.active,
        Minimum::Share(Share::All) | Minimum::Number(_) => {
            service.ready >= needed(service, minimum)
        }
    }
}

/// Are all members on record that it wants, and no others?
pub fn is_complete(service: &ServiceStatus) -> bool {
    u32::try_from(service.nodes.len()) == Ok(service.wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(active: bool, wanted: u32, ready: u32) -> ServiceStatus {
        ServiceStatus { active, wanted, ready, ..ServiceStatus::default() }
    }

    #[test]
    fn a_quorum_is_what_the_service_says_and_the_rest_is_counted() {
        let quorum = Minimum::default();
        assert!(is_enough(&service(true, 5, 2), quorum), "three are on record, five are wanted");
        assert!(!is_enough(&service(false, 3, 3), quorum));
        let all = Minimum::Share(Share::All);
        assert!(is_enough(&service(false, 3, 3), all));
        assert!(!is_enough(&service(true, 3, 2), all));
        assert!(!is_enough(&service(true, 0, 0), all), "all of none is nobody");
        assert!(is_enough(&service(false, 3, 1), Minimum::Number(1)));
        assert!(!is_enough(&service(true, 3, 1), Minimum::Number(2)));
    }
}
