//! Values that a newer Palladion writes and this build does not know, as in
//! `CassandraMember`: such a value must not end anybody's watch, and whoever
//! reads it decides on the safe side.

use super::{
    DataBeforeServiceStart, EnsembleView, ForgetQueues, LossCause, MemberHealth,
    MemberOperationKind, MemberServerState, MemberVolumeState, OperationAnswer, ServerMode,
    ServerRole, ServiceIntentKind, ServiceMemberSpec, ServiceMemberStatus, ServicePermitKind,
    ServiceSystem,
};
use crate::member::{IntentState, OperationState, PermitState, RunState};
use std::collections::BTreeSet;

impl ServiceMemberSpec {
    /// Fields whose value this build does not know.
    pub fn unknown(&self) -> Vec<&'static str> {
        let start = self.start.as_ref();
        let kind = start.is_some_and(|s| matches!(s.kind, ServicePermitKind::Unknown(_)));
        let data = start.is_some_and(|s| matches!(s.data, DataBeforeServiceStart::Unknown(_)));
        let intent = self.intent.as_ref();
        let intent = intent.is_some_and(|i| matches!(i.kind, ServiceIntentKind::Unknown(_)));
        let job = self.operation.as_ref();
        let operation = job.is_some_and(|o| matches!(o.kind, MemberOperationKind::Unknown(_)));
        let queues = job.is_some_and(|o| matches!(o.queues, Some(ForgetQueues::Unknown(_))));
        let loss = self.replace.as_ref();
        let loss = loss.is_some_and(|l| matches!(l.cause, LossCause::Unknown(_)));
        once([
            matches!(self.system, ServiceSystem::Unknown(_)).then_some("spec.system"),
            matches!(self.run, RunState::Unknown(_)).then_some("spec.run"),
            kind.then_some("spec.start.kind"),
            data.then_some("spec.start.data"),
            intent.then_some("spec.intent.kind"),
            operation.then_some("spec.operation.kind"),
            queues.then_some("spec.operation.queues"),
            loss.then_some("spec.replace.cause"),
        ])
    }
}

impl ServiceMemberStatus {
    /// Fields whose value this build does not know.
    pub fn unknown(&self) -> Vec<&'static str> {
        let volume = self.volume.as_ref().is_some_and(|v| v.state == MemberVolumeState::Unknown);
        let server = self.server.as_ref().is_some_and(|s| s.state == MemberServerState::Unknown);
        let health = self.health.iter().any(|h| h.result == MemberHealth::Unknown);
        let permit = self.permit.as_ref().is_some_and(|p| p.state == PermitState::Unknown);
        let intent = self.intent.as_ref().is_some_and(|i| i.state == IntentState::Unknown);
        let operation = self.operation.as_ref();
        let state = operation.is_some_and(|o| o.state == OperationState::Unknown);
        let answer = operation.is_some_and(|o| o.answer == Some(OperationAnswer::Unknown));
        let answered = self.evidence.as_ref().and_then(|e| e.ensemble.as_ref());
        once([
            volume.then_some("status.volume.state"),
            server.then_some("status.server.state"),
            health.then_some("status.health.result"),
            permit.then_some("status.permit.state"),
            intent.then_some("status.intent.state"),
            state.then_some("status.operation.state"),
            answer.then_some("status.operation.answer"),
            self.ensemble.as_ref().is_some_and(is_unknown).then_some("status.ensemble"),
            answered.is_some_and(is_unknown).then_some("status.evidence.ensemble"),
        ])
    }
}

fn is_unknown(view: &EnsembleView) -> bool {
    view.mode == Some(ServerMode::Unknown)
        || view.servers.iter().any(|s| s.role == ServerRole::Unknown)
}

fn once(fields: impl IntoIterator<Item = Option<&'static str>>) -> Vec<&'static str> {
    let fields: BTreeSet<&'static str> = fields.into_iter().flatten().collect();
    fields.into_iter().collect()
}
