#!/bin/sh
# ZooKeeper's command line.
home=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "${JAVA_HOME:-/opt/java/openjdk}/bin/java" -cp "${ZOOCFGDIR:-$home/conf}:$home/lib/*" \
  org.apache.zookeeper.ZooKeeperMain "$@"
