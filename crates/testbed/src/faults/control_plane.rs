//! Parts of the control plane that are away.

use anyhow::{Context, Result};

use crate::cluster::Cluster;
use crate::control_plane::Component;
use crate::{process, up};

impl Cluster {
    /// Crashes a component; it stays away until it is started.
    pub fn stop_component(&self, component: Component) -> Result<()> {
        process::kill(&self.site().records(), component.name())
    }

    /// Starts a component again. Returns when the API server, if it is the one,
    /// is ready.
    pub fn start_component(&self, component: Component) -> Result<()> {
        up::start_component(self.site(), component)?;
        match component {
            Component::ApiServer => up::wait_for_api(self.site()),
            Component::Etcd | Component::ControllerManager | Component::Scheduler => Ok(()),
        }
    }

    /// Gives a component that runs so many thousandths of a processor at most,
    /// until it is started again.
    pub fn slow_component(&self, component: Component, millicores: u32) -> Result<()> {
        let name = component.name();
        let record = process::Record::read(&self.site().records(), name)?;
        let pid = record.with_context(|| format!("{name} was never started"))?.pid;
        let group = format!("{}/slow-{name}", self.site().config.name.cgroup());
        self.site().cgroups.limit_processor(&group, pid, millicores)
    }

    /// Crashes the whole control plane.
    pub fn stop_control_plane(&self) -> Result<()> {
        let components = Component::ALL.into_iter().rev();
        components.into_iter().try_for_each(|component| self.stop_component(component))
    }

    /// Starts the whole control plane again and waits until it is ready.
    pub fn start_control_plane(&self) -> Result<()> {
        Component::ALL.into_iter().try_for_each(|component| self.start_component(component))
    }
}
