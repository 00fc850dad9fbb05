//! A decision in the making: what the deciders have found so far.

use palladion_api::reasons::Reason;
use palladion_plan::{Event, EventType};

pub use palladion_plan::draft::is_upkeep;

/// A decision in the making.
pub type Draft = palladion_plan::Draft;

/// A normal event.
pub fn synced(message: String) -> Option<Event> {
    Some(Event::of(EventType::Normal, Reason::Synced, message))
}
