// Package portowner finds the program that listens on a local TCP port.
package portowner

import (
	"context"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// findOwnerTimeout limits the search for the program that listens on a port; on macOS, the search runs lsof.
const findOwnerTimeout = 2 * time.Second

// Find returns the program that listens on a local TCP port, such as "python3, pid 42". If
// the operating system does not reveal which program listens, Find returns "another program".
func Find(ctx context.Context, port int) string {
	ctx, cancel := context.WithTimeout(ctx, findOwnerTimeout)
	defer cancel()
	connections, err := net.ConnectionsWithContext(ctx, "tcp")
	if err == nil {
		for _, c := range connections {
			if c.Status != "LISTEN" || int(c.Laddr.Port) != port || c.Pid == 0 {
				continue
			}
			owner := process.Process{Pid: c.Pid}
			if name, err := owner.NameWithContext(ctx); err == nil {
				return fmt.Sprintf("%s, pid %d", name, c.Pid)
			}
		}
	}
	return "another program"
}
