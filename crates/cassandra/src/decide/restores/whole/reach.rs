//! Does the archive reach the point in time that a ring is restored to? That is known before
//! anybody starts: each member of the backup has a journal of its commit log.

use crate::facts::Facts;
use crate::words::restores::{Refused, Unreached};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackedUpMember, Cataloged, JournalFound};
use palladion_plan::words::Several;

/// So many members are named of those whose journals do not reach it.
const NAMED: usize = 5;

/// Does it?
///
/// # Errors
/// It does not.
pub fn reaches(facts: &Facts<'_>, to: &Time, found: &Cataloged) -> Result<(), Refused> {
    let said = |time: &Time| time.0.to_string();
    if to.0 <= found.to.0 {
        return Err(Refused::PointBeforeBackup { to: said(to), backup: said(&found.to) });
    }
    if to.0 > facts.now() {
        return Err(Refused::PointInFuture { to: said(to) });
    }
    let why = |member: &BackedUpMember| {
        let is_its = |journal: &&JournalFound| journal.host_id == member.host_id;
        let is_left_out = member.left_out;
        let member = member.host_id.to_string();
        match found.journals.iter().find(is_its) {
            _ if is_left_out => Some(Unreached::LeftOut { member }),
            Some(JournalFound { missing: None, .. }) => None,
            Some(JournalFound { missing: Some(why), .. }) => {
                Some(Unreached::Journal { member, why: why.clone() })
            }
            None => Some(Unreached::NotRead { member }),
        }
    };
    let all: Vec<Unreached> = found.members.iter().filter_map(why).collect();
    if all.is_empty() && !found.members.is_empty() {
        return Ok(());
    }
    let (count, members) = (all.len(), found.members.len());
    let which = Several(all.into_iter().take(NAMED).collect());
    Err(Refused::PointNotCovered { to: said(to), count, members, which })
}
