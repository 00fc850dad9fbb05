//! From a spec to a form that cannot be wrong. What one object can tell is
//! refused at admission already; what remains is refused here, and what runs
//! goes on running.

pub mod claims;
pub mod component;
pub mod group;
pub mod registration;
pub mod template;

pub use component::{Valid, validate};
pub use group::{ValidGroup, validate_group};
pub use registration::{ValidRegistration, validate_registration};
