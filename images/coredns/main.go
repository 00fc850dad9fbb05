// CoreDNS with its stock plug-ins, built from its module because the testbed
// reaches no container registry.
package main

import (
	_ "github.com/coredns/coredns/core/plugin"
	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
