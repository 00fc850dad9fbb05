//! `backup verify`: is everything there that a backup names?

use super::{Place, id, note};
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::table::Table;
use crate::words::answer::Answer;
use clap::Args;
use palladion_backup::damaged;
use palladion_backup::names::BackupId;
use palladion_backup::verify::{Depth, Report, verify};

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup verify 2026-11-26 --store /backups/demo --read\n\nWithout --read: is each object there, in its length? The exit code is 1 if one is not. What is damaged is noted in the repository, which takes the right to write there, so that the next backup sends it again."
)]
pub struct Verify {
    /// The backup
    #[arg(value_parser = id)]
    id: BackupId,
    /// Read every object and compare its SHA-256
    #[arg(long, conflicts_with = "one_in")]
    read: bool,
    /// Read one of so many objects
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    one_in: Option<u64>,
    #[command(flatten)]
    place: Place,
}

impl Verify {
    /// Run the verb.
    ///
    /// # Errors
    /// There is no such complete backup, or the repository cannot be read.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let (report, noted) = self.place.with(|vault| {
            // Another part of them at each run.
            let first = u64::from(vault.random().bytes()[0]);
            let depth = match (self.read, self.one_in) {
                (true, _) => Depth::Read,
                (false, Some(of)) => Depth::Sample { of, first },
                (false, None) => Depth::Sizes,
            };
            let report = verify(vault, &self.id, depth)?;
            // Credentials that may only read are enough to look.
            let noted = damaged::note(vault, &self.id, &report.damaged);
            Ok((report, noted.map_err(|why| why.to_string())))
        })?;
        note(session, report.notices.clone());
        let exit = self.say(session, &report)?;
        match noted {
            Ok(0) => {}
            Ok(objects) => session.tell(&Answer::DamageNoted { objects }.to_string())?,
            Err(why) => session.tell(&Answer::DamageNotNoted { why }.to_string())?,
        }
        Ok(exit)
    }

    fn say(&self, session: &mut Session<'_>, report: &Report) -> Result<Exit, Trouble> {
        let (id, objects) = (self.id.to_string(), report.objects);
        if report.damaged.is_empty() {
            let sound = Answer::BackupSound { id, objects, read: report.read };
            session.print(&sound.to_string())?;
            return Ok(Exit::Done);
        }
        let mut table = Table::new(&["OBJECT", "TABLES", "WRONG"]);
        for damage in &report.damaged {
            let tables: Vec<&str> = damage.tables.iter().map(String::as_str).collect();
            let wrong = damage.wrong.to_string();
            table.row(vec![damage.object.as_str().into(), tables.join(", ").into(), wrong.into()]);
        }
        table.lines(session.paint).iter().try_for_each(|line| session.tell(line))?;
        let damaged = report.damaged.len() as u64;
        session.tell(&Answer::BackupDamaged { id, objects, damaged }.to_string())?;
        Ok(Exit::NotWell)
    }
}
