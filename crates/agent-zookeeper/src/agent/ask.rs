//! Questions of the operator: each is answered once, by what was read after it was seen.

use super::state::{Agent, Done, Question};
use crate::decide::evidence::{self, Next};
use jiff::Timestamp;
use palladion_agent_core::volume::seconds;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::service_member::{EnsembleView, MemberEvidence};
use std::time::{Duration, Instant};

/// A server that opens no session in this time could not be asked: an election is
/// over by then, or there is no quorum.
const QUESTION_TIME: Duration = Duration::from_secs(8);
/// From a question that the server did not answer to the next try.
const ASK_AGAIN: Duration = Duration::from_millis(500);

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
        let seen = match self.question.take().filter(|question| question.nonce == nonce) {
            Some(known) => known,
            None => Question {
                nonce: nonce.clone(),
                seen: Instant::now(),
                asked: None,
                is_under_way: false,
            },
        };
        let question = self.question.insert(seen);
        if question.is_under_way || question.asked.is_some_and(|at| at.elapsed() < ASK_AGAIN) {
            return;
        }
        let is_late = question.asked.is_some() && question.seen.elapsed() > QUESTION_TIME;
        let id = self.ledger().and_then(|ledger| ledger.server_id);
        let (false, Some(ensemble), Some(id)) = (is_late, self.ensemble(), id) else {
            return self.answer(nonce, volume_id, None);
        };
        if let Some(question) = &mut self.question {
            (question.asked, question.is_under_way) = (Some(Instant::now()), true);
        }
        let done = self.done.clone();
        tokio::spawn(async move {
            let view = ensemble.view(id).await.map_err(|error| format!("{error:#}"));
            let _ = done.send(Done::Asked { nonce, volume_id, view }).await;
        });
    }

    /// Note what the server said.
    pub(super) fn note_view(
        &mut self,
        nonce: Nonce,
        volume_id: VolumeId,
        view: Result<EnsembleView, String>,
    ) {
        let Some(question) = self.question.as_mut().filter(|q| q.nonce == nonce) else {
            return;
        };
        question.is_under_way = false;
        match view {
            Ok(view) => self.answer(nonce, volume_id, Some(view)),
            Err(why) => tracing::debug!(why, "the server cannot be asked for the ensemble"),
        }
    }

    fn answer(&mut self, nonce: Nonce, volume_id: VolumeId, ensemble: Option<EnsembleView>) {
        tracing::info!(nonce = nonce.as_str(), is_known = ensemble.is_some(), "question answered");
        let read_at = seconds(Timestamp::now());
        self.evidence = Some(MemberEvidence {
            nonce,
            read_at,
            volume_id,
            ensemble,
            broker: None,
            queues: None,
        });
        self.question = None;
    }
}
