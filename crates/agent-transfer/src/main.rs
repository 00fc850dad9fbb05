//! The child by itself, for its tests. In a pod it is `palladion-agent transfer`.

fn main() -> std::process::ExitCode {
    palladion_agent_transfer::run::run()
}
