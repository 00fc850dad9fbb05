//! Sets, Services and ConfigMaps.

use super::render::Fault;

palladion_plan::sentences! {
    /// What is waited for.
    pub enum Waiting {
        BeingDeleted { set: String } => CreatingObjects,
            "StatefulSet {set} is being deleted and will be recreated";
        Created { set: String } => CreatingObjects, "StatefulSet {set} is being created";
        Updated { set: String } => RollingOut, "{set} is being updated";
        /// Why is said of the configuration itself.
        Unmade => RollingOut,
            "no pod gets a newer template until the configuration of all pods can be made and written";
        Written { map: String } => RollingOut, "ConfigMap {map} is being updated";
    }

    /// What needs a person.
    pub enum Problem {
        TooLarge { most: usize } => ConfigTooLarge,
            "the configuration of all pods has more than the {most} bytes that a ConfigMap may have; the pods keep the one they have: shorten the templates, or run fewer pods";
        NoConfigMap { map: String } => ConfigMapMissing,
            "ConfigMap {map}, which the pod template names, does not exist; a pod that starts again waits for it: create it, or correct `template`";
        Unrenderable { pod: String, file: String, line: usize, fault: Fault } => TemplateInvalid,
            "the configuration of pod {pod} cannot be made: file {file}, line {line}: {fault}; the pods keep the one they have";
    }

    /// Events.
    pub enum Happened {
        Created { set: String } => Synced, "StatefulSet {set} created";
    }

    /// Steps.
    pub enum Doing {
        Delete { what: String } => "delete {what}";
        ComeBack { set: String } => "let StatefulSet {set} create its pods again";
    }
}
