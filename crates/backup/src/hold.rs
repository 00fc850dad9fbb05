//! The pin of a restore, which reads a backup in many runs, for days: while one is younger
//! than [`COUNTS_FOR`](crate::pins::COUNTS_FOR) nothing that the backup names is deleted. It is
//! written before the first read, renewed once a day by whichever run is next, and stays
//! between the runs and after the last one, until it is old.

use crate::DAY;
use crate::names::BackupId;
use crate::pins::Pin;
use crate::vault::Vault;
use crate::words::trouble::Trouble;

/// Have a pin of this holder that is younger than a day.
///
/// # Errors
/// It is not known whether there is one.
pub fn hold(vault: &Vault<'_>, id: &BackupId, holder: &str) -> Result<(), Trouble> {
    let held = pins(vault, id, holder)?;
    let now = vault.now()?;
    if held.iter().any(|(_, modified, _)| now - modified < DAY) {
        return Ok(());
    }
    let round = held.iter().map(|(_, _, round)| round + 1).max().unwrap_or_default();
    Pin::write(vault, id, holder, round)?;
    held.into_iter().for_each(|(pin, ..)| pin.end(vault));
    Ok(())
}

/// Those of a holder, each with the time when it was written, and its round.
fn pins(vault: &Vault<'_>, id: &BackupId, holder: &str) -> Result<Vec<(Pin, i64, u32)>, Trouble> {
    let begins = format!("{}{holder}~", id.pins());
    // By folder: not every store lists what begins in another way.
    let listed = vault.list(&id.pins())?.into_iter();
    let of = |meta: crate::store::Meta| {
        let round = meta.name.strip_prefix(&begins)?.strip_suffix(".json")?.parse().ok()?;
        let pin = Pin { id: id.clone(), holder: holder.to_string(), name: meta.name };
        Some((pin, meta.modified, round))
    };
    Ok(listed.filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::{FORMAT, Repository, Sealing};
    use crate::store::Store;
    use crate::store::memory::{Memory, Seeded};

    #[test]
    fn a_pin_is_renewed_daily_and_is_one() {
        let (memory, random) = (Memory::at(1_800_000_000), Seeded::new(1));
        let (ring, datacenter) = ("r".to_string(), "d".to_string());
        let id = "repository-1".to_string();
        let repository =
            Repository { format: FORMAT, id, ring, datacenter, sealing: Sealing::Plain };
        let vault = Vault::create(&memory, None, &random, repository).unwrap();
        let id = BackupId::parse("b1").unwrap();
        let names = || {
            let all = memory.list("pins/").unwrap().into_iter();
            all.map(|meta| meta.name).collect::<Vec<_>>()
        };
        hold(&vault, &id, "load-1").unwrap();
        hold(&vault, &id, "load-1").unwrap();
        assert_eq!(names(), ["pins/b1/load-1~0.json"]);
        memory.advance(DAY);
        hold(&vault, &id, "load-1").unwrap();
        hold(&vault, &id, "load-2").unwrap();
        assert_eq!(names(), ["pins/b1/load-1~1.json", "pins/b1/load-2~0.json"]);
    }
}
