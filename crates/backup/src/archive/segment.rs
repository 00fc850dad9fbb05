//! A segment of the commit log: a head that says which one it is, and sections. The marker at
//! the begin of a section says where the next one begins; it is written when the section is
//! whole, and neither changes from then on. What is behind the last marker may be half written.
//! Format as of Cassandra 3.0 to 5.0 (`CommitLogDescriptor`, `CommitLogSegment.writeSyncMarker`).

use crate::hash::Sum;

/// The head of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Version of the format.
    pub version: u32,
    /// The number of the segment.
    pub segment: i64,
    /// What the server notes of compression and encryption: JSON, `{}` where it uses neither.
    pub parameters: String,
    /// Where the first section begins.
    pub bytes: u64,
}

impl Head {
    /// Are the sections as they were written, neither compressed nor encrypted?
    pub fn is_plain(&self) -> bool {
        let parameters = serde_json::from_str::<serde_json::Map<_, serde_json::Value>>;
        parameters(&self.parameters).is_ok_and(|all| all.is_empty())
    }
}

/// Length of a marker: where the next one is, and a checksum.
pub const MARKER: u64 = 8;

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// CRC-32 of numbers as Java's `updateChecksumInt` adds them: four bytes, the highest first.
pub(crate) fn crc(numbers: &[u32], rest: &[u8]) -> u32 {
    let mut sum = Sum::default();
    for number in numbers {
        sum.add(&number.to_be_bytes());
    }
    sum.add(rest);
    sum.end().1
}

/// The two halves of a number, the lower one first.
pub(crate) fn halves(segment: i64) -> [u32; 2] {
    let bytes = segment.to_be_bytes();
    let half = |from: usize| u32_at(&bytes, from).unwrap_or_default();
    [half(4), half(0)]
}

/// Read the head of a segment; `None` where it is not whole, or not one.
pub fn head(bytes: &[u8]) -> Option<Head> {
    let version = u32_at(bytes, 0)?;
    let segment = i64::from_be_bytes(bytes.get(4..12)?.try_into().ok()?);
    let length = u16::from_be_bytes(bytes.get(12..14)?.try_into().ok()?);
    let end = 14 + usize::from(length);
    let parameters = bytes.get(14..end)?;
    let [low, high] = halves(segment);
    let expected = crc(&[version, low, high, u32::from(length)], parameters);
    let is_whole = u32_at(bytes, end)? == expected;
    let parameters = std::str::from_utf8(parameters).ok()?.to_string();
    is_whole.then(|| Head { version, segment, parameters, bytes: end as u64 + 4 })
}

/// Where the section ends that begins with this marker; `None` where it is not whole: the marker
/// is not written, or is half written.
pub fn next(segment: i64, at: u64, marker: &[u8]) -> Option<u64> {
    let (next, found) = (u32_at(marker, 0)?, u32_at(marker, 4)?);
    let [low, high] = halves(segment);
    let expected = crc(&[low, high, u32::try_from(at).ok()?], &[]);
    let next = u64::from(next);
    (found == expected && next >= at + MARKER).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(segment: i64, parameters: &str) -> Vec<u8> {
        let mut bytes = 7u32.to_be_bytes().to_vec();
        bytes.extend(segment.to_be_bytes());
        bytes.extend(u16::try_from(parameters.len()).unwrap().to_be_bytes());
        bytes.extend(parameters.as_bytes());
        let [low, high] = halves(segment);
        let sum =
            crc(&[7, low, high, u32::try_from(parameters.len()).unwrap()], parameters.as_bytes());
        bytes.extend(sum.to_be_bytes());
        bytes
    }

    #[test]
    fn a_head_says_which_segment_it_is() {
        let bytes = written(1_764_000_000_123, "{}");
        let read = head(&bytes).unwrap();
        assert_eq!((read.version, read.segment, read.bytes), (7, 1_764_000_000_123, 20));
        assert!(read.is_plain());
        for at in 0..bytes.len() {
            assert_eq!(head(&bytes[..at]), None, "cut at {at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(head(&flipped), None, "flipped at {at}");
        }
        let packed = head(&written(1, "{\"compressionClass\":\"LZ4Compressor\"}")).unwrap();
        assert!(!packed.is_plain());
    }

    #[test]
    fn a_section_ends_where_its_marker_says_once_it_is_written() {
        let segment = 1_764_000_000_123;
        let [low, high] = halves(segment);
        let mut marker = 4096u32.to_be_bytes().to_vec();
        marker.extend(crc(&[low, high, 20], &[]).to_be_bytes());
        assert_eq!(next(segment, 20, &marker), Some(4096));
        assert_eq!(next(segment, 21, &marker), None, "of another place");
        assert_eq!(next(segment + 1, 20, &marker), None, "of another segment");
        assert_eq!(next(segment, 20, &[0; 8]), None, "not written");
        assert_eq!(next(segment, 20, &marker[..7]), None);
        let mut back = 24u32.to_be_bytes().to_vec();
        back.extend(crc(&[low, high, 20], &[]).to_be_bytes());
        assert_eq!(next(segment, 20, &back), None, "it ends before it begins");
    }
}
