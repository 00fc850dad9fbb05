//! One program with three names: `kubectl-palladion` and `palladion` run a verb,
//! `kubectl_complete-palladion` answers kubectl's question how a line may go on.

use kubectl_palladion::{complete, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let called = run::Name::of_this_program();
    if called == run::Name::KubectlComplete {
        return complete::for_kubectl();
    }
    complete::for_a_shell(called);
    run::main(called)
}
