// Package loopback checks that HTTP requests to this server use a loopback host name. All
// functions of package loopback are safe for concurrent use.
package loopback

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// IsHost reports whether a Host header is 127.0.0.1, [::1] or localhost in any case, with
// or without a port. Checking the Host header prevents DNS rebinding: a web page whose
// domain an attacker points at 127.0.0.1 still sends its own host name.
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
	// strings.EqualFold treats the non-ASCII letter "ſ" as equal to "s"; the length check
	// rejects such names.
	return name == "127.0.0.1" || name == "[::1]" || len(name) == len("localhost") && strings.EqualFold(name, "localhost")
}

// Port returns the local TCP port on which a request arrived; 0 if the port is unknown.
func Port(r *http.Request) int {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return addr.Port
	}
	return 0
}

func isPort(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}
