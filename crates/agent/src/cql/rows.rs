//! Rows of an answer, of the plain types that we ask for.

/// `Rows`, in the kinds of results.
const ROWS: i32 = 2;
/// One keyspace and table for all columns.
const ONE_TABLE: i32 = 1;
/// The answer has more pages.
const MORE_PAGES: i32 = 2;
/// No column is described.
const NO_COLUMNS: i32 = 4;
/// Types without parameters are below this number, and above that of a custom one.
const PLAIN: std::ops::Range<u16> = 1..0x20;

/// A cell as it came; `None` where it is null.
pub type Cell = Option<Vec<u8>>;

/// A page of an answer.
pub struct Page {
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// With this the next page is asked for, if there is one.
    pub next: Option<Vec<u8>>,
}

/// The rows of an answer of one page; `None` if it has none, or is not as the protocol has it.
fn rows(body: &[u8]) -> Option<Vec<Vec<Cell>>> {
    page(body).filter(|page| page.next.is_none()).map(|page| page.rows)
}

/// A page of an answer; `None` if it has no rows, or is not as the protocol has it.
pub fn page(body: &[u8]) -> Option<Page> {
    let mut reader = Reader(body);
    if reader.int()? != ROWS {
        return None;
    }
    let flags = reader.int()?;
    let columns = usize::try_from(reader.int()?).ok()?;
    let next = match flags & MORE_PAGES {
        0 => None,
        _ => Some(reader.cell()??),
    };
    if flags & NO_COLUMNS == 0 {
        if flags & ONE_TABLE != 0 {
            reader.string()?;
            reader.string()?;
        }
        for _ in 0..columns {
            if flags & ONE_TABLE == 0 {
                reader.string()?;
                reader.string()?;
            }
            reader.string()?;
            PLAIN.contains(&reader.short()?).then_some(())?;
        }
    }
    let count = reader.int()?;
    let row = |_| (0..columns).map(|_| reader.cell()).collect::<Option<Vec<Cell>>>();
    Some(Page { rows: (0..count).map(row).collect::<Option<_>>()?, next })
}

/// A text of a cell.
pub fn text(cell: &Cell) -> Option<&str> {
    std::str::from_utf8(cell.as_deref()?).ok()
}

/// The texts of an answer of one column; `None` where it is of another form.
pub fn texts(body: &[u8]) -> Option<Vec<String>> {
    let text_of = |row: Vec<Cell>| match row.as_slice() {
        [cell] => text(cell).map(str::to_string),
        _ => None,
    };
    rows(body)?.into_iter().map(text_of).collect()
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(*self.take(2)?.first_chunk()?))
    }

    fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(*self.take(4)?.first_chunk()?))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let size = self.short()?;
        self.take(size.into())
    }

    fn cell(&mut self) -> Option<Cell> {
        match usize::try_from(self.int()?) {
            Ok(size) => Some(Some(self.take(size)?.to_vec())),
            Err(_) => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cql::testing::answer_of;

    #[test]
    fn rows_are_read_cell_by_cell() {
        let body = answer_of(&[("shop", Some(3600)), ("system_auth", None)]);
        let rows = rows(&body).unwrap();
        let read: Vec<_> = rows.iter().map(|row| (text(&row[0]), row[1].as_deref())).collect();
        let seconds = 3600_i32.to_be_bytes();
        assert_eq!(read, [(Some("shop"), Some(&seconds[..])), (Some("system_auth"), None)]);
    }

    #[test]
    fn texts_are_of_one_column() {
        let mut body = Vec::new();
        for number in [ROWS, ONE_TABLE, 1] {
            body.extend(number.to_be_bytes());
        }
        for name in ["system_schema", "tables", "[json]"] {
            crate::cql::put_string(&mut body, name);
        }
        body.extend(13_u16.to_be_bytes());
        body.extend(2_i32.to_be_bytes());
        for row in ["a", "ü"] {
            body.extend(i32::try_from(row.len()).unwrap().to_be_bytes());
            body.extend(row.as_bytes());
        }
        assert_eq!(texts(&body), Some(vec!["a".into(), "ü".into()]));
        assert_eq!(texts(&answer_of(&[("shop", Some(3600))])), None, "two columns");
        assert_eq!(texts(&body[..body.len() - 1]), None, "cut off");
    }

    #[test]
    fn what_is_cut_off_or_no_row_is_nothing() {
        let body = answer_of(&[("shop", Some(3600))]);
        for end in 0..body.len() {
            assert_eq!(rows(&body[..end]), None, "{end}");
        }
        assert_eq!(rows(&1i32.to_be_bytes()), None, "a result without rows");
    }
}
