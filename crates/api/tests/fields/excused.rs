//! Fields of which no value of the right type is wrong, or of which only somebody else can
//! say that it is: who says so then, and where.

/// Kinds (none: all), the field, and why no manifest is refused for it.
pub const EXCUSED: &[(&[&str], &str, &str)] = &[
    (
        &["Component", "NodeAgentGroup"],
        "spec.config.parameters",
        "values for templates: what these cannot use is refused by the operator, with file and line",
    ),
    (
        &["Component", "NodeAgentGroup"],
        "spec.config.files[].template",
        "read by the operator, which refuses it with file and line (TemplateInvalid)",
    ),
    (
        &["NodeAgentGroup"],
        "spec.template.spec.containers[].readinessProbe",
        "Kubernetes' own: its API server judges the pod template, and Degraded quotes it",
    ),
    (
        &["Registration"],
        "spec.register.body",
        "read by the operator, which refuses it with its line (TemplateInvalid)",
    ),
    (
        &["Registration"],
        "spec.deregister.body",
        "read by the operator, which refuses it with its line (TemplateInvalid)",
    ),
    (
        &["Registration"],
        "spec.lookup.body",
        "read by the operator, which refuses it with its line (TemplateInvalid)",
    ),
    (
        &["NodeAgentProfile"],
        "spec.dpdkConfiguration.moreConfig",
        "values for templates, of any shape",
    ),
    (
        &["NodeAgentProfile"],
        "spec.sriovConfiguration.moreConfig",
        "values for templates, of any shape",
    ),
    (
        &["NodeAgentProfile"],
        "spec.kernelModeConfiguration.moreConfig",
        "values for templates, of any shape",
    ),
    (&["NodeAgentProfile"], "spec.otherConfig.moreConfig", "values for templates, of any shape"),
    (
        &["Stack"],
        "spec.services[].spec",
        "judged by the rules of its own kind, whose words the Stack quotes (ChildRefused)",
    ),
    (
        &["NodeAgentGroup"],
        "spec.tolerations",
        "Kubernetes' own: its API server judges the pod template, and Degraded quotes it",
    ),
    (
        &["Stack"],
        "spec.common.tolerations",
        "Kubernetes' own: its API server judges the pod template, and Degraded quotes it",
    ),
    (
        &["Stack"],
        "spec.common.imagePullSecrets",
        "any name may come to exist; without it no image is pulled, and Degraded says so",
    ),
    (
        &["RabbitmqCluster", "ZookeeperCluster"],
        "spec.imagePullSecrets",
        "any name may come to exist; without it no image is pulled, and Degraded says so",
    ),
    (
        &["RabbitmqCluster", "ZookeeperCluster"],
        "spec.placement",
        "Kubernetes' own: its API server judges the pod template, its scheduler the nodes",
    ),
    (&["RabbitmqCluster", "ZookeeperCluster"], "spec.env[].value", "any text"),
    (
        &["RabbitmqCluster", "ZookeeperCluster"],
        "spec.env[].valueFrom",
        "Kubernetes' own: its API server and the kubelet judge it, and Degraded quotes them",
    ),
    (
        &["RabbitmqCluster", "ZookeeperCluster"],
        "spec.resources.claims",
        "Kubernetes' own: its API server judges the pod template, and Degraded quotes it",
    ),
    (
        &["RabbitmqCluster", "ZookeeperCluster"],
        "spec.storage.volumeClaimTemplate.spec.volumeAttributesClassName",
        "Kubernetes' own: the volume waits for the class",
    ),
    (
        &["RabbitmqCluster", "ZookeeperCluster"],
        "spec.storage.volumeClaimTemplate.spec.resources.limits",
        "Kubernetes' own: a claim has none that counts",
    ),
    (
        &["ServiceMember"],
        "spec.address",
        "the operator alone writes it: what the API server gave to the Service",
    ),
    (&["ServiceMember"], "spec.turnEpoch", "the operator alone writes it: the epoch of its leader"),
    (
        &["ServiceMember"],
        "spec.evidence.nonce",
        "the operator alone writes it: any word that was not there before",
    ),
    (
        &["ServiceMember"],
        "spec.intent.nonce",
        "the operator alone writes it: any word that was not there before",
    ),
    (&["ServiceMember"], "spec.intent.volumeID", "an agent on another volume refuses it"),
    (&["ServiceMember"], "spec.operation.volumeID", "an agent on another volume refuses it"),
    (
        &["ServiceMember"],
        "spec.operation.reconfig.add",
        "the operator alone writes it: members as they report themselves",
    ),
    (
        &["ServiceMember"],
        "spec.replace.lost.address",
        "the operator alone writes it: what is on record of the lost member",
    ),
    (
        &["ServiceMember"],
        "spec.replace.lost.claimUID",
        "the operator alone writes it: what is on record of the lost member",
    ),
    (
        &["ServiceMember"],
        "spec.replace.lost.serverID",
        "the operator alone writes it: what is on record of the lost member",
    ),
    (
        &["ServiceMember"],
        "spec.replace.lost.volumeID",
        "the operator alone writes it: what is on record of the lost member",
    ),
    (
        &["ServiceMember"],
        "spec.start.nonce",
        "the operator alone writes it: any word that was not there before",
    ),
    (
        &["ServiceMember"],
        "spec.start.peers",
        "the operator alone writes it: members as they report themselves",
    ),
    (&["ServiceMember"], "spec.start.podUID", "an agent in another pod takes no such permit"),
    (&["ServiceMember"], "spec.start.volumeID", "an agent on another volume takes no such permit"),
];
