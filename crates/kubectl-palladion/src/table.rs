//! Tables as kubectl prints them: a heading, columns padded with blanks, no lines.

use crate::clean;
use crate::paint::{Paint, Tone};

/// Blanks between two columns.
const GAP: usize = 3;

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text; a dash if it is empty.
    pub text: String,
    /// Its colour.
    pub tone: Tone,
}

impl Cell {
    /// A cell in a colour.
    pub fn of(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone }
    }

    fn shown(&self) -> String {
        if self.text.is_empty() { "-".to_string() } else { clean::line(&self.text) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::of(Tone::Plain, text)
    }
}

/// Rows under a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new() }
    }

    /// Add a row; as many cells as the heading has.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Are there no rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its lines.
    pub fn lines(&self, paint: Paint) -> Vec<String> {
        let mut widths: Vec<usize> = self.heading.iter().map(|h| h.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.shown().chars().count());
            }
        }
        let heading: Vec<Cell> = self.heading.iter().map(|h| Cell::of(Tone::Head, *h)).collect();
        let all = std::iter::once(&heading).chain(&self.rows);
        all.map(|row| line(row, &widths, paint)).collect()
    }
}

fn line(row: &[Cell], widths: &[usize], paint: Paint) -> String {
    let mut line = String::new();
    let last = row.len().saturating_sub(1);
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let shown = cell.shown();
        line.push_str(&paint.paint(cell.tone, &shown));
        if at < last {
            let blanks = width + GAP - shown.chars().count();
            line.extend(std::iter::repeat_n(' ', blanks));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_headings_with_and_without_colour() {
        let mut table = Table::new(&["NAME", "STATE", "AGE"]);
        table.row(vec!["demo-dc1-a-0".into(), Cell::of(Tone::Good, "Running"), "4m".into()]);
        table.row(vec!["b".into(), "".into(), "".into()]);
        let plain = table.lines(Paint::Off);
        assert_eq!(
            plain,
            [
                "NAME           STATE     AGE",
                "demo-dc1-a-0   Running   4m",
                "b              -         -",
            ]
        );
        let bare = |line: &String| {
            let mut text = line.replace("\x1b[0m", "");
            for code in ["\x1b[1m", "\x1b[32m"] {
                text = text.replace(code, "");
            }
            text
        };
        assert_eq!(table.lines(Paint::On).iter().map(bare).collect::<Vec<_>>(), plain);
    }
}
