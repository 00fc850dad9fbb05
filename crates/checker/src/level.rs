//! At how many replicas a write is acknowledged, and how often each is chosen.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::dice::Dice;

/// A consistency level of writes, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// One replica.
    One,
    /// More than half of the replicas.
    Quorum,
    /// Every replica.
    All,
}

impl Level {
    /// All of them, weakest first.
    pub const ALL_LEVELS: [Self; 3] = [Self::One, Self::Quorum, Self::All];
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::One => "ONE",
            Self::Quorum => "QUORUM",
            Self::All => "ALL",
        })
    }
}

/// How often each level is chosen, such as `ONE=1,QUORUM=2,ALL=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix(Vec<(Level, u64)>);

impl Mix {
    /// Draw a level.
    pub fn draw(&self, dice: &mut Dice) -> Level {
        let mut left = dice.below(self.0.iter().map(|(_, weight)| weight).sum());
        for (level, weight) in &self.0 {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *level,
            }
        }
        Level::Quorum
    }
}

impl FromStr for Mix {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut weights = Vec::new();
        for part in text.split(',') {
            let (name, weight) = part.split_once('=').with_context(|| {
                format!("{part:?} is no level with a weight; hint: ONE=1,QUORUM=2,ALL=1")
            })?;
            let level = Level::ALL_LEVELS.into_iter().find(|level| level.to_string() == name);
            let level = level.with_context(|| format!("{name:?} is not ONE, QUORUM or ALL"))?;
            let weight: u64 =
                weight.parse().with_context(|| format!("{weight:?} is not a whole number"))?;
            weights.push((level, weight));
        }
        if weights.iter().all(|(_, weight)| *weight == 0) {
            bail!("{text:?} chooses no level");
        }
        Ok(Self(weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_drawn_by_weight() {
        let mix: Mix = "ONE=1,QUORUM=3,ALL=0".parse().expect("should parse");
        let mut dice = Dice::new(7);
        let drawn: Vec<Level> = (0..4000).map(|_| mix.draw(&mut dice)).collect();
        let ones = drawn.iter().filter(|level| **level == Level::One).count();
        assert!((800..1200).contains(&ones), "{ones}");
        assert!(!drawn.contains(&Level::All));
    }

    #[test]
    fn a_mix_without_a_choice_is_refused() {
        for text in ["", "ONE", "ONE=0", "TWO=1", "ONE=x"] {
            assert!(text.parse::<Mix>().is_err(), "{text:?}");
        }
    }
}
