//! One test for every row of safety rules, section 2, and for what sections 1
//! and 4 ask of the agent.

mod leaving;
mod permits;
mod running;
mod starting;
