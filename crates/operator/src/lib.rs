//! What of the operator others need to know: its minds.

pub mod minds;
