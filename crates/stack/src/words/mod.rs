//! What people read of staged services: every sentence, by subject.

pub mod dependencies;
pub mod evidence;
pub mod gates;
pub mod groups;
pub mod objects;
pub mod refusal;
pub mod registration;
pub mod reload;
pub mod render;
pub mod stack;
pub mod status;

palladion_plan::vocabulary![
    dependencies,
    evidence,
    gates,
    groups,
    objects,
    refusal,
    registration,
    reload,
    render,
    stack,
    status
];
