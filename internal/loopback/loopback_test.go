package loopback

import "testing"

func TestIsHost(t *testing.T) {
	for _, validHost := range []string{
		"127.0.0.1", "127.0.0.1:9527", "localhost", "localhost:1", "LocalHost:65535", "[::1]", "[::1]:9527",
	} {
		if !IsHost(validHost) {
			t.Errorf("IsHost(%q) = false, want true", validHost)
		}
	}
	for _, invalidHost := range []string{
		"", ":", ":80", "::1", "::1:80", "[::1", "::1]", "[::1]:", "[::1]:x", "[::1]:+1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:http",
		"127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80:80", "[127.0.0.1]", "[127.0.0.1]:80", "[localhost]",
		"127.0.0.2", "127.1", "0.0.0.0", "[::]", "[::1%lo]", "2130706433", "localhost.", "localhost.evil.example", "evil.example",
		"evil.example:9527", "127.0.0.1.evil.example", "user@localhost", "localhost ", " localhost", "localhost/", "\u217cocalhost", "localho\u017ft",
	} {
		if IsHost(invalidHost) {
			t.Errorf("IsHost(%q) = true, want false", invalidHost)
		}
	}
}
