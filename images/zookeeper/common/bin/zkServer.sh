#!/bin/sh
# Runs the server in the foreground, as `zkServer.sh start-foreground` of the stock image
# does. Palladion's agent starts the server itself, and knows its home by this script.
home=$(dirname "$(dirname "$(readlink -f "$0")")")
conf=${ZOOCFGDIR:-$home/conf}
exec "${JAVA_HOME:-/opt/java/openjdk}/bin/java" -cp "$conf:$home/lib/*" \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "${2:-$conf/zoo.cfg}"
