//! Every mind of this operator. A new system is one line here.

use palladion_cassandra::CassandraMind;
use palladion_cassandra::orphans::{
    BackupOrphanMind, OrphanMind, RestoreOrphanMind, ScheduleOrphanMind,
};
use palladion_plan::Mind;
use palladion_rabbitmq::RabbitmqMind;
use palladion_stack::{ComponentMind, GroupMind, RegistrationMind, StackMind};
use palladion_zonedset::ZonedSetMind;
use palladion_zookeeper::ZookeeperMind;
use std::sync::Arc;

/// The minds.
pub fn minds() -> Vec<Arc<dyn Mind>> {
    vec![
        Arc::new(CassandraMind::default()),
        Arc::new(OrphanMind),
        Arc::new(ScheduleOrphanMind),
        Arc::new(BackupOrphanMind),
        Arc::new(RestoreOrphanMind),
        Arc::new(ZonedSetMind),
        Arc::new(ZookeeperMind),
        Arc::new(RabbitmqMind),
        Arc::new(ComponentMind),
        Arc::new(GroupMind),
        Arc::new(RegistrationMind),
        Arc::new(StackMind),
    ]
}
