//! Users: the agent's own, which may read and nothing else, and the one of the Secret.
//! Passwords are given by the input of a command, and stand on no command line.

use super::Hands;
use crate::launch::credentials::Login;
use crate::wire::ctl::Input;
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::rabbitmq::AGENT_USER;
use serde::Deserialize;

/// May read nodes and health checks in the management API, and change nothing. It sees no
/// queue of a virtual host that it has no permissions in: those the node lists itself.
const MONITORING: &str = "monitoring";
/// May look at its own queues in the management API.
const MANAGEMENT: &str = "management";
/// The user that a blank node has, with a password that everybody knows.
const GUEST: &str = "guest";
/// A permission for everything in a virtual host.
const ALL: &str = ".*";

#[derive(Deserialize)]
struct User {
    user: String,
}

#[derive(Deserialize)]
struct Vhost {
    name: String,
}

impl Hands {
    /// Create the agent's own user, or set its password.
    pub(super) async fn make_agent_user(&self) -> Result<()> {
        let password = self.credentials.agent_password()?;
        self.make_user(&Login { name: AGENT_USER.into(), password }, MONITORING).await
    }

    /// Create the user of the Secret, with all rights in its virtual host.
    pub(super) async fn make_service_user(&self, vhost: &str) -> Result<()> {
        let login = self.credentials.user()?;
        self.make_user(&login, MANAGEMENT).await?;
        self.permit_all(vhost, &login.name).await
    }

    /// The virtual host of the cluster and, while nobody has rights in it, the user of the Secret
    /// with all of them. What somebody may have changed since stays: they may have users of
    /// their own there, and have deleted that one.
    pub(super) async fn keep_vhost(&self) -> Result<()> {
        let (vhost, login) = (&self.mounted.config.vhost, self.credentials.user()?);
        self.make_vhost(vhost).await?;
        let making = || Doing::MakeUser { name: login.name.clone() };
        if self.is_anybodys(vhost).await.with_context(making)? {
            return Ok(());
        }
        match self.has_user(&login.name).await.with_context(making)? {
            true => self.permit_all(vhost, &login.name).await,
            false => self.make_service_user(vhost).await,
        }
    }

    async fn permit_all(&self, vhost: &str, user: &str) -> Result<()> {
        let arguments = ["set_permissions", "-p", vhost, user, ALL, ALL, ALL];
        let making = || Doing::MakeUser { name: user.into() };
        self.tell(&arguments, Input::None).await.with_context(making)
    }

    async fn make_user(&self, login: &Login, tag: &str) -> Result<()> {
        let making = || Doing::MakeUser { name: login.name.clone() };
        let command = match self.has_user(&login.name).await.with_context(making)? {
            true => "change_password",
            false => "add_user",
        };
        let password = Input::Line(login.password.reveal());
        self.tell(&[command, &login.name], password).await.with_context(making)?;
        let tags = ["set_user_tags", &login.name, tag];
        self.tell(&tags, Input::None).await.with_context(making)?;
        match self.has_user(&login.name).await.with_context(making)? {
            true => Ok(()),
            false => bail!(NotSo::NoUser { name: login.name.clone() }),
        }
    }

    /// Delete the user that a blank node has.
    pub(super) async fn delete_guest(&self) -> Result<()> {
        if !self.has_user(GUEST).await.context(Doing::DeleteGuest)? {
            return Ok(());
        }
        self.tell(&["delete_user", GUEST], Input::None).await.context(Doing::DeleteGuest)?;
        match self.has_user(GUEST).await.context(Doing::DeleteGuest)? {
            true => bail!(NotSo::GuestIsThere),
            false => Ok(()),
        }
    }

    /// Create a virtual host.
    pub(super) async fn make_vhost(&self, name: &str) -> Result<()> {
        let making = || Doing::MakeVhost { name: name.into() };
        if self.has_vhost(name).await.with_context(making)? {
            return Ok(());
        }
        self.tell(&["add_vhost", name], Input::None).await.with_context(making)?;
        match self.has_vhost(name).await.with_context(making)? {
            true => Ok(()),
            false => bail!(NotSo::NoVhost { name: name.into() }),
        }
    }

    async fn has_user(&self, name: &str) -> Result<bool> {
        let users: Vec<User> = self.ctl.read(&["list_users"]).await?;
        Ok(users.iter().any(|user| user.user == name))
    }

    /// Has any user rights in this virtual host?
    async fn is_anybodys(&self, vhost: &str) -> Result<bool> {
        let users: Vec<User> = self.ctl.read(&["list_permissions", "-p", vhost]).await?;
        Ok(!users.is_empty())
    }

    async fn has_vhost(&self, name: &str) -> Result<bool> {
        let vhosts: Vec<Vhost> = self.ctl.read(&["list_vhosts", "name"]).await?;
        Ok(vhosts.iter().any(|vhost| vhost.name == name))
    }
}
