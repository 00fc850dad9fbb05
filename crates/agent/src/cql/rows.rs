//! Rows of an answer, of one column of text.

const ROWS: i32 = 2;
/// The answer goes on on another page; we never ask for pages.
const MORE_PAGES: i32 = 2;
const NO_METADATA: i32 = 4;
/// A type by the name of a class.
const CUSTOM: u16 = 0;

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(bytes)?;
        self.0 = left;
        Some(taken)
    }

    fn int(&mut self) -> Option<i32> {
        self.take(4)?.first_chunk().map(|bytes| i32::from_be_bytes(*bytes))
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let bytes = self.short()?;
        self.take(bytes.into())
    }
}

/// The texts; `None` where the answer is of another form.
pub(super) fn texts(answer: &[u8]) -> Option<Vec<String>> {
    let mut reader = Reader(answer);
    if reader.int()? != ROWS {
        return None;
    }
    let flags = reader.int()?;
    if reader.int()? != 1 || flags & MORE_PAGES != 0 {
        return None;
    }
    if flags & NO_METADATA == 0 {
        // Keyspace and table, once or with the one column; then its name and its type.
        for _ in 0..3 {
            reader.string()?;
        }
        if reader.short()? == CUSTOM {
            reader.string()?;
        }
    }
    let rows = reader.int()?;
    (0..rows)
        .map(|_| {
            let bytes = usize::try_from(reader.int()?).ok()?;
            String::from_utf8(reader.take(bytes)?.to_vec()).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: &[&str]) -> Vec<u8> {
        let mut body = Vec::new();
        for number in [ROWS, 1, 1] {
            body.extend(number.to_be_bytes());
        }
        for name in ["system_schema", "tables", "[json]"] {
            super::super::put_string(&mut body, name);
        }
        body.extend(13_u16.to_be_bytes());
        body.extend(i32::try_from(rows.len()).unwrap().to_be_bytes());
        for row in rows {
            body.extend(i32::try_from(row.len()).unwrap().to_be_bytes());
            body.extend(row.as_bytes());
        }
        body
    }

    #[test]
    fn texts_are_read_row_by_row() {
        assert_eq!(texts(&answer(&["a", "", "ü"])), Some(vec!["a".into(), "".into(), "ü".into()]));
        assert_eq!(texts(&answer(&[])), Some(Vec::new()));
    }

    #[test]
    fn an_answer_that_breaks_off_or_has_another_form_is_none() {
        let whole = answer(&["first", "second"]);
        for bytes in 0..whole.len() {
            assert_eq!(texts(&whole[..bytes]), None, "{bytes}");
        }
        assert_eq!(texts(&1_i32.to_be_bytes()), None, "no rows");
    }
}
