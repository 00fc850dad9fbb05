//! The audit log as the spec says it: into the server's own log.

use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};

/// Of these nothing is logged, as is the server's default: every client reads them all the time.
const OF_THE_SERVER: [&str; 3] = ["system", "system_schema", "system_virtual_schema"];

/// Settings of `cassandra.yaml`. Lists are separated by commas alone: the server trims nothing.
pub fn settings(config: &ServerConfig, into: &mut Map<String, Value>) {
    let Some(audit) = &config.audit else { return };
    let own = audit.excluded_keyspaces.iter().map(String::as_str);
    let excluded: Vec<&str> = OF_THE_SERVER.into_iter().chain(own).collect();
    let mut options = json!({
        "enabled": true,
        "logger": [{ "class_name": "FileAuditLogger" }],
        "excluded_keyspaces": excluded.join(","),
    });
    if !audit.categories.is_empty() {
        let categories: Vec<&str> = audit.categories.iter().map(|one| one.as_str()).collect();
        options["included_categories"] = json!(categories.join(","));
    }
    into.insert("audit_logging_options".into(), options);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::a_config;
    use palladion_api::cluster::{Audit, AuditCategory};

    fn rendered(audit: Option<Audit>) -> Value {
        let mut into = Map::new();
        settings(&ServerConfig { audit, ..a_config("5.0.5") }, &mut into);
        into.remove("audit_logging_options").unwrap_or_default()
    }

    #[test]
    fn what_is_not_asked_for_is_not_logged() {
        assert_eq!(rendered(None), Value::Null);
        let all = rendered(Some(Audit::default()));
        assert_eq!(all["enabled"], true);
        assert_eq!(all["excluded_keyspaces"], "system,system_schema,system_virtual_schema");
        assert!(all.get("included_categories").is_none(), "{all}");
    }

    #[test]
    fn lists_have_no_spaces() {
        let some = rendered(Some(Audit {
            categories: vec![AuditCategory::Auth, AuditCategory::Ddl],
            excluded_keyspaces: vec!["metrics".into()],
        }));
        assert_eq!(some["included_categories"], "AUTH,DDL");
        let excluded = "system,system_schema,system_virtual_schema,metrics";
        assert_eq!(some["excluded_keyspaces"], excluded);
    }
}
