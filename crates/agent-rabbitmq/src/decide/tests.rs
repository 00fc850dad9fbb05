//! Decisions, by what they are about.

mod application;
mod entering;
mod evidence;
mod health;
mod leaving;
mod operations;
mod permits;
mod running;
mod starting;
