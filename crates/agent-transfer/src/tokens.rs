//! Tokens, so that those of a backup and those of a member that runs can be compared.

use palladion_backup::hash::Hash;

/// Digits of a hash.
const DIGITS: usize = 16;

/// Hash of a list regardless of its order: 16 hexadecimal digits of SHA-256. Members report their
/// tokens by it (`status.server.tokensHash`).
pub fn hash<'a>(list: impl Iterator<Item = &'a str>) -> String {
    let mut sorted: Vec<&str> = list.collect();
    sorted.sort_unstable();
    let mut bytes = Vec::new();
    for entry in sorted {
        bytes.extend(entry.as_bytes());
        bytes.push(0);
    }
    Hash::of(&bytes).as_str()[..DIGITS].to_string()
}

/// The same of tokens that are held.
pub fn hash_of(tokens: &[String]) -> String {
    hash(tokens.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_list_does_not_change_its_hash() {
        let of = |list: &[&str]| hash(list.iter().copied());
        assert_eq!(of(&["a", "b"]), of(&["b", "a"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_eq!(of(&[]).len(), 16);
    }

    /// Older agents have reported it so, and members are compared across versions.
    #[test]
    fn the_hash_is_the_one_that_members_have_always_reported() {
        // printf '1\0002\000' | sha256sum
        assert_eq!(hash(["2", "1"].into_iter()), "7fe63d4f5cdb7d94");
    }
}
