//! How a member's pod and server are.

use palladion_api::member;

palladion_plan::sentences! {
    /// How far a member's pod is.
    pub enum Pod {
        Missing => "its pod does not exist yet";
        Terminating => "its old pod is terminating";
        Unschedulable { message: String } => "its pod cannot be scheduled: {message}";
        Failing { reason: String, message: String } => "its pod is failing: {reason}: {message}";
        Silent { phase: String } => "its pod is {phase} and its agent has not reported yet";
        Running => "its pod is running";
    }

    /// What a member's agent reports about the server.
    pub enum Server {
        Silent => "its agent has not reported yet";
        Is { state: State } => "its server {state}";
        InMode { state: State, mode: String } => "its server {state}, mode {mode}";
        Says { state: State, message: String } => "its server {state}: {message}";
        SaysInMode { state: State, mode: String, message: String } =>
            "its server {state}, mode {mode}: {message}";
    }

    /// How a server is.
    pub enum State {
        Waiting => "has not started";
        Starting => "is starting";
        Running => "is running";
        Stopped => "is stopped";
        Stopping => "is stopping";
        Failed => "has failed";
        Decommissioned => "is decommissioned";
    }
}

impl Server {
    /// As it was reported.
    pub fn of(state: member::ServerState, mode: Option<&str>, message: Option<&str>) -> Self {
        let state = state.into();
        match (mode.map(str::to_string), message.map(str::to_string)) {
            (None, None) => Server::Is { state },
            (Some(mode), None) => Server::InMode { state, mode },
            (None, Some(message)) => Server::Says { state, message },
            (Some(mode), Some(message)) => Server::SaysInMode { state, mode, message },
        }
    }
}

impl From<member::ServerState> for State {
    fn from(state: member::ServerState) -> Self {
        match state {
            member::ServerState::Waiting => State::Waiting,
            member::ServerState::Starting => State::Starting,
            member::ServerState::Running => State::Running,
            member::ServerState::Stopped => State::Stopped,
            member::ServerState::Stopping => State::Stopping,
            member::ServerState::Failed => State::Failed,
            member::ServerState::Decommissioned => State::Decommissioned,
        }
    }
}
