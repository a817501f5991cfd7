// Package freeport finds TCP ports on which no program listens, for tests.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Find returns a TCP port below 32768 on which no program listens. Programs that request
// any free port get a port of 32768 or above, so they cannot take the returned port.
func Find() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if err == nil {
			return l.Addr().(*net.TCPAddr).Port, l.Close()
		}
	}
	return 0, errors.New("no port is free")
}
