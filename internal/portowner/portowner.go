// Package portowner names the program that listens on a TCP port of this machine.
package portowner

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Find returns the name and pid of the program that listens on a TCP port, such
// as "python3, pid 42". It returns "another program" if the system hides the owner.
func Find(ctx context.Context, port int) string {
	owner := ""
	switch runtime.GOOS {
	case "linux":
		owner = procOwner("/proc", port)
	case "darwin", "freebsd":
		owner = lsofOwner(ctx, port)
	}
	if owner == "" {
		return "another program"
	}
	return owner
}

// procOwner finds the owner in Linux's /proc: /proc/net/tcp has the socket's inode,
// and a link in /proc/PID/fd points to the socket. The links of other users'
// programs are not readable.
func procOwner(proc string, port int) string {
	inodes := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		listeners(filepath.Join(proc, "net", table), port, inodes)
	}
	if len(inodes) == 0 {
		return ""
	}
	links, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	if err != nil {
		return ""
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !inodes[target] {
			continue
		}
		dir := filepath.Dir(filepath.Dir(link))
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			return ""
		}
		return fmt.Sprintf("%s, pid %s", bytes.TrimSpace(name), filepath.Base(dir))
	}
	return ""
}

// listeners adds the link targets of the sockets that listen on port.
func listeners(table string, port int, inodes map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
		words := strings.Fields(lines.Text())
		if len(words) < 10 || words[3] != "0A" { // 0A: listening
			continue
		}
		_, hex, _ := strings.Cut(words[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
			inodes["socket:["+words[9]+"]"] = true
		}
	}
}

// lsofOwner finds the owner with lsof, which is part of macOS.
func lsofOwner(ctx context.Context, port int) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, "lsof", "-nP", fmt.Sprintf("-iTCP:%d", port), "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return ""
	}
	return parseLsof(string(text))
}

// parseLsof parses lsof's field output: one line "p<pid>" and one "c<command>".
func parseLsof(text string) string {
	var pid, name string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "p") && pid == "":
			pid = line[1:]
		case strings.HasPrefix(line, "c") && name == "":
			name = line[1:]
		}
	}
	if pid == "" || name == "" {
		return ""
	}
	return fmt.Sprintf("%s, pid %s", name, pid)
}
