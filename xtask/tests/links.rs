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

/// Pages under `docs` that the index does not link.
fn unlisted(pages: &[String], index: &str) -> Vec<String> {
    let listed = targets(index);
    let of_docs = pages.iter().filter_map(|page| page.strip_prefix("docs/"));
    let others = of_docs.filter(|page| *page != "README.md");
    others.filter(|page| !listed.iter().any(|l| l == page)).map(str::to_string).collect()
}

#[test]
fn the_index_of_the_docs_links_every_page() {
    let (_, index) = tracked::text("docs/README.md".to_string()).expect("should be there");
    let unlisted = unlisted(&pages(), &index);
    assert!(unlisted.is_empty(), "docs/README.md does not link {unlisted:#?}");
}

#[test]
fn a_page_that_the_index_lacks_would_be_seen() {
    let pages = ["docs/README.md", "docs/glossary.md", "docs/sources.md", "README.md"];
    assert_eq!(unlisted(&pages.map(String::from), "[words](glossary.md)"), ["sources.md"]);
}
