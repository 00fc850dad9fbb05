//! Numbers that follow from a seed: what is chosen, and the values of rows.

/// A small generator (SplitMix64, by Steele, Lea and Flood). It need not be
/// hard to guess, only the same in every run with the same seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// One that starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound; 0 where the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_number().checked_rem(bound).unwrap_or(0)
    }
}

/// Words of a value: long enough that damage to a row does not go unseen.
const WORDS: usize = 4;

/// The value of a version of a row.
pub fn value_of(seed: u64, key: i64, version: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut dice = Dice::new(dice.next_number() ^ key.cast_unsigned());
    let mut dice = Dice::new(dice.next_number() ^ version);
    (0..WORDS).map(|_| format!("{:016x}", dice.next_number())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_value_follows_from_seed_key_and_version_alone() {
        assert_eq!(value_of(1, 2, 3), value_of(1, 2, 3));
        let values: BTreeSet<String> = (0..4)
            .flat_map(|seed| (0..4).map(move |key| (seed, key)))
            .flat_map(|(seed, key)| (0..4).map(move |version| value_of(seed, key, version)))
            .collect();
        assert_eq!(values.len(), 64);
    }
}
