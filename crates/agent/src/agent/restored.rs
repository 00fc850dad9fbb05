//! The first start and the last one of a member whose ring begins with a backup, as the loop has
//! them: the tokens are noted while no server was ever started, and clients are let in by an order.

use super::state::Agent;
use crate::admin::Reading;
use crate::decide::Process;
use crate::volume::Data;
use crate::volume::ledger::Membership;
use crate::volume::tokens::{FirstTokens, TokensNote};
use crate::words::calls::NotKnown;
use anyhow::{Context, Result, bail};
use palladion_agent_transfer::decide::{Child, Ended, Record};
use palladion_agent_transfer::tell::{Done, Line};
use palladion_agent_transfer::tokens::hash_of;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::ids::HostId;

impl Agent {
    /// Tokens that were read are on the volume before they are reported as noted.
    pub(super) fn note_tokens(&mut self, record: &mut Record) -> Result<()> {
        let Some(Ended::Done(Done::Tokens { manifest_hash, source, tokens })) = &record.ended
        else {
            return Ok(());
        };
        let (manifest_hash, source, tokens) =
            (manifest_hash.clone(), source.clone(), tokens.clone());
        record.ended = Some(self.tokens_noted(manifest_hash, source, tokens)?);
        Ok(())
    }

    fn tokens_noted(
        &mut self,
        manifest_hash: String,
        source: HostId,
        tokens: Vec<String>,
    ) -> Result<Ended> {
        let never_started = self.process == Process::Absent
            && self.found.as_ref().is_ok_and(|found| found.data == Data::Absent)
            && self.ledger().is_some_and(|ledger| match ledger.membership {
                Membership::Empty | Membership::Joining { .. } => ledger.host_id.is_none(),
                Membership::Joined | Membership::Leaving { .. } | Membership::Left => false,
            });
        if !never_started {
            let why = Stopped::HasStarted;
            return Ok(Ended::Failed { cause: why.cause(), message: why.to_string() });
        }
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        let tokens_hash = hash_of(&tokens);
        let note = TokensNote {
            source: source.clone(),
            manifest_hash,
            tokens,
            tokens_hash: tokens_hash.clone(),
        };
        volume.save_tokens(&note)?;
        tracing::info!(source = source.as_str(), tokens_hash, "tokens of the first start noted");
        if let Ok(found) = &mut self.found {
            found.tokens = FirstTokens::Noted(Box::new(note));
        }
        Ok(Ended::Done(Done::Noted { source, tokens_hash }))
    }

    /// Note that the member takes clients from now on; its server is started again then. First
    /// the note that closes it, then the tokens, which close it where that one is torn.
    pub(super) fn open_to_clients(&mut self, id: String) -> Result<()> {
        let (Ok(found), Some(volume)) = (&mut self.found, &self.volume) else {
            bail!(NotKnown::Volume);
        };
        if found.note.closed {
            let mut note = found.note.clone();
            note.closed = false;
            volume.save_note(&note)?;
            found.note = note;
            tracing::info!(id, "the member is opened to clients");
        }
        volume.remove_tokens()?;
        found.tokens = FirstTokens::None;
        self.transfers.opening = Some(id);
        Ok(())
    }

    /// How far an order to let clients in is; none that is not begun.
    pub(super) fn opening(&self) -> Option<Child> {
        let id = self.transfers.opening.clone()?;
        let is_open = !self.is_closed()
            && self.process == Process::Running
            && self.stopping.is_none()
            && self.found.as_ref().is_ok_and(|found| !found.note.closed)
            && self.reading().is_some_and(Reading::serves);
        Some(match is_open {
            true => Child::Ended { id, last: Some(Line::Done(Done::Opened)) },
            false => Child::Runs { id },
        })
    }
}
