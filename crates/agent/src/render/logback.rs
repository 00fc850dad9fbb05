//! `logback.xml`: the server's log goes to its standard output, so that it is
//! the container's log and init can keep the last words.

/// The file.
pub const FILE: &str = r#"<configuration scan="false">
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder>
      <pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern>
    </encoder>
  </appender>
  <root level="INFO">
    <appender-ref ref="STDOUT"/>
  </root>
  <logger name="org.apache.cassandra" level="INFO"/>
</configuration>
"#;
