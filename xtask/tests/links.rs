//! Links between the pages of this repository lead somewhere.

mod tracked;

use tracked::root;

/// The pages under version control, and those about to be.
fn pages() -> Vec<String> {
    let names = tracked::names(&["*.md"]).into_iter();
    names.filter(|name| root().join(name).is_file()).collect()
}

/// The targets of `[text](target)` outside of code.
fn targets(text: &str) -> Vec<String> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    prose
        .iter()
        .flat_map(|part| part.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .map(str::to_string)
        .collect()
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    words.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    let mut links = 0;
    for page in pages() {
        let (page, text) = tracked::text(page).expect("a page should be readable");
        for target in targets(&text).iter().filter(|t| !t.contains("://")) {
            links += 1;
            let (file, wanted) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                root().join(&page)
            } else {
                root().join(&page).parent().expect("a page lies in a folder").join(file)
            };
            let there = match std::fs::read_to_string(&path) {
                Ok(text) => {
                    wanted.is_empty()
                        || text.lines().any(|l| l.starts_with('#') && anchor(l) == wanted)
                }
                Err(_) => path.is_dir() && wanted.is_empty(),
            };
            if !there {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(links > 20, "only {links} links found");
    assert!(broken.is_empty(), "{broken:#?}");
}
