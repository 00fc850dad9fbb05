//! What sentences are made of besides text: numbers with their noun, lists,
//! durations, quotations.

use jiff::SignedDuration;
use std::fmt;

/// A number of things: `1 member`, `3 members`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    number: i64,
    noun: &'static str,
}

impl Count {
    /// `noun` is one of them. A number beyond `i64` is shown as its maximum.
    pub fn of(number: impl TryInto<i64>, noun: &'static str) -> Self {
        Self { number: number.try_into().unwrap_or(i64::MAX), noun }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, noun } = self;
        match (number, noun.strip_suffix('y')) {
            (1, _) => write!(f, "1 {noun}"),
            (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => {
                write!(f, "{number} {stem}ies")
            }
            (_, Some(_) | None) => write!(f, "{number} {noun}s"),
        }
    }
}

/// Names in a list: `a-0`, `a-0 and b-0`, `a-0, b-0 and c-0`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// A list that is longer is cut, so that a ring of hundreds still has
    /// conditions that can be read.
    pub const SHOWN: usize = 8;

    /// In this order.
    pub fn of<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> Self {
        Self(names.into_iter().map(|n| n.to_string()).collect())
    }

    /// Is nobody named?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(names) = self;
        if names.len() > Self::SHOWN {
            let (shown, rest) = names.split_at(Self::SHOWN);
            return write!(f, "{} and {} more", shown.join(", "), rest.len());
        }
        match names.split_last() {
            None => f.write_str("none"),
            Some((only, [])) => f.write_str(only),
            Some((last, others)) => write!(f, "{} and {last}", others.join(", ")),
        }
    }
}

/// Sentences one after another: `pod a-0 is ready; pod a-1 is terminating`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Several<T>(pub Vec<T>);

impl<T: fmt::Display> fmt::Display for Several<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, sentence) in self.0.iter().enumerate() {
            write!(f, "{}{sentence}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// A duration in whole seconds: `90 s`, `5 min`, `2 h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub SignedDuration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            seconds if seconds > 0 && seconds % 3600 == 0 => write!(f, "{} h", seconds / 3600),
            seconds if seconds > 0 && seconds % 60 == 0 => write!(f, "{} min", seconds / 60),
            seconds => write!(f, "{seconds} s"),
        }
    }
}

/// What a user wrote, set apart from our words: `` `4X` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(pub String);

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_a_singular() {
        let count = |n: i32, noun| Count::of(n, noun).to_string();
        assert_eq!(count(0, "member"), "0 members");
        assert_eq!(count(1, "copy"), "1 copy");
        assert_eq!(count(2, "copy"), "2 copies");
        assert_eq!(count(2, "day"), "2 days");
    }

    #[test]
    fn a_list_ends_with_and_and_is_cut_where_nobody_reads_on() {
        let list = |n: usize| Names::of((0..n).map(|i| format!("a-{i}"))).to_string();
        assert_eq!(list(0), "none");
        assert_eq!(list(1), "a-0");
        assert_eq!(list(2), "a-0 and a-1");
        assert_eq!(list(3), "a-0, a-1 and a-2");
        assert!(list(12).ends_with("a-6, a-7 and 4 more"), "{}", list(12));
    }

    #[test]
    fn a_duration_is_told_in_its_largest_whole_unit() {
        let span = |s| Span(SignedDuration::from_secs(s)).to_string();
        assert_eq!([span(0), span(90), span(300), span(7200)], ["0 s", "90 s", "5 min", "2 h"]);
    }
}
