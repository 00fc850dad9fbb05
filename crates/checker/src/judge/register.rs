//! Is a register linearizable? Decided exactly and at once, because every value
//! is asked for by one attempt only: the last value names the compare-and-set
//! that wrote it, that one names the value before, and so on to the beginning.
//! What is left is whether this one possible order agrees with the clock.

use std::collections::HashMap;

use crate::history::Micros;

/// What one attempt says about the register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// It cannot have happened before.
    pub begun: Micros,
    /// Nor after; `None` where it may still happen.
    pub ended: Option<Micros>,
    /// What it says.
    pub what: What,
}

/// The kinds of what an attempt can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The value went from one to another.
    Swapped {
        /// The value before; `None` where there was none.
        from: Option<String>,
        /// The value after.
        to: String,
    },
    /// The same, perhaps.
    MaybeSwapped {
        /// The value before, if it happened.
        from: Option<String>,
        /// The value after.
        to: String,
    },
    /// This was the value.
    Seen(Option<String>),
}

/// Why a register is not linearizable; numbers are indices of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The last value, or one on the way to it, was never asked for, or was refused.
    NobodyWrote(String),
    /// A compare-and-set was acknowledged and no later value stands on it.
    Lost(usize),
    /// A value was seen that no later value stands on.
    SeenAside(usize),
    /// By the order of the values it happened outside of its own time.
    OutOfTime(usize),
}

/// The compare-and-sets that happened, in their order.
///
/// # Errors
/// If no order explains the events and the last value.
pub fn chain(events: &[Event], last: Option<&str>) -> Result<Vec<usize>, Fault> {
    let chain = backwards(events, last)?;
    let swapped =
        events.iter().enumerate().filter(|(_, event)| matches!(event.what, What::Swapped { .. }));
    for (index, _) in swapped {
        if !chain.contains(&index) {
            return Err(Fault::Lost(index));
        }
    }
    in_time(events, &chain)?;
    Ok(chain)
}

/// From the last value to the beginning, and turned round.
fn backwards(events: &[Event], last: Option<&str>) -> Result<Vec<usize>, Fault> {
    let mut writers: HashMap<&str, (usize, Option<&str>)> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        match &event.what {
            What::Swapped { from, to } | What::MaybeSwapped { from, to } => {
                writers.insert(to, (index, from.as_deref()));
            }
            What::Seen(_) => {}
        }
    }
    let mut chain = Vec::new();
    let mut value = last;
    while let Some(wanted) = value {
        // Taken out: nobody is met twice, whatever a history claims.
        let Some((index, from)) = writers.remove(wanted) else {
            return Err(Fault::NobodyWrote(wanted.to_owned()));
        };
        chain.push(index);
        value = from;
    }
    chain.reverse();
    Ok(chain)
}

/// Gives every event the earliest moment that its place in the order allows.
fn in_time(events: &[Event], chain: &[usize]) -> Result<(), Fault> {
    let mut seen: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        if let What::Seen(value) = &event.what {
            seen.entry(value.as_deref()).or_default().push(index);
        }
    }
    let mut now = readers(events, seen.remove(&None), Micros::MIN)?;
    for index in chain {
        now = place(events, *index, now)?;
        let value = match &events[*index].what {
            What::Swapped { to, .. } | What::MaybeSwapped { to, .. } => Some(to.as_str()),
            What::Seen(_) => None,
        };
        now = readers(events, seen.remove(&value), now)?;
    }
    let aside = seen.into_values().flatten().min();
    aside.map_or(Ok(()), |index| Err(Fault::SeenAside(index)))
}

/// The readers of one value come in any order; the next value comes after all.
fn readers(events: &[Event], readers: Option<Vec<usize>>, now: Micros) -> Result<Micros, Fault> {
    let mut last = now;
    for reader in readers.into_iter().flatten() {
        last = last.max(place(events, reader, now)?);
    }
    Ok(last)
}

fn place(events: &[Event], index: usize, not_before: Micros) -> Result<Micros, Fault> {
    let event = &events[index];
    let moment = event.begun.max(not_before);
    if event.ended.is_some_and(|ended| ended < moment) {
        return Err(Fault::OutOfTime(index));
    }
    Ok(moment)
}

#[cfg(test)]
mod tests;
