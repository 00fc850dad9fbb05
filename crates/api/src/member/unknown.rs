//! Values that a newer Palladion writes and this build does not know (ADR 12):
//! agents stay for long beside a newer operator, and an operator may be rolled
//! back beside newer agents. Such a value must not end anybody's watch; whoever
//! reads it decides on the safe side. The schema does not offer it, so nobody
//! can write one that is none; and what the operator writes back is as it was.

use super::{CassandraMemberSpec, CassandraMemberStatus, Purpose};
use crate::backup::{ArchiveState, LoadWay, TableState, TransferCause, TransferState};
use crate::member::{
    AccessProblemKind, CdcState, CertificateProblemKind, DataBeforeStart, DebtKind, Guard,
    HealthResult, IntentKind, IntentState, JobStatus, JobWanted, Liveness, MemberState,
    OperationKind, OperationState, PermitKind, PermitState, RepairRanges, ReplacementCause,
    RingMember, RunState, SeedChoice, ServerState, VolumeState, WantedRun, WhenToStop,
};
use crate::restore::RestoreAuth;
use crate::runtime::{LogLevel, RuntimeSettings};
use std::collections::BTreeSet;

impl CassandraMemberSpec {
    /// Fields whose value this build does not know.
    pub fn unknown(&self) -> Vec<&'static str> {
        let run = matches!(self.run, RunState::Unknown(_)).then_some("spec.run");
        let wanted = self.wanted.iter().flat_map(|wanted| {
            let run = matches!(wanted.run, Some(WantedRun::Unknown(_)));
            let when = matches!(wanted.when, WhenToStop::Unknown(_));
            let seed = matches!(wanted.seed, SeedChoice::Unknown(_));
            [
                run.then_some("spec.wanted.run"),
                when.then_some("spec.wanted.when"),
                seed.then_some("spec.wanted.seed"),
            ]
        });
        let start = self.start.iter().flat_map(|permit| {
            let kind = matches!(permit.kind, PermitKind::Unknown(_)).then_some("spec.start.kind");
            let data =
                matches!(permit.data, DataBeforeStart::Unknown(_)).then_some("spec.start.data");
            [kind, data]
        });
        let intent = self.intent.iter().map(|intent| match intent.kind {
            IntentKind::Unknown(_) => Some("spec.intent.kind"),
            IntentKind::Decommission | IntentKind::LeaveWithDatacenter => None,
        });
        let operation = self.operation.iter().flat_map(|operation| {
            let kind = matches!(operation.kind, OperationKind::Unknown(_));
            let ranges = matches!(operation.ranges, RepairRanges::Unknown(_));
            [kind.then_some("spec.operation.kind"), ranges.then_some("spec.operation.ranges")]
        });
        let pending = self.pending_maintenance.iter().chain(&self.owes).flat_map(|debt| {
            let kind = matches!(debt.kind, DebtKind::Unknown(_));
            let ranges = matches!(debt.ranges, RepairRanges::Unknown(_));
            let (kind_at, ranges_at) =
                ("spec.pendingMaintenance.kind", "spec.pendingMaintenance.ranges");
            [kind.then_some(kind_at), ranges.then_some(ranges_at)]
        });
        let replace = self.replace.iter().map(|replace| {
            matches!(replace.cause, ReplacementCause::Unknown(_)).then_some("spec.replace.cause")
        });
        let job = self.job.iter().map(|job| {
            let wanted = matches!(job.wanted, JobWanted::Unknown(_));
            (wanted || !job.work.unknown().is_empty()).then_some("spec.job")
        });
        let transfer = self.transfer.iter().flat_map(|transfer| {
            let (load, catalog) = (transfer.work.load.as_ref(), transfer.work.catalog.as_ref());
            let way = load.is_some_and(|load| matches!(load.way, LoadWay::Unknown(_)));
            let auth = catalog.and_then(|catalog| catalog.auth.as_ref());
            let auth = matches!(auth, Some(RestoreAuth::Unknown(_)));
            [way.then_some("spec.transfer.load.way"), auth.then_some("spec.transfer.catalog.auth")]
        });
        let settings =
            has_unknown_level(&self.runtime_settings).then_some("spec.runtimeSettings.logLevels");
        let all = wanted.chain(start).chain(intent).chain(operation).chain(job);
        let all = all.chain(pending).chain(replace).chain(transfer);
        let floor = self.security_floor.iter().flatten().any(is_unknown_guard);
        let floor = floor.then_some("spec.securityFloor");
        once([run, settings, floor].into_iter().chain(all))
    }
}

impl CassandraMemberStatus {
    /// Fields whose value this build does not know.
    pub fn unknown(&self) -> Vec<&'static str> {
        let volume = self.volume.as_ref().is_some_and(|v| v.state == VolumeState::Unknown);
        let server = self.server.as_ref().is_some_and(|s| s.state == ServerState::Unknown);
        let settings = self.server.as_ref().is_some_and(|s| has_unknown_level(&s.runtime_settings));
        let health = self.health.iter().any(|h| h.result == HealthResult::Unknown);
        let permit = self.permit.as_ref().is_some_and(|p| p.state == PermitState::Unknown);
        let intent = self.intent.as_ref().is_some_and(|i| i.state == IntentState::Unknown);
        let operation = self.operation.as_ref().is_some_and(|o| o.state == OperationState::Unknown);
        let job = self.job.as_ref().is_some_and(JobStatus::has_unknown);
        let transfer = self.transfer.as_ref().is_some_and(|t| {
            let found = t.cataloged.iter().flat_map(|cataloged| &cataloged.tables);
            t.state == TransferState::Unknown
                || t.cause == Some(TransferCause::Unknown)
                || found.map(|table| table.state).any(|state| state == TableState::Unknown)
        });
        let archive = self.archive.as_ref().is_some_and(|a| a.state == ArchiveState::Unknown);
        let cdc = self.cdc.as_ref().is_some_and(|cdc| cdc.state == CdcState::Unknown);
        let access = self.access.as_ref().is_some_and(|a| a.kind == AccessProblemKind::Unknown);
        let certificate = |purpose| {
            let problem = self.tls.as_ref().and_then(|tls| tls.of(purpose)?.problem.as_ref());
            problem.is_some_and(|problem| problem.kind == CertificateProblemKind::Unknown)
        };
        let guards = self.server.iter().flat_map(|s| &s.guards).any(is_unknown_guard);
        let floor = self.security_floor.iter().flatten().any(is_unknown_guard);
        let pressure = self.pressure == Some(crate::repair::Pressure::Unknown);
        let auto_repair = self.repair.as_ref().and_then(|repair| repair.auto_repair);
        let auto_repair = auto_repair == Some(crate::repair::AutoRepair::Unknown);
        let exceptions = self.ring.iter().flat_map(|r| &r.exceptions);
        let members = self.evidence.iter().filter_map(|e| e.members.as_ref()).flatten();
        once([
            volume.then_some("status.volume.state"),
            server.then_some("status.server.state"),
            settings.then_some("status.server.runtimeSettings.logLevels"),
            health.then_some("status.health.result"),
            permit.then_some("status.permit.state"),
            intent.then_some("status.intent.state"),
            operation.then_some("status.operation.state"),
            job.then_some("status.job"),
            transfer.then_some("status.transfer"),
            archive.then_some("status.archive.state"),
            cdc.then_some("status.cdc.state"),
            access.then_some("status.access.kind"),
            certificate(Purpose::Client).then_some("status.tls.client.problem.kind"),
            certificate(Purpose::Internode).then_some("status.tls.internode.problem.kind"),
            guards.then_some("status.server.guards"),
            floor.then_some("status.securityFloor"),
            pressure.then_some("status.pressure"),
            auto_repair.then_some("status.repair.autoRepair"),
            exceptions.clone().any(is_unknown).then_some("status.ring.exceptions"),
            members.clone().any(is_unknown).then_some("status.evidence.members"),
        ])
    }
}

fn is_unknown_guard(guard: &Guard) -> bool {
    matches!(guard, Guard::Unknown(_))
}

fn has_unknown_level(settings: &RuntimeSettings) -> bool {
    settings.log_levels.values().any(|level| matches!(level, LogLevel::Unknown(_)))
}

fn is_unknown(member: &RingMember) -> bool {
    member.liveness == Liveness::Unknown || member.state == MemberState::Unknown
}

fn once(fields: impl IntoIterator<Item = Option<&'static str>>) -> Vec<&'static str> {
    let fields: BTreeSet<&'static str> = fields.into_iter().flatten().collect();
    fields.into_iter().collect()
}
