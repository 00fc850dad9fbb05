//! The terminal of whoever runs the tool, handed to a command in a pod.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// While it lives, keys go to the command as they are typed. Its end puts the
/// terminal back.
pub struct Raw {
    before: Termios,
}

impl Raw {
    /// Take the terminal.
    ///
    /// # Errors
    /// Standard input is no terminal that can be changed.
    pub fn take() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Columns and rows.
pub fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row))
}
