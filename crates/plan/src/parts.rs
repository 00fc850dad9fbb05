//! Parts of a plan. What stands in a part supposes nothing of the parts before it, so that
//! it is carried out though a step of theirs is refused.

use crate::draft::Draft;
use crate::plan::{Plan, Step};
use crate::snapshot::FailureClass;

impl Plan {
    /// The step at this place has failed: where the plan goes on. What is wrong with one object
    /// ends the part that it stands in. What is wrong with the API server, or was decided from
    /// what has changed since, ends the plan; and so does a compare-and-set, because who has
    /// neither the epoch nor the turn does nothing else (safety rules 3.2 and 3.3).
    pub fn goes_on_at(&self, failed: usize, class: FailureClass) -> Option<usize> {
        let is_of_one_object = match class {
            FailureClass::Refused | FailureClass::Foreign | FailureClass::Held => true,
            FailureClass::Transient | FailureClass::Conflict => false,
        };
        let takes = matches!(self.steps.get(failed), Some(Step::CompareAndSet { .. }));
        let next = self.parts.iter().copied().find(|part| *part > failed);
        next.filter(|_| is_of_one_object && !takes)
    }
}

impl<M> Draft<M> {
    /// What follows supposes nothing of what was decided before.
    pub fn begin_part(&mut self) {
        if self.parts.last() != Some(&self.steps.len()) {
            self.parts.push(self.steps.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::POD;
    use crate::object::Meta;
    use serde_json::json;

    const ALL: [FailureClass; 5] = [
        FailureClass::Refused,
        FailureClass::Foreign,
        FailureClass::Held,
        FailureClass::Transient,
        FailureClass::Conflict,
    ];

    fn step() -> Step {
        Step::patch_seen(POD, &Meta::default(), json!({}), "label a pod")
    }

    /// A compare-and-set, two steps, and two parts of one step each.
    fn plan() -> Plan {
        let mut draft: Draft = Draft::default();
        draft.steps.push(Step::compare_and_set(json!({}), Vec::new(), "take the turn"));
        draft.steps.extend([step(), step()]);
        for _ in 0..2 {
            draft.begin_part();
            draft.begin_part();
            draft.steps.push(step());
        }
        draft.plan(json!({}))
    }

    #[test]
    fn what_is_wrong_with_one_object_ends_its_part_alone() {
        let goes_on = |failed| ALL.map(|class| plan().goes_on_at(failed, class));
        assert_eq!(goes_on(1), [Some(3), Some(3), Some(3), None, None]);
        assert_eq!(goes_on(2), goes_on(1));
        assert_eq!(goes_on(3), [Some(4), Some(4), Some(4), None, None]);
        assert_eq!(goes_on(4), [None; 5]);
    }

    #[test]
    fn nothing_goes_on_without_the_turn() {
        assert_eq!(ALL.map(|class| plan().goes_on_at(0, class)), [None; 5]);
    }
}
