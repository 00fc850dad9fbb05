//! The commit log of a member, sent while it is written: a journal, entry by entry. An entry
//! says until when everything that the member acknowledged is in the store, and brings the bytes
//! that came since the entry before it. Nothing is written twice and nothing is replaced, so a
//! journal is read from its first entry to its last, and each vouches for the one before it.
//!
//! ```text
//! commitlog/<hostID>/<n>.json      entry n, with 12 digits
//! commitlog/<hostID>/<n>~<nonce>   the bytes that entry n brings
//! ```
//!
//! [`entry`] is what an entry says, [`segment`] where bytes of a segment end that no longer
//! change. What is sent next: [`cursor`] is how far a journal is, [`scan`] which bytes of a
//! segment are new, [`next`] what a look at all of it comes to, and [`send`] writes it. A restore
//! to a point in time begins with [`read`], and [`choose`] says which segments it takes. What no
//! backup needs any more goes by [`trim`].

pub mod choose;
pub mod cursor;
pub mod entry;
pub mod next;
pub mod read;
pub mod scan;
pub mod segment;
pub mod send;
pub mod trim;

use crate::names::HostId;

/// Where the journals of all members are.
pub const COMMITLOG: &str = "commitlog/";
/// Digits of a number in a name: names sort as numbers do.
const DIGITS: usize = 12;

/// Where the journal of a member is.
pub fn journal(host: &HostId) -> String {
    format!("{COMMITLOG}{host}/")
}

/// The name of an entry.
pub fn entry_name(host: &HostId, number: u64) -> String {
    format!("{}{number:0DIGITS$}.json", journal(host))
}

/// The name of the bytes that an entry brings.
pub fn bytes_name(host: &HostId, number: u64, nonce: &str) -> String {
    format!("{}{number:0DIGITS$}~{nonce}", journal(host))
}

/// What a name below `commitlog/` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfJournal {
    /// An entry of a member.
    Entry(HostId, u64),
    /// Bytes that an entry of a member brings, or that a try has sent which did not come to it.
    Bytes(HostId, u64),
}

/// Read a name below `commitlog/`.
pub fn of_journal(name: &str) -> Option<OfJournal> {
    let (host, rest) = name.strip_prefix(COMMITLOG)?.split_once('/')?;
    let host = HostId::parse(host)?;
    let number = |text: &str| (text.len() == DIGITS).then(|| text.parse().ok()).flatten();
    if let Some(digits) = rest.strip_suffix(".json") {
        return Some(OfJournal::Entry(host, number(digits)?));
    }
    let (digits, nonce) = rest.split_once('~')?;
    let is_nonce = !nonce.is_empty() && nonce.bytes().all(|c| c.is_ascii_hexdigit());
    is_nonce.then_some(OfJournal::Bytes(host, number(digits)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_sort_as_numbers() {
        let host = HostId::parse("5f3c2b1a-0000-4000-8000-00000000000a").unwrap();
        let name = |number| entry_name(&host, number);
        assert_eq!(of_journal(&name(7)), Some(OfJournal::Entry(host.clone(), 7)));
        let bytes = bytes_name(&host, 7, "00ff");
        assert_eq!(of_journal(&bytes), Some(OfJournal::Bytes(host.clone(), 7)));
        assert!(name(9) < name(10) && name(99) < name(100));
        for other in ["commitlog/x/000000000001.json", "commitlog/", "sstables/a", "commitlog/a"] {
            assert_eq!(of_journal(other), None, "{other}");
        }
        assert_eq!(of_journal(&format!("commitlog/{host}/7.json")), None);
        assert_eq!(of_journal(&format!("commitlog/{host}/000000000007~../x")), None);
    }
}
