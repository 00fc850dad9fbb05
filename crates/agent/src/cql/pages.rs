//! Answers that are larger than a frame: asked for page by page.

use super::{Connection, Consistency, Error, QUERY, RESULT, length, rows};

/// Flags of a query: its page has a size, and it is not the first one.
const PAGE_SIZE: u8 = 0x04;
const PAGING_STATE: u8 = 0x08;
/// Statements of a schema that fit into a frame, however long they are.
const PAGE: i32 = 100;

impl Connection {
    /// The last column of a `DESCRIBE`, page by page: a schema may be larger than a frame. The
    /// server refuses the next page of a schema that has changed.
    pub async fn described(&mut self, statement: &str) -> Result<Vec<String>, Error> {
        let (mut all, mut state) = (Vec::new(), None);
        loop {
            let body = self.ask_page(statement, state.as_deref()).await?;
            let page = rows::page(&body).ok_or(Error::Unexpected(RESULT))?;
            for row in &page.rows {
                let text = row.last().and_then(rows::text);
                all.push(text.ok_or(Error::Unexpected(RESULT))?.to_string());
            }
            match page.next {
                None => return Ok(all),
                next @ Some(_) => state = next,
            }
        }
    }

    async fn ask_page(&mut self, statement: &str, state: Option<&[u8]>) -> Result<Vec<u8>, Error> {
        let mut body = length(statement.len()).to_be_bytes().to_vec();
        body.extend(statement.as_bytes());
        body.extend((Consistency::One as u16).to_be_bytes());
        body.push(PAGE_SIZE | state.map_or(0, |_| PAGING_STATE));
        body.extend(PAGE.to_be_bytes());
        if let Some(state) = state {
            body.extend(length(state.len()).to_be_bytes());
            body.extend(state);
        }
        match self.exchange(QUERY, &body).await? {
            (RESULT, answer) => Ok(answer),
            (other, _) => Err(Error::Unexpected(other)),
        }
    }
}
