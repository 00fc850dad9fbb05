//! SHA-256 as it stands in manifests, and the CRC-32 of Cassandra's `Digest.crc32`.

use aws_lc_rs::digest::{Context, SHA256, digest};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A SHA-256, as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash(String);

impl Hash {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(digest(&SHA256, bytes).as_ref()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Hash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        match text.len() == 64 && text.bytes().all(is_digit) {
            true => Ok(Self(text)),
            false => Err(format!("not a SHA-256: {text}")),
        }
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 and CRC-32 of bytes that come one part after the other.
pub struct Sum {
    sha256: Context,
    crc32: u32,
}

impl Default for Sum {
    fn default() -> Self {
        Self { sha256: Context::new(&SHA256), crc32: u32::MAX }
    }
}

impl Sum {
    /// The next part.
    pub fn add(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        for byte in bytes {
            let index = (self.crc32 ^ u32::from(*byte)) & 0xff;
            self.crc32 = TABLE[index as usize] ^ (self.crc32 >> 8);
        }
    }

    /// Both sums.
    pub fn end(self) -> (Hash, u32) {
        (Hash(hex(self.sha256.finish().as_ref())), !self.crc32)
    }
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut all = [0; 256];
    let mut at = 0;
    while at < 256 {
        let (mut value, mut bit) = (at as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        all[at] = value;
        at += 1;
    }
    all
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hexadecimal digits as bytes; `None` where it is something else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_even = text.bytes().all(|c| c.is_ascii_hexdigit()) && text.len().is_multiple_of(2);
    let pairs =
        (0..text.len() / 2).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok());
    is_even.then(|| pairs.collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_that_everybody_knows() {
        let mut sum = Sum::default();
        sum.add(b"1234");
        sum.add(b"56789");
        let (sha256, crc32) = sum.end();
        assert_eq!(crc32, 0xcbf4_3926);
        assert_eq!(sha256, Hash::of(b"123456789"));
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Hash::of(b"").as_str(), empty);
    }

    #[test]
    fn digits_are_read_back_and_nothing_else_is() {
        assert_eq!(unhex(&hex(&[0, 7, 255])), Some(vec![0, 7, 255]));
        assert_eq!((unhex("0"), unhex("zz"), unhex("+1")), (None, None, None));
        assert!(Hash::try_from("ab".to_string()).is_err());
    }
}
