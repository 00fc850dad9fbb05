//! All stories. `cargo xtask test` makes testbeds and plays them; the README
//! says how to play one step, and how to add one.

#[path = "../../tests/manifests/manifests.rs"]
mod manifests;

mod admission;
mod backups;
mod balancers;
mod cdc;
mod chart;
mod creation_under_fire;
mod datacenters;
mod disk;
mod heal;
mod neighbours;
mod patient;
mod power;
mod rabbitmq;
mod regions;
mod rights;
mod ring;
mod roll;
mod scale;
mod schedules;
mod secure;
mod stack;
mod tasks;
mod two_operators;
mod upgrade;
mod wrong_input;
mod zoned;
mod zones;
mod zookeeper;

use std::process::ExitCode;

use palladion_e2e::story::{self, Suite};

fn main() -> ExitCode {
    let mut stories = vec![
        admission::story(),
        backups::story(),
        balancers::story(),
        cdc::story(),
        chart::story(),
        creation_under_fire::story(),
        datacenters::story(),
        disk::story(),
        heal::story(),
        neighbours::story(),
        patient::story(),
        power::story(),
        rabbitmq::story(),
        rabbitmq::hurt(),
        regions::story(),
        ring::story(),
        roll::story(),
        scale::story(),
        secure::story(),
        stack::story(),
        tasks::story(),
        two_operators::story(),
        upgrade::story(),
        wrong_input::story(),
        zones::story(),
        zookeeper::story(),
        zookeeper::hurt(),
    ];
    stories.extend(zoned::stories());
    story::main(&Suite {
        stories,
        last_act: rights::last_act(),
        last_act_of_a_part: rights::last_act_of_a_part(),
    })
}
