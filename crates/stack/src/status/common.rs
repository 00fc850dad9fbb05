//! What the statuses of all staged services say alike.

use crate::words::dependencies::Satisfied;
use crate::words::status::{Failed, Paused, Running, Stuck};
use palladion_api::OperatorConfigSpec;
use palladion_api::conditions::{DEPENDENCIES_READY, PAUSED};
use palladion_plan::workload::pod::{PodFact, PodTroubleKind};
use palladion_plan::{Conditions, FailureClass, Snapshot, Trouble, Truth};

/// Is everything, or this object, paused? Says where.
pub fn pause(everything: Option<&OperatorConfigSpec>, here: bool) -> Option<Paused> {
    match everything {
        Some(config) if config.paused => Some(Paused::Everywhere),
        Some(_) | None => here.then_some(Paused::Here),
    }
}

/// Say whether it is paused.
pub fn paused(writer: &mut Conditions, paused: Option<Paused>) {
    match paused {
        Some(paused) => writer.set_true(PAUSED, paused),
        None => writer.set_false(PAUSED, Running::NotPaused),
    }
}

/// The step that failed the last time.
pub fn failure(snapshot: &Snapshot) -> Option<Trouble> {
    let failed = snapshot.failure.as_ref()?;
    let (doing, answer) = (failed.doing.clone(), failed.message.clone());
    Some(Trouble::of(match failed.class {
        FailureClass::Conflict | FailureClass::Held => return None,
        FailureClass::Foreign => Failed::Foreign { doing, answer },
        FailureClass::Refused | FailureClass::Transient => Failed::Other { doing, answer },
    }))
}

/// The first pod that cannot run.
pub fn stuck_pod(pods: &[PodFact]) -> Option<Trouble> {
    let stuck = pods.iter().find(|p| p.is_stuck())?;
    let pod = stuck.words();
    Some(Trouble::of(match &stuck.trouble {
        None => Stuck::Unschedulable { pod },
        Some(trouble) => match trouble.kind() {
            PodTroubleKind::ImagePull => Stuck::ImagePull { pod },
            PodTroubleKind::OutOfMemory | PodTroubleKind::Other => Stuck::Failing { pod },
        },
    }))
}

/// Say whether all is there that the service depends on. Unknown is a value: what
/// cannot be read is not away.
pub fn dependencies_ready(
    writer: &mut Conditions,
    missing: Option<&Trouble>,
    unread: bool,
    depends: bool,
) {
    match missing {
        Some(Trouble { reason, message }) => {
            let truth = if unread { Truth::Unknown } else { Truth::False };
            writer.set(DEPENDENCIES_READY, truth, *reason, message.clone());
        }
        None if !depends => writer.set_true(DEPENDENCIES_READY, Satisfied::None),
        None => writer.set_true(DEPENDENCIES_READY, Satisfied::All),
    }
}
