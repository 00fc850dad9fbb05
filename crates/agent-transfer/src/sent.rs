//! How many bytes a server must have sent that has loaded a folder of SSTables. It leaves out
//! what it cannot open, logs that, and answers as if all were loaded: what it counts of its
//! streams tells the difference.
//!
//! Cassandra counts the estimated size of each SSTable that it has sent to a peer, itself
//! included (`StreamSession.streamSent`, `TotalOutgoingBytes`). Of an SSTable that is sent in
//! parts that is the length of its data, compressed or not by version
//! (`CassandraStreamHeader.calculateSize`); of one that is sent whole it is that of all its
//! components. Each partition goes to every replica of its token. So per copy it is no less than
//! the shorter of both lengths of the data.

use crate::snapshot::{entries, shown};
use crate::words::stopped::Stopped;
use std::path::Path;

const DATA: &str = "-Data.db";
const COMPRESSION: &str = "-CompressionInfo.db";
/// SSTables before Cassandra 4.0 (`ma` to `me`) do not note the longest chunk.
const BEFORE: &str = "m";

/// The least number of bytes that are sent of the SSTables in a folder, to one copy each.
///
/// # Errors
/// The folder cannot be read.
pub fn least(folder: &Path) -> Result<u64, Stopped> {
    let mut all = 0_u64;
    for (name, path) in entries(folder)? {
        let Some(sstable) = name.strip_suffix(DATA) else { continue };
        let failed =
            |error: std::io::Error| Stopped::Scratch { path: shown(&path), why: error.to_string() };
        let stored = path.metadata().map_err(failed)?.len();
        let about = folder.join(format!("{sstable}{COMPRESSION}"));
        let plain = std::fs::read(about).ok().and_then(|bytes| plain_length(sstable, &bytes));
        all = all.saturating_add(plain.map_or(stored, |plain| plain.min(stored)));
    }
    Ok(all)
}

/// The length of compressed data before compression, as `CompressionInfo.db` has it: the name of
/// the compressor, its options, the length of chunks, of the longest compressed one, of the data.
fn plain_length(sstable: &str, bytes: &[u8]) -> Option<u64> {
    let mut reader = Reader(bytes);
    reader.text()?;
    for _ in 0..reader.number::<4>()? {
        reader.text()?;
        reader.text()?;
    }
    reader.number::<4>()?;
    if !sstable.starts_with(BEFORE) {
        reader.number::<4>()?;
    }
    reader.number::<8>()
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number<const SIZE: usize>(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_at_checked(SIZE)?;
        self.0 = rest;
        Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn text(&mut self) -> Option<()> {
        let length = usize::try_from(self.number::<2>()?).ok()?;
        self.0 = self.0.split_at_checked(length)?.1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compression(longest: bool, plain: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
            bytes.extend(text.as_bytes());
        };
        text(&mut bytes, "LZ4Compressor");
        bytes.extend(1_u32.to_be_bytes());
        text(&mut bytes, "lz4_compressor_type");
        text(&mut bytes, "fast");
        bytes.extend(16_384_u32.to_be_bytes());
        if longest {
            bytes.extend(u32::MAX.to_be_bytes());
        }
        bytes.extend(plain.to_be_bytes());
        bytes.extend([0; 12]);
        bytes
    }

    #[test]
    fn of_compressed_data_the_shorter_length_counts() {
        let folder = tempfile::tempdir().unwrap();
        let put =
            |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        put("nb-1-big-Data.db", &[0; 1000]);
        put("nb-1-big-Index.db", &[0; 70]);
        assert_eq!(least(folder.path()).unwrap(), 1000);
        put("nb-1-big-CompressionInfo.db", &compression(true, 990));
        assert_eq!(least(folder.path()).unwrap(), 990, "what cannot be compressed is longer");
        put("nb-1-big-CompressionInfo.db", &compression(true, 5000));
        put("me-2-big-Data.db", &[0; 1000]);
        put("me-2-big-CompressionInfo.db", &compression(false, 10));
        assert_eq!(least(folder.path()).unwrap(), 1010);
        put("me-2-big-CompressionInfo.db", &compression(false, 10)[..30]);
        assert_eq!(least(folder.path()).unwrap(), 2000, "cut off");
    }
}
