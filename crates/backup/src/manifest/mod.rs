//! What was taken: the files of a member, and the members of a ring.

pub mod member;
pub mod ring;
