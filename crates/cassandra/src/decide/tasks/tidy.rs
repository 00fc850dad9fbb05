//! What members are left with of tasks: a part that has ended, or whose task is
//! gone, is taken away.

use super::follow::is_final;
use super::give::clear;
use super::replication;
use super::run::Line;
use crate::decide::draft::Draft;
use crate::decide::evidence::given::asked;
use crate::decide::evidence::left_running as left;
use crate::facts::Facts;
use palladion_api::task::MemberTaskState as State;

/// Take away what no task waits for.
pub fn tidy(facts: &Facts<'_>, lines: &[Line<'_>], draft: &mut Draft) {
    for member in facts.members.values() {
        let Some(job) = asked(member) else { continue };
        let line = lines.iter().find(|line| *line.job.task.uid() == job.task);
        let entry = line.and_then(|line| {
            line.job.status.members.iter().find(|entry| entry.name == member.name)
        });
        let is_done = match (line, entry) {
            (Some(line), Some(entry)) => {
                // One that was interrupted is given again under another ID. What may lack rows
                // since then is on record by now.
                let is_again = entry.state == State::Interrupted;
                line.ended.is_some() || is_final(entry.state) || is_again
            }
            (Some(_) | None, None) | (None, Some(_)) => true,
        };
        if !is_done {
            continue;
        }
        // What it was granted stands there, and nowhere else.
        if let Some(until) = left::held_until(facts, member) {
            draft.wake_at(until);
        } else {
            if line.is_none() {
                replication::owe_repair_of_deleted(facts, member, draft);
            }
            draft.steps.extend(clear(facts, member));
        }
    }
}
