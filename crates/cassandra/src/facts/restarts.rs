//! Which members tasks restart now, as the tasks have it on record.

use super::Facts;
use crate::resources as kinds;
use crate::words::status::Unknown;
use palladion_api::ids::MemberName;
use palladion_plan::Object;
use serde_json::Value;

impl Facts<'_> {
    pub(super) fn read_restarts(&mut self) -> Result<(), Unknown> {
        let cluster = self.snapshot.owner.meta.name.as_str();
        for task in self.snapshot.all(kinds::TASK)? {
            if task.str_at("/spec/cluster") != Some(cluster) || !restarts(task) {
                continue;
            }
            let members = task.at("/status/members").and_then(Value::as_array);
            let running = members.into_iter().flatten().filter(|m| m["state"] == "Running");
            for name in running.filter_map(|m| m["name"].as_str()) {
                if let Some(member) = self.members.get_mut(&MemberName::new(name)) {
                    member.restart_task = Some(task.meta.uid.clone());
                }
            }
        }
        Ok(())
    }
}

/// Does it restart members, and has it not ended?
fn restarts(task: &Object) -> bool {
    let is_open = task.at("/status/endedAt").is_none_or(Value::is_null);
    is_open && !task.meta.is_terminating() && task.at("/spec/restart").is_some_and(Value::is_object)
}
