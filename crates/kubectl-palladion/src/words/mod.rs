//! What the tool says: in errors, notes and questions. What the operator says
//! in a status is shown as it stands.

pub mod answer;
pub mod trouble;

palladion_api::vocabulary![answer, trouble];
