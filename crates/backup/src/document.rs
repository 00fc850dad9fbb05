//! Small objects: JSON that carries its own SHA-256, so that one that is torn or
//! has rotted is seen as such, in a store that is not sealed too.

use crate::hash::Hash;
use crate::words::trouble::Torn;
use serde::Serialize;
use serde::de::DeserializeOwned;

const HEAD: &str = "{\"sha256\":\"";
const MIDDLE: &str = "\",\"document\":";

/// As it is stored.
///
/// # Errors
/// It cannot be written as JSON.
pub fn write(document: &impl Serialize) -> Result<Vec<u8>, String> {
    let text = serde_json::to_string(document).map_err(|error| error.to_string())?;
    Ok(format!("{HEAD}{}{MIDDLE}{text}}}\n", Hash::of(text.as_bytes())).into_bytes())
}

/// As it was written, and its hash.
///
/// # Errors
/// It is torn, has rotted, or is something else.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, Hash), Torn> {
    let text = std::str::from_utf8(bytes).map_err(|_| Torn::NotText)?;
    let inner = text.strip_prefix(HEAD).and_then(|rest| rest.split_once(MIDDLE));
    let inner = inner.and_then(|(hash, rest)| Some((hash, rest.strip_suffix("}\n")?)));
    let (hash, document) = inner.ok_or(Torn::NoDocument)?;
    let found = Hash::of(document.as_bytes());
    if found.as_str() != hash {
        return Err(Torn::Hash { found: found.to_string(), expected: hash.to_string() });
    }
    let read = serde_json::from_str(document);
    let read = read.map_err(|error| Torn::Json { why: error.to_string() })?;
    Ok((read, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let whole = write(&vec!["a", "b"]).unwrap();
        assert_eq!(read::<Vec<String>>(&whole).unwrap().0, ["a", "b"]);
        assert!(serde_json::from_slice::<serde_json::Value>(&whole).is_ok());
        for at in 0..whole.len() {
            assert!(read::<Vec<String>>(&whole[..at]).is_err(), "cut at {at}");
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(read::<Vec<String>>(&flipped).is_err(), "flipped at {at}");
        }
    }
}
