//! Why a spec is not carried out: which field, why, and how to comply.

use super::render::Fault;

palladion_plan::sentences! {
    /// A spec that is not carried out. What runs goes on running.
    pub enum Refusal {
        Unreadable { why: String } => InvalidSpec, "{why}";
        NoContainers => InvalidSpec,
            "spec.template.spec.containers is empty; add at least one container";
        OurPrefix { field: &'static str, key: String, prefix: &'static str } => InvalidSpec,
            "the pod template must not set the {field} {key}: the prefix {prefix} is reserved for the operator";
        StatusLabel => InvalidSpec,
            "the pod template must not set the label `status`, by which the operator opens the gate of a pod; remove it";
        RestartWithPodIps => InvalidSpec,
            "with `network.addresses: PodIP` a restarted pod has another address, which would restart the others in turn; set `reload.policy` to Recreate or Signal";
        NoAgentImage => FactUnknown,
            "the operator was started without the image of the agent (`--agent-image`)";
        TemplateLine { file: String, line: usize, fault: Fault } => TemplateInvalid,
            "the template of file {file} fails in line {line}: {fault}";
        Template { file: String, fault: Fault } => TemplateInvalid,
            "the template of file {file} fails: {fault}";
    }

    /// Why nothing is decided.
    pub enum Unknown {
        NoSpec => FactUnknown, "the object has no spec";
        Fact { why: String } => FactUnknown, "{why}";
    }
}
