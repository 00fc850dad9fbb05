// Carries TCP connections from one network namespace into another.
//
// Its standard input is a listening socket that its parent opened in the outer
// namespace; it runs, and dials its only argument, in the inner one. So tests
// on the host reach an address inside the testbed without a route, a veth or
// a packet filter rule on the host.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// A dial that takes longer than this would not be answered at all: everything
// behind it is on the same machine.
const dialTimeout = 5 * time.Second

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: forward ADDRESS:PORT, with a listening socket as standard input")
		os.Exit(2)
	}
	listener, err := net.FileListener(os.Stdin)
	if err != nil {
		fmt.Fprintf(os.Stderr, "forward: standard input is not a listening socket: %v\n", err)
		os.Exit(2)
	}
	for {
		outer, err := listener.Accept()
		if err != nil {
			fmt.Fprintf(os.Stderr, "forward: accept: %v\n", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go carry(outer.(*net.TCPConn), os.Args[1])
	}
}

func carry(outer *net.TCPConn, target string) {
	defer outer.Close()
	dialled, err := net.DialTimeout("tcp", target, dialTimeout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "forward: %v\n", err)
		// A reset, not an orderly end: the client must see a failed connection.
		_ = outer.SetLinger(0)
		return
	}
	inner := dialled.(*net.TCPConn)
	defer inner.Close()
	var both sync.WaitGroup
	both.Add(2)
	go half(&both, inner, outer)
	go half(&both, outer, inner)
	both.Wait()
}

func half(done *sync.WaitGroup, to, from *net.TCPConn) {
	defer done.Done()
	_, _ = io.Copy(to, from)
	_ = to.CloseWrite()
	_ = from.CloseRead()
}
