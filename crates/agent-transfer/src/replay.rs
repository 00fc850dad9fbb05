//! The child's part of a restore to a point in time: it is read how far the archived commit logs
//! of the members go, and their segments are brought, a few at a time. A segment is put together
//! of its parts, each of which is hashed, and is as long as it was: what was not written yet is
//! zeros, behind which a server reads nothing. One that is cut off, or not what was written, would
//! end the server that replays it.

use crate::metered::Metered;
use crate::orders::restore::Segments;
use crate::restore::{head, holder, line, of_source, opened, private, restoring};
use crate::scratch::Scratch;
use crate::snapshot::shown;
use crate::tell::Done;
use crate::tokens::hash_of;
use crate::words::replay::Unreached;
use crate::words::stopped::Stopped;
use jiff::Timestamp;
use palladion_api::backup::JournalFound;
use palladion_api::ids::HostId;
use palladion_backup::archive::choose::{Segment, Uncovered, Wanted, choose};
use palladion_backup::archive::entry::Part;
use palladion_backup::archive::read::read;
use palladion_backup::fetch::Target;
use palladion_backup::hash::Hash;
use palladion_backup::hold::hold;
use palladion_backup::manifest::member::Member;
use palladion_backup::manifest::ring::RingManifest;
use palladion_backup::names::is_file_name;
use palladion_backup::vault::{Vault, object};
use palladion_backup::words::trouble::{Trouble, Wrong};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Bytes of zeros that are written at a time.
const ZEROS: u64 = 64 * 1024;

/// How far the journals of these members go.
///
/// # Errors
/// The store failed, or a key is missing.
pub fn journals(
    vault: &Vault<'_>,
    (ring, members): (&RingManifest, &[Member]),
    (to, server): (i64, &str),
) -> Result<Vec<JournalFound>, Stopped> {
    let owned = members.iter().flat_map(|member| {
        member.tokens.iter().map(move |token| format!("{token} {}", member.host))
    });
    let all = hash_of(&owned.collect::<Vec<String>>());
    let of = |member: &Member| {
        let host_id = HostId::new(member.host.as_str());
        Ok(match chosen(vault, (ring, member), (to, Some((server, &all))))? {
            Ok(segments) => {
                let parts = segments.iter().flat_map(|segment| &segment.parts);
                let bytes = parts.map(|part| part.stored_bytes).sum();
                JournalFound { host_id, segments: segments.len() as u64, bytes, missing: None }
            }
            Err(why) => {
                let missing = Some(why.to_string());
                JournalFound { host_id, segments: 0, bytes: 0, missing }
            }
        })
    };
    members.iter().map(of).collect()
}

fn chosen(
    vault: &Vault<'_>,
    (ring, member): (&RingManifest, &Member),
    (to, known): (i64, Option<(&str, &String)>),
) -> Result<Result<Vec<Segment>, Unreached>, Stopped> {
    let entries = read(vault, &member.host, (ring.window, to)).map_err(restoring)?;
    let server = known.map(|(server, _)| server);
    let is_other = |found: &&String| server.is_some_and(|own| line(found) != line(own));
    if let Some(found) = entries.iter().map(|entry| &entry.version).find(is_other) {
        let (found, own) = (found.clone(), server.unwrap_or_default().to_string());
        return Ok(Err(Unreached::OtherLine { found, own }));
    }
    let wanted = Wanted {
        window: ring.window,
        schema: ring.schema.sha256.clone(),
        tokens_hash: hash_of(&member.tokens),
        ring: known.map(|(_, ring)| ring.clone()),
        to,
    };
    Ok(choose(&entries, &wanted).map_err(words))
}

fn words(why: Uncovered) -> Unreached {
    match why {
        Uncovered::Nothing => Unreached::Nothing,
        Uncovered::Begins { at } => Unreached::Begins { at: time(at) },
        Uncovered::Ends { until } => Unreached::Ends { until: time(until) },
        Uncovered::Gap { until, why: Some(why) } => Unreached::Gap { until: time(until), why },
        Uncovered::Gap { until, why: None } => Unreached::Unsaid { until: time(until) },
        Uncovered::Schema { until, from } => {
            Unreached::Schema { until: time(until), from: time(from) }
        }
        Uncovered::Between { from, to } => Unreached::Between { from: time(from), to: time(to) },
        Uncovered::Members { until } => Unreached::Members { until: time(until) },
        Uncovered::Tokens { until } => Unreached::Tokens { until: time(until) },
    }
}

fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

/// Which segments are replayed: noted, so that a journal is read once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Plan {
    transfer: String,
    manifest: Hash,
    to: i64,
    segments: Vec<Segment>,
}

/// Bring the next segments.
///
/// # Errors
/// One of them is not what was written, or store or volume failed; nothing is left of them then.
pub fn segments(
    vault: &Vault<'_>,
    store: &Metered<'_>,
    (transfer, order): (&str, &Segments),
) -> Result<Done, Stopped> {
    Scratch::filled(&order.into, |scratch| brought(vault, store, (transfer, order), scratch))
}

fn brought(
    vault: &Vault<'_>,
    store: &Metered<'_>,
    (transfer, order): (&str, &Segments),
    scratch: &Scratch,
) -> Result<Done, Stopped> {
    let plan = planned(vault, (transfer, order))?;
    let all_segments = plan.segments.len() as u64;
    store.count(|progress| (progress.files, progress.of) = (order.skip, all_segments));
    let (mut names, mut bytes, mut length) = (Vec::new(), 0, 0_u64);
    let skip = usize::try_from(order.skip).unwrap_or(usize::MAX);
    for segment in plan.segments.iter().skip(skip) {
        if !names.is_empty() && length.saturating_add(segment.file_bytes) > order.limit {
            break;
        }
        write(vault, segment, scratch)?;
        hold(vault, &order.backup, &holder(transfer)).map_err(restoring)?;
        length = length.saturating_add(segment.file_bytes);
        bytes += segment.parts.iter().map(|part| part.stored_bytes).sum::<u64>();
        names.push(segment.file.clone());
    }
    store.tell();
    Ok(Done::Segments { files: names, bytes, all_segments })
}

/// As it was noted, or is from now on. One that is torn, or of another order, is made again.
fn planned(vault: &Vault<'_>, (transfer, order): (&str, &Segments)) -> Result<Plan, Stopped> {
    let noted = std::fs::read(&order.plan).ok();
    let noted = noted.and_then(|text| serde_json::from_slice::<Plan>(&text).ok());
    let is_this = |plan: &Plan| {
        (plan.transfer.as_str(), &plan.manifest, plan.to) == (transfer, &order.manifest, order.to)
    };
    if let Some(plan) = noted.filter(is_this) {
        return Ok(plan);
    }
    let (ring, manifest) = opened(vault, transfer, (&order.backup, Some(&order.manifest)))?;
    let of = of_source(&ring, &order.backup, &order.source)?;
    let member = head(vault, &ring, of)?;
    // Versions and members were compared before anybody started.
    let found = chosen(vault, (&ring, &member), (order.to, None))?;
    let segments = found.map_err(|why| {
        let (member, why) = (member.host.to_string(), why.to_string());
        Stopped::Unreached { member, why }
    })?;
    let plan = Plan { transfer: transfer.to_string(), manifest, to: order.to, segments };
    let failed = |why: String| Stopped::Scratch { path: shown(&order.plan), why };
    let text = serde_json::to_string(&plan).map_err(|error| failed(error.to_string()))?;
    private(&order.plan, &text).map_err(|error| failed(error.to_string()))?;
    Ok(plan)
}

/// Put a segment together.
fn write(vault: &Vault<'_>, segment: &Segment, scratch: &Scratch) -> Result<(), Stopped> {
    let end = segment.parts.last().map_or(0, |part| part.to);
    if !is_file_name(&segment.file) || end > segment.file_bytes {
        return Err(Stopped::NoSegment { file: segment.file.clone() });
    }
    let target = |why: String| restoring(Trouble::Target { why });
    let mut sink = scratch.begin(&segment.file).map_err(target)?;
    for part in &segment.parts {
        sink.write(&plain(vault, part)?).map_err(target)?;
    }
    let mut left = segment.file_bytes - end;
    while left > 0 {
        let now = left.min(ZEROS);
        sink.write(&vec![0; usize::try_from(now).unwrap_or_default()]).map_err(target)?;
        left -= now;
    }
    sink.commit().map_err(target)
}

fn plain(vault: &Vault<'_>, part: &Part) -> Result<Vec<u8>, Stopped> {
    let name = &part.object;
    let wrong = |wrong: Wrong| restoring(object(name, wrong));
    let plain = vault.read(name).map_err(restoring)?.ok_or_else(|| wrong(Wrong::Absent))?;
    let (stored, expected) = (plain.len() as u64, part.to - part.from);
    if stored != expected {
        return Err(wrong(Wrong::Size { stored, expected }));
    }
    (Hash::of(&plain) == part.sha256).then_some(plain).ok_or_else(|| wrong(Wrong::Hash))
}

/// Where the note of a plan is: beside that of the load.
pub fn plan(journal: &Path) -> std::path::PathBuf {
    journal.with_extension("plan.json")
}
