//! What people read of a `CassandraCluster` and its tasks: every sentence, by
//! the work that it is about.

pub mod access;
pub mod archive;
pub mod backups;
pub mod cdc;
pub mod certificates;
pub mod clients;
pub mod departure;
pub mod evidence;
pub mod health;
pub mod initialize;
pub mod jobs;
pub mod join;
pub mod leave;
pub mod maintenance;
pub mod members;
pub mod objects;
pub mod readdress;
pub mod refusal;
pub mod region;
pub mod regions;
pub mod remove;
pub mod replace;
pub mod restart;
pub mod restores;
pub mod retention;
pub mod rotations;
pub mod schedules;
pub mod status;
pub mod tasks;
pub mod turn;
pub mod views;
pub mod wanted;

palladion_plan::vocabulary![
    access,
    archive,
    backups,
    cdc,
    certificates,
    clients,
    departure,
    evidence,
    health,
    initialize,
    jobs,
    join,
    leave,
    maintenance,
    members,
    objects,
    readdress,
    refusal,
    region,
    remove,
    replace,
    restart,
    restores,
    retention,
    rotations,
    schedules,
    status,
    tasks,
    turn,
    views,
    wanted,
];
