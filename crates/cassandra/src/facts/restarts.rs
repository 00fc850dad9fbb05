//! Which members tasks restart or drain now, as the tasks have it on record.

use super::{DrainTask, Facts};
use crate::resources as kinds;
use crate::words::status::Unknown;
use palladion_api::ids::MemberName;
use palladion_api::task::TaskKind;
use palladion_plan::Object;
use serde_json::Value;

impl Facts<'_> {
    pub(super) fn read_restarts(&mut self) -> Result<(), Unknown> {
        let cluster = self.snapshot.owner.meta.name.as_str();
        for task in self.snapshot.all(kinds::TASK)? {
            if task.str_at("/spec/cluster") != Some(cluster) || !is_open(task) {
                continue;
            }
            let members = task.at("/status/members").and_then(Value::as_array);
            let running = members.into_iter().flatten().filter(|m| m["state"] == "Running");
            for name in running.filter_map(|m| m["name"].as_str()) {
                let Some(member) = self.members.get_mut(&MemberName::new(name)) else {
                    continue;
                };
                if asks_for(task, TaskKind::Restart) {
                    member.restart_task = Some(task.meta.uid.clone());
                }
                if asks_for(task, TaskKind::Drain) {
                    member.drain = match task.at("/spec/abort").and_then(Value::as_bool) {
                        Some(true) => DrainTask::TakenBack,
                        Some(false) | None => DrainTask::Wanted,
                    };
                }
            }
        }
        Ok(())
    }
}

/// Has the task not ended?
pub fn is_open(task: &Object) -> bool {
    let has_not_ended = task.at("/status/endedAt").is_none_or(Value::is_null);
    has_not_ended && !task.meta.is_terminating()
}

fn asks_for(task: &Object, kind: TaskKind) -> bool {
    task.at("/spec").is_some_and(|spec| spec[kind.field()].is_object())
}
