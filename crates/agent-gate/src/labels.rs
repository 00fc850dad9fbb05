//! Labels of a pod, as the kubelet writes them into a file: a line `key="value"`
//! each, the value quoted as Go does it.

use std::collections::BTreeMap;

/// Labels of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    /// Read the file. Values of labels have no quote and no backslash, so that
    /// nothing is escaped in them; a line that is none is left out.
    pub fn parse(text: &str) -> Self {
        let pair = |line: &str| {
            let (key, quoted) = line.split_once('=')?;
            let value = quoted.strip_prefix('"')?.strip_suffix('"')?;
            Some((key.to_string(), value.to_string()))
        };
        Self(text.lines().filter_map(pair).collect())
    }

    /// The value of a label, unless it is empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_labels_is_read_and_what_is_no_label_is_left_out() {
        let labels =
            Labels::parse("app=\"web\"\nstatus=\"\"\nhalf=\"wri\npalladion.dev/gate=\"1-2\"\n");
        assert_eq!(labels.get("app"), Some("web"));
        assert_eq!(labels.get("palladion.dev/gate"), Some("1-2"));
        assert_eq!(labels.get("status"), None, "it is empty");
        assert_eq!(labels.get("half"), None, "it is not written to its end");
    }
}
