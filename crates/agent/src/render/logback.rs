//! `logback.xml`: the server's log goes to its standard output, so that it is
//! the container's log and init can keep the last words.

use palladion_api::server_config::ServerConfig;

/// The file.
pub fn file(config: &ServerConfig) -> String {
    let audit = if config.audit.is_some() { AUDIT } else { "" };
    format!("{HEAD}{audit}{END}")
}

const HEAD: &str = r#"<configuration scan="false">
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder>
      <pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern>
    </encoder>
  </appender>
  <root level="INFO">
    <appender-ref ref="STDOUT"/>
  </root>
  <logger name="org.apache.cassandra" level="INFO"/>
"#;

/// An entry of the audit log is a line of JSON, whatever a client has sent: a statement may have
/// lines, quotes and other characters that would end the text, or begin a line that looks like
/// another entry. Backslashes come first, since the others bring some.
const AUDIT: &str = r#"  <appender name="AUDIT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder>
      <charset>UTF-8</charset>
      <pattern>{"time":"%date{yyyy-MM-dd'T'HH:mm:ss.SSS'Z', UTC}","audit":"%replace(%replace(%replace(%replace(%replace(%replace(%msg){'\x5C','\\\\'}){'\x22','\\"'}){'\n','\\n'}){'\r','\\r'}){'\t','\\t'}){'[\x00-\x1F\x7F]',' '}"}%n</pattern>
    </encoder>
  </appender>
  <logger name="org.apache.cassandra.audit.FileAuditLogger" level="INFO" additivity="false">
    <appender-ref ref="AUDIT"/>
  </logger>
"#;

const END: &str = "</configuration>\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::a_config;
    use palladion_api::cluster::Audit;

    #[test]
    fn the_audit_log_has_its_own_lines_and_no_others_change() {
        let plain = file(&a_config("5.0.5"));
        assert!(!plain.contains("AUDIT"), "{plain}");
        let audit = Some(Audit::default());
        let with = file(&ServerConfig { audit, ..a_config("5.0.5") });
        assert!(with.starts_with(HEAD) && with.ends_with(END), "{with}");
        assert!(with.contains(
            r#"name="org.apache.cassandra.audit.FileAuditLogger" level="INFO" additivity="false""#
        ));
    }
}
