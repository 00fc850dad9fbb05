//! What templates may do, and what is said of those that cannot be rendered.

use super::*;
use crate::words::render::Fault;
use palladion_api::service::{ServiceNode, ServiceStatus};
use palladion_api::staged::{Dependency, DependencyKind, File, Minimum, Port};
use serde_json::{Map, json};

fn file(name: &str, template: &str) -> File {
    File { name: name.into(), template: template.into() }
}

fn depends_on(name: &str) -> Dependency {
    Dependency {
        kind: DependencyKind::CassandraCluster,
        name: name.into(),
        alias: None,
        minimum: Minimum::default(),
    }
}

fn trial() -> Variables {
    let parameters = json!({ "level": "info", "workers": 4 }).as_object().cloned();
    let ports = [Port { name: "http".into(), port: 8082 }];
    placeholders("config", 2, &ports, &parameters.expect("a map"), &[depends_on("my-ring")])
}

fn rendered(template: &str) -> Result<String, Problem> {
    let templates = Templates::parse(&[file("a.conf", template)])?;
    templates.render(&trial()).map(|mut texts| texts.remove("a.conf").unwrap_or_default())
}

fn fault(template: &str) -> (Option<usize>, Fault) {
    let problem = rendered(template).expect_err("the template should fail");
    assert_eq!(problem.file, "a.conf");
    (problem.line, problem.fault)
}

#[test]
fn a_template_sees_its_pod_its_peers_its_parameters_and_its_dependencies() {
    let text = rendered(
        "{{ component }} {{ self.name }} {{ self.address }} {{ self.ordinal }} {{ self.ip }} {{ self.node }}\n\
         {{ ports.http }} {{ parameters.level }} {{ parameters.workers + 1 }}\n\
         {% for node in nodes %}{{ node.name }}={{ node.address }} {% endfor %}\n\
         {{ dependencies.my_ring.addresses | join(',') }}:{{ dependencies.my_ring.ports.cql }} \
         {{ dependencies.my_ring.attributes.datacenter }} {{ dependencies.my_ring.nodes[0].name }}\n",
    )
    .expect("should be rendered");
    let wanted = "config config-0 192.0.2.1 0 192.0.2.1 node\n8082 info 5\n\
                  config-0=192.0.2.1 config-1=192.0.2.2 \n\
                  192.0.2.1,192.0.2.2,192.0.2.3:1 value my-ring-0\n";
    assert_eq!(text, wanted);
}

#[test]
fn the_text_is_not_quoted_whatever_its_file_is_called() {
    let templates = Templates::parse(&[file("a.html", "{{ '<a & b>' }}"), file("", "x\n")]);
    let texts = templates.and_then(|t| t.render(&trial())).expect("should be rendered");
    assert_eq!(texts["a.html"], "<a & b>");
    assert_eq!(texts[""], "x\n", "the last line keeps its end");
}

#[test]
fn what_does_not_exist_is_an_error_with_file_and_line() {
    assert_eq!(fault("one\n{{ parameters.levle }}\n").0, Some(2));
    for template in [
        "{{ nothing }}",
        "{{ parameters.levle }}",
        "{{ ports.https }}",
        "{{ dependencies.other.addresses }}",
        "{{ self.uid }}",
        "{% if nothing %}{% endif %}",
        "{% for x in nothing %}{% endfor %}",
    ] {
        assert!(
            matches!(fault(template).1, Fault::Undefined | Fault::Detailed { .. }),
            "{template}"
        );
    }
    assert_eq!(rendered("{% if parameters.x is defined %}a{% else %}b{% endif %}"), Ok("b".into()));
}

#[test]
fn what_is_no_template_is_an_error_with_file_and_line() {
    let (line, _) = fault("one\ntwo\n{% if %}\n");
    assert_eq!(line, Some(3));
    assert!(rendered("{% include 'b.conf' %}").is_err(), "files do not include each other");
    let (_, fault) = fault("{{ nodes | nofilter }}");
    assert!(matches!(fault, Fault::Detailed { detail, .. } if detail.contains("nofilter")));
}

#[test]
fn a_template_that_works_too_much_or_writes_too_much_is_stopped() {
    let endless =
        "{% for a in range(1000) %}{% for b in range(1000) %}{{ a }}{% endfor %}{% endfor %}";
    assert_eq!(fault(endless).1, Fault::TooMuchWork);
    let doubled = format!("{{% set x = 'aaaa' %}}{}", "{% set x = x ~ x %}".repeat(60));
    assert_eq!(fault(&doubled).1, Fault::TooMuchWork, "2^62 bytes are not made");
    let long = "{% for a in range(300) %}".to_string() + &"x".repeat(1000) + "{% endfor %}";
    assert_eq!(fault(&long).1, Fault::TooLong { bytes: 300_000, most: LONGEST_TEXT });
}

#[test]
fn a_service_that_is_there_shows_what_it_has_and_no_more() {
    let service = ServiceStatus {
        active: true,
        wanted: 1,
        ready: 1,
        nodes: vec![ServiceNode { name: "r-0".into(), address: "10.0.0.1".into() }],
        ports: [("cql".to_string(), 9042)].into(),
        attributes: Default::default(),
    };
    let mut variables = trial();
    variables.parameters = Map::new();
    let seen = dependency(DependencyKind::CassandraCluster, "my-ring", &service);
    variables.dependencies.insert("my_ring".into(), seen);
    let of = |template: &str| {
        Templates::parse(&[file("f", template)]).and_then(|t| t.render(&variables))
    };
    let texts = of(
        "{{ dependencies.my_ring.kind }} {{ dependencies.my_ring.addresses[0] }}:{{ dependencies.my_ring.ports.cql }}",
    );
    assert_eq!(texts.expect("should be rendered")["f"], "CassandraCluster 10.0.0.1:9042");
    assert!(of("{{ dependencies.my_ring.attributes.datacenter }}").is_err());
}

#[test]
fn the_same_variables_give_the_same_text() {
    let template = "{{ parameters }} {{ nodes }} {{ dependencies.my_ring.nodes }}";
    assert_eq!(rendered(template), rendered(template));
}

/// The engine counts these by items, and not by the bytes that they compare.
#[test]
fn long_strings_are_not_compared_or_searched_without_end() {
    let long = "{% set s = 'a' * 800000 %}";
    for of in [
        "([s] * 22000) | min",
        "([s] * 22000) | max(case_sensitive=true)",
        "([s] * 2000) | sort",
        "([{'a': s}] * 2000) | sort(attribute='a')",
        "([[[s]]] * 2000) | sort",
        "([s] * 22000) | unique",
        "([{'a': s}] * 2000) | groupby('a')",
        "([{'a': s}] * 2000) | groupby(attribute='a')",
        "{s: 1} | dictsort",
        "{'a': s} | dictsort(by='value')",
    ] {
        let problem = fault(&format!("{long}{{% if {of} %}}{{% endif %}}"));
        assert!(matches!(problem.1, Fault::Detailed { .. }), "{of}: {problem:?}");
    }
    for test in ["lower", "upper"] {
        let template = format!("{long}{{% if s is {test} %}}{{% endif %}}");
        assert!(matches!(fault(&template).1, Fault::Detailed { .. }), "{test}");
    }
    for (template, wanted) in [
        ("{{ ['b', 'A', 'c'] | sort | join }}", "Abc"),
        ("{{ ['b', 'A'] | min }}{{ ['b', 'C'] | max }}{{ ['a', 'A'] | unique | join }}", "ACa"),
        (
            "{{ nodes | sort(attribute='name', reverse=true) | map(attribute='ordinal') | join }}",
            "10",
        ),
        ("{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %}", "a2b1"),
        ("{% for k, v in {'b': 1, 'a': 2} | dictsort(by='value') %}{{ k }}{% endfor %}", "ba"),
        ("{% for name, all in nodes | groupby('name') %}{{ all | length }}{% endfor %}", "11"),
        ("{{ 'a' is lower }}{{ 'a' is upper }}{{ 1 is lower }}", "TrueFalseFalse"),
        ("{{ [3, 1.5, 2] | sort | join(' ') }}", "1.5 2 3"),
        // What is not compared may be long.
        ("{% set s = 'a' * 2000 %}{{ ([{'a': 1, 'b': s}] | sort(attribute='a')) | length }}", "1"),
    ] {
        assert_eq!(rendered(template), Ok(wanted.to_string()), "{template}");
    }
}
