//! The child of the agent that moves the bytes of backups: `palladion-agent
//! transfer`. It is started for one piece of work, reads what it is from its
//! standard input, says how far it is as lines of JSON, and ends; its memory goes
//! with it, and its crash is a try that is made again. What may be done is decided
//! in `palladion-backup`; this drives it and touches the member's volume.
//!
//! Read in this order: [`settings`] (what it is told), [`run`] (the process),
//! [`upload`] with its [`journal`] and [`snapshot`], [`work`] (the other kinds), [`restore`] with
//! what is [`wanted`] and its
//! [`scratch`], [`retention`], [`archive`] and [`replay`] (commit logs),
//! [`tell`] (what it says). What the agent does with it is in [`decide`], what it
//! tells it in [`assign`], and how fast it lets it be in [`pace`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

pub mod archive;
pub mod assign;
pub mod cleared;
pub mod counted;
pub mod decide;
pub mod journal;
pub mod metered;
pub mod orders;
pub mod pace;
pub mod parts;
pub mod replay;
pub mod restore;
pub mod retention;
pub mod run;
pub mod scratch;
pub mod sent;
pub mod settings;
pub mod snapshot;
pub mod tell;
pub mod tokens;
pub mod upload;
pub mod wanted;
pub mod whole;
pub mod words;
pub mod work;
