//! Decisions, by what they are about.

mod evidence;
mod leaving;
mod operations;
mod permits;
mod running;
mod starting;
