//! The tokens that one member of a backup had: read by a child, from the manifest that the ring's
//! vouches for. The loop notes them on the volume.

use super::Bench;
use super::attempt::Talk;
use super::step::{Step, child, other};
use palladion_agent_transfer::assign::restore;
use palladion_agent_transfer::tell::Done;
use palladion_api::backup::TokensWork;

/// Read them.
///
/// # Errors
/// There is no such backup, or no such member of it.
pub async fn tokens(bench: &Bench, work: &TokensWork, talk: &mut Talk) -> Step<Done> {
    match child(restore::tokens(&bench.order, &bench.own, work), talk).await? {
        done @ Done::Tokens { .. } => Ok(done),
        _ => Err(other()),
    }
}
