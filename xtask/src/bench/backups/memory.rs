//! The memory of the processes that move bytes, as the kernel counts it: of each the high-water
//! mark, read ten times a second until it has ended.

use anyhow::{Result, ensure};
use palladion_testbed::Cluster;

use super::super::jobs::data;
use super::super::look;

const FILE: &str = "/tmp/bench-peak";
const WATCH: &str = r#"
most=0
while true; do
  for p in /proc/[0-9]*; do
    if tr '\0' ' ' < $p/cmdline 2>/dev/null | grep -q '[p]alladion-agent transfer'; then
      now=$(grep VmHWM $p/status 2>/dev/null | tr -dc 0-9)
      if [ "${now:-0}" -gt $most ]; then most=$now; echo $most > FILE; fi
    fi
  done
  sleep 0.1
done
"#;

/// From now on, on all members.
pub fn watch(cluster: &Cluster) -> Result<()> {
    let watch = WATCH.replace("FILE", FILE);
    let start = format!("setsid bash -c '{}' >/dev/null 2>&1 &", watch.replace('\'', r"'\''"));
    data::on_all(cluster, &["bash", "-c", &start])
}

/// The most that any had, in MiB.
pub fn most(cluster: &Cluster) -> Result<f64> {
    let mut most = 0.0_f64;
    for pod in look::member_pods(cluster)? {
        let said = data::in_server(cluster, &pod, &["cat", FILE])?;
        let kib: f64 = said.trim().parse()?;
        ensure!(kib > 0.0, "no process that moves bytes was seen on {pod}");
        most = most.max(kib / 1024.0);
    }
    Ok(most)
}
