//! The end of an agent at any note or call, for tests: what is on the disk then is
//! all that the next one knows.

use std::cell::Cell;

thread_local! {
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The agent of this thread ends at the note or call after so many.
pub fn after(points: usize) {
    LEFT.set(Some(points));
}

/// None ends any more.
pub fn never() {
    LEFT.set(None);
}

/// A note that is about to be written, or a call about to be made.
pub fn point() {
    match LEFT.get() {
        None => {}
        Some(0) => {
            LEFT.set(None);
            // As a panic that nobody is told of: nothing after it is carried out.
            std::panic::resume_unwind(Box::new("killed"));
        }
        Some(left) => LEFT.set(Some(left - 1)),
    }
}
