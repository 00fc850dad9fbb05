//! Questions of the operator: each is answered once, by what was read after it was seen.

use super::state::{Agent, Done, Question};
use crate::decide::evidence::{self, Next};
use crate::volume::ledger::{App, Entered};
use crate::work::View;
use jiff::Timestamp;
use palladion_agent_core::volume::seconds;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::service_member::MemberEvidence;
use std::time::Duration;

/// A node that does not say all of it in this time could not be asked. Each call of the
/// command line takes a second on a machine at rest. The operator asks again after 30 s (`FRESH`
/// of its proofs): what is answered later counts for nothing, and nobody would hear that the node
/// cannot be read.
const QUESTION_TIME: Duration = Duration::from_secs(28);

impl Agent {
    /// Answer what the spec asks.
    pub(super) fn answer_question(&mut self) {
        match evidence::next(&self.facts(), self.evidence.as_ref()) {
            Next::Nothing => self.question = None,
            Next::AnswerNothing { nonce, volume_id } => self.answer(nonce, volume_id, None),
            Next::Ask { nonce, volume_id } => self.ask(nonce, volume_id),
        }
    }

    fn ask(&mut self, nonce: Nonce, volume_id: VolumeId) {
        if let Some(question) = self.question.as_ref().filter(|q| q.nonce == nonce) {
            if question.asked.elapsed() > QUESTION_TIME {
                self.answer(nonce, volume_id, None);
            }
            return;
        }
        // Without its application a node shows nothing, and a blank one has nothing to show.
        let can_answer = self
            .ledger()
            .is_some_and(|ledger| ledger.app == App::Runs && ledger.entered == Entered::Yes);
        let (true, Ok(hands)) = (can_answer, self.hands()) else {
            return self.answer(nonce, volume_id, None);
        };
        let asked = std::time::Instant::now();
        let behind = self.looks.catch_up.behind();
        let (done, named) = (self.done.clone(), nonce.clone());
        let task = tokio::spawn(async move {
            let view = Box::new(hands.view(behind).await);
            let _ = done.send(Done::Asked { nonce: named, volume_id, view }).await;
        });
        self.question = Some(Question { nonce, asked, task: task.abort_handle() });
    }

    /// Note what the node said.
    pub(super) fn note_view(&mut self, nonce: Nonce, volume_id: VolumeId, view: View) {
        if self.question.as_ref().is_some_and(|question| question.nonce == nonce) {
            if let Some(flags) = view.broker.as_ref().and_then(|broker| broker.flags.clone()) {
                self.looks.flags = Some(flags);
            }
            self.answer(nonce, volume_id, Some(view));
            // On a slow node the next question follows at once, and no look falls between the two:
            // what is behind would be so for good.
            self.measure_if_due();
        }
    }

    fn answer(&mut self, nonce: Nonce, volume_id: VolumeId, view: Option<View>) {
        let (broker, queues) = view.map_or((None, None), |view| (view.broker, view.queues));
        let is_known = broker.is_some() && queues.is_some();
        tracing::info!(nonce = nonce.as_str(), is_known, "question answered");
        let read_at = seconds(Timestamp::now());
        self.evidence =
            Some(MemberEvidence { nonce, read_at, volume_id, ensemble: None, broker, queues });
        self.question = None;
    }
}
