//! Why a spec is not carried out: which field, why, and how to comply.

palladion_plan::sentences! {
    /// A spec that is not carried out. What runs goes on running.
    pub enum Refusal {
        Unreadable { why: String } => InvalidSpec, "{why}";
        NoPodTemplate { why: String } => InvalidSpec,
            "spec.template.spec.template is not a valid pod template: {why}";
        NoContainers => InvalidSpec,
            "spec.template.spec.template.spec.containers is empty; add at least one container";
        VersionedWithClaims => InvalidSpec,
            "`rollout: Versioned` creates a second StatefulSet with its own volumes, so it cannot be used with `volumeClaimTemplates`; use `rollout: Partitioned`";
        NameTooLong { length: usize, most: usize } => InvalidSpec,
            "metadata.name has {length} characters, but at most {most} are allowed because StatefulSets and pods are named after it; recreate the object with a shorter name";
        Variable { container: String, variable: String } => InvalidSpec,
            "container {container} sets the environment variable {variable}, which the operator sets; remove it from the template";
        ReplicasVariable { container: String, variable: String } => InvalidSpec,
            "container {container} sets the environment variable {variable}, which the operator sets; remove it from the template, or set `injectReplicasEnv: false`";
        OurPrefix { field: &'static str, key: String, prefix: &'static str } => InvalidSpec,
            "the pod template must not set the {field} {key}: the prefix {prefix} is reserved for the operator";
        MatchExpressions => InvalidSpec,
            "spec.template.spec.selector.matchExpressions is not supported; use matchLabels instead";
        SelectorLabel { key: String, value: String } => InvalidSpec,
            "spec.template.spec.selector needs the label {key}={value}, which the pod template does not have; add it to the pod template's labels";
        ProbeContainer { container: String } => InvalidSpec,
            "spec.activePassiveProbes refers to container {container}, which the template does not have; use the name of one of its containers";
        ProbePort { container: String } => InvalidSpec,
            "spec.activePassiveProbes.{container} uses a port that is neither a number from 1 to 65535 nor the name of a port of that container; correct the port";
        ProbeActions { container: String } => InvalidSpec,
            "spec.activePassiveProbes.{container} must have exactly one of exec, httpGet, tcpSocket and grpc";
    }

    /// Why nothing is decided.
    pub enum Unknown {
        NoSpec => FactUnknown, "the ZonedStatefulSet has no spec";
        Fact { why: String } => FactUnknown, "{why}";
    }
}
