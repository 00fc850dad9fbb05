//! Decisions, by what they are about.

mod evidence;
mod health;
mod leaving;
mod operations;
mod permits;
mod running;
mod starting;
