//! Asks before something is destroyed: whoever means it types its name.

use crate::clean::line;
use crate::exit::{Exit, Trouble};
use crate::session::{Answers, Session};
use crate::words::answer::Question;
use crate::words::trouble::{Hint, Said};
use clap::Args;
use palladion_api::words::Quoted;

/// The flag of verbs that destroy.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Sure {
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Ask, unless that is not wanted.
///
/// # Errors
/// It was not confirmed, or there is nobody to ask.
pub fn confirm(
    session: &mut Session<'_>,
    sure: Sure,
    questions: &[Question],
    name: &str,
) -> Result<(), Trouble> {
    if sure.yes {
        return Ok(());
    }
    let typed = match session.answers.clone() {
        Answers::Nobody => {
            return Err(Trouble::new(Exit::Usage, Said::NobodyToAsk).hint(Hint::Yes));
        }
        Answers::Given(text) => {
            put(session, questions, name)?;
            text
        }
        Answers::Terminal => {
            put(session, questions, name)?;
            let mut line = String::new();
            std::io::stdin().read_line(&mut line)?;
            line
        }
    };
    if typed.trim() == name {
        return Ok(());
    }
    let typed = Quoted(typed.trim().to_string());
    Err(Trouble::new(Exit::Refused, Said::NotConfirmed { typed, name: name.to_string() }))
}

fn put(session: &mut Session<'_>, questions: &[Question], name: &str) -> std::io::Result<()> {
    for question in questions {
        writeln!(session.notes, "{}", line(&question.to_string()))?;
    }
    let type_name = Question::TypeName { name: name.to_string() };
    write!(session.notes, "{}", line(&type_name.to_string()))?;
    session.notes.flush()
}
