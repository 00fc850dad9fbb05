//! What people ask for by a `CassandraTask`: a table of contents.

mod abort;
mod at_work;
mod batches;
mod by_turn;
mod claim;
mod deleted;
mod doubts;
mod end;
mod follow;
mod give;
mod go_on;
mod grants;
mod history;
mod hold;
mod next_member;
mod once_more;
mod pace;
mod pass;
mod passing;
mod preconditions;
mod queue;
mod read;
mod refusals;
mod remove_datacenter;
mod replace;
mod replication;
mod report;
mod rotate;
mod run;
mod silent;
mod tidy;
pub mod units;
mod yields;

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::tasks::Refused;
pub use deleted::{end_all, end_one, say_without_cluster};
pub use history::tidy;
pub use hold::hold;
pub use preconditions::KNOWS_DUE;
use read::Task;
pub use read::is_over;
pub use rotate::decide as rotate;
pub use run::decide as run;
pub use yields::{Way, after, before, stop_all};

/// Take up, follow and end the replacements of this cluster: they must not wait
/// in the queue of the other tasks.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    for object in facts.objects(kinds::TASK) {
        if is_over(object) || object.meta.is_terminating() {
            continue;
        }
        // One that cannot be read is of another version of this kind, and not ours to judge.
        let Some(task) = Task::read(object) else {
            continue;
        };
        let Some(replace) = &task.spec.replace else {
            continue;
        };
        if task.spec.cluster == facts.snapshot.owner.meta.name {
            replace::decide(facts, &task, replace, draft);
        } else if facts.members.contains_key(&replace.member) {
            let why = Refused::OtherCluster {
                member: replace.member.clone(),
                cluster: facts.snapshot.owner.meta.name.clone(),
                named: task.spec.cluster.clone(),
            };
            task.refuse(facts, why, draft);
        }
    }
    replace::take_back_without_task(facts, draft);
}
