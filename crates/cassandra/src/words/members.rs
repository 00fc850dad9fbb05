//! How a member's pod and server are.

use palladion_api::member;

palladion_plan::sentences! {
    /// What a member's agent reports about the server.
    pub enum Server {
        NoPod => "its pod does not exist";
        PodTerminating => "its pod is terminating";
        Silent => "its agent has not reported yet";
        Is { state: State } => "its server {state}";
        InMode { state: State, mode: String } => "its server {state} (mode {mode})";
        Says { state: State, message: String } => "its server {state}: {message}";
        SaysInMode { state: State, mode: String, message: String } =>
            "its server {state} (mode {mode}): {message}";
    }

    /// How a server is.
    pub enum State {
        Waiting => "has not started";
        Starting => "is starting";
        Running => "is running";
        Stopped => "is stopped";
        Stopping => "is stopping";
        Failed => "has failed";
        Decommissioned => "has been decommissioned";
        Unknown => "is in a state that this operator does not know";
    }

    /// What an agent found on its volume.
    pub enum Volume {
        Empty => "is empty";
        Incomplete => "holds data from an initialization, join or replacement that did not complete";
        Joined => "holds the data of a member that has joined a ring";
        Left => "was used by a member that has left its ring";
        Lost => "has lost its data";
        NotMounted => "is not mounted";
        Foreign => "belongs to another ring";
        Unaccounted => "holds data of unknown origin";
        Unknown => "is in a state that this operator does not know";
    }

    /// How another member sees one: up or down.
    pub enum Life {
        Up => "up";
        Down => "down";
        Unknown => "of unknown liveness";
    }

    /// How another member sees one: its part in the ring.
    pub enum Part {
        Normal => "normal";
        Joining => "joining";
        Leaving => "leaving";
        Moving => "moving";
        Unknown => "in a state that this operator does not know";
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
            // What the agent says of the mode is not said twice.
            (Some(mode), Some(message)) if message.contains(&format!("mode {mode}")) => {
                Server::Says { state, message }
            }
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
            member::ServerState::Unknown => State::Unknown,
        }
    }
}

impl From<member::VolumeState> for Volume {
    fn from(state: member::VolumeState) -> Self {
        match state {
            member::VolumeState::Empty => Volume::Empty,
            member::VolumeState::Incomplete => Volume::Incomplete,
            member::VolumeState::Joined => Volume::Joined,
            member::VolumeState::Left => Volume::Left,
            member::VolumeState::Lost => Volume::Lost,
            member::VolumeState::NotMounted => Volume::NotMounted,
            member::VolumeState::Foreign => Volume::Foreign,
            member::VolumeState::Unaccounted => Volume::Unaccounted,
            member::VolumeState::Unknown => Volume::Unknown,
        }
    }
}

impl From<member::Liveness> for Life {
    fn from(liveness: member::Liveness) -> Self {
        match liveness {
            member::Liveness::Up => Life::Up,
            member::Liveness::Down => Life::Down,
            member::Liveness::Unknown => Life::Unknown,
        }
    }
}

impl From<member::MemberState> for Part {
    fn from(state: member::MemberState) -> Self {
        match state {
            member::MemberState::Normal => Part::Normal,
            member::MemberState::Joining => Part::Joining,
            member::MemberState::Leaving => Part::Leaving,
            member::MemberState::Moving => Part::Moving,
            member::MemberState::Unknown => Part::Unknown,
        }
    }
}
