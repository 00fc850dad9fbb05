//! The number of the ring's window. It rises when a restore begins to load data, and when it has
//! ended: what is loaded is streamed, and no commit log holds it.

use crate::facts::Facts;
use palladion_api::ids::Uid;

/// The window, and the restore that loads now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Its number.
    pub window: u64,
    /// The restore.
    pub restore_uid: Option<Uid>,
}

/// As it is on record.
pub fn recorded(facts: &Facts<'_>) -> Window {
    let reach = facts.status.point_in_time.as_ref();
    reach.map_or_else(Window::default, |reach| Window {
        window: reach.window,
        restore_uid: reach.restore_uid.clone(),
    })
}

/// As it is now.
pub fn next(facts: &Facts<'_>) -> Window {
    let now = facts.status.restore.as_ref().map(|restore| restore.restore_uid.clone());
    after(recorded(facts), now)
}

fn after(recorded: Window, restore_uid: Option<Uid>) -> Window {
    let changes = recorded.restore_uid != restore_uid;
    Window { window: recorded.window + u64::from(changes), restore_uid }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_when_a_restore_begins_and_when_it_ends() {
        let uid = |text: &str| Some(Uid::new(text));
        let begun = after(Window::default(), uid("r1"));
        assert_eq!((begun.window, after(begun.clone(), uid("r1")).window), (1, 1));
        let ended = after(begun.clone(), None);
        assert_eq!((ended.window, after(ended.clone(), None).window), (2, 2));
        // One that takes the place of another at once ends that one.
        assert_eq!(after(begun, uid("r2")).window, 2);
    }
}
