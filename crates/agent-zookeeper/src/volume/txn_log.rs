//! The last transaction in the logs of a server that does not run: how far it has
//! come. The format is that of `FileTxnLog`: a head, then for each transaction a
//! checksum, a length, as many bytes and an end mark; the rest of the file is zeros.

use super::data::log_files;
use crate::words::files::Odd;
use anyhow::{Context, Result, bail};
use palladion_agent_core::words::files::Doing;
use palladion_api::zookeeper::Zxid;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

const MAGIC: &[u8; 4] = b"ZKLG";
/// Magic, version, database.
const HEAD: usize = 16;
const END: u8 = b'B';
/// Where the number stands in a transaction: after client and request.
const ZXID_AT: usize = 12;
/// More than a server takes in one transaction (`jute.maxbuffer` and some).
const MOST: usize = 64 * 1024 * 1024;

/// The last transaction that a server would find; `None` where there is none.
///
/// # Errors
/// A log cannot be read.
pub fn last_zxid(logs: &Path) -> Result<Option<Zxid>> {
    // A log may have been made and nothing written to it.
    for path in log_files(logs)?.iter().rev() {
        let shown = || path.display().to_string();
        let file = File::open(path).with_context(|| Doing::Read { path: shown() })?;
        let last = last_of(&mut BufReader::new(file));
        match last.with_context(|| Doing::Read { path: shown() })? {
            Log::None => bail!(Odd::Log { path: shown() }),
            Log::Empty => {}
            Log::Last(zxid) => return Ok(Some(zxid)),
        }
    }
    Ok(None)
}

#[derive(Debug, PartialEq, Eq)]
enum Log {
    /// It has no head.
    None,
    /// It has no transaction.
    Empty,
    /// Its last.
    Last(Zxid),
}

fn last_of(from: &mut impl Read) -> std::io::Result<Log> {
    let mut head = [0; HEAD];
    match from.read_exact(&mut head) {
        Ok(()) if head.starts_with(MAGIC) => {}
        // The file was made a moment before the power went.
        Ok(()) if head == [0; HEAD] => return Ok(Log::Empty),
        Ok(()) => return Ok(Log::None),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Log::Empty),
        Err(error) => return Err(error),
    }
    let mut last = Log::Empty;
    while let Some(zxid) = next(from)? {
        last = Log::Last(zxid);
    }
    Ok(last)
}

/// The next transaction that is whole.
fn next(from: &mut impl Read) -> std::io::Result<Option<Zxid>> {
    let mut head = [0; 12];
    if !read_whole(from, &mut head)? {
        return Ok(None);
    }
    let (checksum, length) = head.split_at(8);
    let checksum = u64::from_be_bytes(checksum.try_into().unwrap_or_default());
    let length = i32::from_be_bytes(length.try_into().unwrap_or_default());
    let length = usize::try_from(length).unwrap_or_default();
    if !(ZXID_AT + 8..=MOST).contains(&length) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    from.take(length as u64 + 1).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() == length + 1 && bytes.pop() == Some(END);
    if !is_whole {
        return Ok(None);
    }
    // ZooKeeper does not start with it either, and what comes after it may have been acknowledged.
    if u64::from(adler32(&bytes)) != checksum {
        return Err(std::io::Error::new(ErrorKind::InvalidData, Odd::Checksum.to_string()));
    }
    let zxid = bytes[ZXID_AT..ZXID_AT + 8].try_into().unwrap_or_default();
    Ok(Some(Zxid::new(u64::from_be_bytes(zxid))))
}

fn read_whole(from: &mut impl Read, into: &mut [u8]) -> std::io::Result<bool> {
    match from.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The checksum of RFC 1950.
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % MODULUS;
        b = (b + a) % MODULUS;
    }
    b << 16 | a
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// A log with these transactions, and zeros after them.
    pub fn log(zxids: &[u64]) -> Vec<u8> {
        let mut file = [MAGIC.as_slice(), &2_i32.to_be_bytes(), &0_i64.to_be_bytes()].concat();
        for zxid in zxids {
            let mut txn = vec![7; ZXID_AT];
            txn.extend(zxid.to_be_bytes());
            txn.extend([0; 12]);
            file.extend(u64::from(adler32(&txn)).to_be_bytes());
            file.extend(i32::try_from(txn.len()).unwrap().to_be_bytes());
            file.extend(&txn);
            file.push(END);
        }
        file.extend([0; 100]);
        file
    }
}

#[cfg(test)]
mod tests {
    use super::testing::log;
    use super::*;

    fn last(bytes: &[u8]) -> Log {
        last_of(&mut &bytes[..]).unwrap()
    }

    #[test]
    fn the_checksum_is_the_one_of_the_rfc() {
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn the_last_whole_transaction_counts() {
        let zxid = |number| Log::Last(Zxid::new(number));
        assert_eq!(last(&log(&[0x1_0000_0001, 0x1_0000_0002])), zxid(0x1_0000_0002));
        assert_eq!(last(&log(&[])), Log::Empty);
        let mut torn = log(&[1, 2]);
        torn.truncate(16 + 45 + 20);
        assert_eq!(last(&torn), zxid(1), "the second one was not written to its end");
    }

    /// By what comes before it an older volume could be called the newest.
    #[test]
    fn a_whole_transaction_with_another_checksum_is_no_end_of_a_log() {
        for (of, transaction) in [(3, 0), (3, 1), (2, 1)] {
            let mut spoilt = log(&[1, 2, 3][..of]);
            spoilt[16 + transaction * 45 + 12] ^= 1;
            let error = last_of(&mut &spoilt[..]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{transaction} of {of}");
        }
    }

    #[test]
    fn what_is_no_log_is_told_and_an_empty_file_is_none() {
        assert_eq!(last(b"snapshot or anything"), Log::None);
        assert_eq!(last(b""), Log::Empty);
        assert_eq!(last(&[0; 64]), Log::Empty);
    }
}
