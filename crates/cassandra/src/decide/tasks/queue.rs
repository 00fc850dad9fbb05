//! The queue of a ring: tasks that members work at, by creation and name. A
//! replacement is not among them, since it must not wait, nor a rotation of an
//! authority, which takes days and keeps nobody from anything.

use super::follow;
use super::read::{Task, is_over};
use crate::facts::Facts;
use crate::resources as kinds;
use palladion_api::cluster::ClusterJob;
use palladion_api::ids::Uid;
use palladion_api::task::{CassandraTaskStatus, Means, MemberTaskState, TaskKind, TaskMember};
use palladion_plan::Object;
use std::sync::Arc;

/// A task in the queue.
pub struct Job<'a> {
    /// The task as it is stored.
    pub task: Task<'a>,
    /// What it does.
    pub kind: TaskKind,
    /// Its status, with what its members have come to.
    pub status: CassandraTaskStatus,
}

impl Job<'_> {
    /// Has it been taken up? Its members are on record from then on.
    pub fn is_taken_up(&self) -> bool {
        !self.status.members.is_empty()
    }

    /// Was a member begun?
    pub fn has_begun(&self) -> bool {
        self.status.members.iter().any(|m| m.started_at.is_some())
    }

    /// So many members are done.
    pub fn done(&self) -> usize {
        self.status.members.iter().filter(|m| m.state == MemberTaskState::Succeeded).count()
    }

    /// Members that work at it.
    pub fn running(&self) -> impl Iterator<Item = &TaskMember> {
        self.status.members.iter().filter(|m| m.state == MemberTaskState::Running)
    }

    /// Does a member work at it?
    pub fn is_at_work(&self) -> bool {
        self.running().next().is_some()
    }
}

/// The tasks of this cluster that have not ended.
pub fn open<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a Arc<Object>> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    facts.objects(kinds::TASK).iter().filter(move |o| {
        o.str_at("/spec/cluster") == Some(cluster) && !o.meta.is_terminating() && !is_over(o)
    })
}

/// All tasks that have not ended, in their order.
pub fn read<'a>(facts: &'a Facts<'_>) -> Vec<Job<'a>> {
    let mut all: Vec<Job<'a>> = open(facts)
        .filter_map(|object| {
            let task = Task::read(object)?;
            // One that asks for what this operator does not know is not ours to judge.
            let kind = task.spec.kind().filter(is_queued)?;
            let status = follow::follow(facts, &task, kind, task.status.clone());
            Some(Job { task, kind, status })
        })
        .collect();
    all.sort_by(|a, b| {
        let place = |job: &Job<'a>| job.task.object.meta.creation_timestamp;
        (place(a), a.task.name()).cmp(&(place(b), b.task.name()))
    });
    all
}

fn is_queued(kind: &TaskKind) -> bool {
    match kind.means() {
        Means::Job => true,
        Means::Turn => *kind != TaskKind::Replace,
        Means::Authority => false,
    }
}

/// Is the ring's job that of this task?
pub fn holds(job: Option<&ClusterJob>, task: &Uid) -> bool {
    job.and_then(|j| j.task_uid.as_ref()) == Some(task)
}
