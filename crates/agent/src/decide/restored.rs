//! A first start with the tokens of a backup: only with those that are noted on the volume, and
//! that the permit names. A server takes a token of a live member over without a word, so nothing
//! is guessed here.

use crate::volume::tokens::{FirstTokens, TokensNote};
use crate::words::permit::Refused;
use palladion_agent_transfer::tokens::hash_of;
use palladion_api::member::{PermitKind, RestoredStart, StartPermit};

/// The tokens that a permit says to start with; none where it says nothing of any.
///
/// # Errors
/// They are not those that are noted, or the permit is of a kind that has none.
pub fn tokens(permit: &StartPermit, noted: &FirstTokens) -> Result<Option<Vec<String>>, Refused> {
    let Some(RestoredStart { source, tokens_hash }) = &permit.restore else {
        return Ok(None);
    };
    match permit.kind {
        PermitKind::Initialize | PermitKind::Restore => {}
        PermitKind::Join
        | PermitKind::Replace
        | PermitKind::ResumeLeave
        | PermitKind::Readdress
        | PermitKind::Unknown(_) => {
            return Err(Refused::TokensOfOther { kind: format!("{:?}", permit.kind) });
        }
    }
    let TokensNote { source: of, tokens, tokens_hash: reported, .. } = match noted {
        FirstTokens::Noted(note) => &**note,
        FirstTokens::None => return Err(Refused::TokensNotNoted { source: source.clone() }),
        FirstTokens::Unreadable => return Err(Refused::TokensUnreadable),
    };
    if of != source {
        let (meant, noted) = (source.clone(), of.clone());
        return Err(Refused::OtherSource { meant, noted });
    }
    let actual = hash_of(tokens);
    if tokens.is_empty() || actual != *tokens_hash || reported != tokens_hash {
        return Err(Refused::OtherTokens { meant: tokens_hash.clone(), noted: actual });
    }
    Ok(Some(tokens.clone()))
}
