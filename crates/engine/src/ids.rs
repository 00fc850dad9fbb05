//! Numbers by which the parts of the engine name minds, feeds and shelves to each other.

/// Number of a mind in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MindId(pub usize);

/// Number of a feed: one connection to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeedId(pub usize);

/// Number of a shelf.
pub type ShelfId = usize;
