//! How everything stands when a step has failed, in the log of the run.

use super::Story;
use crate::bed::{Bed, OPERATOR_NAMESPACE};

/// Of events and of the operator's log: what led here.
const LAST_LINES: usize = 25;

/// Print it. What cannot be read says so in its place.
pub fn show(bed: &Bed, story: &Story) {
    println!("how it stands after a failure in {}:", story.name);
    let kinds = "nodes,cassandraclusters,cassandramembers,zonedstatefulsets,pods";
    let asked = [
        (format!("get {kinds} -A --request-timeout=20s"), usize::MAX),
        ("get events -A --sort-by=.lastTimestamp --request-timeout=20s".to_string(), LAST_LINES),
        (
            format!(
                "logs deployment/palladion-operator -n {OPERATOR_NAMESPACE} --tail={LAST_LINES} --request-timeout=20s"
            ),
            LAST_LINES,
        ),
    ];
    for (words, lines) in asked {
        let said = bed.kubectl(&words).unwrap_or_else(|error| format!("{error:#}"));
        let all: Vec<&str> = said.lines().collect();
        println!("$ kubectl {words}");
        for line in &all[all.len().saturating_sub(lines)..] {
            println!("  {line}");
        }
    }
}
