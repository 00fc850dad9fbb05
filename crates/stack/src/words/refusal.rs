//! Why a spec is not carried out: which field, why, and how to comply.

use super::render::Fault;

palladion_plan::sentences! {
    /// A spec that is not carried out. What runs goes on running.
    pub enum Refusal {
        Unreadable { why: String } => InvalidSpec, "{why}";
        NoContainers => InvalidSpec,
            "spec.template.spec.containers is empty; add at least one container";
        Shape { field: String, shape: Shape } => InvalidSpec, "spec.template.{field} must be {shape}";
        OurPrefix { field: &'static str, key: String, prefix: &'static str } => InvalidSpec,
            "the pod template must not set the {field} {key}: the prefix {prefix} is reserved for the operator";
        StatusLabel => InvalidSpec,
            "the pod template must not set the label `status`, by which the operator opens the gate of a pod; remove it";
        RestartWithPodIps => InvalidSpec,
            "with `network.addresses: PodIP` a restarted pod has another address, which would restart the others in turn; set `reload.policy` to Recreate or Signal";
        RestartWithNodeAddresses => InvalidSpec,
            "the configuration names the addresses of other pods, which with `network.addresses: HostNetwork` are those of their nodes: a restarted pod may come to another node, which would restart the others in turn; set `reload.policy` to Recreate or Signal, or name the pods by other words than `address`";
        NoAgentImage => FactUnknown,
            "the operator was started without the image of the agent (`--agent-image`)";
        TooManyNames { names: usize, most: usize } => InvalidSpec,
            "the pod template names {names} ConfigMaps and claims, and may name {most}: the operator watches each of them; put several into one";
        NoConfigMap { map: String } => ConfigMapMissing,
            "ConfigMap {map}, which the pod template names, does not exist; create it, or correct `template`";
        NoClass { claim: String, class: String } => StorageClassMissing,
            "storage class {class} of claim {claim} does not exist; create it, or name another in `volumeClaimTemplates`";
        NoDefaultClass { claim: String } => StorageClassMissing,
            "claim {claim} names no storage class, and there is no default one; name one in `volumeClaimTemplates`";
        TemplateLine { file: String, line: usize, fault: Fault } => TemplateInvalid,
            "the template of file {file} fails in line {line}: {fault}";
        CallLine { template: String, line: usize, fault: Fault } => TemplateInvalid,
            "the template `{template}` fails in line {line}: {fault}";
        Call { template: String, fault: Fault } => TemplateInvalid,
            "the template `{template}` fails: {fault}";
        Template { file: String, fault: Fault } => TemplateInvalid,
            "the template of file {file} fails: {fault}";
    }

    /// What a field must be.
    #[derive(Copy)]
    pub enum Shape {
        Map => "a map";
        List => "a list";
        Maps => "a list of maps";
    }

    /// A group that is not carried out. What runs goes on running.
    pub enum GroupRefusal {
        Shared { refusal: Refusal } => InvalidSpec, "{refusal}";
        NoProfile { profile: String } => ProfileMissing,
            "NodeAgentProfile {profile} does not exist; create it, or remove it from `configuration.profiles`";
        BadProfile { profile: String, why: String } => ProfileMissing,
            "NodeAgentProfile {profile} cannot be read: {why}";
        Conflict { key: String, first: String, second: String } => ProfileConflict,
            "NodeAgentProfiles {first} and {second} give `{key}` different values; change one of them, or set `override: true` so that the later one counts";
        ModesExclusive { first: String, second: String } => ModesExclusive,
            "NodeAgentProfile {first} forwards packets in user space and {second} in the kernel; remove one of them from `configuration.profiles`";
    }

    /// Why nothing is decided.
    pub enum Unknown {
        NoSpec => FactUnknown, "the object has no spec";
        Fact { why: String } => FactUnknown, "{why}";
        UnwatchedClaim => FactUnknown, "it is not watched yet";
        Unlabelled { pod: String, claim: String, namespace: String, label: String } => FactUnknown,
            "it does not carry the label by which claims are watched; add it: `kubectl label pvc {claim} -n {namespace} {label}`; if it does not exist, delete the pod: `kubectl delete pod {pod} -n {namespace}`";
        Unwatched { map: String } => FactUnknown, "ConfigMap {map} is not watched yet";
    }
}
