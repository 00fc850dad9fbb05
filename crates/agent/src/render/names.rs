//! Settings that 4.1 gave a new name. Old and new together are refused at
//! start, so we must know that they are one.

use std::borrow::Cow;

/// Suffixes that went from the name into the value (CASSANDRA-15234).
const UNIT_SUFFIXES: [&str; 9] = [
    "_in_ms",
    "_in_mb",
    "_in_kb",
    "_in_bytes",
    "_in_secs",
    "_in_s",
    "_mb_per_sec",
    "_megabits_per_sec",
    "_in_sec",
];

/// Names that changed otherwise.
const RENAMED: [(&str, &str); 12] = [
    ("cross_node_timeout", "internode_timeout"),
    ("enable_user_defined_functions", "user_defined_functions_enabled"),
    ("enable_scripted_user_defined_functions", "scripted_user_defined_functions_enabled"),
    ("enable_materialized_views", "materialized_views_enabled"),
    ("enable_sasi_indexes", "sasi_indexes_enabled"),
    ("enable_transient_replication", "transient_replication_enabled"),
    ("enable_drop_compact_storage", "drop_compact_storage_enabled"),
    (
        "native_transport_max_concurrent_requests_in_bytes",
        "native_transport_max_request_data_in_flight",
    ),
    ("internode_send_buff_size_in_bytes", "internode_socket_send_buffer_size"),
    ("internode_recv_buff_size_in_bytes", "internode_socket_receive_buffer_size"),
    ("tracetype_query_ttl", "trace_type_query_ttl"),
    ("tracetype_repair_ttl", "trace_type_repair_ttl"),
];

/// The name of a setting since 4.1.
pub fn modern(name: &str) -> Cow<'_, str> {
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return Cow::Borrowed(new);
    }
    let stripped = UNIT_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix));
    Cow::Borrowed(stripped.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_names_meet() {
        for (old, new) in [
            ("commitlog_sync_period_in_ms", "commitlog_sync_period"),
            ("compaction_throughput_mb_per_sec", "compaction_throughput"),
            ("stream_throughput_outbound_megabits_per_sec", "stream_throughput_outbound"),
            ("enable_sasi_indexes", "sasi_indexes_enabled"),
        ] {
            assert_eq!(modern(old), new);
            assert_eq!(modern(new), new);
        }
    }
}
