//! ZooKeeper's encoding of values (jute): numbers in network byte order, texts
//! and buffers after their length, of which -1 means that there is none.
//!
//! What is read comes from a server, yet every length is checked before a byte
//! is kept: a stranger may listen on the port of a server that has ended.

/// Bytes of one frame. A server sends no more than `jute.maxbuffer`, which is 1 MiB
/// where nobody has set it, and what is asked for here is the configuration of at
/// most a few servers.
pub const MOST_FRAME: usize = 1024 * 1024;

pub use crate::words::calls::Malformed;

impl std::error::Error for Malformed {}

/// A message that can be written and read.
pub trait Record: Sized {
    /// Write it.
    fn write(&self, to: &mut Writer);

    /// Read it. Bytes that follow are left alone: a newer server may add fields.
    ///
    /// # Errors
    /// The bytes are not such a message.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// Writes one frame.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// A number of 32 bits.
    pub fn int(&mut self, value: i32) {
        self.0.extend(value.to_be_bytes());
    }

    /// A number of 64 bits.
    pub fn long(&mut self, value: i64) {
        self.0.extend(value.to_be_bytes());
    }

    /// A truth value.
    pub fn boolean(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    /// Bytes, or that there are none.
    pub fn buffer(&mut self, value: Option<&[u8]>) {
        // Longer than a length can say is longer than a frame may be.
        let length = value.map_or(-1, |bytes| i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        self.int(length);
        self.0.extend(value.unwrap_or_default());
    }

    /// A text, or that there is none.
    pub fn text(&mut self, value: Option<&str>) {
        self.buffer(value.map(str::as_bytes));
    }

    /// What was written, after its length.
    ///
    /// # Errors
    /// It is longer than a frame may be.
    pub fn frame(self) -> Result<Vec<u8>, Malformed> {
        if self.0.len() > MOST_FRAME {
            return Err(Malformed::Length);
        }
        let length = i32::try_from(self.0.len()).map_err(|_| Malformed::Length)?;
        Ok([&length.to_be_bytes(), self.0.as_slice()].concat())
    }
}

/// The length of a frame by its first four bytes.
///
/// # Errors
/// It is negative, or more than a frame may have.
pub fn frame_length(head: [u8; 4]) -> Result<usize, Malformed> {
    let length = usize::try_from(i32::from_be_bytes(head)).map_err(|_| Malformed::Length)?;
    if length > MOST_FRAME {
        return Err(Malformed::Length);
    }
    Ok(length)
}

/// Reads one frame.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Of the bytes after a frame's length.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes that were not read yet.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// Is all of it read?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed::Short)
    }

    /// A number of 32 bits.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn int(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    /// A number of 64 bits.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn long(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_be_bytes)
    }

    /// A truth value.
    ///
    /// # Errors
    /// No byte is left, or it is neither 0 nor 1.
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [_] => Err(Malformed::Boolean),
        }
    }

    /// Bytes, or that there are none.
    ///
    /// # Errors
    /// The length is impossible, or fewer bytes are left.
    pub fn buffer(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        let length = self.int()?;
        if length == -1 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| Malformed::Length)?;
        self.take(length).map(|bytes| Some(bytes.to_vec()))
    }

    /// A text, or that there is none.
    ///
    /// # Errors
    /// As for bytes; or they are not UTF-8.
    pub fn text(&mut self) -> Result<Option<String>, Malformed> {
        let bytes = self.buffer()?;
        bytes.map(|b| String::from_utf8(b).map_err(|_| Malformed::Text)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_is_negative_or_longer_than_the_frame_is_refused() {
        let buffer = |length: i32, rest: &[u8]| {
            let bytes = [&length.to_be_bytes(), rest].concat();
            Reader::new(&bytes).buffer()
        };
        assert_eq!(buffer(-1, b"left alone"), Ok(None));
        assert_eq!(buffer(0, b""), Ok(Some(Vec::new())));
        assert_eq!(buffer(-2, b"xx"), Err(Malformed::Length));
        assert_eq!(buffer(3, b"xx"), Err(Malformed::Short));
        assert_eq!(buffer(i32::MAX, b"xx"), Err(Malformed::Short));
    }

    #[test]
    fn a_frame_has_at_most_a_mebibyte() {
        let most = i32::try_from(MOST_FRAME).unwrap();
        assert_eq!(frame_length(most.to_be_bytes()), Ok(MOST_FRAME));
        assert_eq!(frame_length((most + 1).to_be_bytes()), Err(Malformed::Length));
        assert_eq!(frame_length((-1_i32).to_be_bytes()), Err(Malformed::Length));
        let mut long = Writer::default();
        long.buffer(Some(&vec![0; MOST_FRAME]));
        assert_eq!(long.frame(), Err(Malformed::Length));
    }

    #[test]
    fn text_is_utf_8_and_truth_is_one_bit() {
        assert_eq!(Reader::new(&[0, 0, 0, 1, 0xff]).text(), Err(Malformed::Text));
        assert_eq!(Reader::new(&[2]).boolean(), Err(Malformed::Boolean));
        assert_eq!(Reader::new(&[]).boolean(), Err(Malformed::Short));
    }
}
