//! `docs/troubleshooting.md`: a head written by hand, then one section for
//! each documented reason.

use std::path::Path;

use anyhow::{Context, Result, bail};
use palladion_api::reasons::Reason;

use super::{COMMAND, Generated};

const PATH: &str = "docs/troubleshooting.md";
const MARK: &str = "<!-- generated from here on";

pub fn file(root: &Path) -> Result<Generated> {
    let text =
        std::fs::read_to_string(root.join(PATH)).with_context(|| format!("reading {PATH}"))?;
    let Some((head, _)) = text.split_once(MARK) else {
        bail!("{PATH} has no line `{MARK}`, so it cannot be told what of it is written by hand");
    };
    let sections: Vec<String> = Reason::ALL.iter().map(|reason| section(*reason)).collect();
    let content = format!(
        "{head}{MARK} by `{COMMAND}` from crates/api/src/reasons.rs -->\n\n{}",
        sections.join("\n")
    );
    Ok(Generated::new(PATH, content))
}

fn section(reason: Reason) -> String {
    format!("### {reason}\n\n{}\n\n**Next:** {}\n", reason.meaning(), reason.next_step())
}
