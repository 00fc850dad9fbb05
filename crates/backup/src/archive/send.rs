//! Writes the entries that a look comes to, each behind its bytes, and notes each before the next.
//! An entry that an earlier try has written under the number counts: it is noted, and the look is
//! over, as what it has found may be sent by then.

use super::bytes_name;
use super::cursor::{Cursor, Of};
use super::entry::{self, Brings, Part};
use super::next::Step;
use crate::hash::Hash;
use crate::vault::{Vault, object};
use crate::words::trouble::{Trouble, Wrong};

/// Bytes of a segment, and what is said of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The name of the file.
    pub file: String,
    /// Length of the file.
    pub file_bytes: u64,
    /// Which start of the server wrote it.
    pub run: String,
}

/// The segments of the look.
pub trait Segments {
    /// The bytes of a segment from a place to a place.
    ///
    /// # Errors
    /// Why they cannot be read.
    fn read(&self, segment: i64, from: u64, to: u64) -> Result<Read, String>;

    /// Note how far the journal is, and whose the newest entry is. What is known of the server now
    /// is not what an earlier try knew that has written it.
    ///
    /// # Errors
    /// Why it cannot be noted: nothing may be sent after it.
    fn note(&self, cursor: &Cursor, sent: Sent) -> Result<(), String>;
}

/// What became of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All of it is written.
    All,
    /// An entry of an earlier try stood there.
    Adopted,
}

/// Write what the look comes to. The last entry says `of.until` if the look has read all that is
/// there; those before it say no more than what was known before.
///
/// # Errors
/// A segment cannot be read, the store failed, or the journal is not the one that is noted.
pub fn send(
    vault: &Vault<'_>,
    cursor: &mut Cursor,
    (of, steps, is_all): (&Of, &[Step], bool),
    segments: &dyn Segments,
) -> Result<Sent, Trouble> {
    for (number, step) in steps.iter().enumerate() {
        let is_last = number + 1 == steps.len() && is_all;
        let until = match step {
            // Bytes from here on are all there: it is when the look was begun.
            Step::Opening { .. } => of.until,
            Step::Part { .. } | Step::Rest if is_last => of.until.max(cursor.until),
            Step::Gap { .. } | Step::Part { .. } | Step::Rest => cursor.until,
        };
        let brings = brings(vault, cursor, of, (step, segments))?;
        let entry = cursor.next(Of { until, ..of.clone() }, brings);
        let (stands, hash) = entry::write(vault, &entry)?;
        if stands.previous != cursor.hash {
            let name = super::entry_name(&of.host, entry.number);
            return Err(object(&name, Wrong::Hash));
        }
        *cursor = cursor.after(&stands, hash);
        // Of one that stood there nobody knows whether its look had found all.
        let sent = if stands == entry { Sent::All } else { Sent::Adopted };
        if is_last && sent == Sent::All {
            cursor.all = of.until;
        }
        segments.note(cursor, sent).map_err(|why| Trouble::Target { why })?;
        if sent == Sent::Adopted {
            return Ok(sent);
        }
    }
    Ok(Sent::All)
}

fn brings(
    vault: &Vault<'_>,
    cursor: &Cursor,
    of: &Of,
    (step, segments): (&Step, &dyn Segments),
) -> Result<Brings, Trouble> {
    let (segment, from, to) = match step {
        Step::Gap { why } => return Ok(Brings::Gap { why: why.clone() }),
        Step::Opening { .. } => return Ok(Brings::Opening),
        Step::Rest => return Ok(Brings::Rest),
        Step::Part { segment, from, to } => (*segment, *from, *to),
    };
    let read = segments.read(segment, from, to);
    let Read { bytes, file, file_bytes, run } =
        read.map_err(|why| Trouble::Source { file: format!("segment {segment}"), why })?;
    let name = bytes_name(&of.host, cursor.number + 1, &vault.random().nonce());
    let sha256 = Hash::of(&bytes);
    let stored = vault.sealed(&name, bytes)?;
    vault.put_new(&name, &stored)?;
    Ok(Brings::Bytes(Part {
        segment,
        file,
        file_bytes,
        run,
        from,
        to,
        object: name,
        sha256,
        stored_bytes: stored.len() as u64,
    }))
}

#[cfg(test)]
mod tests;
