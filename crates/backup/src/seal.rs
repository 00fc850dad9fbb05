//! Sealing of single objects: a key of its own for each (HKDF-SHA256 of the
//! key, a random salt and the object's name), AES-256-GCM in chunks of 64 KiB.
//! The nonce is the number of the chunk and whether it is the last, so none can
//! be left out, added or moved; the name is authenticated, so no object can
//! stand in for another.

use crate::hash::{hex, unhex};
use crate::words::trouble::Unsealed;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

const MAGIC: &[u8; 8] = b"PLDSEAL1";
const FINGERPRINT: usize = 16;
const SALT: usize = 32;
const HEAD: usize = MAGIC.len() + FINGERPRINT + SALT;
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;

/// Which key an object is sealed with, without saying the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint([u8; FINGERPRINT]);

impl From<Fingerprint> for String {
    fn from(of: Fingerprint) -> Self {
        of.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bytes = unhex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(text)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// From 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self(unhex(text.trim())?.try_into().ok()?))
    }

    /// Its fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        let sum = digest(&SHA256, &[b"palladion backup key".as_slice(), &self.0].concat());
        let mut print = [0; FINGERPRINT];
        print.copy_from_slice(&sum.as_ref()[..FINGERPRINT]);
        Fingerprint(print)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.fingerprint())
    }
}

/// Keys that open objects, and the one that seals new ones.
#[derive(Clone, Debug)]
pub struct Keys {
    current: Key,
    all: BTreeMap<Fingerprint, Key>,
}

impl Keys {
    /// The current key, and older ones.
    pub fn new(current: Key, others: impl IntoIterator<Item = Key>) -> Self {
        let all = others.into_iter().chain([current.clone()]);
        Self { all: all.map(|key| (key.fingerprint(), key)).collect(), current }
    }

    /// The key that seals.
    pub fn current(&self) -> Fingerprint {
        self.current.fingerprint()
    }

    /// Is the key of this fingerprint among them?
    pub fn has(&self, key: Fingerprint) -> bool {
        self.all.contains_key(&key)
    }

    /// Seal an object with a salt that was never used before.
    ///
    /// # Errors
    /// The cipher refused.
    pub fn seal(&self, name: &str, plain: &[u8], salt: [u8; 32]) -> Result<Vec<u8>, Unsealed> {
        let cipher = cipher(&self.current, &salt, name)?;
        let mut out =
            Vec::with_capacity(usize::try_from(sealed_len(plain.len() as u64)).unwrap_or(0));
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.current().0);
        out.extend_from_slice(&salt);
        let chunks = plain.len().div_ceil(CHUNK).max(1);
        for at in 0..chunks {
            let part = &plain[at * CHUNK..plain.len().min((at + 1) * CHUNK)];
            let from = out.len();
            out.extend_from_slice(part);
            let nonce = nonce(at, at + 1 == chunks);
            let tag = cipher
                .seal_in_place_separate_tag(nonce, Aad::from(name.as_bytes()), &mut out[from..])
                .map_err(|_| Unsealed::Cipher)?;
            out.extend_from_slice(tag.as_ref());
        }
        Ok(out)
    }

    /// Open an object.
    ///
    /// # Errors
    /// It is not sealed, its key is not here, or it is not what was sealed under this name.
    pub fn open(&self, name: &str, sealed: &[u8]) -> Result<Vec<u8>, Unsealed> {
        let print = fingerprint(sealed).ok_or(Unsealed::NotSealed)?;
        let unknown = || Unsealed::KeyMissing { fingerprint: print.to_string() };
        let key = self.all.get(&print).ok_or_else(unknown)?;
        let (head, mut rest) = sealed.split_at(HEAD);
        let cipher = cipher(key, &head[HEAD - SALT..], name)?;
        let mut plain = Vec::with_capacity(rest.len());
        for at in 0.. {
            let (chunk, after) = rest.split_at(rest.len().min(CHUNK + TAG));
            let mut chunk = chunk.to_vec();
            let opened = cipher
                .open_in_place(nonce(at, after.is_empty()), Aad::from(name.as_bytes()), &mut chunk)
                .map_err(|_| Unsealed::Changed)?;
            plain.extend_from_slice(opened);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        Ok(plain)
    }
}

/// How long an object is once it is sealed.
pub fn sealed_len(plain: u64) -> u64 {
    HEAD as u64 + plain + TAG as u64 * plain.div_ceil(CHUNK as u64).max(1)
}

/// The key that an object is sealed with; `None` if it is not sealed.
pub fn fingerprint(object: &[u8]) -> Option<Fingerprint> {
    let head = object.get(..HEAD)?.strip_prefix(MAGIC)?;
    head[..FINGERPRINT].try_into().ok().map(Fingerprint)
}

fn nonce(chunk: usize, is_last: bool) -> Nonce {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&(chunk as u64).to_be_bytes());
    bytes[11] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

fn cipher(key: &Key, salt: &[u8], name: &str) -> Result<LessSafeKey, Unsealed> {
    let info = [b"palladion backup object ".as_slice(), name.as_bytes()];
    let secret = Salt::new(HKDF_SHA256, salt).extract(&key.0);
    let expanded = secret.expand(&info, &AES_256_GCM).map_err(|_| Unsealed::Cipher)?;
    Ok(LessSafeKey::new(UnboundKey::from(expanded)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(byte: u8) -> Keys {
        Keys::new(Key([byte; 32]), [])
    }

    #[test]
    fn objects_of_every_length_come_back() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let plain: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let sealed = keys(1).seal("a", &plain, [7; 32]).unwrap();
            assert_eq!(sealed.len() as u64, sealed_len(length as u64));
            assert_eq!(keys(1).open("a", &sealed).unwrap(), plain);
            assert!(length < 32 || !sealed.windows(32).any(|part| part == &plain[..32]));
        }
    }

    #[test]
    fn nothing_else_is_opened() {
        let plain = vec![5; 2 * CHUNK + 9];
        let sealed = keys(1).seal("a", &plain, [7; 32]).unwrap();
        assert_eq!(keys(1).open("b", &sealed), Err(Unsealed::Changed));
        assert!(matches!(keys(2).open("a", &sealed), Err(Unsealed::KeyMissing { .. })));
        assert_eq!(keys(1).open("a", &plain), Err(Unsealed::NotSealed));
        let step = CHUNK + TAG;
        let cut = [HEAD, HEAD + 1, HEAD + step, HEAD + 2 * step, sealed.len() - 1];
        for at in cut {
            assert_eq!(keys(1).open("a", &sealed[..at]), Err(Unsealed::Changed), "cut at {at}");
        }
        let mut swapped = sealed.clone();
        swapped[HEAD..HEAD + 2 * step].rotate_left(step);
        assert_eq!(keys(1).open("a", &swapped), Err(Unsealed::Changed));
        for at in [HEAD - 1, HEAD, HEAD + step, sealed.len() - 1] {
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert_eq!(keys(1).open("a", &flipped), Err(Unsealed::Changed), "flipped at {at}");
        }
    }

    #[test]
    fn an_older_key_opens_and_the_current_one_seals() {
        let old = keys(1).seal("a", b"text", [7; 32]).unwrap();
        let both = Keys::new(Key([2; 32]), [Key([1; 32])]);
        assert_eq!(both.open("a", &old).unwrap(), b"text");
        let new = both.seal("a", b"text", [8; 32]).unwrap();
        assert_eq!(fingerprint(&new), Some(keys(2).current()));
        assert!(!format!("{both:?}").contains("2, 2"));
    }
}
