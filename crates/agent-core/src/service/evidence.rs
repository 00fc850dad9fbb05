//! Whether a question about the service is to be answered now. An answer is read
//! after the nonce was seen, and each nonce is answered once. Pure.

use super::spec::SpecFact;
use crate::facts::Process;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::service_member::MemberEvidence;

/// What is to be done about `spec.evidence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Read the service as our server sees it, then answer.
    Ask {
        /// The nonce to answer.
        nonce: Nonce,
        /// Our volume.
        volume_id: VolumeId,
    },
    /// Answer that there is nothing to see: no server runs.
    AnswerNothing {
        /// The nonce to answer.
        nonce: Nonce,
        /// Our volume.
        volume_id: VolumeId,
    },
}

/// Decide, after the answer that was given last.
pub fn next(
    known: Option<SpecFact<'_>>,
    volume_id: Option<&VolumeId>,
    process: &Process,
    answered: Option<&MemberEvidence>,
) -> Next {
    let request = known.and_then(SpecFact::live).and_then(|spec| spec.evidence.as_ref());
    let (Some(request), Some(volume_id)) = (request, volume_id) else {
        return Next::Nothing;
    };
    // An answer of another volume is none of ours: a successor is asked anew.
    let is_answered =
        answered.is_some_and(|a| a.nonce == request.nonce && a.volume_id == *volume_id);
    if is_answered {
        return Next::Nothing;
    }
    let (nonce, volume_id) = (request.nonce.clone(), volume_id.clone());
    match process {
        Process::Running => Next::Ask { nonce, volume_id },
        Process::Absent => Next::AnswerNothing { nonce, volume_id },
        // Whether a server serves is not known, and must not be denied.
        Process::Unknown(_) => Next::Nothing,
    }
}
