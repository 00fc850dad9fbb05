//! How a metric is declared: once, with its name, type, labels and help. What
//! registers metrics and the reference page both read the declaration.

/// The type of a metric in Prometheus' text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// Only grows while the process lives; its name ends in `_total`.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts of observations in buckets, their sum and their number.
    Histogram,
}

impl MetricType {
    /// The word of the text format.
    pub fn as_str(self) -> &'static str {
        match self {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Histogram => "histogram",
        }
    }
}

/// A label of a metric. Its values are bounded: the name of an object is never one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Every value that it can have; empty where `meaning` says what they are.
    pub values: &'static [&'static str],
    /// What the values are, where they are not listed.
    pub meaning: &'static str,
}

/// A declared metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The whole name, as Prometheus shows it.
    pub name: &'static str,
    /// Its type.
    pub metric_type: MetricType,
    /// Its labels.
    pub labels: &'static [Label],
    /// One sentence without the full stop, which the text format adds.
    pub help: &'static str,
}

impl Metric {
    /// A counter, named without `_total` where it is registered: the text format adds it.
    pub const fn counter(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, metric_type: MetricType::Counter, labels, help }
    }

    /// A gauge.
    pub const fn gauge(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, metric_type: MetricType::Gauge, labels, help }
    }

    /// A histogram.
    pub const fn histogram(
        name: &'static str,
        labels: &'static [Label],
        help: &'static str,
    ) -> Self {
        Self { name, metric_type: MetricType::Histogram, labels, help }
    }

    /// The name to register it under.
    pub fn registered_name(&self) -> &'static str {
        match self.metric_type {
            MetricType::Counter => self.name.strip_suffix("_total").unwrap_or(self.name),
            MetricType::Gauge | MetricType::Histogram => self.name,
        }
    }
}

/// Where the text that a process serves says something else than what it
/// declares; empty if all fits. For tests: `text` should hold at least one
/// sample of every metric.
pub fn differences(declared: &[Metric], text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for metric in declared {
        let name = metric.registered_name();
        for line in [
            format!("# HELP {name} {}.", metric.help),
            format!("# TYPE {name} {}", metric.metric_type.as_str()),
        ] {
            if !text.lines().any(|l| l == line) {
                found.push(format!("not served: {line}"));
            }
        }
        let suffix = match metric.metric_type {
            MetricType::Histogram => "_count",
            MetricType::Counter | MetricType::Gauge => "",
        };
        let sample = format!("{}{suffix}", metric.name);
        let labels: Vec<&str> = metric.labels.iter().map(|l| l.name).collect();
        match text.lines().find_map(|l| l.strip_prefix(&sample)).map(labels_of) {
            Some(served) if served == labels => {}
            Some(served) => found.push(format!("{sample} has the labels {served:?}")),
            None => found.push(format!("no sample of {sample}")),
        }
    }
    let types = text.lines().filter_map(|l| l.strip_prefix("# TYPE "));
    let strangers = types
        .filter_map(|l| l.split(' ').next())
        .filter(|name| !declared.iter().any(|m| m.registered_name() == *name));
    found.extend(strangers.map(|name| format!("not declared: {name}")));
    found
}

/// Names of the labels in what follows the name of a sample.
fn labels_of(rest: &str) -> Vec<&str> {
    let Some((labels, _)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return Vec::new();
    };
    labels.split(',').filter_map(|pair| Some(pair.split_once('=')?.0)).collect()
}
