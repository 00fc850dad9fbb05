//! The catalogue of reasons: every `reason` of a condition, event or member
//! status, with what it means and what to do next. The troubleshooting page is
//! generated from here, so a reason cannot be used and stay undocumented.

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident => $next:literal;)+) => {
        /// A documented reason.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $($(#[doc = $doc])+ $name,)+ }

        impl Reason {
            /// All reasons, in the order of the catalogue.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)+];

            /// The reason as it stands in conditions and events.
            pub fn as_str(self) -> &'static str {
                match self { $(Reason::$name => stringify!($name),)+ }
            }

            /// What it means.
            pub fn meaning(self) -> &'static str {
                match self { $(Reason::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }

            /// What to do next.
            pub fn next_step(self) -> &'static str {
                match self { $(Reason::$name => $next,)+ }
            }
        }
    };
}

reasons! {
    /// All is as the spec says.
    AsWanted => "Nothing.";
    /// The spec was read and can be carried out.
    Valid => "Nothing.";
    /// The spec cannot be carried out; the message says which field and why.
    InvalidSpec => "Correct the field that the message names and apply again.";
    /// Nothing but status is written while the object or the operator is paused.
    Paused => "Set `spec.paused` to false (or `OperatorConfig` `default`, where the message names it).";
    /// An object with the name that is needed belongs to somebody else; it is not touched.
    ForeignObject => "Rename or delete the object that the message names, or rename the cluster.";
    /// Objects of the cluster are being made.
    CreatingObjects => "Wait; the message names what is being made.";
    /// A fact that the next step needs could not be read; nothing is decided on a guess.
    FactUnknown => "Look at the operator's log for the read that fails; it goes on by itself when the read succeeds.";
    /// A ConfigMap that the spec names does not exist.
    ConfigMapMissing => "Create the ConfigMap that the message names, or take its name out of the spec.";
    /// A ConfigMap that the spec names exists but lacks a key or cannot be parsed.
    ConfigMapInvalid => "Correct the ConfigMap; the message quotes the error.";
    /// The storage class that a rack names (or the default one) does not exist.
    StorageClassMissing => "Create the storage class, or name one that exists: `kubectl get storageclass`.";
    /// No node satisfies a member's placement, resources or volume.
    Unschedulable => "The message is the scheduler's; change `placement` or `resources` of the rack, or add nodes.";
    /// An image cannot be pulled.
    ImagePullFailed => "Check `version`, `repository` and `imagePullSecrets`.";
    /// A claim of a member is being deleted; its pod is kept until a person has decided.
    ClaimTerminating => "The data goes when the pod goes. Move the data or let the member be replaced; see troubleshooting.";
    /// The server ends by itself soon after its start.
    ServerFailed => "The message quotes the server's last words and the exit code; correct `config`, `jvmOptions` or `resources`.";
    /// The server refuses its configuration.
    ConfigurationRefused => "The message quotes the server; correct `config` or the rack's ConfigMap.";
    /// The container's memory does not suffice for the server.
    NotEnoughMemory => "Raise the memory limit of the rack in `resources`, or lower `heapSize`.";
    /// The pod of a member crashes outside the server.
    PodFailing => "Look at the pod that the message names: `kubectl describe pod`.";
    /// The node of a member does not answer.
    NodeUnreachable => "Nothing is replaced while the node may come back. Delete the Node object only if the machine is gone for good.";
    /// The first member starts a new ring.
    Founding => "Wait.";
    /// A new ring may not be founded: a volume of this name holds data or could not be asked.
    FoundingRefused => "If the data is to be given up, annotate the cluster with `palladion.dev/allow-founding` and the nonce that the message shows.";
    /// A member joins the ring.
    Joining => "Wait; joins are one at a time.";
    /// A join failed three times; its turn is over so that others may go on.
    JoinFailed => "The message quotes the last failure. Correct its cause; deleting the member's pod tries again.";
    /// A member waits until every known member is up and normal.
    WaitingForRing => "Bring back the member that the message names.";
    /// A member waits for the time between two starts (`bootstrapGraceSeconds`).
    WaitingForGrace => "Wait.";
    /// A member waits for its pod.
    WaitingForPod => "Wait, or look at the pod: `kubectl describe pod`.";
    /// A member waits for an answer of other members.
    WaitingForEvidence => "Wait; if it lasts, look at the members that the message names.";
    /// A member waits for a permit to start.
    WaitingForPermit => "Wait; the cluster's Progressing condition says what is done first.";
    /// The agent waits for its CassandraMember object or its address.
    WaitingForMember => "Wait; the operator makes it. If it lasts, look at the operator's log.";
    /// The pod's revision is not released to start a server yet.
    WaitingForRevision => "Wait; a newer revision is being proven on another member first.";
    /// The server has been started and is not a full member yet.
    Starting => "Wait; the message says what the server is doing.";
    /// The server runs and is a full member.
    Running => "Nothing.";
    /// The server is stopped because the spec says so.
    StoppedByIntent => "Set the member's `run` to `Running`.";
    /// The member was decommissioned; its server is never started again on this volume.
    Decommissioned => "Nothing; the operator removes the pod.";
    /// Another volume is recorded for this member: this pod is a stale twin and does nothing.
    StaleTwin => "See troubleshooting; do not delete volumes before you know which one holds the data.";
    /// The member's recorded volume is not mounted; another file system is in its place.
    VolumeNotMounted => "Mount the volume on the node and delete the pod.";
    /// The data of the member's volume is gone.
    VolumeLost => "The member must be replaced.";
    /// The volume holds another ring's data, or data that no ledger accounts for; it is not used.
    VolumeForeign => "Give the member an empty volume, or put the right one in place.";
    /// The volume holds data of a member that has left; it cannot be set aside.
    RetainedVolumeInTheWay => "Free space on the volume or delete the claim.";
    /// Members of the ring are down or not normal.
    MembersDown => "The message names them; look at their reasons: `kubectl get cassandramembers`.";
    /// The replication of the system keyspaces is being set.
    SystemKeyspaces => "Wait.";
    /// Members are being restarted to bring them to the newest revision.
    RollingOut => "Wait; the message names the member.";
    /// The rollout stopped at a member that does not come back.
    RolloutStuck => "Correct the spec; a newer spec overtakes the broken one at once.";
    /// The ring is being stopped because `spec.run` says so.
    Stopping => "Wait; the message says which members are drained, or what must come to its end first. To go on running set `spec.run` to `Running`.";
    /// The ring is stopped: it has no pods; volumes, members and addresses are kept.
    Stopped => "Nothing. To start it: `kubectl patch cassandracluster NAME --type=merge -p '{\"spec\":{\"run\":\"Running\"}}'`.";
    /// Members of different release lines run; joins, leaves, replaces and repairs wait until all run the same.
    MixedVersions => "Wait; the upgrade goes on by itself. If it is stuck, look at the member that the message names.";
    /// A claim is being grown.
    VolumeGrowing => "Wait; if it lasts, look at the claim: `kubectl describe pvc`.";
    /// A claim should grow and its storage class does not allow it.
    VolumeCannotGrow => "Set `allowVolumeExpansion: true` on the storage class if its driver can, or set the storage request back.";
    /// A rack is neither in the spec nor does its StatefulSet exist, and members of it hold data.
    RackNotInSpec => "Put the rack back into the spec with `members: 0`; its members then start and leave the ring.";
    /// The cluster is being removed.
    Deleting => "Wait.";
    /// A member leaves the ring, or waits to leave it.
    MemberLeaving => "Wait; the message says what it does or waits for.";
    /// A member cannot leave without breaking what the ring promises.
    LeaveRefused => "The message names the keyspace or the cause; change it, or set `members` back.";
    /// A member whose data is lost is being replaced, or waits for that.
    MemberReplacing => "Wait; the message says what it does or waits for.";
    /// The Node that holds a member's local volume is gone.
    NodeGone => "If the machine comes back, register its Node again within `nodeGoneGraceSeconds`. Otherwise wait: the member is replaced.";
    /// A member that was to be replaced is alive, or the ring cannot prove it dead.
    ReplaceRefused => "The message says what speaks against it. To make a member smaller or move it, lower and raise `members`; a replacement is for the dead.";
    /// A task was taken up.
    TaskRunning => "Wait; the conditions of the cluster say what is being done.";
    /// A task was done.
    TaskDone => "Nothing; the task can be deleted.";
    /// A task cannot be carried out as it stands; nothing of it was done.
    TaskRefused => "The message says what speaks against it. Cure that, or correct the task, and make another one: a task that has ended is not tried again.";
    /// A task was taken back before anything was done.
    TaskAborted => "Nothing; the task can be deleted.";
    /// What a task was for has ended without it.
    TaskFailed => "The message says how. Look at the member, and make another task if it is still wanted.";
    /// Members owe repair or cleanup, which is paid first.
    DebtsOwed => "Wait; the operator pays debts by itself, one member at a time.";
    /// Pods are not ready.
    PodsNotReady => "The message names a pod and what it waits for; look at it: `kubectl describe pod`.";
    /// No node carries the zone's label, so its pods have nowhere to run.
    ZoneWithoutNodes => "Correct `zones` or `zoneNodeLabel`, or label nodes: `kubectl get nodes --show-labels`.";
    /// The canary or the rest of a rollout was not ready in time; the other pods keep what they run.
    RolloutFailed => "Correct the template; a newer one overtakes the failed one at once. The message names the pod.";
    /// The new version has no ready pod yet; the old one goes on serving.
    VersionNotRunning => "If it lasts, correct the template; the message names the pod.";
    /// Replicas that were asked for are outside `scaling`; the nearest allowed number is used.
    ReplicasLimited => "Nothing, or change `scaling`.";
    /// A volume claim template was changed in a way that is not carried out on claims that exist (document Q15).
    VolumeClaimTemplatesWarning => "Set the claim template back, or make a new object and move the data. Only a larger storage request is carried out.";
    /// A ConfigMap or Secret that the template needs does not exist.
    ConfigMissing => "Create the object that the message names.";
    /// A ConfigMap or Secret that the template refers to cannot be read; pods are not restarted on a guess.
    ConfigUnreadable => "Give the operator the right to get, list and watch the object that the message names, in its namespace; see the how-to page.";
    /// Configuration has changed; further changes of the next seconds are taken along.
    GatheringConfig => "Wait.";
    /// No pod's active probe passes, so that no pod is labelled active.
    NoActivePod => "The message quotes the probes; correct the pods or the probe.";
    /// A pod was labelled active, or the label was taken from it.
    ActivePod => "Nothing.";
    /// The answer to an active probe cannot be had; labels stay as they are.
    ProbeUnanswered => "For exec probes set the chart's value `zonedStatefulSet.allowExec: true`; otherwise look at the operator's log.";
    /// A StatefulSet could not be created (document Q15).
    CreateStatefulSetError => "The message quotes the answer of the API server; correct the template.";
    /// A StatefulSet could not be changed (document Q15).
    UpdateError => "The message quotes the answer of the API server; correct the template.";
    /// The claim template of a rack was changed; its StatefulSet and claims stay as they were made, as a set cannot change it.
    ClaimTemplateKept => "Set the claim template back to what it was. Only a larger storage request is carried out.";
    /// The plan linter refused a plan that could lose something without proof; nothing of it was done.
    PlanVetoed => "This is a defect of Palladion: nothing was lost. Please report it with the operator's log.";
    /// A step of the operator failed; it is tried again.
    ErrSyncFailed => "The message quotes the answer of the API server.";
    /// A step was done.
    Synced => "Nothing.";
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
