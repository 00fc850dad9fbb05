//! Which part an SSTable of a snapshot lacks: a part without which no server opens it, or one that
//! its own table of contents names. A snapshot that somebody clears while it is listed loses its
//! files one by one, and what is left must not pass for whole.

use crate::snapshot::{Found, shown};
use crate::words::stopped::Stopped;

/// The parts without which a server does not open an SSTable, or leaves it out; of each row one. A
/// server writes `CompressionInfo.db` where it compresses, and `CRC.db` where it does not.
const NEEDED: [&[&str]; 4] = [
    &["Data.db"],
    &["Statistics.db"],
    &["Index.db", "Partitions.db"],
    &["CompressionInfo.db", "CRC.db"],
];
/// Both are there, or neither.
const TOGETHER: [&str; 2] = ["Partitions.db", "Rows.db"];
/// The names of its parts, one a line. The server writes it last; of one that has been streamed as a
/// whole there is none before the next start.
const CONTENTS: &str = "TOC.txt";
/// The parts that go with the data for as long as it is there. Those of indexes come and go, and are
/// built again.
const LASTING: [&str; 6] =
    ["CompressionInfo.db", "CRC.db", "Digest.crc32", "Filter.db", "Rows.db", "Summary.db"];

/// The part that an SSTable lacks of which these files are listed.
///
/// # Errors
/// Its table of contents cannot be read.
pub fn lacks(files: &[Found]) -> Result<Option<String>, Stopped> {
    let contents = files.iter().find(|found| found.file.component == CONTENTS);
    let text = contents.map(|found| {
        std::fs::read_to_string(&found.path)
            .map_err(|error| Stopped::Reading { file: shown(&found.path), why: error.to_string() })
    });
    let text = text.transpose()?.unwrap_or_default();
    let names: Vec<&str> = files.iter().map(|found| found.file.component.as_str()).collect();
    Ok(lacking(&names, &text))
}

fn lacking(files: &[&str], contents: &str) -> Option<String> {
    let has = |part: &&str| files.contains(part);
    let needed = NEEDED.iter().find(|parts| !parts.iter().any(has));
    let needed = needed.map(|parts| parts.join(" or "));
    let [first, second] = TOGETHER;
    let together = (has(&first) && !has(&second)).then(|| second.to_string());
    let is_lost = |part: &&str| LASTING.contains(part) && !has(part);
    let named = || contents.lines().map(str::trim).find(is_lost).map(str::to_string);
    needed.or(together).or_else(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: &str = "Summary.db\nTOC.txt\nStatistics.db\nIndex.db\nDigest.crc32\nFilter.db\nData.db\nCompressionInfo.db\nSAI+aa+idx+Meta.db\n";
    const BTI: &str = "Rows.db\nTOC.txt\nStatistics.db\nPartitions.db\nDigest.crc32\nFilter.db\nData.db\nCRC.db\n";

    fn parts(contents: &str) -> Vec<&str> {
        contents.lines().filter(|name| !name.starts_with("SAI+")).collect()
    }

    #[test]
    fn whatever_is_gone_first_of_an_sstable_is_missed() {
        for contents in [BIG, BTI] {
            assert_eq!(lacking(&parts(contents), contents), None);
            for gone in parts(contents).into_iter().filter(|name| *name != CONTENTS) {
                let mut left = parts(contents);
                left.retain(|name| *name != gone);
                let lacks = lacking(&left, contents).unwrap_or_default();
                assert!(lacks.contains(gone), "without {gone}: {lacks}");
            }
        }
    }

    /// As an SSTable that was streamed as a whole, and as one whose table of contents went first.
    #[test]
    fn without_its_table_of_contents_an_sstable_needs_what_a_server_needs() {
        for contents in [BIG, BTI] {
            let mut all = parts(contents);
            all.retain(|name| *name != CONTENTS);
            assert_eq!(lacking(&all, ""), None);
            for gone in ["Data.db", "Statistics.db", "CompressionInfo.db", "CRC.db", "Rows.db"] {
                let mut left = all.clone();
                left.retain(|name| *name != gone);
                assert_eq!(lacking(&left, "").is_some(), left.len() < all.len(), "{gone}");
            }
        }
    }
}
