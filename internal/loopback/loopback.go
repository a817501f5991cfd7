// Package loopback checks the Host header of requests to this server, and returns the port
// on which they arrived. The functions of package loopback are safe for concurrent use.
package loopback

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// IsHost reports whether a Host header is 127.0.0.1, [::1] or localhost in any case,
// alone or with a valid port. If an attacker points the host name of a web page at
// 127.0.0.1, the page sends that host name.
func IsHost(host string) bool {
	name := host
	if n, port, err := net.SplitHostPort(host); err == nil {
		if !isPort(port) {
			return false
		}
		name = n
		if strings.HasPrefix(host, "[") {
			name = "[" + n + "]"
		}
	}
	// The comparison of lengths rejects letters beyond ASCII, which strings.EqualFold
	// accepts but which have more bytes.
	return name == "127.0.0.1" || name == "[::1]" || len(name) == len("localhost") && strings.EqualFold(name, "localhost")
}

// Port returns the port on which a request arrived; 0 if the port is unknown.
func Port(r *http.Request) int {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return addr.Port
	}
	return 0
}

// isPort reports whether a port has only digits, without a sign or the name of a
// service.
func isPort(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}
