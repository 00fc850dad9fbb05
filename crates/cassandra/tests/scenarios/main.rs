//! Histories of a cluster, told by the simulator: the real deciders, and
//! around them everything that can happen.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

#[path = "../sim/mod.rs"]
mod sim;

mod absences;
mod access;
mod addresses;
mod asked_in_vain;
mod backup_schedules;
mod backups;
mod broken;
mod certificates;
mod chaos;
mod clocks;
mod cover;
mod creation;
mod cut_off;
mod defaults;
mod disturbed;
mod drains;
mod elsewhere;
mod every;
mod formats;
mod former_names;
mod going_without;
mod growth;
mod guards;
mod health;
mod held_up;
mod hints;
mod history;
mod holes;
mod initialization;
mod inputs;
mod internode;
mod jobs;
mod joins;
mod known_bugs;
mod late;
mod leaves;
mod left_over;
mod maintenance;
mod newer_words;
mod nodes;
mod not_ready;
mod outages;
mod palladion_upgrades;
mod points_in_time;
mod policies;
mod reasons;
mod recreated;
mod removals;
mod restores;
mod retention;
mod rolling;
mod rotations;
mod schedules;
mod sealed;
mod sick;
mod sidecars;
mod silent;
mod small;
mod stale_permits;
mod stood;
mod tasks;
mod terminated;
mod together;
mod told;
mod unheard;
mod volumes;
mod whole_ring;
mod wishes;
mod words;
mod zones;
