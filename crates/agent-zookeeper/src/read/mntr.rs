//! The answer to `mntr`: figures by name, for the metrics of a member.

use std::collections::BTreeMap;

/// Figures that are read at the most; a server has some three hundred.
const MOST: usize = 2000;

/// Every line with a name and a number. What is no number is left out, as are lines
/// of a server that serves nobody: there is nothing to tell then.
pub fn parse(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().take(MOST);
    let pairs = lines.filter_map(|line| line.split_once('\t'));
    pairs.filter_map(|(name, value)| Some((name.to_string(), value.trim().parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_numbers_and_nothing_else_is() {
        let text = "zk_version\t3.8.4-9316\nzk_avg_latency\t0.5\nzk_server_state\tleader\n\
            zk_synced_followers\t2\nodd line\n";
        let read = parse(text);
        assert_eq!(read.len(), 2);
        assert_eq!((read["zk_avg_latency"], read["zk_synced_followers"]), (0.5, 2.0));
        assert!(parse("This ZooKeeper instance is not currently serving requests").is_empty());
    }
}
