//! Who reads a backup. A reader writes its pin first and looks at what is
//! condemned then; whoever deletes asks for pins again before each deletion. A
//! pin is renewed under a new name, as names are written once, and counts for
//! seven days by the store's clock.

use crate::names::BackupId;
use crate::vault::{Vault, object};
use crate::words::trouble::{Trouble, Wrong};
use crate::{DAY, document};

/// How long a pin counts that is not renewed.
pub const COUNTS_FOR: i64 = 7 * DAY;

/// A pin that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The backup.
    pub id: BackupId,
    /// Who reads it.
    pub holder: String,
    /// The object.
    pub name: String,
}

impl Pin {
    /// Write a pin, or renew one: `round` counts up.
    ///
    /// # Errors
    /// It is not known whether it is written.
    pub fn write(
        vault: &Vault<'_>,
        id: &BackupId,
        holder: &str,
        round: u32,
    ) -> Result<Self, Trouble> {
        let name = format!("{}{holder}~{round}.json", id.pins());
        let bytes = document::write(&holder)
            .map_err(|why| Trouble::Document { name: name.clone(), why })?;
        vault.write(&name, &bytes)?;
        vault.head(&name)?.ok_or_else(|| object(&name, Wrong::Gone))?;
        Ok(Self { id: id.clone(), holder: holder.to_string(), name })
    }

    /// Give it up; where that fails, it counts until it is old.
    pub fn end(self, vault: &Vault<'_>) {
        let _ = vault.delete(&self.name);
    }
}

/// Who reads a backup now. What cannot be read counts by its name.
///
/// # Errors
/// The store failed.
pub fn holder(vault: &Vault<'_>, id: &BackupId, now: i64) -> Result<Option<String>, Trouble> {
    let pins = vault.list(&id.pins())?;
    let held = pins.iter().filter(|pin| now - pin.modified < COUNTS_FOR);
    let holder = |name: &str| {
        let own = name.trim_start_matches(&id.pins());
        own.split('~').next().unwrap_or_default().to_string()
    };
    Ok(held.map(|pin| holder(&pin.name)).next())
}
