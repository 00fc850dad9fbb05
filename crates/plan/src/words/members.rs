//! How a member's pod, server and volume are.

use palladion_api::service_member::{MemberServerState, MemberVolumeState};

palladion_api::sentences! {
    /// What a member's agent reports about the server.
    pub enum Server {
        NoPod => "its pod does not exist";
        PodTerminating => "its pod is terminating";
        Silent => "its agent has not reported yet";
        Is { state: State } => "its server {state}";
        Says { state: State, message: String } => "its server {state}: {message}";
    }

    /// How a server is.
    pub enum State {
        Waiting => "has not started";
        Starting => "is starting";
        Running => "is running";
        Stopped => "is stopped";
        Stopping => "is stopping";
        Failed => "has failed";
        Left => "has left";
        Unknown => "is in a state that this operator does not know";
    }

    /// What an agent found on its volume.
    pub enum Volume {
        Empty => "is empty";
        Incomplete => "holds data of a start that did not complete";
        Joined => "holds the data of a server that was a member";
        Left => "was used by a server that has left";
        Lost => "has lost its data, or a part of it";
        NotMounted => "is not mounted";
        Foreign => "belongs to another cluster";
        Unaccounted => "holds data of unknown origin";
        RolledBack => "is an old copy";
        Unknown => "is in a state that this operator does not know";
    }
}

impl Server {
    /// As it was reported.
    pub fn of(state: MemberServerState, message: Option<&str>) -> Self {
        let state = state.into();
        match message {
            None => Server::Is { state },
            Some(message) => Server::Says { state, message: message.to_string() },
        }
    }
}

impl From<MemberServerState> for State {
    fn from(state: MemberServerState) -> Self {
        match state {
            MemberServerState::Waiting => State::Waiting,
            MemberServerState::Starting => State::Starting,
            MemberServerState::Running => State::Running,
            MemberServerState::Stopped => State::Stopped,
            MemberServerState::Stopping => State::Stopping,
            MemberServerState::Failed => State::Failed,
            MemberServerState::Left => State::Left,
            MemberServerState::Unknown => State::Unknown,
        }
    }
}

impl From<MemberVolumeState> for Volume {
    fn from(state: MemberVolumeState) -> Self {
        match state {
            MemberVolumeState::Empty => Volume::Empty,
            MemberVolumeState::Incomplete => Volume::Incomplete,
            MemberVolumeState::Joined => Volume::Joined,
            MemberVolumeState::Left => Volume::Left,
            MemberVolumeState::Lost => Volume::Lost,
            MemberVolumeState::NotMounted => Volume::NotMounted,
            MemberVolumeState::Foreign => Volume::Foreign,
            MemberVolumeState::Unaccounted => Volume::Unaccounted,
            MemberVolumeState::RolledBack => Volume::RolledBack,
            MemberVolumeState::Unknown => Volume::Unknown,
        }
    }
}
