//! Why a task cannot be done as it stands.

use super::read::{Task, is_over};
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::jobs;
use crate::words::tasks::Refused;
use palladion_api::cluster::Mode;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::member::Replacement;
use palladion_api::task::{Means, ReplaceTask, TaskKind};
use palladion_plan::Reason;
use palladion_plan::words::Names;

/// The member that the task names does not exist.
pub(super) fn no_such_member(facts: &Facts<'_>, name: &MemberName) -> Refused {
    let members = facts.members.values();
    let members = members.filter(|m| !m.is_gone() && m.spec.is_some());
    Refused::NoSuchMember {
        reason: Reason::NoSuchMember,
        cluster: facts.snapshot.owner.meta.name.clone(),
        member: name.clone(),
        members: Names::of(members.map(|m| &m.name)),
    }
}

/// Another task has taken up the replacement, and this one has no word to lend.
pub(super) fn already_replaced(
    facts: &Facts<'_>,
    task: &Task<'_>,
    record: &Replacement,
) -> Option<Refused> {
    let of = |task: &Task<'_>| task.spec.replace.as_ref().map(|r| r.member.clone());
    let member = of(task)?;
    let others = facts.objects(kinds::TASK).iter().filter(|o| o.meta.name != task.object.meta.name);
    let other = others.filter(|o| !is_over(o)).filter_map(|o| Task::read(o)).find(|other| {
        of(other).as_ref() == Some(&member)
            && other.status.host_id.as_ref() == Some(&record.host_id)
    })?;
    Some(Refused::AlreadyReplacing {
        reason: Reason::AlreadyReplacing,
        member,
        task: other.object.meta.name.clone(),
    })
}

/// The task names another volume than the member's.
pub(super) fn another_volume(member: &MemberFact, wanted: &ReplaceTask) -> Option<Refused> {
    let named = wanted.volume_id.as_ref()?;
    let (member_name, named) = (member.name.clone(), named.clone());
    let reason = Reason::VolumeDiffers;
    match recorded_volume(member) {
        Some(volume_id) if *volume_id == named => None,
        Some(volume_id) => {
            let volume_id = volume_id.clone();
            Some(Refused::OtherVolume { reason, member: member_name, volume_id, named })
        }
        None => Some(Refused::UnknownVolume { reason, member: member_name, named }),
    }
}

/// What an agent beside a ScyllaDB cannot do.
pub(super) fn not_of_scylla(valid: &Valid, kind: TaskKind) -> Option<jobs::Refused> {
    let refused = valid.mode == Mode::Scylla && kind.means() == Means::Job;
    refused.then(|| jobs::Refused::NotOfScylla { work: kind.into() })
}

fn recorded_volume(member: &MemberFact) -> Option<&VolumeId> {
    let spec = member.spec.as_ref().and_then(|s| s.volume_id.as_ref());
    let claim = member.claim.as_ref().and_then(|c| c.volume_id.as_ref());
    let record = marks::of(member).map(|r| &r.volume_id);
    record.or(spec).or(claim)
}
