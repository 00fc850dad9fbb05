//! Which bytes of a segment no longer change, cut into the parts that are sent: a part ends where
//! a section does, so that what is put together of any number of them ends at a whole marker.

use super::segment::{self, MARKER};

/// A part has no more than this, unless one section has: sections are not divided.
pub const MOST: u64 = 8 * 1024 * 1024;
/// What a server notes of compression and encryption fits, and more is not looked at.
const HEAD: usize = 4096;

/// A segment, as it is read.
pub trait Bytes {
    /// So many bytes from here; fewer where it ends.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn at(&self, from: u64, bytes: usize) -> Result<Vec<u8>, String>;
}

/// What is new in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// These parts, each from a place to a place; none where nothing is.
    Parts(Vec<(u64, u64)>),
    /// Its sections are compressed or encrypted.
    NotPlain,
}

/// What is new in segment `number`, which has `length` bytes, since its bytes up to `from` were
/// sent. What is not whole yet is not new.
///
/// # Errors
/// It cannot be read.
pub fn scan(bytes: &dyn Bytes, (number, length): (i64, u64), from: u64) -> Result<Found, String> {
    let mut at = from;
    if from == 0 {
        let begin = bytes.at(0, HEAD)?;
        // One that was made in advance may have no head yet.
        let Some(head) = segment::head(&begin).filter(|head| head.segment == number) else {
            return Ok(Found::Parts(Vec::new()));
        };
        if !head.is_plain() {
            return Ok(Found::NotPlain);
        }
        at = head.bytes;
    }
    let (mut parts, mut begin) = (Vec::new(), from);
    let first = at;
    loop {
        let marker = bytes.at(at, usize::try_from(MARKER).unwrap_or_default())?;
        let end = segment::next(number, at, &marker).filter(|end| *end <= length);
        let Some(end) = end else { break };
        if end - begin > MOST && at > begin && at > first {
            parts.push((begin, at));
            begin = at;
        }
        at = end;
    }
    if at > first {
        parts.push((begin, at));
    }
    Ok(Found::Parts(parts))
}

/// Segments for tests.
#[cfg(any(test, feature = "sim"))]
pub mod testing {
    use super::super::segment::{crc, halves};
    use super::Bytes;

    /// A segment in memory.
    pub struct Segment {
        /// Its number.
        pub number: i64,
        /// Its bytes, zeros where nothing was written.
        pub bytes: Vec<u8>,
        at: usize,
    }

    impl Segment {
        /// With a head and nothing else.
        pub fn new(number: i64, length: usize, parameters: &str) -> Self {
            let size = u16::try_from(parameters.len()).unwrap_or_default();
            let mut bytes = 7u32.to_be_bytes().to_vec();
            bytes.extend(number.to_be_bytes());
            bytes.extend(size.to_be_bytes());
            bytes.extend(parameters.as_bytes());
            let [low, high] = halves(number);
            let sum = crc(&[7, low, high, u32::from(size)], parameters.as_bytes());
            bytes.extend(sum.to_be_bytes());
            let at = bytes.len();
            bytes.resize(length, 0);
            Self { number, bytes, at }
        }

        /// Write a section with this many bytes, its marker at last.
        pub fn section(&mut self, length: usize) {
            let end = self.at + 8 + length;
            self.bytes[self.at + 8..end].fill(0xab);
            let [low, high] = halves(self.number);
            let (at, next) = (self.at, u32::try_from(end).unwrap_or_default());
            let place = u32::try_from(at).unwrap_or_default();
            self.bytes[at..at + 4].copy_from_slice(&next.to_be_bytes());
            let sum = crc(&[low, high, place], &[]);
            self.bytes[at + 4..at + 8].copy_from_slice(&sum.to_be_bytes());
            self.at = end;
        }

        /// Where the next section begins.
        pub fn end(&self) -> u64 {
            self.at as u64
        }
    }

    impl Bytes for Segment {
        fn at(&self, from: u64, bytes: usize) -> Result<Vec<u8>, String> {
            let from = usize::try_from(from).map_err(|error| error.to_string())?;
            let rest = self.bytes.get(from..).unwrap_or_default();
            Ok(rest[..rest.len().min(bytes)].to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Segment;
    use super::*;

    fn parts(segment: &Segment, from: u64) -> Vec<(u64, u64)> {
        match scan(segment, (segment.number, segment.bytes.len() as u64), from).unwrap() {
            Found::Parts(parts) => parts,
            Found::NotPlain => panic!("it is plain"),
        }
    }

    #[test]
    fn what_is_new_ends_at_the_last_whole_marker_and_goes_on_there() {
        let mut segment = Segment::new(1_764_000_000_001, 4096, "{}");
        assert_eq!(parts(&segment, 0), [], "a head alone is nothing");
        segment.section(100);
        segment.section(50);
        let end = segment.end();
        assert_eq!(parts(&segment, 0), [(0, end)]);
        assert_eq!(parts(&segment, end), []);
        // Half written: bytes of a section whose marker is not there.
        let at = usize::try_from(end).unwrap();
        segment.bytes[at + 8..at + 40].fill(0xcd);
        assert_eq!(parts(&segment, end), []);
        segment.section(30);
        assert_eq!(parts(&segment, end), [(end, segment.end())]);
        // A marker that says more than the file has is none.
        let cut = segment.end() - 1;
        let found = scan(&segment, (segment.number, cut), 0).unwrap();
        assert_eq!(found, Found::Parts(vec![(0, end)]));
    }

    #[test]
    fn a_part_holds_whole_sections_up_to_eight_megabytes() {
        let most = usize::try_from(MOST).unwrap();
        let mut segment = Segment::new(7, 5 * most, "{}");
        let mut ends = vec![segment.end()];
        for length in [100, most / 2, most / 2, 2 * most, 100] {
            segment.section(length);
            ends.push(segment.end());
        }
        let expected = [(0, ends[2]), (ends[2], ends[3]), (ends[3], ends[4]), (ends[4], ends[5])];
        assert_eq!(parts(&segment, 0), expected);
        let later = [(ends[2], ends[3]), (ends[3], ends[4]), (ends[4], ends[5])];
        assert_eq!(parts(&segment, ends[2]), later);
    }

    #[test]
    fn what_is_compressed_or_of_another_segment_is_not_sent() {
        let mut packed = Segment::new(7, 4096, "{\"compressionClass\":\"LZ4Compressor\"}");
        packed.section(10);
        assert_eq!(scan(&packed, (7, 4096), 0).unwrap(), Found::NotPlain);
        let mut plain = Segment::new(7, 4096, "{}");
        plain.section(10);
        assert_eq!(scan(&plain, (8, 4096), 0).unwrap(), Found::Parts(Vec::new()));
        let none = Segment::new(7, 0, "");
        assert_eq!(scan(&none, (7, 0), 0).unwrap(), Found::Parts(Vec::new()));
    }
}
